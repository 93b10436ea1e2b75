/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every switch numbers its links: 0 .. D-1 down, child by child, then D .. D+U-1 up. In these
 * numbers all rows of one level are the same, except for the LIDs below the switch and for the
 * switches that share its position above the leaves. So a row is made of the level's pattern,
 * turned into ports (or copied from the row before if the ports are the same), and the few
 * exceptions.
 */
#include "dmodk_numbers.h"
#include "dmodk_steps.h"

#include <errno.h>
#include <heddle/base/parallel.h>

struct numbered_lid {
	uint16_t lid;
	uint8_t number;
};

struct level_plan {
	uint8_t *pattern; /* [lid_count] number for a LID that is not below the switch */
	uint8_t *below; /* [lid_count] number for a LID below it; level 0: a host's port */
	/* levels between leaves and tops, by group: the LIDs of switches that share the position of
	 * the group, and the numbers by which the group climbs to them */
	struct numbered_lid *shared;
	uint32_t *shared_base; /* [groups + 1] */
	uint32_t down; /* D */
};

struct closed {
	const struct hd_regular_tree *tree;
	struct hd_arena arena;
	struct hd_routes *routes;
	const uint32_t *position; /* [host_count]: d of each host */
	uint16_t *lids; /* all LIDs by number of their (first) leaf */
	uint32_t *leaf_lids; /* [leaves + 1]: LIDs of leaf n: lids[leaf_lids[n]] .. */
	uint32_t *chain; /* [sw * level_count + level]: group of the switches below sw there */
	struct level_plan *plan; /* [level_count] */
	uint8_t *kept; /* [workers * stride]: a row for each worker, see write_rows() */
};

#define NO_NUMBER 0xFF /* no switch has 255 links: ports end at 254 */

static uint32_t top_level(const struct closed *closed)
{
	return closed->tree->level_count - 1;
}

/* ---- numbering ---- */

/* Calls visit for every port that owns LIDs, with the number of its (first) leaf. Leaves out
 * switches without a place in the tree. */
static void each_owner(struct closed *closed,
		       void (*visit)(struct closed *closed, uint32_t leaf, uint32_t port))
{
	const struct hd_fabric *fabric = closed->tree->fabric;
	const uint32_t *leaf = closed->tree->first_leaf;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		visit(closed, leaf[fabric->host_switch[host]], fabric->host_port[host]);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (leaf[sw] != HD_NONE)
			visit(closed, leaf[sw], fabric->port_base[sw]);
}

static void count_lids(struct closed *closed, uint32_t leaf, uint32_t port)
{
	closed->leaf_lids[leaf + 2] += hd_port_lid_count(closed->tree->fabric, port);
}

static void store_lids(struct closed *closed, uint32_t leaf, uint32_t port)
{
	const struct hd_fabric *fabric = closed->tree->fabric;

	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++)
		closed->lids[closed->leaf_lids[leaf + 1]++] =
		    (uint16_t)(fabric->lid[port] + offset);
}

/* Counting sort of all LIDs by leaf number. */
static void sort_lids(struct closed *closed)
{
	uint32_t leaves = closed->tree->leaves[top_level(closed)];

	each_owner(closed, count_lids);
	for (uint32_t leaf = 0; leaf < leaves; leaf++)
		closed->leaf_lids[leaf + 2] += closed->leaf_lids[leaf + 1];
	each_owner(closed, store_lids);
}

static void chain_groups(struct closed *closed)
{
	const struct hd_regular_tree *tree = closed->tree;

	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++) {
		uint32_t *chain = closed->chain + (size_t)sw * tree->level_count;
		for (uint32_t level = 0; level <= tree->level[sw]; level++)
			chain[level] = tree->group[sw] == HD_NONE
					   ? HD_NONE
					   : tree->group[sw] % tree->above[level];
	}
}

/* ---- numbers of host LIDs ---- */

static void number_host_lid(struct closed *closed, uint32_t host, uint32_t lid, uint32_t d)
{
	const struct hd_regular_tree *tree = closed->tree;
	uint32_t leaf = tree->first_leaf[tree->fabric->host_switch[host]];

	closed->plan[0].below[lid] = tree->fabric->host_switch_port[host];
	for (uint32_t level = 0; level <= top_level(closed); level++) {
		struct level_plan *plan = &closed->plan[level];
		if (level) {
			uint32_t child = leaf % tree->leaves[level] / tree->leaves[level - 1];
			uint32_t link = dmodk_host_descent(tree, level, d);
			plan->below[lid] = (uint8_t)(child * tree->child_links[level] + link);
		}
		if (level < top_level(closed))
			plan->pattern[lid] =
			    (uint8_t)(plan->down + dmodk_host_climb(tree, level, d));
	}
}

static void number_host_lids(struct closed *closed)
{
	const struct hd_fabric *fabric = closed->tree->fabric;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++)
			number_host_lid(closed, host, fabric->lid[port] + offset,
					closed->position[host] + offset);
	}
}

/* ---- numbers of switch LIDs ---- */

/* The link up from `level` towards a switch whose position is shared, or any link up to a lower
 * one. */
static uint8_t climb_number(const struct closed *closed, uint32_t level, uint32_t target,
			    uint32_t spread)
{
	return (uint8_t)(closed->plan[level].down +
			 dmodk_switch_climb(closed->tree, level, target, spread));
}

/* The link down to a switch below: to the child whose block has it. */
static uint8_t descend_number(const struct closed *closed, uint32_t level, uint32_t target,
			      uint32_t spread)
{
	const struct hd_regular_tree *tree = closed->tree;
	uint32_t leaf = tree->first_leaf[target] % tree->leaves[level];
	uint32_t links = tree->child_links[level];

	return (uint8_t)(leaf / tree->leaves[level - 1] * links +
			 dmodk_switch_descent(tree, level, spread));
}

/*
 * One LID of a switch, as it is seen by the switches of a level that do not share its position
 * (they descend first, then climb), and by those whose block has it. All leaves share one position.
 */
static void number_switch_lid(struct closed *closed, uint32_t level, uint32_t target,
			      uint32_t offset)
{
	const struct hd_regular_tree *tree = closed->tree;
	struct level_plan *plan = &closed->plan[level];
	uint32_t lid = tree->fabric->lid[tree->fabric->port_base[target]] + offset;
	uint32_t spread = tree->ordinal[target] + offset, top = top_level(closed);

	if (tree->level[target] < level)
		plan->below[lid] = descend_number(closed, level, target, spread);
	if (level < top && (!level || !tree->level[target]))
		plan->pattern[lid] = climb_number(closed, level, target, spread);
	else if (level)
		plan->pattern[lid] = (uint8_t)dmodk_switch_descent(tree, level, spread);
}

static void number_switch_lids(struct closed *closed)
{
	const struct hd_fabric *fabric = closed->tree->fabric;

	for (uint32_t level = 0; level <= top_level(closed); level++)
		for (uint32_t target = 0; target < fabric->switch_count; target++)
			for (uint32_t offset = 0;
			     closed->tree->group[target] != HD_NONE &&
			     offset < hd_port_lid_count(fabric, fabric->port_base[target]);
			     offset++)
				number_switch_lid(closed, level, target, offset);
}

/* True when switches of `group` at `level` share the target's position: they are above the same
 * leaves, or would be if both had the same height. */
static bool shares_position(const struct closed *closed, uint32_t level, uint32_t group,
			    uint32_t target)
{
	const struct hd_regular_tree *tree = closed->tree;
	const uint32_t *chain = closed->chain + (size_t)target * tree->level_count;
	uint32_t target_level = tree->level[target];

	if (target_level >= level)
		return chain[level] == group;
	return chain[target_level] == group % tree->above[target_level];
}

/* Appends (or, with entries NULL, counts) the LIDs that switches of the group climb to. */
static uint32_t list_group(const struct closed *closed, uint32_t level, uint32_t group,
			   struct numbered_lid *entries)
{
	const struct hd_fabric *fabric = closed->tree->fabric;
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t port = fabric->port_base[sw], lids = hd_port_lid_count(fabric, port);
		if (!closed->tree->level[sw] || !shares_position(closed, level, group, sw))
			continue;
		for (uint32_t offset = 0; entries && offset < lids; offset++)
			entries[count + offset] = (struct numbered_lid){
			    .lid = (uint16_t)(fabric->lid[port] + offset),
			    .number = climb_number(closed, level, sw,
						   closed->tree->ordinal[sw] + offset)};
		count += lids;
	}
	return count;
}

/* The exceptions for all groups of a level between leaves and tops. */
static int list_shared(struct closed *closed, uint32_t level)
{
	const struct hd_regular_tree *tree = closed->tree;
	struct level_plan *plan = &closed->plan[level];
	uint32_t groups = tree->above[level];

	plan->shared_base = hd_arena_alloc(&closed->arena, groups + 1, sizeof(*plan->shared_base));
	if (hd_arena_check(&closed->arena))
		return -ENOMEM;
	for (uint32_t group = 0; group < groups; group++)
		plan->shared_base[group + 1] =
		    plan->shared_base[group] + list_group(closed, level, group, NULL);
	plan->shared =
	    hd_arena_alloc(&closed->arena, plan->shared_base[groups], sizeof(*plan->shared));
	for (uint32_t group = 0; plan->shared && group < groups; group++)
		list_group(closed, level, group, plan->shared + plan->shared_base[group]);
	return hd_arena_check(&closed->arena);
}

/* ---- rows ---- */

/* Port of each link number of a switch. */
static void list_ports(const struct closed *closed, uint32_t sw, uint8_t port[HD_TREE_FANOUT])
{
	const struct hd_regular_tree *tree = closed->tree;
	uint32_t level = tree->level[sw], down = closed->plan[level].down;

	memset(port, HD_NO_PORT, HD_TREE_FANOUT);
	memcpy(port, tree->down_port + (size_t)sw * HD_TREE_FANOUT, down);
	memcpy(port + down, tree->up_port + (size_t)sw * HD_TREE_FANOUT,
	       (size_t)tree->parents[level] * tree->parent_links[level]);
}

static void write_pattern(const struct closed *closed, uint32_t level, const uint8_t *port,
			  uint8_t *row)
{
	const uint8_t *pattern = closed->plan[level].pattern;

	for (uint32_t lid = 0; lid < closed->routes->lid_count; lid++)
		row[lid] = port[pattern[lid]];
	memset(row + closed->routes->lid_count, HD_NO_PORT,
	       closed->routes->stride - closed->routes->lid_count);
}

static void write_own_lids(const struct closed *closed, uint32_t sw, uint8_t *row)
{
	const struct hd_fabric *fabric = closed->tree->fabric;
	uint32_t port = fabric->port_base[sw];

	memset(row + fabric->lid[port], 0, hd_port_lid_count(fabric, port));
}

/* Overwrites what differs from the pattern: shared positions, LIDs below, and its own LIDs. */
static void write_exceptions(const struct closed *closed, uint32_t sw, const uint8_t *port,
			     uint8_t *row)
{
	const struct hd_regular_tree *tree = closed->tree;
	uint32_t level = tree->level[sw], first = tree->first_leaf[sw];
	const struct level_plan *plan = &closed->plan[level];

	if (plan->shared)
		for (uint32_t i = plan->shared_base[tree->group[sw]];
		     i < plan->shared_base[tree->group[sw] + 1]; i++)
			row[plan->shared[i].lid] = port[plan->shared[i].number];
	uint32_t end = level < top_level(closed) || !level
			   ? closed->leaf_lids[first + tree->leaves[level]]
			   : 0; /* the top's pattern is what lies below */
	for (uint32_t i = closed->leaf_lids[first]; i < end; i++) {
		uint32_t lid = closed->lids[i];
		if (plan->below[lid] != NO_NUMBER)
			row[lid] = level ? port[plan->below[lid]] : plan->below[lid];
	}
	write_own_lids(closed, sw, row);
}

/* Adds the ports of a switch to those of the pattern that is kept. False: they do not fit together,
 * or the pattern lacks some of them. */
static bool merge_ports(uint8_t *kept, const uint8_t *port)
{
	bool fit = true;

	for (uint32_t number = 0; number < HD_TREE_FANOUT && fit; number++)
		fit = port[number] == HD_NO_PORT || kept[number] == HD_NO_PORT ||
		      port[number] == kept[number];
	for (uint32_t number = 0; number < HD_TREE_FANOUT && fit; number++)
		if (kept[number] == HD_NO_PORT)
			kept[number] = port[number];
	return fit;
}

/* Makes `pattern` fit a switch. kept: its ports; *level: its level. */
static void keep_pattern(const struct closed *closed, uint32_t sw, const uint8_t *port,
			 uint8_t *kept, uint32_t *level, uint8_t *pattern)
{
	uint8_t before[HD_TREE_FANOUT];

	memcpy(before, kept, HD_TREE_FANOUT);
	if (*level != closed->tree->level[sw] || !merge_ports(kept, port)) {
		*level = closed->tree->level[sw];
		memcpy(kept, port, HD_TREE_FANOUT);
	} else if (memcmp(before, kept, HD_TREE_FANOUT) == 0) {
		return;
	}
	write_pattern(closed, *level, kept, pattern);
}

/*
 * Rows of one chunk. The last pattern that was turned into ports is used as long as it fits. It
 * has the ports of cables, too, that other switches have and this one lacks.
 */
static void write_rows(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct closed *closed = context;
	uint8_t port[HD_TREE_FANOUT], kept[HD_TREE_FANOUT];
	uint8_t *pattern = closed->kept + (size_t)worker * closed->routes->stride;
	uint32_t level = HD_NONE;

	for (uint32_t sw = begin; sw < end; sw++) {
		uint8_t *row = hd_routes_row(closed->routes, sw);
		if (closed->tree->group[sw] == HD_NONE) {
			memset(row, HD_NO_PORT, closed->routes->stride);
			write_own_lids(closed, sw, row);
			continue;
		}
		list_ports(closed, sw, port);
		keep_pattern(closed, sw, port, kept, &level, pattern);
		memcpy(row, pattern, closed->routes->stride);
		write_exceptions(closed, sw, port, row);
	}
}

static int allocate(struct closed *closed, unsigned threads)
{
	const struct hd_regular_tree *tree = closed->tree;
	const struct hd_fabric *fabric = tree->fabric;
	struct hd_arena *arena = &closed->arena;

	closed->lids = hd_arena_alloc(arena, fabric->lid_count, sizeof(*closed->lids));
	closed->leaf_lids =
	    hd_arena_alloc(arena, tree->leaves[tree->level_count - 1] + 2, sizeof(uint32_t));
	closed->plan = hd_arena_alloc(arena, tree->level_count, sizeof(*closed->plan));
	closed->chain =
	    hd_arena_alloc(arena, fabric->switch_count, tree->level_count * sizeof(uint32_t));
	closed->routes = hd_routes_new_unset(fabric);
	if (hd_arena_check(arena) || !closed->routes)
		return -ENOMEM;
	closed->kept = hd_arena_alloc(arena, hd_parallel_workers(threads), closed->routes->stride);
	for (uint32_t level = 0; level < tree->level_count; level++) {
		closed->plan[level].pattern = hd_arena_alloc(arena, fabric->lid_count, 1);
		closed->plan[level].below = hd_arena_alloc(arena, fabric->lid_count, 1);
	}
	return hd_arena_check(arena);
}

static void start_plans(struct closed *closed)
{
	const struct hd_regular_tree *tree = closed->tree;

	for (uint32_t level = 0; level < tree->level_count; level++) {
		struct level_plan *plan = &closed->plan[level];
		plan->down = tree->children[level] * tree->child_links[level];
		memset(plan->pattern, NO_NUMBER, tree->fabric->lid_count);
		memset(plan->below, NO_NUMBER, tree->fabric->lid_count);
	}
}

/* All LIDs are below a top switch: they are its pattern. */
static void finish_top(struct closed *closed)
{
	struct level_plan *plan = &closed->plan[top_level(closed)];

	for (uint32_t lid = 0; top_level(closed) && lid < closed->routes->lid_count; lid++)
		if (plan->below[lid] != NO_NUMBER)
			plan->pattern[lid] = plan->below[lid];
}

static int number_all(struct closed *closed)
{
	start_plans(closed);
	sort_lids(closed);
	chain_groups(closed);
	number_host_lids(closed);
	number_switch_lids(closed);
	finish_top(closed);
	for (uint32_t level = 1; level < top_level(closed); level++)
		if (list_shared(closed, level))
			return -ENOMEM;
	return 0;
}

int dmodk_closed_route(const struct hd_regular_tree *tree, const uint32_t *position,
		       unsigned threads, const struct hd_go_on *go_on, struct hd_routes **out,
		       struct hd_error *err)
{
	struct closed closed = {.tree = tree, .position = position};
	int rc = allocate(&closed, threads);

	if (!rc)
		rc = number_all(&closed);
	if (!rc)
		rc = hd_parallel_for_while(threads, tree->fabric->switch_count, 128, write_rows,
					   &closed, go_on);
	if (rc)
		hd_routes_free(closed.routes);
	else
		*out = closed.routes;
	hd_arena_release(&closed.arena);
	return hd_go_on_explain(rc, err);
}
