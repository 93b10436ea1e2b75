/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_fault.h"
#include <errno.h>

int check_faults_init(struct check_faults *faults, const struct hd_fabric *fabric, uint32_t room,
		      struct hd_arena *arena)
{
	*faults = (struct check_faults){.room = room};
	faults->visited = hd_arena_alloc(arena, fabric->switch_count, sizeof *faults->visited);
	faults->path =
	    hd_arena_alloc(arena, (size_t)fabric->switch_count + 1, sizeof *faults->path);
	faults->list = hd_arena_alloc(arena, room, sizeof *faults->list);
	return faults->visited && faults->path && faults->list ? 0 : -ENOMEM;
}

int check_faults_keep(struct check_faults *faults, const struct hd_fault *fault,
		      struct hd_arena *arena)
{
	uint32_t *path = hd_arena_alloc(arena, fault->path_length, sizeof *path);

	if (!path)
		return -ENOMEM;
	memcpy(path, fault->path, fault->path_length * sizeof *path);
	faults->list[faults->count] = *fault;
	faults->list[faults->count++].path = path;
	return 0;
}

static enum hd_fault_kind kind_of(uint32_t step)
{
	return step == STEP_NO_ROUTE   ? HD_FAULT_NO_ROUTE
	       : step == STEP_DEAD_END ? HD_FAULT_DEAD_END
				       : HD_FAULT_LOOP;
}

/* Walks from fault->source to where it ends; true when it does not arrive. */
static bool walk(struct check_faults *faults, const struct check_tables *tables,
		 uint32_t exit_switch, uint8_t exit_port, struct hd_fault *fault)
{
	uint32_t sw = fault->source, length = 0, step;

	faults->walks++;
	do {
		faults->path[length++] = sw;
		faults->visited[sw] = faults->walks;
		step = check_step(tables, sw, fault->lid, exit_switch, exit_port);
		if (step < STEP_ARRIVED)
			sw = tables->fabric->isl_to[step];
	} while (step < STEP_ARRIVED && faults->visited[sw] != faults->walks);
	fault->kind = kind_of(step);
	if (fault->kind == HD_FAULT_LOOP)
		faults->path[length++] = sw;
	fault->path = faults->path;
	fault->path_length = length;
	return step != STEP_ARRIVED;
}

int check_faults_add_lid(struct check_faults *faults, const struct check_tables *tables,
			 uint32_t lid, struct hd_arena *arena)
{
	uint32_t exit_switch;
	uint8_t exit_port;

	if (!hd_fabric_lid_exit(tables->fabric, lid, &exit_switch, &exit_port))
		return 0;
	for (uint32_t sw = 0; sw < tables->fabric->switch_count; sw++) {
		struct hd_fault fault = {.source = sw, .lid = lid};
		if (faults->count == faults->room)
			return 0;
		if (walk(faults, tables, exit_switch, exit_port, &fault) &&
		    check_faults_keep(faults, &fault, arena))
			return -ENOMEM;
	}
	return 0;
}
