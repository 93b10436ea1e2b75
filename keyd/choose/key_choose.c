/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/random.h>
#include <heddle/keyd/key_choose.h>
#include <stdlib.h>
#include <string.h>

#include "choose_calm.h"
#include "choose_hosts.h"
#include "choose_order.h"
#include "choose_worth.h"

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

static int check_hosts(const struct hd_key_choose_request *request, struct hd_error *err)
{
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

static int check(const struct hd_key_choose_request *request, struct hd_error *err)
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
	return check_hosts(request, err);
}

static int find_calm(struct choosing *choosing)
{
	const struct hd_key_choose_request *request = choosing->request;
	uint32_t *hosts = hd_arena_alloc(&choosing->arena, request->free_count, sizeof(*hosts));
	uint32_t count = 0;
	int rc = hosts ? choose_calm_find(request, &choosing->arena, hosts, &count) : -ENOMEM;

	return rc || !count ? rc
			    : choose_free_new(&choosing->groups, hosts, count, &choosing->arena,
					      &choosing->calm);
}

static int prepare(struct choosing *choosing, struct hd_error *err)
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
	if (!rc)
		rc = find_calm(choosing);
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

/* Takes what is proposed if it is better than the best so far. */
static void consider(struct choosing *choosing)
{
	struct hd_key_worth worth =
	    choose_worth(&choosing->meter, choosing->proposed, &choosing->best, NULL);

	if (hd_key_worth_compare(&worth, &choosing->best) >= 0)
		return;
	choosing->best = worth;
	memcpy(choosing->host_of, choosing->proposed,
	       choosing->ranks.pattern->ranks * sizeof(*choosing->host_of));
}

static void consider_orders(struct choosing *choosing)
{
	for (unsigned order = CHOOSE_GIVEN; order < CHOOSE_ORDERS && goes_on(choosing); order++) {
		choose_order(&choosing->ranks, choosing->hosts, order, choosing->proposed);
		consider(choosing);
	}
}

/* The first hosts of the request. */
static void begin(struct choosing *choosing)
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

static void improve(struct choosing *choosing)
{
	uint64_t limit = choosing->meter.walked + WALKS_MAX;

	choosing->random = choosing->request->seed;
	set_used(choosing, true);
	if (choosing->request->tries)
		find_hot(choosing);
	for (uint32_t i = 0; i < choosing->request->tries && choosing->hot_count &&
			     choosing->meter.walked < limit && goes_on(choosing);
	     i++)
		try_change(choosing);
}

/* The hosts by their lowest rank. */
static void list_hosts(struct choosing *choosing, struct hd_key_choice *choice)
{
	uint32_t count = 0;

	memset(choosing->used, 0, choosing->request->fabric->host_count * sizeof(bool));
	for (uint32_t rank = 0; rank < choice->ranks; rank++) {
		uint32_t host = choice->host_of[rank];
		if (!choosing->used[host])
			choice->hosts[count++] = host;
		choosing->used[host] = true;
	}
}

static int finish(struct choosing *choosing, struct hd_key_choice **out, struct hd_error *err)
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
	list_hosts(choosing, choice);
	*out = choice;
	return 0;
}

int hd_key_choose(const struct hd_key_choose_request *request, struct hd_key_choice **out,
		  struct hd_error *err)
{
	struct choosing choosing = {.request = request};
	int rc = check(request, err);

	if (!rc)
		rc = prepare(&choosing, err);
	if (!rc) {
		begin(&choosing);
		if (request->free_count > request->host_count)
			propose(&choosing, &choosing.free);
		if (choosing.calm.count)
			propose(&choosing, &choosing.calm);
		improve(&choosing);
		rc = finish(&choosing, out, err);
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
