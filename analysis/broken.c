/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/congestion.h>

#include "paths.h"

#include <heddle/base/parallel.h>

#include <stdatomic.h>
#include <string.h>

struct search {
	struct paths paths;
	const struct hd_ranks *ranks;
	uint32_t *senders; /* [switch_count] hosts on the switch that have a rank */
	bool *receives; /* [host_count] has a rank */
	atomic_uint_fast64_t (
	    *routes)[HD_BROKEN_KINDS]; /* [switch_count] broken routes from the switch */
	struct hd_columns columns;
	struct paths_columns *workers;
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

/* ---- counting, destination by destination ---- */

/* To the LID in hand, from all switches with ranks. */
static void count_column(struct search *search, struct paths_columns *columns, uint32_t host)
{
	for (uint32_t row = 0; row < search->paths.rows; row++) {
		uint32_t sw = search->paths.row_switch[row], senders = senders_to(search, sw, host);
		int hops = senders ? paths_columns_walk(columns, sw, NULL, 0) : 0;
		if (hops < 0)
			atomic_fetch_add_explicit(&search->routes[sw][kind_of(hops)], senders,
						  memory_order_relaxed);
	}
}

static void count_block(struct search *search, struct paths_columns *columns, uint32_t first)
{
	const struct hd_fabric *fabric = search->paths.fabric;
	uint32_t end = first + hd_column_block_lids(&search->columns, first);

	hd_column_block_load(&columns->block, &search->columns, first);
	for (uint32_t lid = first; lid < end; lid++) {
		uint32_t port = fabric->lid_owner[lid];
		uint32_t host = port == HD_NONE ? HD_NONE : hd_fabric_find_host(fabric, port);
		if (host != HD_NONE && search->receives[host] && paths_columns_take(columns, lid))
			count_column(search, columns, host);
	}
}

static void count_blocks(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct search *search = context;

	for (uint32_t block = begin; block < end; block++)
		count_block(search, &search->workers[worker], block * HD_COLUMN_BLOCK);
}

/* ---- listing: switches with broken routes are walked, until the list is full ---- */

static void list_from(struct search *search, uint32_t sw)
{
	const struct hd_fabric *fabric = search->paths.fabric;
	uint32_t source = fabric->host_base[sw];

	for (uint32_t rank = 0; rank < search->ranks->count; rank++) {
		uint32_t host = search->ranks->host[rank];
		uint32_t base = fabric->lid[fabric->host_port[host]];
		uint32_t lids = senders_to(search, sw, host) ? paths_lids(&search->paths, host) : 0;
		for (uint32_t lid = base; lid < base + lids; lid++) {
			int hops = paths_walk(&search->paths, source, host, lid, NULL, 0);
			if (hops < 0 && search->listed < search->room)
				search->list[search->listed++] =
				    (struct hd_broken_route){sw, host, lid, kind_of(hops)};
		}
	}
}

static void list_switches(struct search *search)
{
	uint32_t switches = search->paths.fabric->switch_count;

	for (uint32_t sw = 0; sw < switches && search->listed < search->room; sw++)
		if (broken_from(search, sw))
			list_from(search, sw);
}

/* ---- from start to end ---- */

static int init_workers(struct search *search, unsigned threads, struct hd_arena *arena)
{
	unsigned count = hd_parallel_workers(threads);

	search->workers = hd_arena_alloc(arena, count, sizeof(*search->workers));
	if (hd_arena_check(arena) ||
	    hd_columns_init(&search->columns, search->paths.fabric, search->paths.routes, arena))
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++)
		if (paths_columns_init(&search->workers[i], &search->columns, arena))
			return -ENOMEM;
	return 0;
}

static int init_search(struct search *search, unsigned threads, struct hd_arena *arena,
		       struct hd_error *err)
{
	const struct hd_fabric *fabric = search->ranks->fabric;

	search->receives = hd_arena_alloc(arena, fabric->host_count, sizeof(*search->receives));
	search->senders = hd_arena_alloc(arena, fabric->switch_count, sizeof(uint32_t));
	search->routes = hd_arena_alloc(arena, fabric->switch_count, sizeof(*search->routes));
	if (hd_arena_check(arena) || init_workers(search, threads, arena))
		return hd_error_no_memory(err);
	for (uint32_t rank = 0; rank < search->ranks->count; rank++) {
		search->senders[fabric->host_switch[search->ranks->host[rank]]]++;
		search->receives[search->ranks->host[rank]] = true;
	}
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
		rc = init_search(&search, threads, &arena, err);
	if (!rc) {
		hd_parallel_for(threads, hd_column_block_count(&search.columns), 1, count_blocks,
				&search);
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
