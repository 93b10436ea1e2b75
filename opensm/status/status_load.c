/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_load.h"

#include <errno.h>
#include <heddle/fabric/walk.h>
#include <string.h>

struct counting {
	struct hd_columns columns;
	struct hd_column_block block;
	uint32_t *order; /* [switches] each before the switch to which it sends */
	uint32_t *senders; /* [switches] that send to this one and are not in the order yet */
	uint32_t *passing; /* [switches] paths that leave it */
	bool *arrives; /* [switches] */
	uint64_t *load; /* [links] */
};

static int init(struct counting *counting, const struct hd_fabric *fabric,
		const struct hd_routes *routes, struct hd_arena *arena)
{
	const uint32_t switches = fabric->switch_count;

	counting->order = hd_arena_alloc(arena, switches, sizeof(*counting->order));
	counting->senders = hd_arena_alloc(arena, switches, sizeof(*counting->senders));
	counting->passing = hd_arena_alloc(arena, switches, sizeof(*counting->passing));
	counting->arrives = hd_arena_alloc(arena, switches, sizeof(*counting->arrives));
	counting->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(*counting->load));
	int rc = hd_columns_init(&counting->columns, fabric, routes, arena);

	if (!rc)
		rc = hd_column_block_init(&counting->block, &counting->columns, arena);
	return rc ? rc : hd_arena_check(arena);
}

/* Orders the switches; those of a loop, and those behind it, are left out. Returns their number. */
static uint32_t make_order(struct counting *counting, const uint32_t *step)
{
	const struct hd_fabric *fabric = counting->columns.fabric;
	uint32_t ordered = 0;

	memset(counting->senders, 0, fabric->switch_count * sizeof(*counting->senders));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_step_is_link(step[sw]))
			counting->senders[fabric->isl_to[step[sw]]]++;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (!counting->senders[sw])
			counting->order[ordered++] = sw;
	for (uint32_t i = 0; i < ordered; i++) {
		uint32_t link = step[counting->order[i]];
		if (hd_step_is_link(link) && !--counting->senders[fabric->isl_to[link]])
			counting->order[ordered++] = fabric->isl_to[link];
	}
	return ordered;
}

static void find_arrivals(struct counting *counting, const uint32_t *step, uint32_t ordered)
{
	const struct hd_fabric *fabric = counting->columns.fabric;

	memset(counting->arrives, 0, fabric->switch_count * sizeof(*counting->arrives));
	for (uint32_t i = ordered; i-- > 0;) {
		uint32_t sw = counting->order[i], link = step[sw];
		counting->arrives[sw] =
		    link == HD_STEP_ARRIVED ||
		    (hd_step_is_link(link) && counting->arrives[fabric->isl_to[link]]);
	}
}

static void count_column(struct counting *counting, const struct hd_column *column)
{
	const struct hd_fabric *fabric = counting->columns.fabric;
	uint32_t ordered = make_order(counting, column->step);

	find_arrivals(counting, column->step, ordered);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		counting->passing[sw] =
		    counting->arrives[sw] ? fabric->host_base[sw + 1] - fabric->host_base[sw] : 0;
	for (uint32_t i = 0; i < ordered; i++) {
		uint32_t sw = counting->order[i], link = column->step[sw];
		if (!counting->passing[sw] || !hd_step_is_link(link))
			continue;
		counting->load[link] += counting->passing[sw];
		counting->passing[fabric->isl_to[link]] += counting->passing[sw];
	}
}

/* Whether a LID is the first one of a host. */
static bool is_base(const struct hd_fabric *fabric, uint32_t lid)
{
	uint32_t port = fabric->lid_owner[lid];

	return port != HD_NONE && fabric->lid[port] == lid && !fabric->aside[port] &&
	       !hd_is_switch(fabric, fabric->port_node[port]);
}

static void count_all(struct counting *counting)
{
	const struct hd_columns *columns = &counting->columns;

	for (uint32_t number = 0; number < hd_column_block_count(columns); number++) {
		const uint32_t first = number * HD_COLUMN_BLOCK;
		const uint32_t end = first + hd_column_block_lids(columns, first);
		struct hd_column column;

		hd_column_block_load(&counting->block, columns, first);
		for (uint32_t lid = first; lid < end; lid++)
			if (is_base(columns->fabric, lid) &&
			    hd_column_take(&counting->block, columns, lid, &column))
				count_column(counting, &column);
	}
}

static void sum_up(const struct counting *counting, struct status_load *out)
{
	const struct hd_fabric *fabric = counting->columns.fabric;
	uint64_t sum = 0;

	*out = (struct status_load){.link = fabric->isl_count ? 0 : HD_NONE};
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		sum += counting->load[link];
		if (counting->load[link] > out->largest) {
			out->largest = counting->load[link];
			out->link = link;
		}
	}
	if (fabric->isl_count)
		out->mean = (double)sum / fabric->isl_count;
	out->lanes = hd_routes_lanes(fabric, counting->columns.routes);
}

int status_load_count(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      struct status_load *out, struct hd_error *err)
{
	struct hd_arena arena = {0};
	struct counting counting = {0};
	int rc = init(&counting, fabric, routes, &arena);

	if (!rc) {
		count_all(&counting);
		sum_up(&counting, out);
	}
	hd_arena_release(&arena);
	return rc ? hd_error_no_memory(err) : 0;
}
