/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys and shifts in trees that are not regular. key_make.c and key_path.c call it where tree->ranks is set.
 *
 * Flows of one LID are a bundle that stays together where paths meet. Ways are negotiated: links that carry too
 * many flows become dearer, and bundles on them are led again. Work is bounded by links that are looked at, not by
 * time, so the same request gives the same key.
 */
#include "key_climb.h"

#include "key_ranks.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <stdlib.h>
#include <string.h>

/*
 * Paths of many flows through a tree that is not regular, so that links carry few of them. Flows from one switch to
 * one LID are an item, and the items of one LID a bundle: their paths stay together where they meet, because switches
 * forward by nothing but the LID.
 *
 * The paths are found by negotiation: a bundle on a link that carries too many flows is led again, by the cheapest
 * paths, and such links become dearer each time (L. McMurchie, C. Ebeling, "PathFinder", 1995).
 */

#define KEY_HOPS_MAX (2 * HD_KEY_LEVELS)

struct key_way {
	uint32_t hops;
	uint32_t links[KEY_HOPS_MAX];
};

struct key_way_item {
	uint32_t source; /* switch */
	uint32_t weight; /* flows */
	struct key_way way; /* result; a path that is given to key_ways_move() */
};

struct key_bundle {
	uint32_t destination; /* switch, which all sources reach */
	uint32_t first, count; /* items */
};

struct key_ways {
	const struct key_ranks *ranks;
	struct key_way_item *items;
	struct key_bundle *bundles;
	uint32_t item_count, bundle_count;
	const uint32_t *others; /* [isl_count] flows that are there already; NULL: none */
	uint64_t variant; /* of choices between equal paths; 0: the first */
};

/* ---- key ways ---- */

#define ROUNDS 120u /* of one target */
#define TARGETS 8u /* that are tried, at most */
/* Links that are looked at to lower the most flows on a link, and as many again for the flows that share links: about
 * 0.3 s each. It is a number, not a time, so that the ways are the same everywhere. */
#define LINKS_MOST UINT64_C(30000000)
#define HOP_COST 16u
#define LOAD_COST 32u /* a flow that is there, below the target */
#define OVER_COST 64u /* and above it, in the first round */
#define PAST_COST (UINT64_C(1) << 36) /* a flow above the limit */
#define NO_WAY UINT64_MAX

/* How good the ways are: fewer of the first, then of the next. */
struct score {
	uint32_t own; /* most flows of the items on a link */
	uint32_t most; /* with those of others */
	uint64_t sharing; /* flows whose way has a link with others */
	uint64_t hops;
};

struct leading {
	struct key_ways *ways;
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	uint32_t *load; /* [isl_count] of the items */
	uint64_t *history; /* [isl_count] what the link costs more by now */
	uint32_t target, limit; /* flows on a link: more are dear, or not allowed for the items */
	uint64_t over_cost;
	struct key_way *best; /* [item_count] */
	struct score score; /* of the best ones */
	bool has_best;
	uint64_t links_seen,
	    links_most; /* that were looked at, and that may be before a new round */
	/* of one search */
	uint32_t stamp;
	uint32_t *seen; /* [switch_count] the search that has set cost and next */
	uint64_t *cost; /* [switch_count] from there to the destination */
	uint32_t *next; /* [switch_count] link */
	uint32_t bundle_stamp;
	uint32_t *fixed_in,
	    *fixed; /* [switch_count] the link of another item of the bundle numbered fixed_in */
};

static uint32_t others_on(const struct leading *leading, uint32_t link)
{
	return leading->ways->others ? leading->ways->others[link] : 0;
}

static void add_way(struct leading *leading, const struct key_way_item *item, int sign)
{
	for (uint32_t hop = 0; hop < item->way.hops; hop++)
		leading->load[item->way.links[hop]] += (uint32_t)sign * item->weight;
}

static uint64_t link_cost(const struct leading *leading, uint32_t link, uint32_t weight)
{
	uint64_t own = (uint64_t)leading->load[link] + weight, all = own + others_on(leading, link);
	uint64_t cost = HOP_COST + leading->history[link] + LOAD_COST * (all - weight),
		 variant = leading->ways->variant;

	if (all > leading->target)
		cost += (all - leading->target) * leading->over_cost;
	if (own > leading->limit)
		cost += (own - leading->limit) * PAST_COST;
	if (variant) {
		variant += link;
		cost += hd_random_next(&variant) % HOP_COST;
	}
	return cost;
}

static uint64_t cost_from(struct leading *leading, uint32_t sw, uint32_t destination,
			  uint32_t weight);

static void try_link(struct leading *leading, uint32_t sw, uint32_t link, uint32_t destination,
		     uint32_t weight)
{
	if (!key_ranks_is_step(leading->ways->ranks, sw, link, destination))
		return;
	uint64_t beyond = cost_from(leading, leading->fabric->isl_to[link], destination, weight);
	if (beyond == NO_WAY)
		return;
	uint64_t cost = beyond + link_cost(leading, link, weight);
	if (cost < leading->cost[sw]) {
		leading->cost[sw] = cost;
		leading->next[sw] = link;
	}
}

/* The least cost from a switch to the destination. Each step climbs or descends a level, so it comes to an end. */
static uint64_t cost_from(struct leading *leading, uint32_t sw, uint32_t destination,
			  uint32_t weight)
{
	const struct hd_fabric *fabric = leading->fabric;

	if (sw == destination)
		return 0;
	if (leading->seen[sw] == leading->stamp)
		return leading->cost[sw];
	leading->seen[sw] = leading->stamp;
	leading->cost[sw] = NO_WAY;
	if (leading->fixed_in[sw] == leading->bundle_stamp) {
		try_link(leading, sw, leading->fixed[sw], destination, weight);
		return leading->cost[sw];
	}
	leading->links_seen += fabric->isl_base[sw + 1] - fabric->isl_base[sw];
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		try_link(leading, sw, link, destination, weight);
	return leading->cost[sw];
}

static bool is_over(const struct leading *leading, const struct key_bundle *bundle)
{
	for (uint32_t i = bundle->first; i < bundle->first + bundle->count; i++) {
		const struct key_way *way = &leading->ways->items[i].way;
		for (uint32_t hop = 0; hop < way->hops; hop++)
			if (leading->load[way->links[hop]] + others_on(leading, way->links[hop]) >
			    leading->target)
				return true;
	}
	return false;
}

static void lead_bundle(struct leading *leading, const struct key_bundle *bundle)
{
	struct key_way_item *items = leading->ways->items + bundle->first;

	for (uint32_t i = 0; i < bundle->count; i++)
		add_way(leading, &items[i], -1);
	leading->bundle_stamp++;
	for (uint32_t i = 0; i < bundle->count; i++) {
		struct key_way_item *item = &items[i];
		uint32_t destination = bundle->destination;
		uint32_t sw = item->source;
		leading->stamp++;
		cost_from(leading, sw, destination, item->weight);
		for (item->way.hops = 0; sw != destination;
		     sw = leading->fabric->isl_to[leading->next[sw]]) {
			item->way.links[item->way.hops++] = leading->next[sw];
			leading->fixed_in[sw] = leading->bundle_stamp;
			leading->fixed[sw] = leading->next[sw];
		}
		add_way(leading, item, 1);
	}
}

static bool is_better(const struct score *one, const struct score *other)
{
	if (one->most != other->most)
		return one->most < other->most;
	return one->sharing != other->sharing ? one->sharing < other->sharing
					      : one->hops < other->hops;
}

static void keep_if_better(struct leading *leading)
{
	struct score score = {0};

	for (uint32_t i = 0; i < leading->ways->item_count; i++) {
		const struct key_way_item *item = &leading->ways->items[i];
		bool shares = item->weight > 1 && item->way.hops;
		for (uint32_t hop = 0; hop < item->way.hops; hop++) {
			uint32_t own = leading->load[item->way.links[hop]];
			uint32_t all = own + others_on(leading, item->way.links[hop]);
			score.own = own > score.own ? own : score.own;
			score.most = all > score.most ? all : score.most;
			shares = shares || all > item->weight;
		}
		score.sharing += shares ? item->weight : 0;
		score.hops += item->way.hops;
	}
	if (score.own > leading->limit ||
	    (leading->has_best && !is_better(&score, &leading->score)))
		return;
	leading->score = score;
	leading->has_best = true;
	for (uint32_t i = 0; i < leading->ways->item_count; i++)
		leading->best[i] = leading->ways->items[i].way;
}

/* Rounds until no link carries more flows than the target. False: that did not happen. */
static bool negotiate(struct leading *leading, uint32_t target)
{
	memset(leading->history, 0, leading->fabric->isl_count * sizeof(*leading->history));
	leading->target = target;
	leading->over_cost = OVER_COST;
	for (uint32_t round = 0; round < ROUNDS && leading->score.most > target &&
				 leading->links_seen < leading->links_most;
	     round++) {
		/* Rounds begin with different bundles, so that none of them always comes last. */
		const struct key_ways *ways = leading->ways;
		uint32_t first = (uint32_t)((uint64_t)round * 7919 % (ways->bundle_count + 1));
		for (uint32_t i = 0; i < ways->bundle_count; i++) {
			const struct key_bundle *bundle =
			    &ways->bundles[(first + i) % ways->bundle_count];
			if (is_over(leading, bundle))
				lead_bundle(leading, bundle);
		}
		for (uint32_t link = 0; link < leading->fabric->isl_count; link++)
			if (leading->load[link] &&
			    leading->load[link] + others_on(leading, link) > leading->target)
				leading->history[link] += OVER_COST / 2;
		leading->over_cost += leading->over_cost / 4;
		keep_if_better(leading);
	}
	memset(leading->load, 0, leading->fabric->isl_count * sizeof(*leading->load));
	for (uint32_t i = 0; i < leading->ways->item_count; i++) {
		leading->ways->items[i].way = leading->best[i];
		add_way(leading, &leading->ways->items[i], 1);
	}
	return leading->score.most <= target;
}

static int key_ways_begin(struct leading *leading)
{
	struct hd_arena *arena = &leading->arena;
	uint32_t links = leading->fabric->isl_count, switches = leading->fabric->switch_count;

	leading->load = hd_arena_alloc(arena, links, sizeof(*leading->load));
	leading->history = hd_arena_alloc(arena, links, sizeof(*leading->history));
	leading->best = hd_arena_alloc(arena, leading->ways->item_count, sizeof(*leading->best));
	leading->seen = hd_arena_alloc(arena, switches, sizeof(*leading->seen));
	leading->cost = hd_arena_alloc(arena, switches, sizeof(*leading->cost));
	leading->next = hd_arena_alloc(arena, switches, sizeof(*leading->next));
	leading->fixed_in = hd_arena_alloc(arena, switches, sizeof(*leading->fixed_in));
	leading->fixed = hd_arena_alloc(arena, switches, sizeof(*leading->fixed));
	leading->over_cost = OVER_COST;
	return hd_arena_check(arena) ? -ENOMEM : 0;
}

/* Lowers the most flows on a link as far as that goes, but not below `least`; then the flows that share links. */
static void improve(struct leading *leading, uint32_t least)
{
	uint32_t step =
	    leading->score.most > least ? (leading->score.most - least + TARGETS - 1) / TARGETS : 1;

	leading->links_most = leading->links_seen + LINKS_MOST;
	for (uint32_t target = least; target < leading->score.most; target += step)
		if (negotiate(leading, target))
			break;
	leading->limit = leading->score.own;
	leading->links_most = leading->links_seen + LINKS_MOST;
	if (leading->score.most > 1)
		negotiate(leading, 1);
}

/*
 * Finds ways for all items: so that the most flows on a link are few, then that few flows share a link. at_least: a
 * number of flows that some link must carry. Errors: -ENOMEM. Cost: O(items * links above the leaves) for each of at
 * most a few hundred rounds, which end early where many links have been looked at.
 */
static int key_ways_find(struct key_ways *ways, uint32_t at_least)
{
	struct leading leading = {.ways = ways,
				  .fabric = ways->ranks->fabric,
				  .target = at_least ? at_least : 1,
				  .limit = UINT32_MAX};
	int rc = key_ways_begin(&leading);

	if (!rc) {
		for (uint32_t i = 0; i < ways->item_count; i++)
			ways->items[i].way.hops = 0;
		for (uint32_t i = 0; i < ways->bundle_count; i++)
			lead_bundle(&leading, &ways->bundles[i]);
		keep_if_better(&leading);
		improve(&leading, leading.target);
	}
	hd_arena_release(&leading.arena);
	return rc;
}

/* ---- key climb ---- */

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

static int climb_compare(const void *left, const void *right)
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

static int climb_begin(struct climbing *climbing)
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
	const uint32_t *host_switch = climbing->tree->fabric->host_switch;
	for (uint32_t i = 0; i < climbing->key->flow_count; i++) {
		const struct hd_key_route *route = &climbing->key->routes[i];
		if (!route->left_out &&
		    host_switch[route->source] != host_switch[route->destination])
			climbing->climbers[climbing->count++] = (struct climber){
			    i, host_switch[route->source], route->destination, route->offset};
	}
	qsort(climbing->climbers, climbing->count, sizeof(*climbing->climbers), climb_compare);
	/* Flows from one switch to one LID are an item; the items of one LID are a bundle. */
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
	return 0;
}

struct demand {
	uint32_t *leave, *enter; /* [switch_count] flows, upwards and from above */
};

/* Returns a number of flows that a cable of the tightest switch must carry. */
static uint32_t find_tightest(const struct climbing *climbing, const struct demand *demand,
			      struct hd_key *key)
{
	for (uint32_t sw = 0; sw < climbing->tree->fabric->switch_count; sw++) {
		uint32_t most =
		    demand->leave[sw] > demand->enter[sw] ? demand->leave[sw] : demand->enter[sw];
		if (!most)
			continue;
		const struct key_ranks *ranks = climbing->tree->ranks;
		const struct hd_fabric *fabric = ranks->fabric;
		uint32_t usable = 0;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			usable += ranks->direction[link] == KEY_CLIMBS;
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
	const struct key_ranks *ranks = climbing->tree->ranks;
	for (uint32_t i = 0; i < climbing->count; i++) {
		uint32_t from = climbing->climbers[i].source;
		uint32_t to =
		    climbing->tree->fabric->host_switch[climbing->climbers[i].destination];
		demand.leave[from] += !key_ranks_is_above(ranks, from, to);
		demand.enter[to] += !key_ranks_is_above(ranks, to, from);
	}
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

int key_climb_make(const struct hd_key_request *request, struct hd_key *key)
{
	struct climbing climbing = {.tree = request->tree, .key = key};
	uint32_t at_least = 1;
	int rc = climb_begin(&climbing);

	climbing.ways.variant = request->variant;
	if (!rc)
		rc = note_tightest(&climbing, key, &at_least);
	if (!rc)
		rc = key_ways_find(&climbing.ways, at_least);
	if (!rc) {
		for (uint32_t i = 0; i < climbing.count; i++) {
			struct hd_key_route *route = &key->routes[climbing.climbers[i].flow];
			struct key_moved moved = {0};
			store_way(&climbing, &climbing.ways.items[climbing.item_of[i]].way, &moved);
			route->climbs = moved.climbs;
			route->descents = moved.descents;
			memcpy(route->up, moved.up, sizeof(route->up));
			memcpy(route->down, moved.down, sizeof(route->down));
		}
	}
	hd_arena_release(&climbing.arena);
	return rc;
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
	int rc = climb_begin(&climbing);

	if (!rc) {
		/* The ways of the key as it was made. */
		for (uint32_t i = 0; i < climbing.count; i++) {
			const struct hd_key_route *route =
			    &climbing.key->routes[climbing.climbers[i].flow];
			struct key_way *way = &climbing.ways.items[climbing.item_of[i]].way;
			way->hops = key_climb_path(climbing.tree, route, NULL, way->links);
		}
		climbing.ways.others = loads->flows;
		if (meets_others(&climbing, loads)) {
			/* ways move so that their links carry fewer flows together with those of others; the
			 * most flows on a link never become more */
			struct key_ways *ways = &climbing.ways;
			struct leading leading = {
			    .ways = ways, .fabric = ways->ranks->fabric, .limit = key->contention};
			rc = key_ways_begin(&leading);
			if (!rc) {
				for (uint32_t i = 0; i < ways->item_count; i++)
					add_way(&leading, &ways->items[i], 1);
				keep_if_better(&leading);
				improve(&leading, 1);
			}
			hd_arena_release(&leading.arena);
		}
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
