/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The mapping under which most cables agree. The search tries several beginnings, then maps regions again where cables
 * do not agree (P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems", 1998:
 * large neighbourhood search).
 */
#ifndef FABRIC_MATCH_SEARCH_H
#define FABRIC_MATCH_SEARCH_H

#include "match_shape.h"

/* Finds a mapping. Its arrays are of `arena`. Errors: -ENOMEM. Cost: that of match_grow(), some hundred times. */
int match_search(const struct match_graph *plan, const struct match_graph *live,
		 struct hd_arena *arena, struct match_shape *out, struct hd_error *err);

#endif
