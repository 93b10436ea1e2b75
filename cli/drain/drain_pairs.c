/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle drain: which pairs of hosts are hit by a pull, and which are cut off after the repair. */
#include "drain.h"
#include "need.h"

#include <string.h>

/* How packets for a LID go on from a switch. */
enum end { END_UNKNOWN, END_OPEN, END_LOST, END_ARRIVES, END_HIT };

/* The tables of one fabric, by destination. */
struct side {
	struct hd_columns columns;
	struct hd_column_block block;
	const bool *pulled; /* [isl_count] of links that are pulled; NULL: none is */
	uint8_t *ends; /* [switch_count] enum end, of the present LID */
	uint32_t *path; /* [switch_count + 1] */
};

struct counting {
	const struct drain_tables *tables;
	struct hd_arena arena;
	struct side before, after;
	bool *links; /* [isl_count] pulled */
	bool *lost; /* [host_count] the host has no cable any more */
	uint32_t *row; /* [switch_count] the same switch in the rest, HD_NONE */
	bool *was, *hit, *cut,
	    *dead; /* [switch_count] of the present destination: some LID of it ... */
	struct drain_pairs *out;
};

static uint8_t step_end(const struct side *side, uint32_t step, uint32_t *next)
{
	if (step == HD_STEP_ARRIVED)
		return END_ARRIVES;
	if (!hd_step_is_link(step))
		return END_LOST;
	*next = side->columns.fabric->isl_to[step];
	return side->ends[*next] == END_OPEN ? END_LOST : side->ends[*next];
}

/* Follows packets from a switch, and notes the end for all switches on the way. */
static uint8_t follow(const struct side *side, const struct hd_column *column, uint32_t sw)
{
	uint32_t count = 0, next = sw;
	uint8_t end = side->ends[sw];

	while (end == END_UNKNOWN) {
		const uint32_t at = next;
		side->ends[at] = END_OPEN;
		side->path[count++] = at;
		end = step_end(side, column->step[at], &next);
	}
	while (count--) {
		const uint32_t step = column->step[side->path[count]];
		if (end == END_ARRIVES && side->pulled && hd_step_is_link(step) &&
		    side->pulled[step])
			end = END_HIT;
		side->ends[side->path[count]] = end;
	}
	return side->ends[sw];
}

static bool take_column(struct side *side, uint32_t lid, struct hd_column *column)
{
	memset(side->ends, END_UNKNOWN, side->columns.fabric->switch_count);
	return hd_column_take(&side->block, &side->columns, lid, column);
}

static bool is_in_block(const struct counting *counting, uint32_t lid)
{
	return lid / HD_COLUMN_BLOCK == counting->before.block.first_lid / HD_COLUMN_BLOCK;
}

static void count_host(struct counting *counting, uint32_t host, bool *loaded)
{
	const struct hd_fabric *fabric = counting->tables->fabric;
	const uint32_t port = fabric->host_port[host], base = fabric->lid[port];

	memset(counting->was, 0, fabric->switch_count);
	memset(counting->hit, 0, fabric->switch_count);
	memset(counting->cut, 0, fabric->switch_count);
	memset(counting->dead, 0, fabric->switch_count);
	for (uint32_t i = 0; i < hd_port_lid_count(fabric, port); i++) {
		if (!*loaded || !is_in_block(counting, base + i)) {
			uint32_t lid = base + i;
			const uint32_t first = lid / HD_COLUMN_BLOCK * HD_COLUMN_BLOCK;
			hd_column_block_load(&counting->before.block, &counting->before.columns,
					     first);
			if (counting->tables->repaired && first < counting->tables->rest->lid_count)
				hd_column_block_load(&counting->after.block,
						     &counting->after.columns, first);
		}
		*loaded = true;
		/* What becomes of packets to one LID of a host. */
		uint32_t lid = base + i;
		const bool repaired =
		    counting->tables->repaired && lid < counting->tables->rest->lid_count;
		struct hd_column before = {0}, after = {0};
		bool known = take_column(&counting->before, lid, &before);
		bool left = repaired && take_column(&counting->after, lid, &after);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			const uint32_t row = counting->row[sw];
			if (!hd_has_hosts(fabric, sw))
				continue;
			if (!known) {
				counting->dead[sw] = true;
				continue;
			}
			const uint8_t end = follow(&counting->before, &before, sw);
			const bool arrives = left && row != HD_NONE &&
					     follow(&counting->after, &after, row) == END_ARRIVES;
			counting->dead[sw] |= end < END_ARRIVES;
			counting->was[sw] |= end >= END_ARRIVES;
			counting->hit[sw] |= end == END_HIT;
			counting->cut[sw] |= end >= END_ARRIVES && !arrives;
		}
	}
	if (base) {
		/* The pairs from all hosts to this one. */
		for (uint32_t from = 0; from < fabric->host_count; from++) {
			const uint32_t sw = fabric->host_switch[from];
			const bool lost =
			    counting->was[sw] && (counting->lost[from] || counting->lost[host]);
			if (from == host)
				continue;
			counting->out->all++;
			counting->out->dead += counting->dead[sw];
			counting->out->hit += counting->hit[sw] || lost;
			if (!counting->cut[sw] && !lost)
				continue;
			counting->out->cut++;
			if (counting->out->named != DRAIN_PAIRS_NAMED) {
				counting->out->from[counting->out->named] = from;
				counting->out->to[counting->out->named++] = host;
			}
		}
	}
}

static void prepare_side(struct side *side, const struct hd_fabric *fabric,
			 const struct hd_routes *routes, struct hd_arena *arena)
{
	side->ends = need_of(arena, fabric->switch_count, 1);
	side->path = need_of(arena, fabric->switch_count + 1u, sizeof(*side->path));
	need_enough(hd_columns_init(&side->columns, fabric, routes, arena));
	need_enough(hd_column_block_init(&side->block, &side->columns, arena));
}

bool drain_is_alone(const struct hd_fabric *fabric, const struct hd_fabric *rest, uint32_t host)
{
	const uint32_t row =
	    hd_fabric_find_node(rest, fabric->node_guid[fabric->host_switch[host]]);

	return row == HD_NONE ||
	       rest->peer[hd_port_index(rest, row, fabric->host_switch_port[host])] == HD_NONE;
}

/* A switch that is pulled takes all of its cables along. */
static void note_pulled(struct counting *counting)
{
	const struct hd_fabric *fabric = counting->tables->fabric, *rest = counting->tables->rest;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t row = counting->row[sw] =
		    hd_fabric_find_node(rest, fabric->node_guid[sw]);
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			counting->links[link] =
			    row == HD_NONE ||
			    rest->peer[hd_port_index(rest, row, fabric->isl_port[link])] == HD_NONE;
	}
	for (uint32_t host = 0; host < fabric->host_count; host++)
		counting->lost[host] = drain_is_alone(fabric, rest, host);
}

static void prepare(struct counting *counting)
{
	const struct drain_tables *tables = counting->tables;
	const struct hd_fabric *fabric = tables->fabric;
	struct hd_arena *arena = &counting->arena;

	counting->links = need_of(arena, fabric->isl_count, sizeof(bool));
	counting->lost = need_of(arena, fabric->host_count, sizeof(bool));
	counting->row = need_of(arena, fabric->switch_count, sizeof(uint32_t));
	counting->was = need_of(arena, fabric->switch_count, sizeof(bool));
	counting->hit = need_of(arena, fabric->switch_count, sizeof(bool));
	counting->cut = need_of(arena, fabric->switch_count, sizeof(bool));
	counting->dead = need_of(arena, fabric->switch_count, sizeof(bool));
	prepare_side(&counting->before, fabric, tables->routes, arena);
	if (tables->repaired)
		prepare_side(&counting->after, tables->rest, tables->repaired, arena);
	counting->before.pulled = counting->links;
	note_pulled(counting);
}

void drain_pairs_count(const struct drain_tables *tables, struct drain_pairs *out)
{
	struct counting counting = {.tables = tables, .out = out};
	bool loaded = false;

	prepare(&counting);
	*out = (struct drain_pairs){0};
	for (uint32_t host = 0; host < tables->fabric->host_count; host++)
		count_host(&counting, host, &loaded);
	hd_arena_release(&counting.arena);
}
