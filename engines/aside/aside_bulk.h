/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The quick way, for trees: columns of adapters that are set aside are copies of their switches'
 * columns, and only paths that do not climb, then descend, are turned at one leaf.
 */
#ifndef ENGINES_ASIDE_BULK_H
#define ENGINES_ASIDE_BULK_H

#include <heddle/engines.h>

/*
 * Writes all entries for adapters that are set aside, and those for hosts of switches without hosts
 * that must turn, on lane 0. *done is false where that is not possible, or cannot be proved free of
 * credit loops; then the entries for hosts are as before. With `keep`, and previous tables, an entry
 * changes only if its path is broken or goes back to the baseline. `guarded`: see aside_route().
 * Errors: -ENOMEM. Cost: O(switches * LIDs) on `threads` threads, about a nanosecond each, and
 * O(links * radix).
 */
int aside_bulk_route(const struct hd_route_request *request, bool guarded, bool keep,
		     struct hd_routes *routes, bool *done, struct hd_error *err);

#endif
