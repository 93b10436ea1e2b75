/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "turns.h"
#include "climbs.h"
#include "host_lids.h"
#include "levels.h"

#include <errno.h>

struct search {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const uint8_t *up; /* [isl_count] */
	struct host_lids lids;
	uint32_t *seen; /* [switch_count] the LID + 1 whose packets were last followed from there */
};

static uint32_t next_link(const struct search *search, uint32_t sw, uint32_t lid)
{
	return hd_fabric_find_isl(search->fabric, sw, hd_routes_port(search->routes, sw, lid));
}

/* Follows packets to a LID until they arrive, or come to a switch that others have passed. */
static bool follow(struct search *search, uint32_t sw, uint32_t lid, struct turns_first *out)
{
	uint32_t link = HD_NONE;

	while (search->seen[sw] != lid + 1 || link != HD_NONE) {
		uint32_t next = next_link(search, sw, lid);
		if (next != HD_NONE && link != HD_NONE && !search->up[link] && search->up[next]) {
			*out = (struct turns_first){.lid = lid, .link = link, .next = next};
			return true;
		}
		if (next == HD_NONE || search->seen[sw] == lid + 1)
			return false;
		search->seen[sw] = lid + 1;
		link = next;
		sw = search->fabric->isl_to[next];
	}
	return false;
}

static bool follow_all(struct search *search, bool of_hosts, struct turns_first *out)
{
	const struct hd_fabric *fabric = search->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		search->seen[sw] = 0;
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
		if (search->lids.destination[lid] == HD_NONE ||
		    (of_hosts && !search->lids.may_adapt[lid]))
			continue;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if ((of_hosts ? hd_has_hosts(fabric, sw) : hd_has_adapters(fabric, sw)) &&
			    follow(search, sw, lid, out)) {
				out->of_hosts = of_hosts;
				out->source = sw;
				out->destination = search->lids.sw[search->lids.destination[lid]];
				return true;
			}
	}
	return false;
}

/* Whether no path does without a turn. */
static int find_need(const struct search *search, struct hd_arena *arena, struct turns_first *out)
{
	const struct hd_go_on always = {NULL, NULL};
	size_t switches = search->fabric->switch_count;
	struct climbs climbs;
	int rc = climbs_find(&climbs, search->fabric, search->up, switches, 1, &always, arena);

	if (!rc)
		out->needed =
		    climbs.states[out->source * switches + out->destination] == CLIMBS_NONE;
	return rc;
}

static int find(struct search *search, struct hd_arena *arena, struct turns_first *out)
{
	return follow_all(search, true, out) || follow_all(search, false, out)
		   ? find_need(search, arena, out)
		   : -ENOENT;
}

int turns_find(const struct hd_fabric *fabric, const struct hd_routes *routes,
	       struct turns_first *out)
{
	struct hd_arena arena = {0};
	struct search search = {.fabric = fabric, .routes = routes};
	struct levels levels;
	uint8_t *up;
	int rc = levels_find(fabric, &arena, &levels, NULL);

	if (!rc)
		rc = levels_directions(&levels, &arena, &up);
	if (!rc)
		rc = host_lids_init(&search.lids, fabric, &arena);
	search.seen = hd_arena_alloc(&arena, fabric->switch_count, sizeof(*search.seen));
	if (!rc)
		rc = hd_arena_check(&arena);
	if (!rc) {
		search.up = up;
		rc = find(&search, &arena, out);
	}
	hd_arena_release(&arena);
	return rc;
}
