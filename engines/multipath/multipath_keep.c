/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_keep.h"

int multipath_keep_allocate(struct multipath_keeper *keeper)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	struct hd_arena *arena = &keeper->arena;

	keeper->next = hd_arena_alloc(arena, fabric->switch_count, sizeof(*keeper->next));
	keeper->hops = hd_arena_alloc(arena, fabric->switch_count, sizeof(*keeper->hops));
	keeper->use = hd_arena_alloc(arena, fabric->isl_count, sizeof(*keeper->use));
	return hd_arena_check(arena);
}

/* Counts hops outwards from where they are known already. */
static void spread_hops(struct multipath_keeper *keeper)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	bool grown;

	do {
		grown = false;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint32_t link = keeper->next[sw];
			if (keeper->hops[sw] != HD_NONE || link == HD_NONE)
				continue;
			uint32_t beyond = keeper->hops[fabric->isl_to[link]];
			keeper->hops[sw] = beyond == HD_NONE ? HD_NONE : beyond + 1;
			grown |= beyond != HD_NONE;
		}
	} while (grown);
}

/* Loads the column. False when no switch has an entry that leads to a switch. */
static bool load_column(struct multipath_keeper *keeper, const struct hd_routes *from, uint32_t lid)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t destination;
	uint8_t port;
	bool any = false, owned = hd_fabric_lid_destination(fabric, lid, &destination, &port);

	for (uint32_t sw = 0; owned && sw < fabric->switch_count; sw++) {
		keeper->next[sw] =
		    sw == destination
			? HD_NONE
			: hd_fabric_find_isl(fabric, sw, hd_routes_port(from, sw, lid));
		keeper->hops[sw] = sw == destination ? 0 : HD_NONE;
		any |= keeper->next[sw] != HD_NONE;
	}
	return any;
}

/* True when the switch's next hop towards the LID is not one hop nearer to the host, by the
 * hops that are counted. */
static bool strays(const struct multipath_keeper *keeper, uint32_t sw, uint32_t lid)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t link =
	    hd_fabric_find_isl(fabric, sw, hd_routes_port(keeper->request->previous, sw, lid));
	uint32_t hops = keeper->hops[sw], beyond;

	if (link == HD_NONE || !hops || hops == HD_NONE)
		return false;
	beyond = keeper->hops[fabric->isl_to[link]];
	return beyond != HD_NONE && beyond + 1 != hops;
}

bool multipath_keep_lengths_differ(struct multipath_keeper *keeper, uint32_t host)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t port = fabric->host_port[host], base = fabric->lid[port];
	uint32_t lids = hd_port_lid_count(fabric, port);

	if (lids < 2 || !load_column(keeper, keeper->request->previous, base))
		return false;
	spread_hops(keeper);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t offset = 1; offset < lids; offset++)
			if (strays(keeper, sw, base + offset))
				return true;
	return false;
}

/* True when link a is a better joint than link b: see multipath_keep_repair(). */
static bool better_joint(const struct multipath_keeper *keeper, uint32_t a, uint32_t b)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	bool moves_a = keeper->next[hd_isl_from(fabric, a)] != HD_NONE;
	bool moves_b = keeper->next[hd_isl_from(fabric, b)] != HD_NONE;
	uint32_t hops_a = keeper->hops[fabric->isl_to[a]], hops_b = keeper->hops[fabric->isl_to[b]];

	if (moves_a != moves_b)
		return moves_b;
	if (hops_a != hops_b)
		return hops_a < hops_b;
	return keeper->use[a] < keeper->use[b];
}

/* The best link from a switch that does not lead to the LID to one that does, or HD_NONE. */
static uint32_t find_joint(const struct multipath_keeper *keeper)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t best = HD_NONE;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (keeper->hops[sw] != HD_NONE)
			continue;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (keeper->hops[fabric->isl_to[link]] != HD_NONE &&
			    (best == HD_NONE || better_joint(keeper, link, best)))
				best = link;
	}
	return best;
}

/* Switches that still do not lead to the LID are in another component and get no entry. */
static void write_column(struct multipath_keeper *keeper, uint32_t lid)
{
	const struct hd_fabric *fabric = keeper->request->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t *entry = &hd_routes_row(keeper->routes, sw)[lid];
		uint32_t link = keeper->next[sw];
		if (keeper->hops[sw] == HD_NONE) {
			*entry = HD_NO_PORT;
		} else if (keeper->hops[sw]) {
			*entry = fabric->isl_port[link];
			keeper->use[link]++;
		}
	}
}

static bool try_column(struct multipath_keeper *keeper, const struct hd_routes *from, uint32_t lid)
{
	if (!from || !load_column(keeper, from, lid))
		return false;
	spread_hops(keeper);
	if (find_joint(keeper) != HD_NONE)
		return false;
	write_column(keeper, lid);
	return true;
}

enum multipath_column multipath_keep_column(struct multipath_keeper *keeper, uint32_t lid)
{
	const struct hd_route_request *request = keeper->request;

	if (try_column(keeper, request->baseline, lid) ||
	    try_column(keeper, request->previous, lid))
		return MULTIPATH_COLUMN_VALID;
	return load_column(keeper, request->previous, lid) ? MULTIPATH_COLUMN_BROKEN
							   : MULTIPATH_COLUMN_UNKNOWN;
}

void multipath_keep_repair(struct multipath_keeper *keeper, uint32_t lid)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t joint;

	load_column(keeper, keeper->request->previous, lid);
	spread_hops(keeper);
	while ((joint = find_joint(keeper)) != HD_NONE) {
		uint32_t sw = hd_isl_from(fabric, joint);
		keeper->next[sw] = joint;
		keeper->hops[sw] = keeper->hops[fabric->isl_to[joint]] + 1;
		spread_hops(keeper);
	}
	write_column(keeper, lid);
}
