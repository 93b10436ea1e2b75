/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_hops.h"

#include <stdlib.h>
#include <string.h>

bool oracle_hops_init(struct oracle_hops *hops, const struct hd_fabric *fabric,
		      struct hd_arena *arena)
{
	hops->distance = hd_arena_alloc(arena, fabric->switch_count, sizeof(*hops->distance));
	hops->allowed = hd_arena_alloc(arena, fabric->isl_count, sizeof(*hops->allowed));
	hops->valid = hd_arena_alloc(arena, fabric->isl_count, sizeof(*hops->valid));
	return !hd_arena_check(arena);
}

static void start(struct oracle_hops *hops, const struct hd_fabric *fabric, uint32_t destination)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		hops->distance[sw] = sw == destination ? 0 : HD_NONE;
	memset(hops->allowed, 0, fabric->isl_count * sizeof(*hops->allowed));
	memset(hops->valid, 0, fabric->isl_count * sizeof(*hops->valid));
}

void oracle_hops_shortest(struct oracle_hops *hops, const struct hd_fabric *fabric,
			  const uint32_t *cost, uint32_t destination)
{
	uint32_t *distance = hops->distance;

	start(hops, fabric, destination);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
			uint32_t step = cost ? cost[link] : 1;
			if (distance[far] != HD_NONE && distance[far] + step < distance[near]) {
				distance[near] = distance[far] + step;
				changed = true;
			}
		}
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
		hops->valid[link] = hops->allowed[link] =
		    distance[far] != HD_NONE &&
		    distance[far] + (cost ? cost[link] : 1) == distance[near];
	}
}

/* Allows the switch every link in that direction to switches at `length`. False without such a
 * link. */
static bool allow_steps(struct oracle_hops *hops, const struct hd_fabric *fabric, const uint8_t *up,
			uint32_t sw, uint8_t direction, uint32_t length, const bool *goes_down)
{
	bool found = false;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (up[link] == direction && hops->distance[far] == length &&
		    (direction || goes_down[far]))
			found = hops->allowed[link] = hops->valid[link] = true;
	}
	return found;
}

/* Lets sw go to its lowest-numbered neighbour that is served. */
static void go_to_any(struct oracle_hops *hops, const struct hd_fabric *fabric, uint32_t sw,
		      const uint32_t *served, bool any_is_valid)
{
	uint32_t best = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (served[fabric->isl_to[link]] == HD_NONE)
			continue;
		hops->valid[link] = any_is_valid;
		if (best == HD_NONE || fabric->isl_to[link] < fabric->isl_to[best])
			best = link;
	}
	if (best == HD_NONE)
		return;
	hops->allowed[best] = hops->valid[best] = true;
	hops->distance[sw] = served[fabric->isl_to[best]] + 1;
}

static void go_against_the_tree(struct oracle_hops *hops, const struct hd_fabric *fabric,
				unsigned rounds, bool any_is_valid)
{
	uint32_t *served = malloc((fabric->switch_count + 1) * sizeof(*served));
	size_t size = fabric->switch_count * sizeof(*served);
	bool changed = served != NULL;

	for (unsigned round = 0; round < rounds && changed; round++) {
		memcpy(served, hops->distance, size);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (served[sw] == HD_NONE)
				go_to_any(hops, fabric, sw, served, any_is_valid);
		changed = memcmp(served, hops->distance, size) != 0;
	}
	free(served);
}

/* Whether some switch that gets a path by steps against the tree has hosts. */
static bool hosts_go_against(const struct oracle_hops *hops, const struct hd_fabric *fabric,
			     unsigned rounds)
{
	size_t switches = fabric->switch_count, links = fabric->isl_count;
	struct oracle_hops trial = {.distance = malloc((switches + 1) * sizeof(*trial.distance)),
				    .allowed = calloc(links + 1, sizeof(*trial.allowed)),
				    .valid = calloc(links + 1, sizeof(*trial.valid))};
	bool against = false;

	memcpy(trial.distance, hops->distance, switches * sizeof(*trial.distance));
	go_against_the_tree(&trial, fabric, rounds, false);
	for (uint32_t sw = 0; sw < switches; sw++)
		against |= fabric->host_base[sw] != fabric->host_base[sw + 1] &&
			   hops->distance[sw] == HD_NONE && trial.distance[sw] != HD_NONE;
	free(trial.distance);
	free(trial.allowed);
	free(trial.valid);
	return against;
}

void oracle_hops_legal(struct oracle_hops *hops, const struct hd_fabric *fabric, const uint8_t *up,
		       unsigned max_reverse_hops, bool any_is_valid, uint32_t destination)
{
	bool *goes_down = calloc(fabric->switch_count + 1, sizeof(*goes_down));

	start(hops, fabric, destination);
	if (goes_down)
		goes_down[destination] = true;
	for (uint32_t length = 1; goes_down && length < fabric->switch_count; length++) {
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			if (hops->distance[sw] != HD_NONE)
				continue;
			goes_down[sw] = allow_steps(hops, fabric, up, sw, 0, length - 1, goes_down);
			if (goes_down[sw] ||
			    allow_steps(hops, fabric, up, sw, 1, length - 1, goes_down))
				hops->distance[sw] = length;
		}
	}
	free(goes_down);
	if (!any_is_valid)
		any_is_valid = !hosts_go_against(hops, fabric, max_reverse_hops);
	go_against_the_tree(hops, fabric, max_reverse_hops, any_is_valid);
}
