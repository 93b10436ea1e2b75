/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "choose_calm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* The most flows of others on a link of each switch. */
static void find_loads(const struct hd_key_choose_request *request, uint32_t *of_switch)
{
	const struct hd_fabric *fabric = request->fabric;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t ends[] = {hd_isl_from(fabric, link), fabric->isl_to[link]};
		for (unsigned i = 0; i < 2; i++)
			if (of_switch[ends[i]] < request->others[link])
				of_switch[ends[i]] = request->others[link];
	}
}

int choose_calm_find(const struct hd_key_choose_request *request, struct hd_arena *arena,
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
	find_loads(request, of_switch);
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
