/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_fault.h"
#include <errno.h>
#include <heddle/fabric/walk.h>

int check_fault_init(struct check_faults *faults, const struct hd_fabric *fabric, uint32_t room,
		     struct hd_arena *arena)
{
	*faults = (struct check_faults){.room = room};
	faults->path =
	    hd_arena_alloc(arena, (size_t)fabric->switch_count + 1, sizeof(*faults->path));
	faults->list = hd_arena_alloc(arena, room, sizeof(*faults->list));
	return hd_arena_check(arena);
}

int check_fault_keep(struct check_faults *faults, const struct hd_fault *fault,
		     struct hd_arena *arena)
{
	uint32_t *path = hd_arena_alloc(arena, fault->path_length, sizeof(*path));

	if (!path)
		return -ENOMEM;
	memcpy(path, fault->path, fault->path_length * sizeof(*path));
	faults->list[faults->count] = *fault;
	faults->list[faults->count++].path = path;
	return 0;
}

/* Follows the path from fault->source to its end. True when it does not arrive. */
static bool walk(struct check_faults *faults, const struct hd_columns *columns,
		 struct hd_fault *fault)
{
	static const enum hd_fault_kind kinds[] = {[HD_WALK_NO_ROUTE] = HD_FAULT_NO_ROUTE,
						   [HD_WALK_DEAD_END] = HD_FAULT_DEAD_END,
						   [HD_WALK_LOOP] = HD_FAULT_LOOP};
	enum hd_walk_end end = hd_routes_walk(columns->fabric, columns->routes, fault->source,
					      fault->lid, faults->path, &fault->path_length);

	if (end == HD_WALK_ARRIVED)
		return false;
	fault->kind = kinds[end];
	fault->path = faults->path;
	return true;
}

int check_fault_add_lid(struct check_faults *faults, const struct hd_columns *columns, uint32_t lid,
			struct hd_arena *arena)
{
	uint32_t destination;
	uint8_t port;

	if (!hd_fabric_lid_destination(columns->fabric, lid, &destination, &port))
		return 0;
	for (uint32_t sw = 0; sw < columns->fabric->switch_count; sw++) {
		struct hd_fault fault = {.source = sw, .lid = lid};
		if (faults->count == faults->room)
			return 0;
		if (walk(faults, columns, &fault) && check_fault_keep(faults, &fault, arena))
			return -ENOMEM;
	}
	return 0;
}
