/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of one level differ only in which ports lead to the same places, and below themselves.
 * So a row is: the level's pattern of up-link numbers turned into ports (copied from the last
 * row where the ports are the same), then the LIDs below overwritten, then the switch LIDs.
 */
#include "dmodk_closed.h"

#include <stdlib.h>

struct closed {
	const struct regular_tree *tree;
	struct hd_arena arena;
	struct hd_routes *routes;
	uint32_t *place; /* [host_count]: d of each host */
	uint16_t *lids; /* host LIDs by number of their leaf */
	uint32_t *leaf_lids; /* [leaves + 1]: LIDs of leaf n: lids[leaf_lids[n]] .. */
	uint8_t **climb; /* [level][lid_count]: up-link number */
	uint8_t **descend; /* [level][lid_count]: child * child_links + link; leaf: the port */
	uint32_t *chain; /* [sw * level_count + level]: group of the switches below sw there */
};

static uint32_t top_level(const struct closed *closed)
{
	return closed->tree->level_count - 1;
}

/* ---- numbering ---- */

static bool policy_orders(const struct hd_route_request *request)
{
	return request->policy && (request->policy->order_count || request->policy->cn_count);
}

static void place_hosts(struct closed *closed, const struct hd_route_request *request,
			const struct routing_policy *policy)
{
	const struct hd_fabric *fabric = closed->tree->fabric;
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		if (policy_orders(request)) {
			closed->place[policy->host_order[i]] = i;
			continue;
		}
		uint32_t leaf = fabric->host_switch[i], first = fabric->host_base[leaf];
		uint32_t hosts = fabric->host_base[leaf + 1] - first;
		closed->place[i] = closed->tree->first_leaf[leaf] * hosts + i - first;
	}
}

static uint32_t host_lid_count(const struct hd_fabric *fabric, uint32_t host)
{
	uint32_t port = fabric->host_port[host];
	return fabric->lid[port] ? 1u << fabric->lmc[port] : 0;
}

/* Counting sort of all host LIDs by leaf number. */
static void sort_lids(struct closed *closed)
{
	const struct hd_fabric *fabric = closed->tree->fabric;
	const uint32_t *leaf_of = closed->tree->first_leaf;
	uint32_t *base = closed->leaf_lids, leaves = closed->tree->leaves[top_level(closed)];
	for (uint32_t host = 0; host < fabric->host_count; host++)
		base[leaf_of[fabric->host_switch[host]] + 1] += host_lid_count(fabric, host);
	for (uint32_t leaf = 0; leaf < leaves; leaf++)
		base[leaf + 1] += base[leaf];
	/* hosts are leaf-major: those of one leaf follow each other */
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t at = closed->tree->level[sw] ? 0 : base[leaf_of[sw]];
		for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1];
		     host++)
			for (uint32_t offset = 0; offset < host_lid_count(fabric, host); offset++)
				closed->lids[at++] =
				    (uint16_t)(fabric->lid[fabric->host_port[host]] + offset);
	}
}

static void number_lid(struct closed *closed, uint32_t host, uint32_t lid, uint32_t d)
{
	const struct regular_tree *tree = closed->tree;
	uint32_t leaf = tree->first_leaf[tree->fabric->host_switch[host]], below = 0;
	closed->descend[0][lid] = tree->fabric->host_exit[host];
	for (uint32_t level = 0; level < tree->level_count; level++) {
		if (level) {
			uint32_t child = leaf % tree->leaves[level] / tree->leaves[level - 1];
			uint32_t link = below / tree->parents[level - 1];
			closed->descend[level][lid] =
			    (uint8_t)(child * tree->child_links[level] + link);
		}
		if (level < top_level(closed)) {
			uint32_t links = tree->parents[level] * tree->parent_links[level];
			below = d / tree->ways[level] % links;
			closed->climb[level][lid] = (uint8_t)below;
		}
	}
}

static void number_lids(struct closed *closed)
{
	const struct hd_fabric *fabric = closed->tree->fabric;
	for (uint32_t host = 0; host < fabric->host_count; host++)
		for (uint32_t offset = 0; offset < host_lid_count(fabric, host); offset++)
			number_lid(closed, host, fabric->lid[fabric->host_port[host]] + offset,
				   closed->place[host] + offset);
}

static void chain_groups(struct closed *closed)
{
	const struct regular_tree *tree = closed->tree;
	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++) {
		uint32_t *chain = closed->chain + (size_t)sw * tree->level_count;
		uint32_t level = tree->level[sw];
		chain[level] = tree->group[sw];
		for (; level > 0; level--)
			chain[level - 1] = tree->group_below[level][chain[level]];
	}
}

/* ---- rows: host LIDs ---- */

static const uint8_t *pattern_ports(const struct closed *closed, uint32_t sw)
{
	const struct regular_tree *tree = closed->tree;
	bool top = tree->level[sw] == top_level(closed);
	return (top ? tree->down_port : tree->up_port) + (size_t)sw * REGULAR_FANOUT;
}

/* LIDs that the pattern does not know (no host's) get number 255, which is port 255: none. */
static void write_pattern(const struct closed *closed, uint32_t sw, uint8_t *row)
{
	uint32_t level = closed->tree->level[sw], count = closed->routes->lid_count;
	const uint8_t *number =
	    level == top_level(closed) ? closed->descend[level] : closed->climb[level];
	uint8_t port[REGULAR_FANOUT];
	memcpy(port, pattern_ports(closed, sw), sizeof(port));
	port[HD_NO_PORT] = HD_NO_PORT;
	if (level == 0 && top_level(closed) == 0)
		memcpy(row, number, count);
	else
		for (uint32_t lid = 0; lid < count; lid++)
			row[lid] = port[number[lid]];
}

static void write_below(const struct closed *closed, uint32_t sw, uint8_t *row)
{
	const struct regular_tree *tree = closed->tree;
	uint32_t level = tree->level[sw], first = tree->first_leaf[sw];
	const uint8_t *number = closed->descend[level];
	const uint8_t *port = tree->down_port + (size_t)sw * REGULAR_FANOUT;
	uint32_t end = closed->leaf_lids[first + tree->leaves[level]];
	for (uint32_t i = closed->leaf_lids[first]; i < end; i++) {
		uint32_t lid = closed->lids[i];
		row[lid] = level ? port[number[lid]] : number[lid];
	}
}

/* ---- rows: switch LIDs ---- */

static bool block_holds(const struct regular_tree *tree, uint32_t sw, uint32_t target)
{
	uint32_t offset = tree->first_leaf[target] - tree->first_leaf[sw];
	return offset < tree->leaves[tree->level[sw]];
}

static uint8_t step_down(const struct regular_tree *tree, uint32_t sw, uint32_t target)
{
	uint32_t level = tree->level[sw], child = 0;
	if (block_holds(tree, sw, target))
		child = (tree->first_leaf[target] - tree->first_leaf[sw]) / tree->leaves[level - 1];
	return tree->down_port[(size_t)sw * REGULAR_FANOUT + child * tree->child_links[level] +
			       target % tree->child_links[level]];
}

static uint8_t step_up(const struct regular_tree *tree, uint32_t sw, uint32_t target,
		       uint32_t parent)
{
	uint32_t level = tree->level[sw];
	uint32_t link = target % tree->parent_links[level];
	return tree->up_port[(size_t)sw * REGULAR_FANOUT + link * tree->parents[level] + parent];
}

/* Next hop from one switch to another's LID. */
static uint8_t towards_switch(const struct closed *closed, uint32_t sw, uint32_t target)
{
	const struct regular_tree *tree = closed->tree;
	uint32_t here = tree->level[sw], there = tree->level[target];
	const uint32_t *chain = closed->chain + (size_t)target * tree->level_count;
	if (sw == target)
		return 0;
	if (here > there) {
		uint32_t group = closed->chain[(size_t)sw * tree->level_count + there];
		if (group != tree->group[target] || block_holds(tree, sw, target))
			return step_down(tree, sw, target);
	} else if (chain[here] != tree->group[sw]) {
		return step_down(tree, sw, target);
	}
	if (here < there)
		return step_up(tree, sw, target, tree->digit[here + 1][chain[here + 1]]);
	return step_up(tree, sw, target, target / tree->ways[here] % tree->parents[here]);
}

static void write_switch_lids(const struct closed *closed, uint32_t sw, uint8_t *row)
{
	const struct hd_fabric *fabric = closed->tree->fabric;
	for (uint32_t target = 0; target < fabric->switch_count; target++) {
		uint32_t port = fabric->port_base[target], lid = fabric->lid[port];
		if (lid)
			memset(row + lid, towards_switch(closed, sw, target),
			       1u << fabric->lmc[port]);
	}
}

static void write_rows(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct closed *closed = context;
	const uint8_t *level = closed->tree->level;
	uint32_t last = HD_NONE; /* the row before, while nothing has been overwritten in `spare` */
	uint8_t *spare = malloc(closed->routes->stride);
	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++) {
		uint8_t *row = hd_routes_row(closed->routes, sw);
		bool same =
		    spare && last != HD_NONE && level[last] == level[sw] &&
		    !memcmp(pattern_ports(closed, last), pattern_ports(closed, sw), REGULAR_FANOUT);
		if (same) {
			memcpy(row, spare, closed->routes->lid_count);
		} else {
			write_pattern(closed, sw, row);
			if (spare)
				memcpy(spare, row, closed->routes->lid_count);
			last = sw;
		}
		if (level[sw] != top_level(closed))
			write_below(closed, sw, row);
		write_switch_lids(closed, sw, row);
	}
	free(spare);
}

static bool allocate(struct closed *closed)
{
	const struct regular_tree *tree = closed->tree;
	const struct hd_fabric *fabric = tree->fabric;
	struct hd_arena *arena = &closed->arena;
	closed->place = hd_arena_alloc(arena, fabric->host_count, sizeof(*closed->place));
	closed->lids = hd_arena_alloc(arena, fabric->lid_count, sizeof(*closed->lids));
	closed->leaf_lids = hd_arena_alloc(arena, fabric->switch_count + 1, sizeof(uint32_t));
	closed->climb = hd_arena_alloc(arena, tree->level_count, sizeof(*closed->climb));
	closed->descend = hd_arena_alloc(arena, tree->level_count, sizeof(*closed->descend));
	closed->chain =
	    hd_arena_alloc(arena, fabric->switch_count, tree->level_count * sizeof(uint32_t));
	if (!closed->place || !closed->lids || !closed->leaf_lids || !closed->climb ||
	    !closed->descend || !closed->chain)
		return false;
	for (uint32_t level = 0; level < tree->level_count; level++) {
		closed->climb[level] = hd_arena_alloc(arena, fabric->lid_count, 1);
		closed->descend[level] = hd_arena_alloc(arena, fabric->lid_count, 1);
		if (!closed->climb[level] || !closed->descend[level])
			return false;
		memset(closed->climb[level], HD_NO_PORT, fabric->lid_count);
		memset(closed->descend[level], HD_NO_PORT, fabric->lid_count);
	}
	closed->routes = hd_routes_new(fabric);
	return closed->routes != NULL;
}

int dmodk_closed_route(const struct regular_tree *tree, const struct hd_route_request *request,
		       const struct routing_policy *policy, struct hd_routes **out,
		       struct hd_error *err)
{
	struct closed closed = {.tree = tree};
	bool allocated = allocate(&closed);
	if (allocated) {
		place_hosts(&closed, request, policy);
		sort_lids(&closed);
		number_lids(&closed);
		chain_groups(&closed);
		hd_parallel_for(request->threads, tree->fabric->switch_count, 128, write_rows,
				&closed);
		*out = closed.routes;
	}
	hd_arena_release(&closed.arena);
	return allocated ? 0 : hd_error_no_memory(err);
}
