/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_ways.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <string.h>

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

static void lead_item(struct leading *leading, struct key_way_item *item, uint32_t destination)
{
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
	for (uint32_t i = 0; i < bundle->count; i++)
		lead_item(leading, &items[i], bundle->destination);
}

/* Rounds begin with different bundles, so that none of them always comes last. */
static void lead_round(struct leading *leading, uint32_t round)
{
	const struct key_ways *ways = leading->ways;
	uint32_t first = (uint32_t)((uint64_t)round * 7919 % (ways->bundle_count + 1));

	for (uint32_t i = 0; i < ways->bundle_count; i++) {
		const struct key_bundle *bundle = &ways->bundles[(first + i) % ways->bundle_count];
		if (is_over(leading, bundle))
			lead_bundle(leading, bundle);
	}
	for (uint32_t link = 0; link < leading->fabric->isl_count; link++)
		if (leading->load[link] &&
		    leading->load[link] + others_on(leading, link) > leading->target)
			leading->history[link] += OVER_COST / 2;
	leading->over_cost += leading->over_cost / 4;
}

static struct score score_of(const struct leading *leading)
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
	return score;
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
	struct score score = score_of(leading);

	if (score.own > leading->limit ||
	    (leading->has_best && !is_better(&score, &leading->score)))
		return;
	leading->score = score;
	leading->has_best = true;
	for (uint32_t i = 0; i < leading->ways->item_count; i++)
		leading->best[i] = leading->ways->items[i].way;
}

static void take_best(struct leading *leading)
{
	memset(leading->load, 0, leading->fabric->isl_count * sizeof(*leading->load));
	for (uint32_t i = 0; i < leading->ways->item_count; i++) {
		leading->ways->items[i].way = leading->best[i];
		add_way(leading, &leading->ways->items[i], 1);
	}
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
		lead_round(leading, round);
		keep_if_better(leading);
	}
	take_best(leading);
	return leading->score.most <= target;
}

static int begin(struct leading *leading)
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

int key_ways_find(struct key_ways *ways, uint32_t at_least)
{
	struct leading leading = {.ways = ways,
				  .fabric = ways->ranks->fabric,
				  .target = at_least ? at_least : 1,
				  .limit = UINT32_MAX};
	int rc = begin(&leading);

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

int key_ways_move(struct key_ways *ways, uint32_t most)
{
	struct leading leading = {.ways = ways, .fabric = ways->ranks->fabric, .limit = most};
	int rc = begin(&leading);

	if (!rc) {
		for (uint32_t i = 0; i < ways->item_count; i++)
			add_way(&leading, &ways->items[i], 1);
		keep_if_better(&leading);
		improve(&leading, 1);
	}
	hd_arena_release(&leading.arena);
	return rc;
}
