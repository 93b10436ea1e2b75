/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Columns of new tables dealt out to the hosts of a switch so that they fit the tables in place. */
#ifndef ENGINES_COLUMN_MATCH_H
#define ENGINES_COLUMN_MATCH_H

#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

/*
 * The hosts of one switch are alike to most engines: if two of them exchange their columns, entries and service levels,
 * the same paths are in use, on the same lanes, and the tables are worth the same. For each switch the columns of
 * `routes` are exchanged so that the fewest entries differ from `in_place` (an assignment problem, by the Hungarian
 * method). The entries of the switch itself stay. Errors: -ECANCELED, -ENOMEM; `routes` is half done then. Cost: O(hosts of
 * a switch * switches * LIDs).
 */
int column_match(const struct hd_fabric *fabric, const struct hd_routes *in_place, unsigned threads,
		 const struct hd_go_on *go_on, struct hd_routes *routes);

#endif
