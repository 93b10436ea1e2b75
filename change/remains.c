/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "remains.h"

#include <errno.h>

/* Both fabrics have their switches in the order of GUIDs. */
static void match_rows(struct remains *remains, const struct hd_fabric *fabric,
		       const struct hd_fabric *damaged)
{
	uint32_t row = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		bool same =
		    row < damaged->switch_count && damaged->node_guid[row] == fabric->node_guid[sw];
		remains->row[sw] = same ? row++ : HD_NONE;
	}
}

static bool has_cable(const struct remains *remains, const struct hd_fabric *damaged, uint32_t sw,
		      uint32_t port)
{
	return remains->row[sw] != HD_NONE &&
	       damaged->peer[hd_port_index(damaged, remains->row[sw], port)] != HD_NONE;
}

int remains_init(struct remains *remains, const struct hd_fabric *fabric,
		 const struct hd_fabric *damaged, struct hd_arena *arena)
{
	remains->row = hd_arena_alloc(arena, fabric->switch_count, sizeof(*remains->row));
	remains->port_step = hd_arena_alloc(arena, fabric->port_count, sizeof(*remains->port_step));
	if (hd_arena_check(arena))
		return -ENOMEM;
	match_rows(remains, fabric, damaged);
	for (uint32_t port = 0; port < fabric->port_count; port++)
		remains->port_step[port] = HD_STEP_DEAD_END;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (has_cable(remains, damaged, sw, fabric->isl_port[link]))
				remains
				    ->port_step[hd_port_index(fabric, sw, fabric->isl_port[link])] =
				    link;
	return 0;
}
