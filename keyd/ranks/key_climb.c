/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_climb.h"

#include "key_ways.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct climber {
	uint32_t flow, source, destination; /* switch, host */
	uint8_t offset;
};

struct climbing {
	const struct hd_key_tree *tree;
	const struct hd_key *key;
	struct hd_arena arena;
	struct climber *climbers; /* [count] by destination, offset, source */
	uint32_t count;
	uint32_t *item_of; /* [count] */
	struct key_ways ways;
};

static int compare(const void *left, const void *right)
{
	const struct climber *a = left, *b = right;

	if (a->destination != b->destination)
		return a->destination < b->destination ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return (a->flow > b->flow) - (a->flow < b->flow);
}

static void list_climbers(struct climbing *climbing)
{
	const uint32_t *host_switch = climbing->tree->fabric->host_switch;

	for (uint32_t i = 0; i < climbing->key->flow_count; i++) {
		const struct hd_key_route *route = &climbing->key->routes[i];
		if (!route->left_out &&
		    host_switch[route->source] != host_switch[route->destination])
			climbing->climbers[climbing->count++] = (struct climber){
			    i, host_switch[route->source], route->destination, route->offset};
	}
	qsort(climbing->climbers, climbing->count, sizeof(*climbing->climbers), compare);
}

/* Flows from one switch to one LID are an item; the items of one LID are a bundle. */
static void list_items(struct climbing *climbing)
{
	struct key_ways *ways = &climbing->ways;

	for (uint32_t i = 0; i < climbing->count; i++) {
		const struct climber *climber = &climbing->climbers[i], *before = climber - 1;
		bool same_lid = i && climber->destination == before->destination &&
				climber->offset == before->offset;
		if (!same_lid)
			ways->bundles[ways->bundle_count++] = (struct key_bundle){
			    .destination =
				climbing->tree->fabric->host_switch[climber->destination],
			    .first = ways->item_count};
		if (!same_lid || climber->source != before->source) {
			ways->items[ways->item_count++].source = climber->source;
			ways->bundles[ways->bundle_count - 1].count++;
		}
		ways->items[ways->item_count - 1].weight++;
		climbing->item_of[i] = ways->item_count - 1;
	}
}

static int begin(struct climbing *climbing)
{
	uint32_t flows = climbing->key->flow_count;
	struct hd_arena *arena = &climbing->arena;

	climbing->climbers = hd_arena_alloc(arena, flows, sizeof(*climbing->climbers));
	climbing->item_of = hd_arena_alloc(arena, flows, sizeof(*climbing->item_of));
	climbing->ways.ranks = climbing->tree->ranks;
	climbing->ways.items = hd_arena_alloc(arena, flows, sizeof(*climbing->ways.items));
	climbing->ways.bundles = hd_arena_alloc(arena, flows, sizeof(*climbing->ways.bundles));
	if (hd_arena_check(arena))
		return -ENOMEM;
	list_climbers(climbing);
	list_items(climbing);
	return 0;
}

struct demand {
	uint32_t *leave, *enter; /* [switch_count] flows, upwards and from above */
};

static uint32_t cables_up(const struct key_ranks *ranks, uint32_t sw)
{
	const struct hd_fabric *fabric = ranks->fabric;
	uint32_t cables = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		cables += ranks->direction[link] == KEY_CLIMBS;
	return cables;
}

static void add_demand(const struct climbing *climbing, const struct demand *demand)
{
	const struct key_ranks *ranks = climbing->tree->ranks;

	for (uint32_t i = 0; i < climbing->count; i++) {
		uint32_t from = climbing->climbers[i].source;
		uint32_t to =
		    climbing->tree->fabric->host_switch[climbing->climbers[i].destination];
		demand->leave[from] += !key_ranks_is_above(ranks, from, to);
		demand->enter[to] += !key_ranks_is_above(ranks, to, from);
	}
}

/* Returns a number of flows that a cable of the tightest switch must carry. */
static uint32_t find_tightest(const struct climbing *climbing, const struct demand *demand,
			      struct hd_key *key)
{
	for (uint32_t sw = 0; sw < climbing->tree->fabric->switch_count; sw++) {
		uint32_t most =
		    demand->leave[sw] > demand->enter[sw] ? demand->leave[sw] : demand->enter[sw];
		if (!most)
			continue;
		uint32_t usable = cables_up(climbing->tree->ranks, sw);
		uint64_t mine = (uint64_t)most * key->usable,
			 theirs = (uint64_t)key->demand * usable;
		if (key->demand && (mine < theirs || (mine == theirs && most <= key->demand)))
			continue;
		key->tightest_switch = sw;
		key->demand = most;
		key->usable = usable;
	}
	return key->usable ? (key->demand + key->usable - 1) / key->usable : 1;
}

static int note_tightest(struct climbing *climbing, struct hd_key *key, uint32_t *at_least)
{
	uint32_t switches = climbing->tree->fabric->switch_count;
	struct demand demand = {
	    .leave = hd_arena_alloc(&climbing->arena, switches, sizeof(uint32_t)),
	    .enter = hd_arena_alloc(&climbing->arena, switches, sizeof(uint32_t))};

	if (hd_arena_check(&climbing->arena))
		return -ENOMEM;
	add_demand(climbing, &demand);
	*at_least = find_tightest(climbing, &demand, key);
	for (uint32_t i = 0; i < climbing->ways.item_count; i++)
		if (*at_least < climbing->ways.items[i].weight)
			*at_least = climbing->ways.items[i].weight;
	return 0;
}

/* The links of a way, as numbers among the links of the lower switch of each. */
static void store_way(const struct climbing *climbing, const struct key_way *way,
		      struct key_moved *out)
{
	const struct hd_fabric *fabric = climbing->tree->fabric;
	const struct key_ranks *ranks = climbing->tree->ranks;

	out->climbs = out->descents = 0;
	for (uint32_t hop = 0; hop < way->hops; hop++) {
		uint32_t link = way->links[hop];
		if (ranks->direction[link] == KEY_CLIMBS)
			out->up[out->climbs++] =
			    (uint8_t)(link - fabric->isl_base[hd_isl_from(fabric, link)]);
	}
	for (uint32_t hop = way->hops; hop-- > out->climbs;) {
		uint32_t reverse = fabric->isl_reverse[way->links[hop]];
		out->down[out->descents++] =
		    (uint8_t)(reverse - fabric->isl_base[hd_isl_from(fabric, reverse)]);
	}
}

static void store_routes(const struct climbing *climbing, struct hd_key *key)
{
	for (uint32_t i = 0; i < climbing->count; i++) {
		struct hd_key_route *route = &key->routes[climbing->climbers[i].flow];
		struct key_moved moved = {0};
		store_way(climbing, &climbing->ways.items[climbing->item_of[i]].way, &moved);
		route->climbs = moved.climbs;
		route->descents = moved.descents;
		memcpy(route->up, moved.up, sizeof(route->up));
		memcpy(route->down, moved.down, sizeof(route->down));
	}
}

int key_climb_make(const struct hd_key_request *request, struct hd_key *key)
{
	struct climbing climbing = {.tree = request->tree, .key = key};
	uint32_t at_least = 1;
	int rc = begin(&climbing);

	climbing.ways.variant = request->variant;
	if (!rc)
		rc = note_tightest(&climbing, key, &at_least);
	if (!rc)
		rc = key_ways_find(&climbing.ways, at_least);
	if (!rc)
		store_routes(&climbing, key);
	hd_arena_release(&climbing.arena);
	return rc;
}

/* The ways of the key as it was made. */
static void take_ways(struct climbing *climbing)
{
	for (uint32_t i = 0; i < climbing->count; i++) {
		const struct hd_key_route *route =
		    &climbing->key->routes[climbing->climbers[i].flow];
		struct key_way *way = &climbing->ways.items[climbing->item_of[i]].way;
		way->hops = key_climb_path(climbing->tree, route, NULL, way->links);
	}
}

static bool meets_others(const struct climbing *climbing, const struct hd_key_loads *loads)
{
	for (uint32_t i = 0; i < climbing->ways.item_count; i++)
		for (uint32_t hop = 0; hop < climbing->ways.items[i].way.hops; hop++)
			if (loads->flows[climbing->ways.items[i].way.links[hop]])
				return true;
	return false;
}

static int store_shift(const struct climbing *climbing, struct hd_key_shift *shift)
{
	shift->moved =
	    hd_arena_alloc(&shift->arena, climbing->ways.item_count, sizeof(*shift->moved));
	if (!shift->moved)
		return -ENOMEM;
	for (uint32_t i = 0; i < climbing->count; i++) {
		const struct climber *climber = &climbing->climbers[i];
		struct key_moved *moved = &shift->moved[climbing->item_of[i]];
		*moved = (struct key_moved){.source = climber->source,
					    .destination = climber->destination,
					    .offset = climber->offset};
		store_way(climbing, &climbing->ways.items[climbing->item_of[i]].way, moved);
	}
	shift->moved_count = climbing->ways.item_count;
	return 0;
}

int key_climb_shift(const struct hd_key_tree *tree, const struct hd_key *key,
		    const struct hd_key_loads *loads, struct hd_key_shift *shift)
{
	struct climbing climbing = {.tree = tree, .key = key};
	int rc = begin(&climbing);

	if (!rc) {
		take_ways(&climbing);
		climbing.ways.others = loads->flows;
		if (meets_others(&climbing, loads))
			rc = key_ways_move(&climbing.ways, key->contention);
	}
	if (!rc)
		rc = store_shift(&climbing, shift);
	hd_arena_release(&climbing.arena);
	return rc;
}

static int compare_moved(const void *key, const void *item)
{
	const struct key_moved *a = key, *b = item;

	if (a->destination != b->destination)
		return a->destination < b->destination ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->source > b->source) - (a->source < b->source);
}

static const struct key_moved *find_moved(const struct hd_key_tree *tree,
					  const struct hd_key_route *route,
					  const struct hd_key_shift *shift)
{
	const struct key_moved key = {.source = tree->fabric->host_switch[route->source],
				      .destination = route->destination,
				      .offset = route->offset};

	if (!(route->climbs + route->descents))
		return NULL; /* the flow has no route, or needs no link */
	return bsearch(&key, shift->moved, shift->moved_count, sizeof(key), compare_moved);
}

uint32_t key_climb_height(const struct hd_key_tree *tree, const struct hd_key_route *route,
			  const struct hd_key_shift *shift)
{
	const struct key_moved *moved = shift ? find_moved(tree, route, shift) : NULL;

	return moved ? moved->climbs : route->climbs;
}

uint32_t key_climb_path(const struct hd_key_tree *tree, const struct hd_key_route *route,
			const struct hd_key_shift *shift, uint32_t *links)
{
	const struct hd_fabric *fabric = tree->fabric;
	const struct key_moved *moved = shift ? find_moved(tree, route, shift) : NULL;
	const uint8_t *up = moved ? moved->up : route->up,
		      *down = moved ? moved->down : route->down;
	uint32_t climbs = moved ? moved->climbs : route->climbs;
	uint32_t descents = moved ? moved->descents : route->descents,
		 sw = fabric->host_switch[route->source];

	for (uint32_t hop = 0; hop < climbs; hop++) {
		links[hop] = fabric->isl_base[sw] + up[hop];
		sw = fabric->isl_to[links[hop]];
	}
	sw = fabric->host_switch[route->destination];
	for (uint32_t hop = 0; hop < descents; hop++) {
		uint32_t link = fabric->isl_base[sw] + down[hop];
		links[climbs + descents - 1 - hop] = fabric->isl_reverse[link];
		sw = fabric->isl_to[link];
	}
	return climbs + descents;
}
