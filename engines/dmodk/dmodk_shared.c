/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_steps.h"

#include <errno.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/regular_tree.h>
#include <string.h>

#define PART_SHIFT 56 /* parts get the GUID of the switch, with their position in the first byte */
#define POSITIONS_MAX 128u

static bool is_top(const struct dmodk_shared *shared, uint32_t sw)
{
	return shared->level[sw] == shared->top;
}

/* ---- positions ---- */

/* Numbers the switches below the tops in their subtree, by index: number[sw]. */
static int number_below(const struct dmodk_shared *shared, struct hd_arena *arena, uint32_t *number)
{
	const struct hd_fabric *fabric = shared->fabric;
	uint32_t switches = fabric->switch_count;
	uint32_t *subtree = hd_arena_alloc(arena, switches, sizeof(*subtree));
	uint32_t *queue = hd_arena_alloc(arena, switches, sizeof(*queue));
	uint32_t *count = hd_arena_alloc(arena, switches, sizeof(*count));

	if (hd_arena_check(arena))
		return -ENOMEM;
	memset(subtree, 0xFF, switches * sizeof(*subtree));
	for (uint32_t seed = 0; seed < switches; seed++) {
		uint32_t tail = 0;
		if (is_top(shared, seed) || subtree[seed] != HD_NONE)
			continue;
		subtree[seed] = seed;
		queue[tail++] = seed;
		for (uint32_t head = 0; head < tail; head++)
			for (uint32_t link = fabric->isl_base[queue[head]];
			     link < fabric->isl_base[queue[head] + 1]; link++) {
				uint32_t far = fabric->isl_to[link];
				if (is_top(shared, far) || subtree[far] != HD_NONE)
					continue;
				subtree[far] = seed;
				queue[tail++] = far;
			}
	}
	for (uint32_t sw = 0; sw < switches; sw++)
		if (shared->level[sw] + 1u == shared->top)
			number[sw] = count[subtree[sw]]++;
	return 0;
}

static uint32_t count_positions(const struct dmodk_shared *shared, const uint32_t *number)
{
	uint32_t most = 0;

	for (uint32_t sw = 0; sw < shared->fabric->switch_count; sw++)
		if (shared->level[sw] + 1u == shared->top && number[sw] + 1 > most)
			most = number[sw] + 1;
	return most;
}

/* ---- the split fabric ---- */

struct splitting {
	struct dmodk_shared *shared;
	const uint32_t *number;
	struct hd_builder *builder;
	bool *has; /* [switch * positions] the top switch has a cable to the position */
	bool is_shared;
};

static uint64_t part_guid(const struct splitting *splitting, uint32_t sw, uint32_t position)
{
	return splitting->shared->fabric->node_guid[sw] + ((uint64_t)(position + 1) << PART_SHIFT);
}

static void find_parts(struct splitting *splitting)
{
	const struct dmodk_shared *shared = splitting->shared;
	const struct hd_fabric *fabric = shared->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t first = HD_NONE;
		for (uint32_t link = fabric->isl_base[sw];
		     is_top(shared, sw) && link < fabric->isl_base[sw + 1]; link++) {
			uint32_t far = fabric->isl_to[link];
			if (shared->level[far] + 1u != shared->top)
				continue;
			uint32_t position = splitting->number[far];
			splitting->has[(size_t)sw * shared->positions + position] = true;
			first = first == HD_NONE ? position : first;
			splitting->is_shared |= first != position;
		}
	}
}

static int add_node(struct splitting *splitting, uint32_t node, uint64_t guid, bool with_lid)
{
	const struct hd_fabric *fabric = splitting->shared->fabric;
	struct hd_node_spec spec = {.type = (enum hd_node_type)fabric->node_type[node],
				    .system_guid = fabric->system_guid[node],
				    .guid = guid,
				    .port_count = hd_node_ports(fabric, node),
				    .name = fabric->node_name[node],
				    .aside = node >= fabric->switch_count && spec.port_count &&
					     fabric->aside[fabric->port_base[node] + 1]};
	uint32_t handle;
	int rc = hd_builder_add_node(splitting->builder, &spec, &handle, NULL);

	for (uint32_t number = 0; !rc && with_lid && number <= spec.port_count; number++) {
		uint32_t port = hd_port_index(fabric, node, number);
		if (fabric->lid[port])
			rc = hd_builder_set_lid(splitting->builder, handle, number,
						fabric->lid[port], fabric->lmc[port], NULL);
	}
	return rc;
}

static int add_nodes(struct splitting *splitting)
{
	const struct dmodk_shared *shared = splitting->shared;
	const struct hd_fabric *fabric = shared->fabric;
	int rc = 0;

	for (uint32_t node = 0; !rc && node < fabric->node_count; node++) {
		bool first = true;
		if (!hd_is_switch(fabric, node) || !is_top(shared, node)) {
			rc = add_node(splitting, node, fabric->node_guid[node], true);
			continue;
		}
		for (uint32_t position = 0; !rc && position < shared->positions; position++) {
			if (!splitting->has[(size_t)node * shared->positions + position])
				continue;
			rc = add_node(splitting, node, part_guid(splitting, node, position), first);
			first = false;
		}
	}
	return rc;
}

static uint64_t guid_at(const struct splitting *splitting, uint32_t node, uint32_t peer)
{
	const struct hd_fabric *fabric = splitting->shared->fabric;

	return hd_is_switch(fabric, node) && is_top(splitting->shared, node)
		   ? part_guid(splitting, node, splitting->number[peer])
		   : fabric->node_guid[node];
}

/* Whether a cable is a part of the tree: not sideways, and not from a top switch past a level. */
static bool is_kept(const struct splitting *splitting, uint32_t a, uint32_t b)
{
	const struct dmodk_shared *shared = splitting->shared;

	if (!hd_is_switch(shared->fabric, a) || !hd_is_switch(shared->fabric, b))
		return true;
	return shared->level[a] + 1 == shared->level[b] || shared->level[b] + 1 == shared->level[a];
}

static int add_cables(struct splitting *splitting)
{
	const struct hd_fabric *fabric = splitting->shared->fabric;
	int rc = 0;

	for (uint32_t port = 0; !rc && port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		if (peer == HD_NONE || peer < port)
			continue;
		uint32_t a = fabric->port_node[port], b = fabric->port_node[peer];
		if (!is_kept(splitting, a, b))
			continue;
		rc = hd_builder_link(splitting->builder,
				     hd_builder_find(splitting->builder, guid_at(splitting, a, b)),
				     hd_port_number(fabric, port),
				     hd_builder_find(splitting->builder, guid_at(splitting, b, a)),
				     hd_port_number(fabric, peer), fabric->width[port],
				     (enum hd_speed)fabric->speed[port], NULL);
	}
	return rc;
}

/* has_plain_guids() holds, so the first byte of a GUID says whether it is that of a part. */
static int index_parts(struct dmodk_shared *shared)
{
	const struct hd_fabric *fabric = shared->fabric, *split = shared->split;
	size_t parts = (size_t)fabric->switch_count * shared->positions;

	shared->real = hd_arena_alloc(&shared->arena, split->switch_count, sizeof(uint32_t));
	shared->position = hd_arena_alloc(&shared->arena, split->switch_count, sizeof(uint32_t));
	shared->part = hd_arena_alloc(&shared->arena, parts, sizeof(uint32_t));
	if (hd_arena_check(&shared->arena))
		return -ENOMEM;
	memset(shared->part, 0xFF, parts * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < split->switch_count; sw++) {
		uint64_t guid = split->node_guid[sw], first = guid >> PART_SHIFT;
		uint32_t position = first ? (uint32_t)first - 1 : 0;
		uint32_t real = hd_fabric_find_node(fabric, guid - (first << PART_SHIFT));
		shared->real[sw] = real;
		shared->position[sw] = position;
		shared->part[(size_t)real * shared->positions + position] = sw;
	}
	return 0;
}

static bool has_plain_guids(const struct dmodk_shared *shared)
{
	const struct hd_fabric *fabric = shared->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (fabric->node_guid[sw] >> PART_SHIFT)
			return false;
	return true;
}

static bool has_hosts_on_top(const struct dmodk_shared *shared)
{
	for (uint32_t sw = 0; sw < shared->fabric->switch_count; sw++)
		if (is_top(shared, sw) && hd_has_adapters(shared->fabric, sw))
			return true;
	return false;
}

int dmodk_shared_split(const struct hd_fabric *fabric, const struct hd_tree *levels,
		       struct dmodk_shared *out)
{
	*out = (struct dmodk_shared){
	    .fabric = fabric, .level = levels->level, .top = levels->level_count - 1};
	if (levels->level_count < 2 || !has_plain_guids(out) || has_hosts_on_top(out))
		return -ENOTSUP;
	uint32_t *number = hd_arena_alloc(&out->arena, fabric->switch_count, sizeof(*number));
	if (!number || number_below(out, &out->arena, number))
		return -ENOMEM;
	out->positions = count_positions(out, number);
	if (!out->positions || out->positions > POSITIONS_MAX)
		return -ENOTSUP;
	struct splitting splitting = {.shared = out, .number = number};
	splitting.has = hd_arena_alloc(&out->arena, (size_t)fabric->switch_count * out->positions,
				       sizeof(bool));
	if (!splitting.has)
		return -ENOMEM;
	find_parts(&splitting);
	if (!splitting.is_shared)
		return -ENOTSUP;
	splitting.builder = hd_builder_new();
	if (!splitting.builder)
		return -ENOMEM;
	int rc = add_nodes(&splitting);
	if (!rc)
		rc = add_cables(&splitting);
	if (!rc)
		rc = hd_builder_build(splitting.builder, &out->split, NULL);
	hd_builder_free(splitting.builder);
	if (!rc)
		rc = index_parts(out);
	return rc == -ENOMEM || !rc ? rc : -ENOTSUP;
}

void dmodk_shared_release(struct dmodk_shared *shared)
{
	hd_fabric_free(shared->split);
	hd_arena_release(&shared->arena);
}

/* ---- folding ---- */

struct folding {
	const struct dmodk_shared *shared;
	const struct hd_routes *routes; /* of the split fabric */
	struct hd_routes *out;
	uint32_t *wanted; /* [lid] position by which packets to the LID leave a top switch */
};

/*
 * The position by which packets to a LID come down: that of the top switch which a leaf that is not
 * below the destination's subtree climbs to. In tables of D-mod-K all leaves climb to one position.
 * Any leaf that climbs to a top will do.
 */
static uint32_t climb_from(const struct folding *folding, uint32_t leaf, uint32_t lid)
{
	const struct hd_fabric *split = folding->shared->split;
	uint32_t sw = leaf;

	for (uint32_t hops = 0; hops <= folding->shared->top; hops++) {
		uint8_t port = hd_routes_port(folding->routes, sw, lid);
		uint32_t link =
		    port && port != HD_NO_PORT ? hd_fabric_find_isl(split, sw, port) : HD_NONE;
		if (link == HD_NONE)
			return HD_NONE;
		sw = split->isl_to[link];
		if (folding->shared->level[folding->shared->real[sw]] == folding->shared->top)
			return folding->shared->position[sw];
	}
	return HD_NONE;
}

static void find_wanted(struct folding *folding)
{
	const struct hd_fabric *split = folding->shared->split;

	for (uint32_t lid = 1; lid < split->lid_count; lid++) {
		folding->wanted[lid] = HD_NONE;
		if (split->lid_owner[lid] == HD_NONE)
			continue;
		for (uint32_t sw = 0; sw < split->switch_count && folding->wanted[lid] == HD_NONE;
		     sw++)
			if (hd_has_adapters(split, sw))
				folding->wanted[lid] = climb_from(folding, sw, lid);
	}
}

/* The entry of a top switch: that of the wanted part, or of the first one that has any. */
static uint8_t top_entry(const struct folding *folding, uint32_t sw, uint32_t lid)
{
	const struct dmodk_shared *shared = folding->shared;
	const uint32_t *part = shared->part + (size_t)sw * shared->positions;
	uint32_t wanted = folding->wanted[lid];

	for (uint32_t i = 0; i < shared->positions; i++) {
		uint32_t position = ((wanted == HD_NONE ? 0 : wanted) + i) % shared->positions;
		uint8_t port = part[position] == HD_NONE
				   ? HD_NO_PORT
				   : hd_routes_port(folding->routes, part[position], lid);
		if (port != HD_NO_PORT)
			return port;
	}
	return HD_NO_PORT;
}

static void fold_row(const struct folding *folding, uint32_t sw)
{
	const struct dmodk_shared *shared = folding->shared;
	uint8_t *row = hd_routes_row(folding->out, sw);

	for (uint32_t lid = 1; lid < folding->out->lid_count; lid++)
		row[lid] = is_top(shared, sw)
			       ? top_entry(folding, sw, lid)
			       : hd_routes_port(folding->routes,
						shared->part[(size_t)sw * shared->positions], lid);
}

/* A top switch is reached directly from each switch that is cabled to it; its own LID leads to
 * itself. */
static void fold_own_lid(const struct folding *folding, uint32_t sw)
{
	const struct hd_fabric *fabric = folding->shared->fabric;
	uint32_t port = fabric->port_base[sw];

	for (uint32_t i = 0; i < hd_port_lid_count(fabric, port); i++) {
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t below = fabric->isl_to[link];
			if (folding->shared->level[below] + 1u == folding->shared->top)
				hd_routes_row(folding->out, below)[fabric->lid[port] + i] =
				    fabric->isl_port[fabric->isl_reverse[link]];
		}
		hd_routes_row(folding->out, sw)[fabric->lid[port] + i] = 0;
	}
}

/* Switches just below a top are reached directly from it. */
static void fold_lids_below(const struct folding *folding, uint32_t sw)
{
	const struct hd_fabric *fabric = folding->shared->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t below = fabric->isl_to[link], port = fabric->port_base[below];
		for (uint32_t i = 0; i < hd_port_lid_count(fabric, port); i++)
			hd_routes_row(folding->out, sw)[fabric->lid[port] + i] =
			    fabric->isl_port[link];
	}
}

int dmodk_shared_fold(const struct dmodk_shared *shared, const struct hd_routes *routes,
		      struct hd_routes **out)
{
	struct hd_arena arena = {0};
	struct folding folding = {.shared = shared, .routes = routes};
	const struct hd_fabric *fabric = shared->fabric;

	folding.wanted = hd_arena_alloc(&arena, fabric->lid_count, sizeof(uint32_t));
	folding.out = hd_routes_new(fabric);
	if (!folding.wanted || !folding.out) {
		hd_arena_release(&arena);
		hd_routes_free(folding.out);
		return -ENOMEM;
	}
	find_wanted(&folding);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		fold_row(&folding, sw);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (is_top(shared, sw)) {
			fold_own_lid(&folding, sw);
			fold_lids_below(&folding, sw);
		}
	folding.out->labels = hd_tree_labels_hold(routes->labels);
	hd_arena_release(&arena);
	*out = folding.out;
	return 0;
}
