/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the map inside OpenSM, from the lists that routers hand over. */
#ifndef OPENSM_MAP_LIVE_H
#define OPENSM_MAP_LIVE_H

#include "map_foreign_lists.h"

#include <heddle/ir_router/map.h>

struct routing;

struct map_live_request {
	const struct routing *routing;
	uint64_t prefix; /* of this subnet */
	const struct map_foreign_lists *foreign;
	bool by_isfr; /* else by ISSR */
	const struct hd_map *previous; /* in force; NULL: none. Its lines stay. */
};

struct map_live_report {
	uint32_t destinations, by_isfr;
};

/*
 * The map of the subnet. By ISFR, a host has the router port that D-mod-K names: its place in its
 * subnet chooses the top switch, and its place together with the hosts of the subnets before it, by
 * prefix, the cable from there. Hosts for which that is not possible are spread as by ISSR. Errors:
 * -ENOENT there is no router port, or no foreign host; those of hd_assign().
 */
int map_live_make(const struct map_live_request *request, struct hd_map **out,
		  struct map_live_report *report, struct hd_error *err);

#endif
