/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/broken.h>

#include "paths.h"

#include <string.h>

struct search {
	struct paths paths;
	const struct hd_ranks *ranks;
	uint32_t *senders; /* [switch_count] ranks on a switch */
	uint64_t *routes;
	struct hd_broken_route *list;
	uint32_t room, listed;
};

static enum hd_broken_kind kind_of(int fault)
{
	return fault == PATH_NO_ROUTE	? HD_BROKEN_NO_ENTRY
	       : fault == PATH_DEAD_END ? HD_BROKEN_DEAD_END
					: HD_BROKEN_LOOP;
}

/* A host sends nothing to itself. */
static void note(struct search *search, uint32_t source, uint32_t host, uint32_t lid, int fault)
{
	uint32_t sw = search->paths.fabric->host_switch[source];
	uint32_t senders = search->senders[sw] - (sw == search->paths.fabric->host_switch[host]);
	if (!senders)
		return;
	search->routes[kind_of(fault)] += senders;
	if (search->listed < search->room)
		search->list[search->listed++] =
		    (struct hd_broken_route){sw, host, lid, kind_of(fault)};
}

static void walk_from(struct search *search, uint32_t source)
{
	const struct hd_fabric *fabric = search->paths.fabric;
	for (uint32_t rank = 0; rank < search->ranks->count; rank++) {
		uint32_t host = search->ranks->host[rank];
		uint32_t base = fabric->lid[fabric->host_port[host]];
		for (uint32_t i = 0; i < path_lids(&search->paths, host); i++) {
			int hops = path_walk(&search->paths, source, host, base + i, NULL, 0);
			if (hops < 0)
				note(search, source, host, base + i, hops);
		}
	}
}

int hd_broken_routes(const struct hd_routes *tables, const struct hd_ranks *ranks,
		     uint64_t routes[HD_BROKEN_KINDS], struct hd_broken_route *list, uint32_t room,
		     uint32_t *listed, struct hd_error *err)
{
	const struct hd_fabric *fabric = ranks->fabric;
	struct hd_arena arena = {NULL};
	struct search search = {.ranks = ranks, .routes = routes, .list = list, .room = room};
	memset(routes, 0, HD_BROKEN_KINDS * sizeof(*routes));
	int code = paths_number(&search.paths, fabric, tables, true, &arena, err);
	search.senders = hd_arena_alloc(&arena, fabric->switch_count, sizeof(uint32_t));
	if (!code && !search.senders)
		code = hd_error_no_memory(err);
	for (uint32_t rank = 0; !code && rank < ranks->count; rank++)
		search.senders[fabric->host_switch[ranks->host[rank]]]++;
	for (uint32_t sw = 0; !code && sw < fabric->switch_count; sw++)
		if (search.senders[sw])
			walk_from(&search, fabric->host_base[sw]);
	hd_arena_release(&arena);
	if (!code)
		*listed = search.listed;
	return code;
}
