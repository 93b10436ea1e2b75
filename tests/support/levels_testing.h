/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A small fabric with service levels. Include after <cmocka.h>. */
#ifndef LEVELS_TESTING_H
#define LEVELS_TESTING_H

#include "read_testing.h"

/*
 * Switches 0x200000 (LID 1) and 0x200001 (LID 3), joined by two cables. The first has the hosts h1
 * (LIDs 4 and 5) and h3 (LID 8), the second has h2 (LIDs 6 and 7). No port has LID 2.
 */
static const char levels_topology[] =
    "switchguid=0x200000(2000aa)\n"
    "Switch 4 \"S-0000000000200000\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"h1\" lid 4 4xEDR\n"
    "[2] \"H-0000000000100004\"[1](100005) # \"h3\" lid 8 4xEDR\n"
    "[3] \"S-0000000000200001\"[3] # \"leaf2\" lid 3 4xEDR\n"
    "[4] \"S-0000000000200001\"[4] # \"leaf2\" lid 3 4xEDR\n"
    "switchguid=0x200001(200001)\n"
    "Switch 4 \"S-0000000000200001\" # \"leaf2\" base port 0 lid 3 lmc 0\n"
    "[1] \"H-0000000000100002\"[1](100003) # \"h2\" lid 6 4xEDR\n"
    "[3] \"S-0000000000200000\"[3] # \"leaf1\" lid 1 4xEDR\n"
    "[4] \"S-0000000000200000\"[4] # \"leaf1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"h1\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 4 lmc 1 \"leaf1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100002\" # \"h2\"\n"
    "[1](100003) \"S-0000000000200001\"[1] # lid 6 lmc 1 \"leaf2\" lid 3 4xEDR\n"
    "Ca 1 \"H-0000000000100004\" # \"h3\"\n"
    "[1](100005) \"S-0000000000200000\"[2] # lid 8 lmc 0 \"leaf1\" lid 1 4xEDR\n";

/* Empty tables: every SL is 0, and each SL is on the lane with its number. */
static inline struct hd_routes *routes_with_levels(const struct hd_fabric *fabric)
{
	struct hd_routes *routes = hd_routes_new(fabric);

	assert_non_null(routes);
	routes->sl = calloc(routes->switch_count, routes->stride);
	assert_non_null(routes->sl);
	for (uint8_t level = 0; level < 16; level++)
		routes->sl2vl[level] = level;
	return routes;
}

#endif
