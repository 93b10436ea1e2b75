/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of one LID at all switches, and which links packets to it may take. recovery_prove.c and
 * recovery_bridge.c load one column after another.
 *
 * Loading checks that packets arrive, and orders the switches so that each comes after those to which it sends.
 */
#include "column.h"

#include <errno.h>

static int list_entries(struct columns *columns, const struct hd_ar_recovery_request *request)
{
	const uint32_t switches = columns->fabric->switch_count;

	columns->entries = hd_arena_alloc(&columns->arena, switches, sizeof(*columns->entries));
	if (!columns->entries)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++) {
		uint32_t row = hd_ar_plan_find(request->plan, columns->fabric->node_guid[sw]);
		columns->entries[sw] = (struct next_hops_entries){
		    .port = {hd_routes_row(request->routes, sw)},
		    .plan = {row == HD_NONE ? NULL : &request->plan->switches[row]}};
	}
	return 0;
}

/* Whether the destination switch hands packets to the adapter, and to nobody else. */
static bool is_handed(const struct columns *columns, uint32_t lid)
{
	uint32_t sw;
	uint8_t port;

	if (!hd_fabric_lid_destination(columns->fabric, lid, &sw, &port))
		return false;
	const struct hd_ar_switch *plan = columns->entries[sw].plan[0];
	return hd_routes_port(columns->routes, sw, lid) == port &&
	       (!plan || plan->lid_group[0][lid] == HD_AR_NO_GROUP);
}

static int list_kinds(struct columns *columns)
{
	const uint32_t lids = columns->lids.lid_count;
	uint32_t *number = hd_arena_alloc(&columns->arena, lids, sizeof(*number));

	columns->lid = hd_arena_alloc(&columns->arena, lids, sizeof(*columns->lid));
	columns->weight = hd_arena_alloc(&columns->arena, lids, sizeof(*columns->weight));
	if (hd_arena_check(&columns->arena))
		return -ENOMEM;
	for (uint32_t lid = 0; lid < lids; lid++) {
		const uint32_t first = columns->next.alike[lid];
		if (columns->lids.destination[lid] == HD_NONE)
			continue;
		if (first == lid) {
			number[lid] = columns->count;
			columns->lid[columns->count++] = lid;
		}
		columns->weight[number[first]] += is_handed(columns, lid);
	}
	return 0;
}

static int check_shapes(const struct hd_ar_recovery_request *request, struct hd_error *err)
{
	const struct hd_fabric *fabric = request->fabric;

	if (request->plan->lid_count == fabric->lid_count &&
	    request->routes->lid_count == fabric->lid_count &&
	    request->routes->switch_count == fabric->switch_count)
		return 0;
	return hd_error_set(
	    err, -EINVAL,
	    "a plan up to LID %u, and tables of %u switches up to LID %u, for a fabric "
	    "of %u switches up to LID %u",
	    request->plan->lid_count - 1, request->routes->switch_count,
	    request->routes->lid_count - 1, fabric->switch_count, fabric->lid_count - 1);
}

int columns_init(struct columns *columns, const struct hd_ar_recovery_request *request,
		 struct hd_error *err)
{
	*columns = (struct columns){.fabric = request->fabric, .routes = request->routes};
	int rc = check_shapes(request, err);
	if (rc)
		return rc;
	rc = host_lids_init(&columns->lids, request->fabric, &columns->arena);
	if (!rc)
		rc = list_entries(columns, request);
	if (!rc)
		rc = next_hops_init(&columns->next, request->fabric, &columns->lids,
				    columns->entries, request->threads, &request->go_on,
				    &columns->arena);
	if (!rc)
		rc = list_kinds(columns);
	return hd_go_on_explain(rc, err);
}

void columns_release(struct columns *columns)
{
	next_hops_release(&columns->next);
	hd_arena_release(&columns->arena);
}

int columns_refuse(const struct columns *columns, uint32_t sw, uint32_t lid, struct hd_error *err)
{
	char label[HD_LABEL_SIZE];

	hd_port_label(columns->fabric, hd_port_index(columns->fabric, sw, 0), label, sizeof(label));
	return hd_error_set(err, -ELOOP, "switch %s, LID %u: packets can come back to the switch",
			    label, lid);
}

int column_init(struct column *column, const struct columns *all, struct hd_arena *arena)
{
	const uint32_t switches = all->fabric->switch_count;

	*column = (struct column){.all = all};
	column->sets =
	    hd_arena_alloc(arena, (size_t)switches * all->next.words, sizeof(*column->sets));
	column->ports = hd_arena_alloc(arena, switches, sizeof(*column->ports));
	column->good = hd_arena_alloc(arena, switches, sizeof(*column->good));
	column->open = hd_arena_alloc(arena, switches, sizeof(*column->open));
	column->queue = hd_arena_alloc(arena, switches, sizeof(*column->queue));
	column->back = hd_arena_alloc(arena, all->fabric->isl_count, sizeof(*column->back));
	column->back_first = hd_arena_alloc(arena, switches, sizeof(*column->back_first));
	column->back_end = hd_arena_alloc(arena, switches, sizeof(*column->back_end));
	return hd_arena_check(arena);
}

/* ---- from where packets arrive ---- */

/* Lists the links to the switch, and tells those before it that it was looked at. Returns the new end of the
 * queue. */
static uint32_t close_links(struct column *column, uint32_t sw, uint32_t end)
{
	const struct hd_fabric *fabric = column->all->fabric;

	column->back_first[sw] = column->backs;
	for (uint32_t out = fabric->isl_base[sw]; out < fabric->isl_base[sw + 1]; out++) {
		const uint32_t from = fabric->isl_to[out], link = fabric->isl_reverse[out];
		if (!column_has(column, from, link))
			continue;
		column->back[column->backs++] = (struct column_back){from, link};
		column->good[from] = column->good[from] && column->good[sw];
		if (!--column->open[from])
			column->queue[end++] = from;
	}
	column->back_end[sw] = column->backs;
	return end;
}

uint32_t column_load(struct column *column, uint32_t index)
{
	const struct columns *all = column->all;
	const uint32_t switches = all->fabric->switch_count;
	uint32_t end = 0;

	column->lid = all->lid[index];
	column->to = all->lids.sw[all->lids.destination[column->lid]];
	column->backs = 0;
	const struct next_hops *next = &column->all->next;
	for (uint32_t sw = 0; sw < column->all->fabric->switch_count; sw++) {
		uint64_t *set = column->sets + (size_t)sw * next->words;
		next_hops_of_lid(next, sw, column->lid, set);
		column->ports[sw] = link_sets_count(set, next->words);
		column->open[sw] = column->ports[sw];
		column->good[sw] = column->ports[sw] > 0 || sw == column->to;
	}
	for (uint32_t sw = 0; sw < switches; sw++)
		if (!column->open[sw])
			column->queue[end++] = sw;
	for (uint32_t first = 0; first < end; first++)
		end = close_links(column, column->queue[first], end);
	if (end >= switches)
		return HD_NONE;
	/* A switch on a circle that can be reached from one that was not looked at. */
	const struct hd_fabric *fabric = column->all->fabric;
	uint32_t sw = 0;
	while (!column->open[sw])
		sw++;
	/* so many steps lead onto the circle */
	for (uint32_t step = 0; step < fabric->switch_count; step++) {
		uint32_t link = fabric->isl_base[sw];
		while (!column_has(column, sw, link) || !column->open[fabric->isl_to[link]])
			link++;
		sw = fabric->isl_to[link];
	}
	return sw;
}
