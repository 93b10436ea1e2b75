/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Other tables of the same fabric, whose dependencies the base takes in. */
#include "repair_base.h"

#include <errno.h>
#include <heddle/fabric/walk.h>
#include <string.h>

struct taking {
	struct hd_repair_base *base;
	const struct hd_routes *tables;
	struct hd_columns columns; /* of `tables` */
	bool *differs; /* [lid_count of the tables] */
	uint32_t *step; /* [switch_count] where the entries for the LID at hand lead */
	uint16_t *passing; /* [switch_count] lanes of packets that were followed */
	struct hd_arena arena;
};

static void compare(struct taking *taking, const struct hd_routes *in_place)
{
	for (uint32_t sw = 0; sw < in_place->switch_count; sw++) {
		const uint8_t *before = hd_routes_row(in_place, sw);
		const uint8_t *after = hd_routes_row(taking->tables, sw);
		if (!memcmp(before, after, in_place->lid_count))
			continue;
		for (uint32_t lid = 0; lid < in_place->lid_count; lid++)
			taking->differs[lid] |= before[lid] != after[lid];
	}
}

static void find_steps(struct taking *taking, uint32_t lid, uint32_t destination, uint8_t port)
{
	const struct hd_fabric *fabric = taking->base->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t taken = hd_routes_row(taking->tables, sw)[lid];
		taking->step[sw] = taken <= hd_node_ports(fabric, sw)
				       ? taking->columns.port_step[hd_port_index(fabric, sw, taken)]
				       : HD_STEP_NO_ROUTE;
	}
	if (hd_routes_row(taking->tables, destination)[lid] == port)
		taking->step[destination] = HD_STEP_ARRIVED;
}

/* Adds what packets from a switch depend on, as far as others have not been there before. */
static bool add_path(struct taking *taking, uint32_t sw, uint16_t lane)
{
	const struct hd_fabric *fabric = taking->base->fabric;

	while (!(taking->passing[sw] & lane)) {
		uint32_t link = taking->step[sw];
		taking->passing[sw] |= lane;
		if (!hd_step_is_link(link))
			return true;
		sw = fabric->isl_to[link];
		if (hd_step_is_link(taking->step[sw]) &&
		    !repair_base_add(taking->base, lane, link, taking->step[sw]))
			return false;
	}
	return true;
}

static bool take_lid(struct taking *taking, uint32_t lid)
{
	const struct hd_fabric *fabric = taking->base->fabric;
	uint32_t destination;
	uint8_t port;

	if (!hd_fabric_lid_destination(fabric, lid, &destination, &port) || !port)
		return true; /* packets to a switch itself are no data traffic */
	find_steps(taking, lid, destination, port);
	memset(taking->passing, 0, fabric->switch_count * sizeof(*taking->passing));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_has_adapters(fabric, sw) &&
		    !add_path(taking, sw, (uint16_t)(1u << hd_routes_vl(taking->tables, sw, lid))))
			return false;
	return true;
}

static int prepare(struct taking *taking)
{
	const uint32_t switches = taking->base->fabric->switch_count;

	taking->differs = hd_arena_alloc(&taking->arena, taking->tables->lid_count, sizeof(bool));
	taking->step = hd_arena_alloc(&taking->arena, switches, sizeof(*taking->step));
	taking->passing = hd_arena_alloc(&taking->arena, switches, sizeof(*taking->passing));
	if (hd_columns_init(&taking->columns, taking->base->fabric, taking->tables, &taking->arena))
		return -ENOMEM;
	return hd_arena_check(&taking->arena);
}

int hd_repair_base_take(struct hd_repair_base *base, const struct hd_routes *in_place,
			const struct hd_routes *tables, const struct hd_go_on *go_on,
			struct hd_error *err)
{
	struct taking taking = {.base = base, .tables = tables};
	int rc = prepare(&taking) ? hd_error_no_memory(err) : 0;

	if (!rc)
		compare(&taking, in_place);
	for (uint32_t lid = 0; !rc && lid < tables->lid_count; lid++) {
		if (!taking.differs[lid])
			continue;
		rc = hd_go_on_check(go_on, err);
		if (rc)
			break;
		repair_base_begin(base);
		bool fits = take_lid(&taking, lid);
		repair_base_end(base, fits);
		if (!fits)
			rc = hd_error_set(
			    err, -ELOOP, "the entries for LID %u do not fit the earlier ones", lid);
	}
	hd_arena_release(&taking.arena);
	return rc;
}
