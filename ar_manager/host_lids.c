/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "host_lids.h"

/* A LID of a host or of an adapter that is set aside: its owner is no switch, and is cabled to one. */
static bool is_host_lid(const struct hd_fabric *fabric, uint32_t lid, uint32_t *sw)
{
	uint8_t port;

	return hd_fabric_lid_destination(fabric, lid, sw, &port) && port != 0;
}

int host_lids_init(struct host_lids *lids, const struct hd_fabric *fabric, struct hd_arena *arena)
{
	uint32_t *number = hd_arena_alloc(arena, fabric->switch_count, sizeof(*number));

	*lids = (struct host_lids){.lid_count = fabric->lid_count};
	lids->destination = hd_arena_alloc(arena, lids->lid_count, sizeof(*lids->destination));
	lids->may_adapt = hd_arena_alloc(arena, lids->lid_count, sizeof(*lids->may_adapt));
	lids->sw = hd_arena_alloc(arena, fabric->switch_count, sizeof(*lids->sw));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		number[sw] = HD_NONE;
	for (uint32_t lid = 0; lid < lids->lid_count; lid++) {
		uint32_t sw;
		if (is_host_lid(fabric, lid, &sw))
			number[sw] = 0;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (number[sw] == HD_NONE)
			continue;
		number[sw] = lids->count;
		lids->sw[lids->count++] = sw;
	}
	for (uint32_t lid = 0; lid < lids->lid_count; lid++) {
		uint32_t sw;
		lids->destination[lid] = HD_NONE;
		if (!is_host_lid(fabric, lid, &sw))
			continue;
		lids->destination[lid] = number[sw];
		/* Adapters that are set aside, such as aggregation nodes, keep their static
		 * paths. */
		lids->may_adapt[lid] =
		    !(hd_fabric_find_host(fabric, fabric->lid_owner[lid]) == HD_NONE);
	}
	return 0;
}
