/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A key is made level by level. At level 0 the flows get the cables by which they leave their leaf;
 * each of the groups above is one node there. Then the flows that climb further get their cables in
 * each group on its own, and so on. Forwarding looks at nothing but the destination LID, so flows
 * that meet in a switch on their way up to one LID are one item from there.
 */
#include "key_climb.h"
#include "key_fit.h"
#include "key_tree.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/base/random.h>
#include <heddle/keyd/key.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- key offsets ---- */

/* Which LID offset each flow of a key uses. */

#define OFFSETS_MOST 128u /* of one port */

struct choosing {
	const struct hd_key_request *request;
	const struct hd_fabric *fabric;
	struct hd_key *key;
	unsigned allowed;
	uint32_t count;
	uint32_t *flows; /* [count] that leave their switch */
	uint32_t *group; /* [flow_count] equal for flows from one switch to one host */
	uint64_t (*taken)[OFFSETS_MOST / 64]; /* [groups] offsets */
};

static const struct hd_key_route *route_of(const struct choosing *choosing, uint32_t flow)
{
	return &choosing->key->routes[flow];
}

/* The switches of flows, for the comparison. */
struct order {
	uint32_t first, second, flow;
};

static int key_offsets_compare(const void *left, const void *right)
{
	const struct order *a = left, *b = right;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return (a->flow > b->flow) - (a->flow < b->flow);
}

static void make_note(struct choosing *choosing, uint32_t flow, uint32_t wanted)
{
	struct hd_key *key = choosing->key;
	uint8_t offset = (uint8_t)(wanted % choosing->allowed);

	key->routes[flow].offset = offset;
	if (key->offsets <= offset)
		key->offsets = offset + 1u;
	if (key->wanted_offsets <= wanted)
		key->wanted_offsets = wanted + 1;
}

/* The order is by destination, then by the source's switch. */
static void choose_by_flow(struct choosing *choosing, const struct order *order)
{
	uint32_t equal = 0;

	for (uint32_t i = 0; i < choosing->count; i++) {
		bool same = i && order[i].first == order[i - 1].first &&
			    order[i].second == order[i - 1].second;
		equal = same ? equal + 1 : 0;
		if (choosing->request->flow_offsets) {
			/* The caller has chosen it. */
			uint32_t flow = order[i].flow;
			struct hd_key *key = choosing->key;
			uint8_t offset = choosing->request->flow_offsets[flow];
			key->routes[flow].offset = offset;
			if (key->offsets <= offset)
				key->offsets = offset + 1u;
			if (key->wanted_offsets <= equal)
				key->wanted_offsets = equal + 1;
		} else
			make_note(choosing, order[i].flow, equal);
	}
}

/* The lowest offset that no other source of the switch has for one of these flows' hosts. */
static uint32_t lowest_free(const struct choosing *choosing, const struct order *order,
			    uint32_t count)
{
	for (uint32_t word = 0; word < OFFSETS_MOST / 64; word++) {
		uint64_t taken = 0;
		for (uint32_t i = 0; i < count; i++)
			taken |= choosing->taken[choosing->group[order[i].flow]][word];
		if (~taken)
			return word * 64 + (uint32_t)__builtin_ctzll(~taken);
	}
	return OFFSETS_MOST - 1;
}

/*
 * Several flows from one switch to one host get different offsets, as far as there are enough: they need different
 * cables. Flows from different switches can share one. Sets the offsets of the routes that leave their switch, and
 * key->offsets and key->wanted_offsets. Errors: -ENOMEM. Cost: O(flows log flows).
 */
static int key_offsets_choose(const struct hd_key_request *request, struct hd_key *key)
{
	struct hd_arena arena = {0};
	uint32_t flows = key->flow_count;
	struct choosing choosing = {.request = request,
				    .fabric = hd_key_tree_fabric(request->tree),
				    .key = key,
				    .allowed = request->offsets ? request->offsets : 1,
				    .flows = hd_arena_alloc(&arena, flows, sizeof(uint32_t)),
				    .group = hd_arena_alloc(&arena, flows, sizeof(uint32_t)),
				    .taken =
					hd_arena_alloc(&arena, flows, sizeof(*choosing.taken))};
	struct order *order = hd_arena_alloc(&arena, flows, sizeof(*order));
	int rc = hd_arena_check(&arena);

	for (uint32_t i = 0; !rc && i < flows; i++)
		if (!key->routes[i].left_out &&
		    choosing.fabric->host_switch[key->routes[i].source] !=
			choosing.fabric->host_switch[key->routes[i].destination])
			choosing.flows[choosing.count++] = i;
	if (!rc) {
		for (uint32_t i = 0; i < choosing.count; i++) {
			const struct hd_key_route *route = route_of(&choosing, choosing.flows[i]);
			order[i] = (struct order){route->destination,
						  choosing.fabric->host_switch[route->source],
						  choosing.flows[i]};
		}
		qsort(order, choosing.count, sizeof(*order), key_offsets_compare);
		uint32_t groups = 0;
		for (uint32_t i = 0; i < choosing.count; i++) {
			groups += !i || order[i].first != order[i - 1].first ||
				  order[i].second != order[i - 1].second;
			choosing.group[order[i].flow] = groups - 1;
		}
	}
	if (!rc && request->one_offset_a_source && !request->flow_offsets) {
		for (uint32_t i = 0; i < choosing.count; i++) {
			const struct hd_key_route *route = route_of(&choosing, choosing.flows[i]);
			order[i] =
			    (struct order){route->source, route->destination, choosing.flows[i]};
		}
		qsort(order, choosing.count, sizeof(*order), key_offsets_compare);
		/* The order is by source. */
		for (uint32_t first = 0, next; first < choosing.count; first = next) {
			for (next = first;
			     next < choosing.count && order[next].first == order[first].first;)
				next++;
			uint32_t wanted = lowest_free(&choosing, order + first, next - first);
			for (uint32_t i = first; i < next; i++) {
				choosing.taken[choosing.group[order[i].flow]][wanted / 64] |=
				    UINT64_C(1) << wanted % 64;
				make_note(&choosing, order[i].flow, wanted);
			}
		}
	} else if (!rc) {
		choose_by_flow(&choosing, order);
	}
	hd_arena_release(&arena);
	return rc;
}

/* ---- key make ---- */

/* A flow at the present level. */
struct climber {
	uint32_t flow, group;
	uint32_t source, destination; /* blocks */
};

struct stage_range {
	uint32_t begin, end; /* climbers of one group */
	struct key_stage stage;
	uint32_t stuck; /* item */
	int rc;
	struct hd_error err;
};

struct making {
	const struct hd_key_request *request;
	const struct hd_key_tree *tree;
	struct hd_arena arena;
	struct hd_key *key;
	struct climber *climbers; /* [climber_count] sorted as items are made of them */
	uint32_t climber_count;
	struct key_item *items; /* [climber_count] of all stages; a stage's begin at its range's */
	uint32_t *item_of; /* [climber_count] number in its stage */
	uint64_t seed; /* drawn from the flows */
	struct stage_range *ranges; /* [range_count] */
	uint32_t range_count;
	uint32_t level;
};

static int no_host(const struct making *making, uint32_t host, struct hd_error *err)
{
	const struct hd_fabric *fabric = making->tree->fabric;
	char label[HD_LABEL_SIZE];

	if (host >= fabric->host_count)
		return hd_error_set(err, -EINVAL, "host %u does not exist", host);
	if (making->request->leave_out || key_tree_has(making->tree, host))
		return 0;
	return hd_error_set(err, -EHOSTUNREACH, "%s is not on a leaf of the tree",
			    hd_port_label(fabric, fabric->host_port[host], label, sizeof(label)));
}

static int begin_routes(struct making *making, struct hd_error *err)
{
	const struct hd_key_request *request = making->request;

	for (uint32_t i = 0; i < request->flow_count; i++) {
		const struct hd_key_flow *flow = &request->flows[i];
		int rc = no_host(making, flow->source, err);
		if (!rc)
			rc = no_host(making, flow->destination, err);
		if (rc)
			return rc;
		making->seed ^= (uint64_t)flow->source << 32 | flow->destination;
		making->seed = hd_random_next(&making->seed);
		struct hd_key_route *route = &making->key->routes[i];
		const struct hd_key_tree *tree = making->tree;
		route->source = flow->source;
		route->destination = flow->destination;
		if (making->request->leave_out &&
		    !key_tree_joins(tree, flow->source, flow->destination)) {
			route->left_out = true;
			making->key->left_out++;
		} else if (!tree->ranks) {
			route->climbs = route->descents = (uint8_t)key_tree_climbs(
			    tree, tree->leaf[flow->source], tree->leaf[flow->destination]);
		}
	}
	making->seed ^= request->variant;
	return 0;
}

/* Order: by group, destination LID, and block of the source */
struct sorting {
	uint32_t group, destination, offset, source;
	struct climber climber;
};

static int make_compare(const void *left, const void *right)
{
	const struct sorting *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->destination != b->destination)
		return a->destination < b->destination ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return (a->climber.flow > b->climber.flow) - (a->climber.flow < b->climber.flow);
}

static int sort_climbers(struct making *making)
{
	struct sorting *sorting = malloc(sizeof(*sorting) * (making->climber_count + 1));

	if (!sorting)
		return -ENOMEM;
	for (uint32_t i = 0; i < making->climber_count; i++) {
		const struct climber *climber = &making->climbers[i];
		const struct hd_key_route *route = &making->key->routes[climber->flow];
		sorting[i] = (struct sorting){climber->group, route->destination, route->offset,
					      climber->source, *climber};
	}
	qsort(sorting, making->climber_count, sizeof(*sorting), make_compare);
	for (uint32_t i = 0; i < making->climber_count; i++)
		making->climbers[i] = sorting[i].climber;
	free(sorting);
	return 0;
}

static void begin_range(struct making *making, uint32_t first)
{
	struct stage_range *range = &making->ranges[making->range_count++];

	*range = (struct stage_range){.begin = first,
				      .stage = {.tree = making->tree,
						.level = making->level,
						.group = making->climbers[first].group,
						.algorithm = making->request->algorithm,
						.items = making->items + first,
						.seed = making->seed}};
}

static void fit_ranges(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct making *making = context;

	(void)worker;
	for (uint32_t i = begin; i < end; i++) {
		struct stage_range *range = &making->ranges[i];
		range->rc = key_fit(&range->stage, &range->stuck, &range->err);
	}
}

/* The result does not depend on which stage was done first. */
static int settle_ranges(struct making *making, struct hd_error *err)
{
	for (uint32_t i = 0; i < making->range_count; i++) {
		const struct stage_range *range = &making->ranges[i];
		if (range->rc == -EHOSTUNREACH) {
			uint32_t at = range->begin;
			while (making->item_of[at] != range->stuck)
				at++;
			return key_tree_no_path(
			    making->tree, &making->request->flows[making->climbers[at].flow], err);
		}
		if (range->rc)
			return hd_error_set(err, range->rc, "%s", range->err.text);
		/* Takes over the tightest switch of a stage if no earlier one is tighter. What
		 * a switch above the leaves has to carry depends on the cables that were chosen
		 * below it: that counts only where the leaves have cables enough. */
		struct hd_key *key = making->key;
		const struct key_stage *stage = &range->stage;
		if (!(key->demand > key->usable ||
		      (key->demand && (uint64_t)stage->demand * key->usable <=
					  (uint64_t)key->demand * stage->usable))) {
			key->tightest_switch = stage->tightest_switch;
			key->demand = stage->demand;
			key->usable = stage->usable;
		}
		for (uint32_t at = range->begin; at < range->end; at++) {
			const struct key_item *item = &range->stage.items[making->item_of[at]];
			struct hd_key_route *route =
			    &making->key->routes[making->climbers[at].flow];
			route->up[making->level] = item->up;
			route->down[making->level] = item->down;
		}
	}
	return 0;
}

/* The climbers of the next level: those that climb further, in the groups and blocks above. */
static void climb(struct making *making)
{
	const struct key_level *level = &making->tree->level[making->level];
	uint32_t ratio = level[1].leaves / level->leaves, kept = 0;

	for (uint32_t i = 0; i < making->climber_count; i++) {
		struct climber climber = making->climbers[i];
		const struct hd_key_route *route = &making->key->routes[climber.flow];
		if (route->climbs <= making->level + 1)
			continue;
		climber.group =
		    key_tree_parent_group(level, climber.group, route->up[making->level]);
		climber.source /= ratio;
		climber.destination /= ratio;
		making->climbers[kept++] = climber;
	}
	making->climber_count = kept;
	making->level++;
}

static int fit_level(struct making *making, struct hd_error *err)
{
	/* Makes items of the climbers, which are sorted. */
	struct stage_range *range = NULL;
	making->range_count = 0;
	for (uint32_t i = 0; i < making->climber_count; i++) {
		const struct climber *climber = &making->climbers[i], *before = climber - 1;
		const struct hd_key_route *route = &making->key->routes[climber->flow];
		const struct hd_key_route *last = i ? &making->key->routes[before->flow] : NULL;
		bool same_group = i && climber->group == before->group;
		bool same_lid = same_group && route->destination == last->destination &&
				route->offset == last->offset;
		if (!same_group) {
			begin_range(making, i);
			range = &making->ranges[making->range_count - 1];
		}
		struct key_stage *stage = &range->stage;
		stage->lid_count += !same_lid;
		if (!same_lid || climber->source != before->source)
			stage->items[stage->item_count++] =
			    (struct key_item){.left = climber->source,
					      .right = climber->destination,
					      .lid = stage->lid_count - 1};
		stage->items[stage->item_count - 1].weight++;
		making->item_of[i] = stage->item_count - 1;
		range->end = i + 1;
	}
	hd_parallel_for(making->request->threads, making->range_count, 1, fit_ranges, making);
	return settle_ranges(making, err);
}

int key_count_contention(const struct hd_key_tree *tree, struct hd_key *key)
{
	struct hd_key_loads *loads = hd_key_loads_new(tree);

	if (!loads)
		return -ENOMEM;
	key->contention = 0;
	hd_key_loads_add(loads, tree, key, NULL, 1);
	for (uint32_t link = 0; link < loads->link_count; link++)
		if (key->contention < loads->flows[link])
			key->contention = loads->flows[link];
	hd_key_loads_free(loads);
	return 0;
}

static bool is_leaf(const struct making *making, uint32_t sw)
{
	const struct key_level *leaves = &making->tree->level[0];

	if (making->tree->ranks)
		return true; /* only switches with hosts of flows are looked at */
	for (uint32_t leaf = 0; leaf < leaves->blocks; leaf++)
		if (leaves->at[leaf] == sw)
			return true;
	return false;
}

static int explain_contention(const struct making *making, struct hd_error *err)
{
	const struct hd_key *key = making->key;
	const struct hd_fabric *fabric = making->tree->fabric;
	unsigned allowed = making->request->offsets ? making->request->offsets : 1;
	const char *name = fabric->node_name[key->tightest_switch];
	uint64_t guid = fabric->node_guid[key->tightest_switch];

	if (key->demand > key->usable && is_leaf(making, key->tightest_switch))
		return hd_error_set(err, -EDOM,
				    "no key is free of contention: %u flows must leave or enter "
				    "switch '%s' 0x%016" PRIx64
				    " upwards, and it has %u usable cables upwards",
				    key->demand, name, guid, key->usable);
	if (key->wanted_offsets > allowed)
		return hd_error_set(err, -EDOM,
				    "no key is free of contention: %u flows from one leaf go to "
				    "one host; that takes as many LID offsets, and the key may "
				    "use %u",
				    key->wanted_offsets, allowed);
	return hd_error_set(err, -EDOM,
			    "found no key that is free of contention, the best has %u flows on a "
			    "link; the tightest switch is '%s' 0x%016" PRIx64
			    ": %u flows leave or enter it upwards, and it has %u usable cables "
			    "upwards",
			    key->contention, name, guid, key->demand, key->usable);
}

/* In a tree that is not regular. */
static int climb_ranks(struct making *making, struct hd_error *err)
{
	for (uint32_t i = 0; i < making->request->flow_count; i++) {
		const struct hd_key_flow *flow = &making->request->flows[i];
		if (!making->key->routes[i].left_out &&
		    !key_tree_joins(making->tree, flow->source, flow->destination))
			return key_tree_no_path(making->tree, flow, err);
	}
	return key_climb_make(making->request, making->key) ? hd_error_no_memory(err) : 0;
}

static int fit_regular(struct making *making, struct hd_error *err)
{
	uint32_t flows = making->request->flow_count,
		 groups = making->tree->level[making->tree->top].groups;

	making->climbers = hd_arena_alloc(&making->arena, flows, sizeof(*making->climbers));
	making->items = hd_arena_alloc(&making->arena, flows, sizeof(*making->items));
	making->item_of = hd_arena_alloc(&making->arena, flows, sizeof(*making->item_of));
	making->ranges = hd_arena_alloc(&making->arena, groups, sizeof(*making->ranges));
	if (hd_arena_check(&making->arena))
		return hd_error_no_memory(err);
	const struct hd_key *key = making->key;
	const uint32_t *leaf = making->tree->leaf;
	for (uint32_t i = 0; i < key->flow_count; i++) {
		const struct hd_key_route *route = &key->routes[i];
		if (route->climbs)
			making->climbers[making->climber_count++] =
			    (struct climber){.flow = i,
					     .source = leaf[route->source],
					     .destination = leaf[route->destination]};
	}
	int rc = 0;
	while (!rc && making->climber_count) {
		rc = sort_climbers(making) ? hd_error_no_memory(err) : fit_level(making, err);
		if (!rc)
			climb(making);
	}
	return rc;
}

static int make_make(struct making *making, struct hd_error *err)
{
	uint32_t flows = making->request->flow_count;
	struct hd_key *key = making->key;

	key->flow_count = flows;
	key->tightest_switch = HD_NONE;
	key->routes = calloc((size_t)flows + 1, sizeof(*key->routes));
	if (!key->routes)
		return hd_error_no_memory(err);
	int rc = begin_routes(making, err);
	if (!rc && key_offsets_choose(making->request, key))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = making->tree->ranks ? climb_ranks(making, err) : fit_regular(making, err);
	if (!rc && key_count_contention(making->tree, key))
		rc = hd_error_no_memory(err);
	if (!rc && key->contention > 1 && !making->request->best_effort)
		rc = explain_contention(making, err);
	return rc;
}

int hd_key_make(const struct hd_key_request *request, struct hd_key **out, struct hd_error *err)
{
	struct making making = {
	    .request = request, .tree = request->tree, .key = calloc(1, sizeof(*making.key))};
	int rc = making.key ? make_make(&making, err) : hd_error_no_memory(err);

	hd_arena_release(&making.arena);
	if (rc)
		hd_key_free(making.key);
	else
		*out = making.key;
	return rc;
}

/* Whether a key has as little contention as another one with more offsets. */
static bool is_as_good(const struct hd_key *key, const struct hd_key *other)
{
	return key->contention <= 1 || key->contention <= other->contention;
}

/* The least number of offsets above `few` that gives as little contention as *best, which is replaced. */
static int find_fewest(struct hd_key_request *request, unsigned few, struct hd_key **best,
		       struct hd_error *err)
{
	unsigned many = (*best)->offsets;

	while (many - few > 1) {
		struct hd_key *key;
		request->offsets = few + (many - few) / 2;
		int rc = hd_key_make(request, &key, err);
		if (rc)
			return rc;
		bool good = is_as_good(key, *best);
		if (good) {
			many = request->offsets;
			hd_key_free(*best);
			*best = key;
		} else {
			few = request->offsets;
			hd_key_free(key);
		}
	}
	return 0;
}

/* Replaces *key, which has one offset, by a better one with more. */
static int try_more_offsets(const struct hd_key_request *asked, struct hd_key **key,
			    struct hd_error *err)
{
	struct hd_key_request request = *asked;
	struct hd_key *most;

	request.best_effort = true;
	if (request.offsets > (*key)->wanted_offsets)
		request.offsets = (*key)->wanted_offsets;
	int rc = hd_key_make(&request, &most, err);
	if (rc)
		return rc;
	if (is_as_good(*key, most)) {
		hd_key_free(most);
		return 0;
	}
	hd_key_free(*key);
	*key = most;
	return find_fewest(&request, 1, key, err);
}

int hd_key_make_fewest(const struct hd_key_request *request, struct hd_key **out,
		       struct hd_error *err)
{
	struct making making = {.request = request, .tree = request->tree};
	struct hd_key_request one = *request;
	struct hd_key *key;

	one.offsets = 1;
	one.best_effort = true;
	int rc = hd_key_make(&one, &key, err);
	if (rc)
		return rc;
	if (key->contention > 1 && key->wanted_offsets > 1 && request->offsets > 1)
		rc = try_more_offsets(request, &key, err);
	making.key = key;
	if (!rc && key->contention > 1 && !request->best_effort)
		rc = explain_contention(&making, err);
	if (rc)
		hd_key_free(key);
	else
		*out = key;
	return rc;
}

void hd_key_free(struct hd_key *key)
{
	if (key)
		free(key->routes);
	free(key);
}
