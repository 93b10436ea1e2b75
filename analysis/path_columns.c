/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "path_columns.h"

/* In place of an entry that leads into a loop: the column is this thread's own. A cable of a switch
 * to itself is a dead end here. */
#define STEP_LOOP HD_STEP_SELF

int path_columns_init(struct path_columns *paths, const struct hd_columns *columns,
		      struct hd_arena *arena)
{
	*paths = (struct path_columns){.columns = columns};
	paths->next = hd_arena_alloc(arena, columns->fabric->switch_count, sizeof(*paths->next));
	return hd_column_block_init(&paths->block, columns, arena);
}

bool path_columns_take(struct path_columns *paths, uint32_t lid)
{
	const struct hd_fabric *fabric = paths->columns->fabric;
	struct hd_column column;

	if (!hd_column_take(&paths->block, paths->columns, lid, &column))
		return false;
	paths->step = column.step;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (hd_step_is_link(column.step[sw]))
			paths->next[sw] = fabric->isl_to[column.step[sw]];
		else if (column.step[sw] == HD_STEP_SELF)
			column.step[sw] = HD_STEP_DEAD_END;
	}
	return true;
}

static int path_end(uint32_t step, uint32_t hops)
{
	switch (step) {
	case HD_STEP_ARRIVED:
		return (int)hops;
	case HD_STEP_NO_ROUTE:
		return PATH_NO_ROUTE;
	case STEP_LOOP:
		return PATH_LOOP;
	default:
		return PATH_DEAD_END;
	}
}

/* Walks that come upon this path later end at once. */
static void mark_loop(struct path_columns *paths, uint32_t sw)
{
	while (hd_step_is_link(paths->step[sw])) {
		paths->step[sw] = STEP_LOOP;
		sw = paths->next[sw];
	}
}

int path_columns_walk(struct path_columns *paths, uint32_t sw, uint32_t *links, uint32_t room)
{
	uint32_t switches = paths->columns->fabric->switch_count, at = sw;

	for (uint32_t hops = 0; hops < switches; hops++) {
		uint32_t step = paths->step[at];
		if (!hd_step_is_link(step))
			return path_end(step, hops);
		if (hops < room)
			links[hops] = step;
		at = paths->next[at];
	}
	mark_loop(paths, sw);
	return PATH_LOOP;
}
