/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_tree.h"
#include <errno.h>

int check_tree_tables_init(struct check_tables *tables, const struct hd_fabric *fabric,
			   const struct hd_routes *routes, struct hd_arena *arena)
{
	tables->fabric = fabric;
	tables->routes = routes;
	tables->port_step = hd_arena_alloc(arena, fabric->port_count, sizeof(*tables->port_step));
	if (!tables->port_step)
		return -ENOMEM;
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		bool self = peer != HD_NONE && fabric->port_node[peer] == fabric->port_node[port];
		tables->port_step[port] = self ? CHECK_STEP_SELF : CHECK_STEP_DEAD_END;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			tables->port_step[hd_port_index(fabric, sw, fabric->isl_port[link])] = link;
	return 0;
}

int check_tree_block_init(struct check_block *block, const struct check_tables *tables,
			  struct hd_arena *arena)
{
	size_t entries = (size_t)CHECK_BLOCK * tables->fabric->switch_count;

	block->step = hd_arena_alloc(arena, entries, sizeof(*block->step));
	block->lane_all = (uint16_t)(1u << (tables->routes->sl2vl[0] & 15));
	block->lane = NULL;
	if (tables->routes->sl)
		block->lane = hd_arena_alloc(arena, entries, sizeof(*block->lane));
	return hd_arena_check(arena);
}

int check_tree_init(struct check_tree *tree, const struct hd_fabric *fabric, struct hd_arena *arena)
{
	tree->switch_count = fabric->switch_count;
	tree->order = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree->order));
	tree->hops = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree->hops));
	tree->arrival = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree->arrival));
	tree->waiting = hd_arena_alloc(arena, fabric->switch_count, sizeof(*tree->waiting));
	return hd_arena_check(arena);
}

static uint32_t port_leads(const struct check_tables *tables, uint32_t sw, uint32_t ports,
			   uint8_t port)
{
	if (port <= ports)
		return tables->port_step[tables->fabric->port_base[sw] + port];
	return port == HD_NO_PORT ? CHECK_STEP_NO_ROUTE : CHECK_STEP_DEAD_END;
}

static void load_steps(struct check_block *block, const struct check_tables *tables, uint32_t sw,
		       uint32_t count)
{
	const uint8_t *row = hd_routes_row(tables->routes, sw) + block->first_lid;
	uint32_t switches = tables->fabric->switch_count;
	uint32_t ports = hd_node_ports(tables->fabric, sw);

	for (uint32_t i = 0; i < count; i++)
		block->step[(size_t)i * switches + sw] = port_leads(tables, sw, ports, row[i]);
}

static void load_lanes(struct check_block *block, const struct hd_routes *routes, uint32_t sw,
		       uint32_t count)
{
	const uint8_t *row = routes->sl + (size_t)sw * routes->stride + block->first_lid;

	for (uint32_t i = 0; i < count; i++)
		block->lane[(size_t)i * routes->switch_count + sw] =
		    (uint16_t)(1u << (routes->sl2vl[row[i] & 15] & 15));
}

void check_tree_block_load(struct check_block *block, const struct check_tables *tables,
			   uint32_t first)
{
	uint32_t count = tables->routes->lid_count - first;

	if (count > CHECK_BLOCK)
		count = CHECK_BLOCK;
	block->first_lid = first;
	for (uint32_t sw = 0; sw < tables->fabric->switch_count; sw++)
		load_steps(block, tables, sw, count);
	if (!block->lane)
		return;
	for (uint32_t sw = 0; sw < tables->fabric->switch_count; sw++)
		load_lanes(block, tables->routes, sw, count);
}

static bool is_link(uint32_t step)
{
	return step < CHECK_STEP_ARRIVED;
}

static void count_waiting(struct check_tree *tree, const struct hd_fabric *fabric)
{
	memset(tree->waiting, 0, tree->switch_count);
	for (uint32_t sw = 0; sw < tree->switch_count; sw++)
		if (is_link(tree->step[sw]))
			tree->waiting[fabric->isl_to[tree->step[sw]]]++;
}

/* Removes switches to which no other switch points, again and again, until only rings remain. */
static void put_in_order(struct check_tree *tree, const struct hd_fabric *fabric)
{
	uint32_t *order = tree->order, ordered = 0;

	for (uint32_t sw = 0; sw < tree->switch_count; sw++)
		if (!tree->waiting[sw])
			order[ordered++] = sw;
	for (uint32_t done = 0; done < ordered; done++) {
		uint32_t step = tree->step[order[done]];
		if (is_link(step) && !--tree->waiting[fabric->isl_to[step]])
			order[ordered++] = fabric->isl_to[step];
	}
	tree->ordered = ordered;
}

static enum check_arrival outcome(uint32_t step)
{
	switch (step) {
	case CHECK_STEP_ARRIVED:
		return CHECK_ARRIVES;
	case CHECK_STEP_NO_ROUTE:
		return CHECK_NO_ROUTE;
	case CHECK_STEP_DEAD_END:
		return CHECK_DEAD_END;
	default:
		return CHECK_LOOP;
	}
}

/* From the roots outwards: a packet at a switch arrives if it arrives from the next switch. */
static void find_arrivals(struct check_tree *tree, const struct hd_fabric *fabric)
{
	tree->bad = tree->switch_count - tree->ordered;
	if (tree->bad)
		memset(tree->arrival, CHECK_LOOP, tree->switch_count);
	for (uint32_t i = tree->ordered; i-- > 0;) {
		uint32_t sw = tree->order[i], step = tree->step[sw];
		if (is_link(step)) {
			tree->arrival[sw] = tree->arrival[fabric->isl_to[step]];
			tree->hops[sw] = tree->hops[fabric->isl_to[step]] + 1;
		} else {
			tree->arrival[sw] = (uint8_t)outcome(step);
			tree->hops[sw] = 0;
		}
		tree->bad += tree->arrival[sw] != CHECK_ARRIVES;
	}
}

bool check_tree_make(struct check_tree *tree, struct check_block *block,
		     const struct check_tables *tables, uint32_t lid)
{
	const struct hd_fabric *fabric = tables->fabric;
	uint32_t *step = block->step + (size_t)(lid - block->first_lid) * fabric->switch_count;
	uint8_t port;

	if (!hd_fabric_lid_destination(fabric, lid, &tree->destination, &port))
		return false;
	tree->to_host = port != 0;
	tree->step = step;
	if (hd_routes_port(tables->routes, tree->destination, lid) == port)
		step[tree->destination] = CHECK_STEP_ARRIVED;
	count_waiting(tree, fabric);
	put_in_order(tree, fabric);
	find_arrivals(tree, fabric);
	return true;
}
