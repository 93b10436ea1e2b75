/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mcast_tree.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <stdlib.h>
#include <string.h>

struct growth {
	const struct hd_fabric *fabric;
	const struct hd_mft_group *group;
	uint32_t *entry_of; /* [switch_count] HD_NONE: none */
	uint32_t *hops; /* [switch_count] HD_NONE: not met */
	uint32_t *queue; /* [entry_count] */
	struct mcast_tree *tree;
	uint32_t room;
	bool failed;
};

static const struct hd_mft_entry *entry_at(const struct growth *growth, uint32_t sw)
{
	return growth->entry_of[sw] == HD_NONE ? NULL
					       : growth->group->entries + growth->entry_of[sw];
}

/* The node behind a port: the switch itself for port 0, HD_NONE without a cable. */
static uint32_t node_behind(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];

	if (!port)
		return sw;
	return peer == HD_NONE ? HD_NONE : fabric->port_node[peer];
}

/* ---- the root ---- */

/* The hops to the farthest switch with an entry. *met: how many such switches are reached. */
static uint32_t depth_from(struct growth *growth, uint32_t start, uint32_t *met)
{
	const struct hd_fabric *fabric = growth->fabric;
	uint32_t queued = 0;

	memset(growth->hops, 0xFF, fabric->switch_count * sizeof(*growth->hops));
	growth->queue[queued++] = start;
	growth->hops[start] = 0;
	for (uint32_t done = 0; done < queued; done++) {
		uint32_t sw = growth->queue[done];
		HD_PORT_SET_FOREACH(port, &entry_at(growth, sw)->ports) {
			uint32_t far = port ? node_behind(fabric, sw, port) : HD_NONE;
			if (far >= fabric->switch_count || !entry_at(growth, far) ||
			    growth->hops[far] != HD_NONE)
				continue;
			growth->hops[far] = growth->hops[sw] + 1;
			growth->queue[queued++] = far;
		}
	}
	*met = queued;
	return growth->hops[growth->queue[queued - 1]];
}

static uint32_t centre(struct growth *growth)
{
	const struct hd_mft_group *group = growth->group;
	uint32_t best = group->entries[0].sw, best_met = 0, best_depth = 0;

	for (uint32_t i = 0; i < group->entry_count; i++) {
		uint32_t met, depth = depth_from(growth, group->entries[i].sw, &met);
		if (met < best_met || (met == best_met && depth >= best_depth))
			continue;
		best = group->entries[i].sw;
		best_met = met;
		best_depth = depth;
	}
	return best;
}

/* ---- the steps ---- */

static void add_step(struct growth *growth, const struct mcast_step *step)
{
	struct mcast_tree *tree = growth->tree;
	struct mcast_step *steps = NULL;

	if (!growth->failed)
		steps = hd_grow(tree->steps, tree->count, 1, &growth->room, sizeof(*steps));
	if (!steps) {
		growth->failed = true;
		return;
	}
	tree->steps = steps;
	tree->steps[tree->count++] = *step;
}

static void follow(struct growth *growth, uint32_t sw, uint32_t in, uint32_t depth);

static void follow_port(struct growth *growth, uint32_t sw, uint32_t port, uint32_t depth)
{
	const struct hd_fabric *fabric = growth->fabric;
	uint32_t from = hd_port_index(fabric, sw, port), node = node_behind(fabric, sw, port);
	struct mcast_step step = {MCAST_HOST, depth, from, node};
	bool to_switch = port && node < fabric->switch_count;

	if (node == HD_NONE)
		step.end = MCAST_NOTHING;
	else if (to_switch && !entry_at(growth, node))
		step.end = MCAST_NO_ENTRY;
	else if (to_switch)
		step.end = growth->hops[node] == HD_NONE ? MCAST_SWITCH : MCAST_AGAIN;
	add_step(growth, &step);
	if (step.end == MCAST_SWITCH)
		follow(growth, node, hd_port_number(fabric, fabric->peer[from]), depth + 1);
}

/* All ports of a switch but `in`, where the packet came from; HD_NONE at a root. */
static void follow(struct growth *growth, uint32_t sw, uint32_t in, uint32_t depth)
{
	growth->hops[sw] = depth;
	HD_PORT_SET_FOREACH(port, &entry_at(growth, sw)->ports)
		if (port != in)
			follow_port(growth, sw, port, depth);
}

static void follow_from(struct growth *growth, uint32_t root)
{
	const struct mcast_step step = {MCAST_SWITCH, 0, HD_NONE, root};

	add_step(growth, &step);
	follow(growth, root, HD_NONE, 1);
}

static void grow(struct growth *growth, uint32_t root)
{
	const struct hd_mft_group *group = growth->group;

	for (uint32_t i = 0; i < group->entry_count; i++)
		growth->entry_of[group->entries[i].sw] = i;
	if (!group->entry_count)
		return;
	if (root == HD_NONE || !entry_at(growth, root))
		root = centre(growth);
	memset(growth->hops, 0xFF, growth->fabric->switch_count * sizeof(*growth->hops));
	follow_from(growth, root);
	for (uint32_t i = 0; i < group->entry_count; i++)
		if (growth->hops[group->entries[i].sw] == HD_NONE)
			follow_from(growth, group->entries[i].sw);
}

int mcast_tree_make(const struct hd_fabric *fabric, const struct hd_mft_group *group, uint32_t root,
		    struct mcast_tree *tree)
{
	struct growth growth = {.fabric = fabric, .group = group, .tree = tree};
	struct hd_arena arena = {0};

	*tree = (struct mcast_tree){.steps = NULL};
	growth.entry_of = hd_arena_alloc(&arena, fabric->switch_count, sizeof(uint32_t));
	growth.hops = hd_arena_alloc(&arena, fabric->switch_count, sizeof(uint32_t));
	growth.queue = hd_arena_alloc(&arena, fabric->switch_count, sizeof(uint32_t));
	growth.failed = arena.failed;
	if (!growth.failed) {
		memset(growth.entry_of, 0xFF, fabric->switch_count * sizeof(uint32_t));
		grow(&growth, root);
	}
	hd_arena_release(&arena);
	if (!growth.failed)
		return 0;
	mcast_tree_release(tree);
	return -ENOMEM;
}

void mcast_tree_release(struct mcast_tree *tree)
{
	free(tree->steps);
	*tree = (struct mcast_tree){.steps = NULL};
}
