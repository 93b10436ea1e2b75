/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hosts and an order of ranks with little contention (heddle/keyd/key_choose.h). heddle-keyd and `heddle key
 * propose` call hd_key_choose().
 *
 * Proposals of choose_order.h come first; the best by its worth is then improved by exchanges of ranks and hosts,
 * until the tries or the time end. The worth follows the flows through the tables without keys. Same request, same
 * answer, unless the time ends first.
 */
#include "choose_order.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/random.h>
#include <heddle/keyd/key_choose.h>
#include <stdlib.h>
#include <string.h>

/* What a job on certain hosts is worth: its flows are followed through the tables. */

struct choose_meter {
	const struct hd_key_choose_request *request;
	const struct choose_groups *groups;
	uint32_t
	    *link_of; /* [port_count] link between switches that leaves by a port, or HD_NONE */
	const uint32_t *others; /* [links] flows of other jobs; NULL: none */
	uint32_t *load; /* [links] flows of the phase; all 0 between the calls */
	uint32_t *touched; /* [links] links with flows */
	uint32_t touched_count;
	uint32_t virtual_base[CHOOSE_LEVELS]; /* without tables: the first link of a level */
	bool *seen; /* [switch_count] all false between the calls */
	uint64_t walked; /* flows that were followed so far */
};

/* ---- choose calm ---- */

/* The free hosts whose switches carry few flows of other jobs. */

static int by_number(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/*
 * Writes the free hosts to hosts[free_count] whose switches have at most so many flows of others on each
 * link between switches, with the smallest such number that leaves enough hosts for the job. *count 0: these
 * are all hosts, or no flows of others are known. Memory is from the arena. Errors: -ENOMEM. Cost:
 * O(links + free hosts * log).
 */
static int choose_calm_find(const struct hd_key_choose_request *request, struct hd_arena *arena,
			    uint32_t *hosts, uint32_t *count)
{
	const struct hd_fabric *fabric = request->fabric;
	uint32_t *of_switch, *sorted, limit;

	*count = 0;
	if (!request->others || !request->routes)
		return 0;
	of_switch = hd_arena_alloc(arena, fabric->switch_count, sizeof(*of_switch));
	sorted = hd_arena_alloc(arena, request->free_count, sizeof(*sorted));
	if (hd_arena_check(arena))
		return -ENOMEM;
	/* The most flows of others on a link of each switch. */
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t ends[] = {hd_isl_from(fabric, link), fabric->isl_to[link]};
		for (unsigned i = 0; i < 2; i++)
			if (of_switch[ends[i]] < request->others[link])
				of_switch[ends[i]] = request->others[link];
	}
	for (uint32_t i = 0; i < request->free_count; i++)
		sorted[i] = of_switch[fabric->host_switch[request->free[i]]];
	qsort(sorted, request->free_count, sizeof(*sorted), by_number);
	limit = sorted[request->host_count - 1];
	if (limit == sorted[request->free_count - 1])
		return 0;
	for (uint32_t i = 0; i < request->free_count; i++)
		if (of_switch[fabric->host_switch[request->free[i]]] <= limit)
			hosts[(*count)++] = request->free[i];
	return 0;
}

/* ---- choose worth ---- */

#define HOPS_MAX 64u

static int choose_worth_by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int hd_key_worth_compare(const struct hd_key_worth *a, const struct hd_key_worth *b)
{
	int order = choose_worth_by_number(a->lost, b->lost);

	order = order ? order : choose_worth_by_number(a->keys, b->keys);
	order = order ? order : choose_worth_by_number(a->contention, b->contention);
	order = order ? order : choose_worth_by_number(a->shared, b->shared);
	order = order ? order : choose_worth_by_number(a->leaves, b->leaves);
	return order ? order : choose_worth_by_number(a->pods, b->pods);
}

/* All memory is from the arena. Errors: -ENOMEM. */
static int choose_meter_new(const struct hd_key_choose_request *request,
			    const struct choose_groups *groups, struct hd_arena *arena,
			    struct choose_meter *out)
{
	const struct hd_fabric *fabric = request->fabric;
	uint32_t links = 0;

	*out = (struct choose_meter){.request = request, .groups = groups};
	for (uint32_t level = 0; level + 1 < groups->level_count; level++) {
		out->virtual_base[level] = links;
		links += 2 * groups->count[level];
	}
	if (request->routes) {
		links = fabric->isl_count;
		out->others = request->others;
	}
	out->link_of = hd_arena_alloc(arena, fabric->port_count, sizeof(*out->link_of));
	out->load = hd_arena_alloc(arena, links, sizeof(*out->load));
	out->touched = hd_arena_alloc(arena, links, sizeof(*out->touched));
	out->seen = hd_arena_alloc(arena, fabric->switch_count, sizeof(*out->seen));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t port = 0; port < fabric->port_count; port++)
		out->link_of[port] = HD_NONE;
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		out->link_of[hd_port_index(fabric, hd_isl_from(fabric, link),
					   fabric->isl_port[link])] = link;
	return 0;
}

/* The links of a flow by the tables. HD_NONE: it does not arrive. */
static uint32_t choose_follow(const struct choose_meter *meter, uint32_t from, uint32_t to,
			      uint32_t *links)
{
	const struct hd_fabric *fabric = meter->request->fabric;
	const struct hd_routes *routes = meter->request->routes;
	uint32_t lid = fabric->lid[fabric->host_port[to]];
	uint32_t sw = fabric->host_switch[from], last = fabric->host_switch[to], count = 0;

	while (sw != last) {
		uint8_t port = hd_routes_port(routes, sw, lid);
		if (count == HOPS_MAX || port > hd_node_ports(fabric, sw))
			return HD_NONE;
		uint32_t link = meter->link_of[hd_port_index(fabric, sw, port)];
		if (link == HD_NONE)
			return HD_NONE;
		links[count++] = link;
		sw = fabric->isl_to[link];
	}
	return hd_routes_port(routes, sw, lid) == fabric->host_switch_port[to] ? count : HD_NONE;
}

static uint32_t path(const struct choose_meter *meter, uint32_t from, uint32_t to, uint32_t *links)
{
	if (from == to)
		return 0;
	if (meter->request->routes)
		return choose_follow(meter, from, to, links);
	/* Without tables: one link upwards and one downwards for each group. */
	const struct choose_groups *groups = meter->groups;
	uint32_t last = groups->level_count - 1, count = 0;
	if (choose_groups_of(groups, last, from) != choose_groups_of(groups, last, to))
		return HD_NONE;
	for (uint32_t level = 0; level < last; level++) {
		uint32_t left = choose_groups_of(groups, level, from);
		uint32_t right = choose_groups_of(groups, level, to);
		if (left == right)
			break;
		links[count++] = meter->virtual_base[level] + 2 * left;
		links[count++] = meter->virtual_base[level] + 2 * right + 1;
	}
	return count;
}

/* Puts the flows of a phase on their links. */
static void load_phase(struct choose_meter *meter, uint32_t phase, const uint32_t *host_of,
		       struct hd_key_worth *worth)
{
	const struct hd_key_pattern *pattern = meter->request->pattern;
	uint32_t links[HOPS_MAX];

	for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++) {
		const struct hd_rank_flow *flow = &pattern->flows[i];
		uint32_t count =
		    path(meter, host_of[flow->source], host_of[flow->destination], links);
		worth->lost += count == HD_NONE;
		for (uint32_t hop = 0; count != HD_NONE && hop < count; hop++)
			if (!meter->load[links[hop]]++)
				meter->touched[meter->touched_count++] = links[hop];
	}
	meter->walked += pattern->base[phase + 1] - pattern->base[phase];
}

/* Groups of a level with hosts of the job. */
static uint32_t count_groups(struct choose_meter *meter, uint32_t level, const uint32_t *host_of)
{
	uint32_t ranks = meter->request->pattern->ranks, count = 0;

	for (uint32_t rank = 0; rank < ranks; rank++) {
		bool *seen = &meter->seen[choose_groups_of(meter->groups, level, host_of[rank])];
		count += !*seen;
		*seen = true;
	}
	for (uint32_t rank = 0; rank < ranks; rank++)
		meter->seen[choose_groups_of(meter->groups, level, host_of[rank])] = false;
	return count;
}

/*
 * The worth of ranks on these hosts. With `bound`, it ends as soon as it is worse than that, and what
 * it has found by then is worse, too. hot: [ranks] true for the ranks of flows that share a link,
 * with others too, or that are lost; NULL: not asked.
 */
static struct hd_key_worth choose_worth(struct choose_meter *meter, const uint32_t *host_of,
					const struct hd_key_worth *bound, bool *hot)
{
	const struct hd_key_pattern *pattern = meter->request->pattern;
	struct hd_key_worth worth = {.lost = 0};

	for (uint32_t phase = 0; phase < pattern->phase_count; phase++) {
		load_phase(meter, phase, host_of, &worth);
		if (hot) {
			uint32_t links[HOPS_MAX];
			for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++) {
				const struct hd_rank_flow *flow = &pattern->flows[i];
				uint32_t count = path(meter, host_of[flow->source],
						      host_of[flow->destination], links);
				bool shares = count == HD_NONE;
				for (uint32_t hop = 0; !shares && hop < count; hop++)
					shares = meter->load[links[hop]] > 1 ||
						 (meter->others && meter->others[links[hop]]);
				if (shares)
					hot[flow->source] = hot[flow->destination] = true;
			}
		}
		/* Counts the links of a phase, and forgets its flows. */
		uint32_t most = 0;
		for (uint32_t i = 0; i < meter->touched_count; i++) {
			uint32_t link = meter->touched[i], load = meter->load[link];
			/* Numbers of flows; others may be any number. */
			if (meter->others)
				load = meter->others[link] < UINT32_MAX - load
					   ? load + meter->others[link]
					   : UINT32_MAX;
			worth.shared += load > 1;
			most = most < load ? load : most;
			meter->load[link] = 0;
		}
		meter->touched_count = 0;
		worth.keys += most > 1;
		worth.contention = worth.contention < most ? most : worth.contention;
		if (bound && hd_key_worth_compare(&worth, bound) > 0)
			return worth;
	}
	worth.leaves = count_groups(meter, 0, host_of);
	worth.pods = count_groups(meter, 1, host_of);
	return worth;
}

/* ---- key choose ---- */

/* Flows that are followed at most for changes; about half a second. */
#define WALKS_MAX (UINT64_C(1) << 22)
#define SIZES 8u /* numbers of hosts a leaf that are tried */

struct choosing {
	const struct hd_key_choose_request *request;
	struct hd_arena arena;
	struct choose_groups groups;
	struct choose_meter meter;
	struct choose_free free;
	struct choose_free calm; /* of these, where few flows of others are; count 0: no such */
	struct choose_ranks ranks;
	struct hd_key_worth given, best;
	uint32_t *host_of; /* [ranks] the best so far */
	uint32_t *proposed; /* [ranks] another one */
	uint32_t *hosts; /* [host_count] of a proposal */
	bool *used; /* [fabric->host_count] hosts of the best so far */
	bool *hot; /* [ranks] whose flows share links */
	uint32_t *hot_ranks; /* [ranks] */
	uint32_t hot_count;
	uint64_t random;
	bool stopped;
};

static bool goes_on(struct choosing *choosing)
{
	if (!choosing->stopped)
		choosing->stopped = !hd_go_on_ask(&choosing->request->go_on);
	return !choosing->stopped;
}

static int choose_check(const struct hd_key_choose_request *request, struct hd_error *err)
{
	uint32_t ranks = request->pattern->ranks;

	if (!request->host_count)
		return hd_error_set(err, -EINVAL, "a job needs a host at least");
	if (request->free_count < request->host_count)
		return hd_error_set(err, -ERANGE, "%u hosts are wanted, and %u are free",
				    request->host_count, request->free_count);
	if (!ranks || ranks % request->host_count)
		return hd_error_set(err, -EINVAL, "%u hosts cannot share %u ranks evenly",
				    request->host_count, ranks);
	uint32_t hosts = request->fabric->host_count;
	bool *seen = calloc((size_t)hosts + 1, sizeof(*seen));
	int rc = seen ? 0 : hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < request->free_count; i++) {
		uint32_t host = request->free[i];
		if (host >= hosts)
			rc = hd_error_set(err, -EINVAL, "free host %u: the fabric has %u hosts",
					  host, hosts);
		else if (seen[host])
			rc = hd_error_set(err, -EINVAL, "host %u is in the list twice", host);
		else
			seen[host] = true;
	}
	free(seen);
	return rc;
}

static int choose_prepare(struct choosing *choosing, struct hd_error *err)
{
	const struct hd_key_choose_request *request = choosing->request;
	struct hd_arena *arena = &choosing->arena;
	uint32_t ranks = request->pattern->ranks;

	int rc = choose_groups_find(request->fabric, request->routes, arena, &choosing->groups);
	if (!rc)
		rc = choose_meter_new(request, &choosing->groups, arena, &choosing->meter);
	if (!rc)
		rc = choose_free_new(&choosing->groups, request->free, request->free_count, arena,
				     &choosing->free);
	if (!rc) {
		uint32_t *hosts =
		    hd_arena_alloc(&choosing->arena, request->free_count, sizeof(*hosts));
		uint32_t count = 0;
		rc = hosts ? choose_calm_find(request, &choosing->arena, hosts, &count) : -ENOMEM;
		rc = rc || !count ? rc
				  : choose_free_new(&choosing->groups, hosts, count,
						    &choosing->arena, &choosing->calm);
	}
	if (!rc)
		rc = choose_ranks_new(&choosing->groups, request->pattern, request->host_count,
				      arena, &choosing->ranks);
	choosing->host_of = hd_arena_alloc(arena, ranks, sizeof(*choosing->host_of));
	choosing->proposed = hd_arena_alloc(arena, ranks, sizeof(*choosing->proposed));
	choosing->hosts = hd_arena_alloc(arena, request->host_count, sizeof(*choosing->hosts));
	choosing->used = hd_arena_alloc(arena, request->fabric->host_count, sizeof(bool));
	choosing->hot = hd_arena_alloc(arena, ranks, sizeof(*choosing->hot));
	choosing->hot_ranks = hd_arena_alloc(arena, ranks, sizeof(*choosing->hot_ranks));
	return rc || hd_arena_check(arena) ? hd_error_no_memory(err) : 0;
}

static void consider_orders(struct choosing *choosing)
{
	for (unsigned order = CHOOSE_GIVEN; order < CHOOSE_ORDERS && goes_on(choosing); order++) {
		choose_order(&choosing->ranks, choosing->hosts, order, choosing->proposed);
		/* Takes what is proposed if it is better than the best so far. */
		struct hd_key_worth worth =
		    choose_worth(&choosing->meter, choosing->proposed, &choosing->best, NULL);
		if (hd_key_worth_compare(&worth, &choosing->best) >= 0)
			continue;
		choosing->best = worth;
		memcpy(choosing->host_of, choosing->proposed,
		       choosing->ranks.pattern->ranks * sizeof(*choosing->host_of));
	}
}

/* The first hosts of the request. */
static void choose_begin(struct choosing *choosing)
{
	const struct hd_key_choose_request *request = choosing->request;

	memcpy(choosing->hosts, request->free, request->host_count * sizeof(*choosing->hosts));
	choose_order(&choosing->ranks, choosing->hosts, CHOOSE_GIVEN, choosing->host_of);
	choosing->given = choose_worth(&choosing->meter, choosing->host_of, NULL, NULL);
	choosing->best = choosing->given;
	consider_orders(choosing);
}

static void propose_hosts(struct choosing *choosing, struct choose_free *free, uint32_t each)
{
	uint32_t need = choosing->request->host_count;

	for (unsigned flat = 0; flat < 2 && goes_on(choosing); flat++)
		if (choose_hosts(free, need, each, flat, choosing->hosts))
			consider_orders(choosing);
}

/* Whole leaves, then equally many hosts of each leaf: as few leaves as there can be, and more. */
static void propose(struct choosing *choosing, struct choose_free *free)
{
	uint32_t need = choosing->request->host_count, last = 0;
	uint32_t largest = choose_free_largest(free);
	uint32_t fewest = (need + largest - 1) / largest;

	propose_hosts(choosing, free, 0);
	for (uint32_t leaves = fewest; leaves < fewest + SIZES && leaves <= need; leaves++) {
		uint32_t each = (need + leaves - 1) / leaves;
		if (each != last)
			propose_hosts(choosing, free, each);
		last = each;
	}
}

static uint32_t below(struct choosing *choosing, uint32_t bound)
{
	return (uint32_t)hd_random_below(&choosing->random, bound);
}

static void find_hot(struct choosing *choosing)
{
	uint32_t ranks = choosing->request->pattern->ranks;

	memset(choosing->hot, 0, ranks * sizeof(*choosing->hot));
	choose_worth(&choosing->meter, choosing->host_of, NULL, choosing->hot);
	choosing->hot_count = 0;
	for (uint32_t rank = 0; rank < ranks; rank++)
		if (choosing->hot[rank])
			choosing->hot_ranks[choosing->hot_count++] = rank;
}

/* Two ranks change places: the second one is, two times of three, one of the same leaf. */
static bool swap_ranks(struct choosing *choosing, uint32_t rank)
{
	uint32_t *host_of = choosing->proposed, ranks = choosing->request->pattern->ranks;
	const uint32_t *leaf = choosing->request->fabric->host_switch;
	bool near = below(choosing, 3) > 0;
	uint32_t other = below(choosing, ranks), host = host_of[rank];

	for (uint32_t i = 0; near && i < ranks; i++, other = (other + 1) % ranks)
		if (host_of[other] != host && leaf[host_of[other]] == leaf[host])
			break;
	if (host_of[other] == host)
		return false;
	host_of[rank] = host_of[other];
	host_of[other] = host;
	return true;
}

/* The host of a rank is replaced by one that is free; two times of three it is of the same leaf. */
static bool swap_host(struct choosing *choosing, uint32_t rank)
{
	const struct choose_free *free = &choosing->free;
	const uint32_t *leaf = choosing->request->fabric->host_switch;
	uint32_t host = choosing->proposed[rank], at = below(choosing, free->count);
	bool near = below(choosing, 3) > 0, found = false;

	for (uint32_t i = 0; !found && i < free->count; i++) {
		at = (at + 1) % free->count;
		found = !choosing->used[free->hosts[at]] &&
			(!near || leaf[free->hosts[at]] == leaf[host]);
	}
	for (uint32_t i = 0; found && i < choosing->request->pattern->ranks; i++)
		if (choosing->proposed[i] == host)
			choosing->proposed[i] = free->hosts[at];
	return found;
}

static void set_used(struct choosing *choosing, bool used)
{
	for (uint32_t rank = 0; rank < choosing->request->pattern->ranks; rank++)
		choosing->used[choosing->host_of[rank]] = used;
}

/* Tries a change, and keeps it if nothing is worse. */
static void try_change(struct choosing *choosing)
{
	size_t bytes = choosing->request->pattern->ranks * sizeof(*choosing->host_of);
	uint32_t rank = choosing->hot_ranks[below(choosing, choosing->hot_count)];
	bool other_host =
	    choosing->request->free_count > choosing->request->host_count && below(choosing, 2);

	memcpy(choosing->proposed, choosing->host_of, bytes);
	if (!(other_host ? swap_host(choosing, rank) : swap_ranks(choosing, rank)))
		return;
	struct hd_key_worth worth =
	    choose_worth(&choosing->meter, choosing->proposed, &choosing->best, NULL);
	int order = hd_key_worth_compare(&worth, &choosing->best);
	if (order > 0)
		return;
	set_used(choosing, false);
	memcpy(choosing->host_of, choosing->proposed, bytes);
	set_used(choosing, true);
	choosing->best = worth;
	if (order)
		find_hot(choosing);
}

static int choose_finish(struct choosing *choosing, struct hd_key_choice **out,
			 struct hd_error *err)
{
	uint32_t ranks = choosing->request->pattern->ranks;
	struct hd_key_choice *choice = calloc(1, sizeof(*choice));

	if (!choice)
		return hd_error_no_memory(err);
	*choice = (struct hd_key_choice){.ranks = ranks,
					 .host_count = choosing->request->host_count,
					 .given = choosing->given,
					 .chosen = choosing->best,
					 .stopped = choosing->stopped};
	choice->host_of = calloc(ranks, sizeof(*choice->host_of));
	choice->hosts = calloc(choice->host_count, sizeof(*choice->hosts));
	if (!choice->host_of || !choice->hosts) {
		hd_key_choice_free(choice);
		return hd_error_no_memory(err);
	}
	memcpy(choice->host_of, choosing->host_of, ranks * sizeof(*choice->host_of));
	/* The hosts by their lowest rank. */
	uint32_t count = 0;
	memset(choosing->used, 0, choosing->request->fabric->host_count * sizeof(bool));
	for (uint32_t rank = 0; rank < choice->ranks; rank++) {
		uint32_t host = choice->host_of[rank];
		if (!choosing->used[host])
			choice->hosts[count++] = host;
		choosing->used[host] = true;
	}
	*out = choice;
	return 0;
}

int hd_key_choose(const struct hd_key_choose_request *request, struct hd_key_choice **out,
		  struct hd_error *err)
{
	struct choosing choosing = {.request = request};
	int rc = choose_check(request, err);

	if (!rc)
		rc = choose_prepare(&choosing, err);
	if (!rc) {
		choose_begin(&choosing);
		if (request->free_count > request->host_count)
			propose(&choosing, &choosing.free);
		if (choosing.calm.count)
			propose(&choosing, &choosing.calm);
		uint64_t limit = choosing.meter.walked + WALKS_MAX;
		choosing.random = choosing.request->seed;
		set_used(&choosing, true);
		if (choosing.request->tries)
			find_hot(&choosing);
		for (uint32_t i = 0; i < choosing.request->tries && choosing.hot_count &&
				     choosing.meter.walked < limit && goes_on(&choosing);
		     i++)
			try_change(&choosing);
		rc = choose_finish(&choosing, out, err);
	}
	hd_arena_release(&choosing.arena);
	return rc;
}

int hd_key_worth_of(const struct hd_key_choose_request *request, const uint32_t *host_of,
		    struct hd_key_worth *out, struct hd_error *err)
{
	struct choose_groups groups;
	struct choose_meter meter;
	struct hd_arena arena = {.chunks = NULL};

	for (uint32_t rank = 0; rank < request->pattern->ranks; rank++)
		if (host_of[rank] >= request->fabric->host_count)
			return hd_error_set(err, -EINVAL, "rank %u: the fabric has no host %u",
					    rank, host_of[rank]);
	int rc = choose_groups_find(request->fabric, request->routes, &arena, &groups);
	if (!rc)
		rc = choose_meter_new(request, &groups, &arena, &meter);
	if (!rc)
		*out = choose_worth(&meter, host_of, NULL, NULL);
	hd_arena_release(&arena);
	return rc ? hd_error_no_memory(err) : 0;
}

void hd_key_choice_free(struct hd_key_choice *choice)
{
	if (!choice)
		return;
	free(choice->host_of);
	free(choice->hosts);
	free(choice);
}
