/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * balance_route() calls balance_growth() after each routing that has a baseline; route.c and auto.c ask what a baseline
 * uses.
 *
 * First the flows over each link are counted, destination switch by destination switch, the farthest switches first; each
 * entry keeps how many hosts send through it. Then waves go over the destination switches. In a wave, switches wait in a
 * heap, the nearest to the destination first. A switch compares the links that are asked with those that its LIDs take, and
 * moves the LID that saves most, until none saves enough; loads and weights follow each move. Where a LID has moved, or
 * takes a new link, the switches behind ask for that LID. The order is fixed, so the result does not depend on threads.
 *
 * Each move lowers the conflicts, so the waves end. An entry that is on its way round a loss never moves, so the next sweep
 * finds what this one did.
 */
#include "balance_growth.h"
#include "link_number.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric/siblings.h>
#include <stdlib.h>

#define PORTS 256u
#define WAVES 3u
#define LEAST_GAIN .2 /* of a move: of the mean load of a link, times the hosts of a switch */
#define GRAIN 8u /* destination switches at a time */

/* LIDs of hosts at one switch. */
struct group {
	uint32_t exit, begin, count; /* the switch, and the place of its LIDs in lids[] */
	uint64_t new_lids; /* bits as in asked[]: the baseline does not have them */
};

/* What the best asked link saves for a LID; link HD_NONE: nothing. */
struct possible_move {
	uint32_t place, link;
	double gain;
};

struct growth {
	const struct balance_plan *plan;
	const struct hd_fabric *fabric;
	const struct dag_paths *paths;
	struct hd_routes *routes;
	struct hd_arena arena;
	struct group *groups;
	uint32_t group_count, host_lid_count, new_lid_count;
	uint16_t *lids; /* [lid_count] of hosts, switch by switch */
	uint8_t *number; /* [switch_count * PORTS] by port: link among the switch's own */
	/* [switch_count * host_lid_count] hosts whose path to the LID passes the switch, or begins there */
	uint16_t *weight;
	uint32_t *load; /* [isl_count] flows: pairs of a host and a LID */
	uint32_t *loads[HD_THREADS_MAX]; /* while they are counted */
	uint32_t *own; /* [isl_count] LIDs to which a host of the link's switch sends over it */
	uint32_t *places[HD_THREADS_MAX]; /* [switch_count] in order of distance */
	/* [isl_count] no entry of the baseline uses it; for ever, if the engine never does */
	bool *is_new;
	uint32_t *news, new_count;
	/* [isl_count] for which LIDs of the group at hand the link is compared: bit n for its nth, modulo 64 */
	uint64_t *asked;
	bool *waits; /* [switch_count] some of its links are asked */
	uint32_t *queue; /* switches that wait, by distance: a binary heap of keys */
	uint32_t queued;
	/* [lid_count] LID of the other port of a dual-homed node, 0 = none; NULL: no such nodes */
	uint16_t *sibling;
	struct possible_move *moves; /* [host_lid_count] of one switch and one group */
	double least_gain;
	uint64_t moved;
};

static uint64_t lid_bit(const struct group *group, uint32_t place)
{
	return UINT64_C(1) << ((place - group->begin) & 63);
}

static const uint8_t *states_to(const struct growth *growth, uint32_t exit)
{
	return growth->paths->by_destination + (size_t)exit * growth->fabric->switch_count;
}

static uint16_t *weight_of(const struct growth *growth, uint32_t sw, uint32_t place)
{
	return growth->weight + (size_t)sw * growth->host_lid_count + place;
}

/* The link that a switch takes to a LID; HD_NONE: none. */
static uint32_t link_to(const struct growth *growth, uint32_t sw, uint32_t lid)
{
	const uint8_t port = hd_routes_row(growth->routes, sw)[lid];
	const uint8_t number = growth->number[(size_t)sw * PORTS + port];

	return number == LINK_NUMBER_NONE ? HD_NONE : growth->fabric->isl_base[sw] + number;
}

static bool counts(const struct growth *growth, uint32_t link)
{
	const bool *uncounted = growth->plan->policy->uncounted;

	return !uncounted || !uncounted[link];
}

/* Steps from the destination: those against the tree come after all others. */
static uint32_t depth_of(uint8_t state)
{
	return dag_paths_round(state) ? DAG_PATHS_HOPS_MAX + dag_paths_round(state) : state >> 1;
}

/* ---- flows ---- */

/* Switches that reach the destination, the farthest first. Returns their number. */
static uint32_t order_by_depth(const struct growth *growth, const uint8_t *states, uint32_t *out)
{
	const uint32_t switches = growth->fabric->switch_count;
	uint32_t place[PORTS + 1] = {0}, reached = 0;

	for (uint32_t sw = 0; sw < switches; sw++)
		if (states[sw] != DAG_PATHS_UNREACHED)
			place[PORTS - 1 - depth_of(states[sw])]++;
	for (uint32_t depth = 0; depth < PORTS; depth++) {
		const uint32_t count = place[depth];

		place[depth] = reached;
		reached += count;
	}
	for (uint32_t sw = 0; sw < switches; sw++)
		if (states[sw] != DAG_PATHS_UNREACHED)
			out[place[PORTS - 1 - depth_of(states[sw])]++] = sw;
	return reached;
}

static void count_group(struct growth *growth, const struct group *group, unsigned worker)
{
	const struct hd_fabric *fabric = growth->fabric;
	uint32_t *order = growth->places[worker], *load = growth->loads[worker];
	const uint32_t reached = order_by_depth(growth, states_to(growth, group->exit), order);

	for (uint32_t i = 0; i < reached; i++) {
		const uint32_t sw = order[i];
		const uint32_t hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];
		uint16_t *weight = weight_of(growth, sw, group->begin);

		if (sw == group->exit)
			continue;
		for (uint32_t k = 0; k < group->count; k++) {
			const uint32_t lid = growth->lids[group->begin + k];
			const uint32_t link = link_to(growth, sw, lid);

			weight[k] = (uint16_t)(weight[k] + hosts);
			if (link == HD_NONE || !weight[k])
				continue;
			load[link] += weight[k];
			weight_of(growth, fabric->isl_to[link], group->begin)[k] =
			    (uint16_t)(weight_of(growth, fabric->isl_to[link], group->begin)[k] +
				       weight[k]);
		}
	}
}

static void count_groups(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct growth *growth = context;

	for (uint32_t i = begin; i < end; i++)
		count_group(growth, &growth->groups[i], worker);
}

static void count_own(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct growth *growth = context;

	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++) {
		const uint8_t *row = hd_routes_row(growth->routes, sw);
		uint32_t by_port[PORTS] = {0};

		if (growth->fabric->host_base[sw] == growth->fabric->host_base[sw + 1])
			continue;
		for (uint32_t place = 0; place < growth->host_lid_count; place++)
			by_port[row[growth->lids[place]]]++;
		for (uint32_t link = growth->fabric->isl_base[sw];
		     link < growth->fabric->isl_base[sw + 1]; link++)
			growth->own[link] = by_port[growth->fabric->isl_port[link]];
	}
}

static int count_flows(struct growth *growth)
{
	const struct hd_route_request *request = growth->plan->request;
	const uint32_t links = growth->fabric->isl_count;
	uint64_t sum = 0, used = 0, leaves = 0;
	int rc = hd_parallel_for_while(request->threads, growth->group_count, GRAIN, count_groups,
				       growth, &request->go_on);

	if (rc)
		return rc;
	hd_parallel_for(request->threads, growth->fabric->switch_count, GRAIN, count_own, growth);
	for (uint32_t link = 0; link < links; link++) {
		for (unsigned i = 1; i < hd_parallel_workers(request->threads); i++)
			growth->load[link] += growth->loads[i][link];
		if (!counts(growth, link))
			growth->load[link] = 0;
		sum += growth->load[link];
		used += growth->load[link] != 0;
	}
	for (uint32_t sw = 0; sw < growth->fabric->switch_count; sw++)
		leaves += growth->fabric->host_base[sw] != growth->fabric->host_base[sw + 1];
	if (used && leaves)
		growth->least_gain = LEAST_GAIN * (double)sum / (double)used *
				     (double)growth->fabric->host_count / (double)leaves;
	return 0;
}

/* ---- the cost of a path ---- */

/* Flows to other destinations on the links behind the first. */
static double cost_beyond(const struct growth *growth, uint32_t sw, uint32_t exit, uint32_t place)
{
	const uint32_t lid = growth->lids[place];
	uint64_t cost = 0;

	while (sw != exit) {
		const uint32_t link = link_to(growth, sw, lid);

		if (counts(growth, link))
			cost += growth->load[link] - *weight_of(growth, sw, place);
		sw = growth->fabric->isl_to[link];
	}
	return (double)cost;
}

/* Of a path by a link, for the flows that the switch sends. */
static double cost_by(const struct growth *growth, uint32_t sw, uint32_t link, uint32_t exit,
		      uint32_t place)
{
	const struct hd_fabric *fabric = growth->fabric;
	const bool now = link == link_to(growth, sw, growth->lids[place]);
	const double weight = *weight_of(growth, sw, place);
	const double hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];
	double first = 0;

	if (counts(growth, link))
		first = growth->load[link] - (now ? weight : 0) -
			hosts / weight * (growth->own[link] - (now ? 1 : 0));
	return first + cost_beyond(growth, fabric->isl_to[link], exit, place);
}

/* Takes the flows of a switch to a LID off their path, or puts them on it. */
static void shift_flows(struct growth *growth, uint32_t sw, uint32_t exit, uint32_t place, bool on)
{
	const uint32_t lid = growth->lids[place];
	const uint16_t weight = *weight_of(growth, sw, place);
	bool first = true;

	while (sw != exit) {
		const uint32_t link = link_to(growth, sw, lid);
		uint16_t *passing = weight_of(growth, sw, place);

		if (counts(growth, link))
			growth->load[link] += on ? weight : 0u - weight;
		if (!first)
			*passing = (uint16_t)(on ? *passing + weight : *passing - weight);
		first = false;
		sw = growth->fabric->isl_to[link];
	}
}

static void move(struct growth *growth, uint32_t sw, uint32_t link, uint32_t exit, uint32_t place)
{
	const struct hd_fabric *fabric = growth->fabric;
	const bool has_hosts = fabric->host_base[sw] != fabric->host_base[sw + 1];
	const uint32_t lid = growth->lids[place];

	shift_flows(growth, sw, exit, place, false);
	if (has_hosts)
		growth->own[link_to(growth, sw, lid)]--;
	hd_routes_row(growth->routes, sw)[lid] = fabric->isl_port[link];
	if (has_hosts)
		growth->own[link]++;
	shift_flows(growth, sw, exit, place, true);
	growth->moved++;
}

/* ---- one group of LIDs ---- */

static bool is_step(const struct growth *growth, const uint8_t *states, uint32_t link)
{
	const uint8_t state = states[hd_isl_from(growth->fabric, link)];

	return !dag_paths_round(state) && state != DAG_PATHS_UNREACHED &&
	       dag_paths_is_step(growth->paths, link, state, states[growth->fabric->isl_to[link]]);
}

/* The switches that wait, the nearest first: a heap by depth, then by number. */
static bool comes_first(const uint8_t *states, uint32_t a, uint32_t b)
{
	const uint32_t near_a = depth_of(states[a]), near_b = depth_of(states[b]);

	return near_a != near_b ? near_a < near_b : a < b;
}

static void ask(struct growth *growth, const uint8_t *states, uint32_t link, uint64_t lids)
{
	const uint32_t sw = hd_isl_from(growth->fabric, link);
	uint32_t *heap = growth->queue, at;

	growth->asked[link] |= lids;
	if (growth->waits[sw])
		return;
	growth->waits[sw] = true;
	for (at = growth->queued++; at && comes_first(states, sw, heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = sw;
}

static uint32_t take_nearest(struct growth *growth, const uint8_t *states)
{
	uint32_t *heap = growth->queue, nearest = heap[0], last = heap[--growth->queued], at = 0;

	for (uint32_t child; (child = 2 * at + 1) < growth->queued; at = child) {
		if (child + 1 < growth->queued && comes_first(states, heap[child + 1], heap[child]))
			child++;
		if (!comes_first(states, heap[child], last))
			break;
		heap[at] = heap[child];
	}
	heap[at] = last;
	return nearest;
}

/* Those that can reach a switch by one step compare that step. */
static void ask_behind(struct growth *growth, const uint8_t *states, uint32_t sw, uint64_t lids)
{
	const struct hd_fabric *fabric = growth->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (is_step(growth, states, fabric->isl_reverse[link]))
			ask(growth, states, fabric->isl_reverse[link], lids);
}

/* Other LIDs of the host that leave the switch by the link. */
static uint32_t count_shared(const struct growth *growth, uint32_t sw, uint32_t lid, uint8_t out)
{
	const struct hd_fabric *fabric = growth->fabric;
	const uint8_t *row = hd_routes_row(growth->routes, sw);
	const uint32_t port = fabric->lid_owner[lid];
	uint32_t shared = 0;

	for (uint32_t i = 0; i < hd_port_lid_count(fabric, port); i++)
		shared += fabric->lid[port] + i != lid && row[fabric->lid[port] + i] == out;
	return shared;
}

/* Whether a link leads to the switch to which the sibling of a LID goes next, and the one so far does not. */
static bool joins_sibling(const struct growth *growth, uint32_t sw, uint32_t lid, uint32_t link,
			  uint32_t now)
{
	const uint32_t *to = growth->fabric->isl_to;
	const uint32_t other = growth->sibling ? growth->sibling[lid] : 0;
	const uint32_t next = other ? link_to(growth, sw, other) : HD_NONE;

	return next != HD_NONE && to[link] == to[next] && to[now] != to[next];
}

/* An entry that is on its way round a loss stays, so that the next sweep finds the same. */
static bool is_movable(const struct growth *growth, uint32_t sw, uint32_t lid, uint32_t now)
{
	const uint8_t home = hd_routes_port(growth->plan->request->baseline, sw, lid);

	return home == HD_NO_PORT || home == growth->fabric->isl_port[now] || growth->is_new[now];
}

static struct possible_move best_move(const struct growth *growth, const struct group *group,
				      uint32_t sw, uint32_t place, const bool *full)
{
	const struct hd_fabric *fabric = growth->fabric;
	const uint32_t base = fabric->isl_base[sw], lid = growth->lids[place];
	const uint32_t now = link_to(growth, sw, lid);
	const double weight = *weight_of(growth, sw, place);
	const bool is_new = hd_routes_port(growth->plan->request->baseline, sw, lid) == HD_NO_PORT;
	struct possible_move best = {place, HD_NONE, is_new ? 0 : growth->least_gain};

	if (weight <= 0 || now == HD_NONE || !is_movable(growth, sw, lid, now))
		return best;
	const double cost = cost_by(growth, sw, now, group->exit, place);
	/* no move saves more than the whole cost */
	if (weight * cost <= best.gain)
		return best;
	for (uint32_t link = base; link < fabric->isl_base[sw + 1]; link++) {
		if (!(growth->asked[link] & lid_bit(group, place)) || link == now ||
		    full[link - base])
			continue;
		if (growth->plan->spread_lids &&
		    count_shared(growth, sw, lid, fabric->isl_port[link]) >
			count_shared(growth, sw, lid, fabric->isl_port[now]))
			continue;
		if (joins_sibling(growth, sw, lid, link, now))
			continue;
		const double gain = weight * (cost - cost_by(growth, sw, link, group->exit, place));
		if (gain > best.gain)
			best = (struct possible_move){place, link, gain};
	}
	return best;
}

/* The move that saves most. A move mostly makes others save less, so only the best one is looked at again, until one saves
 * what was noted. */
static struct possible_move take_best(const struct growth *growth, const struct group *group,
				      uint32_t sw, const bool *full, struct possible_move *moves)
{
	for (;;) {
		struct possible_move *best = &moves[0];

		for (uint32_t i = 1; i < group->count; i++)
			if (moves[i].link != HD_NONE &&
			    (best->link == HD_NONE || moves[i].gain > best->gain))
				best = &moves[i];
		if (best->link == HD_NONE)
			return *best;
		const struct possible_move noted = *best;
		*best = best_move(growth, group, sw, noted.place, full);
		if (best->link == noted.link && best->gain >= noted.gain)
			return *best;
	}
}

/* Moves LIDs of the group to links that are asked. Returns those that take another path now, or a new link. */
static uint64_t compare_links(struct growth *growth, const struct group *group, uint32_t sw,
			      bool share)
{
	const struct hd_fabric *fabric = growth->fabric;
	const uint8_t *states = states_to(growth, group->exit);
	const uint32_t base = fabric->isl_base[sw], count = fabric->isl_base[sw + 1] - base;
	struct possible_move *moves = growth->moves;
	uint32_t taken[PORTS] = {0}, steps = 0, most;
	bool full[PORTS] = {false};
	uint64_t asked = 0, better = 0;

	for (uint32_t i = 0; i < count; i++) {
		steps += is_step(growth, states, base + i);
		asked |= growth->asked[base + i];
	}
	most = share ? (group->count + steps - 1) / steps : group->count;
	for (uint32_t i = 0; i < group->count; i++) {
		const uint32_t place = group->begin + i,
			       now = link_to(growth, sw, growth->lids[place]);

		moves[i].link = HD_NONE;
		if (asked & lid_bit(group, place))
			moves[i] = best_move(growth, group, sw, place, full);
		if (now != HD_NONE && growth->is_new[now])
			better |= lid_bit(group, place);
	}
	for (;;) {
		const struct possible_move best = take_best(growth, group, sw, full, moves);

		if (best.link == HD_NONE)
			break;
		move(growth, sw, best.link, group->exit, best.place);
		better |= lid_bit(group, best.place);
		moves[best.place - group->begin] = best_move(growth, group, sw, best.place, full);
		full[best.link - base] = ++taken[best.link - base] >= most;
	}
	for (uint32_t i = 0; i < count; i++)
		growth->asked[base + i] = 0;
	return better;
}

/* All switches compare all their links for new LIDs. */
static void ask_everywhere(struct growth *growth, const uint8_t *states, uint64_t lids)
{
	for (uint32_t link = 0; lids && link < growth->fabric->isl_count; link++)
		if (is_step(growth, states, link))
			ask(growth, states, link, lids);
}

static void grow_group(struct growth *growth, const struct group *group, bool share)
{
	const uint8_t *states = states_to(growth, group->exit);

	ask_everywhere(growth, states, group->new_lids);

	for (uint32_t i = 0; i < growth->new_count; i++)
		if (is_step(growth, states, growth->news[i]))
			ask(growth, states, growth->news[i], UINT64_MAX);
	while (growth->queued) {
		const uint32_t sw = take_nearest(growth, states);

		growth->waits[sw] = false;
		const uint64_t better = compare_links(growth, group, sw, share);
		if (better)
			ask_behind(growth, states, sw, better);
	}
}

/* ---- all of it ---- */

static int growth_allocate(struct growth *growth)
{
	const struct hd_fabric *fabric = growth->fabric;
	const uint32_t switches = fabric->switch_count, links = fabric->isl_count;
	struct hd_arena *arena = &growth->arena;

	growth->number = hd_arena_alloc(arena, switches, PORTS);
	growth->weight = calloc((size_t)switches * growth->host_lid_count, sizeof(uint16_t));
	for (unsigned i = 0; i < hd_parallel_workers(growth->plan->request->threads); i++) {
		growth->loads[i] = hd_arena_alloc(arena, links, sizeof(uint32_t));
		growth->places[i] = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	}
	growth->load = growth->loads[0];
	growth->own = hd_arena_alloc(arena, links, sizeof(*growth->own));
	growth->asked = hd_arena_alloc(arena, links, sizeof(*growth->asked));
	growth->waits = hd_arena_alloc(arena, switches, sizeof(*growth->waits));
	growth->queue = hd_arena_alloc(arena, switches, sizeof(*growth->queue));
	growth->moves = hd_arena_alloc(arena, growth->host_lid_count, sizeof(*growth->moves));
	if (hd_siblings_lids(fabric, arena, &growth->sibling))
		return -ENOMEM;
	if (hd_arena_check(arena) || !growth->weight)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		link_number_fill(fabric, sw, growth->number + (size_t)sw * PORTS);
	return 0;
}

static int find_news(struct growth *growth)
{
	const struct hd_fabric *fabric = growth->fabric;

	growth->is_new = hd_arena_alloc(&growth->arena, fabric->isl_count, sizeof(bool));
	growth->news = hd_arena_alloc(&growth->arena, fabric->isl_count, sizeof(uint32_t));
	if (hd_arena_check(&growth->arena))
		return -ENOMEM;
	hd_routes_used_links(fabric, growth->plan->request->baseline, growth->is_new);
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		growth->is_new[link] = !growth->is_new[link];
		if (growth->is_new[link] && counts(growth, link))
			growth->news[growth->new_count++] = link;
	}
	return 0;
}

static int compare_groups(const void *left, const void *right)
{
	const struct balance_destination *a = left, *b = right;

	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return a->lid < b->lid ? -1 : a->lid > b->lid;
}

/* The LIDs of hosts, switch by switch. */
static int list_groups(struct growth *growth, const struct destinations *list)
{
	const uint32_t count = list->layer_begin[list->layer_count - 1];
	struct hd_arena *arena = &growth->arena;
	struct balance_destination *items = hd_arena_alloc(arena, count, sizeof(*items));

	growth->lids = hd_arena_alloc(arena, count, sizeof(*growth->lids));
	growth->groups = hd_arena_alloc(arena, count, sizeof(*growth->groups));
	if (hd_arena_check(arena))
		return -ENOMEM;
	if (count)
		memcpy(items, list->items, count * sizeof(*items));
	qsort(items, count, sizeof(*items), compare_groups);
	for (uint32_t i = 0; i < count; i++) {
		if (!i || items[i].sw != items[i - 1].sw)
			growth->groups[growth->group_count++] =
			    (struct group){items[i].sw, i, 0, 0};
		struct group *group = &growth->groups[growth->group_count - 1];
		group->count++;
		growth->lids[i] = (uint16_t)items[i].lid;
		if (hd_routes_port(growth->plan->request->baseline, items[i].sw, items[i].lid) ==
		    HD_NO_PORT) {
			group->new_lids |= lid_bit(group, i);
			growth->new_lid_count++;
		}
	}
	growth->host_lid_count = count;
	return 0;
}

/* In the first wave each destination switch gets its even share of a link. Later ones fill what is left. */
static int run_waves(struct growth *growth)
{
	const struct hd_go_on *go_on = &growth->plan->request->go_on;

	for (unsigned wave = 0; wave < WAVES; wave++) {
		const uint64_t before = growth->moved;

		for (uint32_t i = 0; i < growth->group_count; i++) {
			if (i % GRAIN == 0 && !hd_go_on_ask(go_on))
				return -ECANCELED;
			grow_group(growth, &growth->groups[i], wave == 0);
		}
		if (growth->moved == before)
			break;
	}
	return 0;
}

int balance_growth(const struct balance_plan *plan, const struct destinations *list,
		   struct hd_routes *routes, struct hd_error *err)
{
	struct growth growth = {
	    .plan = plan, .fabric = plan->request->fabric, .paths = plan->paths, .routes = routes};
	int rc = find_news(&growth);

	if (!rc)
		rc = list_groups(&growth, list);
	if (growth.new_count * (uint64_t)BALANCE_GROWTH_MUCH > growth.fabric->isl_count)
		growth.new_count = 0;
	if (!rc && (growth.new_count ||
		    (growth.new_lid_count && growth.new_lid_count <= BALANCE_GROWTH_LIDS))) {
		rc = growth_allocate(&growth);
		if (!rc)
			rc = count_flows(&growth);
		if (!rc)
			rc = run_waves(&growth);
	}
	free(growth.weight);
	hd_arena_release(&growth.arena);
	return hd_go_on_explain(rc, err);
}
