/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/broken.h>

#include "paths.h"

#include <heddle/base/parallel.h>

#include <string.h>

#define GRAIN 4 /* switches a thread takes at a time */

struct search {
	struct paths paths;
	const struct hd_ranks *ranks;
	uint32_t *senders; /* [switch_count] hosts on the switch that have a rank */
	uint64_t (*routes)[HD_BROKEN_KINDS]; /* [switch_count] broken routes from the switch */
	struct hd_broken_route *list;
	uint32_t room, listed;
};

static enum hd_broken_kind kind_of(int fault)
{
	return fault == PATH_NO_ROUTE	? HD_BROKEN_NO_ENTRY
	       : fault == PATH_DEAD_END ? HD_BROKEN_DEAD_END
					: HD_BROKEN_LOOP;
}

static uint64_t broken_from(const struct search *search, uint32_t sw)
{
	uint64_t routes = 0;

	for (unsigned kind = 0; kind < HD_BROKEN_KINDS; kind++)
		routes += search->routes[sw][kind];
	return routes;
}

/* A host sends nothing to itself. */
static uint32_t senders_to(const struct search *search, uint32_t sw, uint32_t host)
{
	return search->senders[sw] - (sw == search->paths.fabric->host_switch[host]);
}

typedef void fault_fn(struct search *search, const struct hd_broken_route *broken);

static void count_fault(struct search *search, const struct hd_broken_route *broken)
{
	search->routes[broken->source][broken->kind] +=
	    senders_to(search, broken->source, broken->host);
}

static void list_fault(struct search *search, const struct hd_broken_route *broken)
{
	if (search->listed < search->room)
		search->list[search->listed++] = *broken;
}

static void walk_from(struct search *search, uint32_t sw, fault_fn *note)
{
	const struct hd_fabric *fabric = search->paths.fabric;
	uint32_t source = fabric->host_base[sw];

	for (uint32_t rank = 0; rank < search->ranks->count; rank++) {
		uint32_t host = search->ranks->host[rank];
		uint32_t base = fabric->lid[fabric->host_port[host]];
		uint32_t lids = senders_to(search, sw, host) ? paths_lids(&search->paths, host) : 0;
		for (uint32_t lid = base; lid < base + lids; lid++) {
			int hops = paths_walk(&search->paths, source, host, lid, NULL, 0);
			if (hops < 0)
				note(search,
				     &(struct hd_broken_route){sw, host, lid, kind_of(hops)});
		}
	}
}

static void count_switches(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct search *search = context;

	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++)
		if (search->senders[sw])
			walk_from(search, sw, count_fault);
}

/* Walks switches with broken routes a second time, until the list is full. */
static void list_switches(struct search *search)
{
	uint32_t switches = search->paths.fabric->switch_count;

	for (uint32_t sw = 0; sw < switches && search->listed < search->room; sw++)
		if (broken_from(search, sw))
			walk_from(search, sw, list_fault);
}

static int init_search(struct search *search, struct hd_arena *arena, struct hd_error *err)
{
	const struct hd_fabric *fabric = search->ranks->fabric;

	search->senders = hd_arena_alloc(arena, fabric->switch_count, sizeof(uint32_t));
	search->routes = hd_arena_alloc(arena, fabric->switch_count, sizeof(*search->routes));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t rank = 0; rank < search->ranks->count; rank++)
		search->senders[fabric->host_switch[search->ranks->host[rank]]]++;
	return 0;
}

int hd_broken_routes(const struct hd_routes *tables, const struct hd_ranks *ranks, unsigned threads,
		     uint64_t routes[HD_BROKEN_KINDS], struct hd_broken_route *list, uint32_t room,
		     uint32_t *listed, struct hd_error *err)
{
	uint32_t switches = ranks->fabric->switch_count;
	struct hd_arena arena = {0};
	struct search search = {.ranks = ranks, .list = list, .room = room};
	int rc = paths_number(&search.paths, ranks->fabric, tables, true, &arena, err);

	if (!rc)
		rc = init_search(&search, &arena, err);
	if (!rc) {
		hd_parallel_for(threads, switches, GRAIN, count_switches, &search);
		list_switches(&search);
		*listed = search.listed;
		memset(routes, 0, HD_BROKEN_KINDS * sizeof(*routes));
		for (uint32_t sw = 0; sw < switches; sw++)
			for (unsigned kind = 0; kind < HD_BROKEN_KINDS; kind++)
				routes[kind] += search.routes[sw][kind];
	}
	hd_arena_release(&arena);
	return rc;
}
