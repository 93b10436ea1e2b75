/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

/* Switch that a directed link leaves. */
static uint32_t near_end(const struct hd_fabric *fabric, uint32_t link)
{
	return fabric->isl_to[fabric->isl_reverse[link]];
}

bool oracle_ways_new(struct oracle_ways *ways, const struct hd_fabric *fabric,
		     struct hd_arena *arena)
{
	ways->distance = hd_arena_alloc(arena, fabric->switch_count, sizeof(*ways->distance));
	ways->allowed = hd_arena_alloc(arena, fabric->isl_count, sizeof(*ways->allowed));
	ways->stands = hd_arena_alloc(arena, fabric->isl_count, sizeof(*ways->stands));
	return !hd_arena_check(arena);
}

static void start(struct oracle_ways *ways, const struct hd_fabric *fabric, uint32_t exit)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		ways->distance[sw] = sw == exit ? 0 : HD_NONE;
	memset(ways->allowed, 0, fabric->isl_count * sizeof(*ways->allowed));
	memset(ways->stands, 0, fabric->isl_count * sizeof(*ways->stands));
}

void oracle_ways_shortest(struct oracle_ways *ways, const struct hd_fabric *fabric,
			  const uint32_t *cost, uint32_t exit)
{
	uint32_t *distance = ways->distance;

	start(ways, fabric, exit);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t near = near_end(fabric, link), far = fabric->isl_to[link];
			uint32_t step = cost ? cost[link] : 1;
			if (distance[far] != HD_NONE && distance[far] + step < distance[near]) {
				distance[near] = distance[far] + step;
				changed = true;
			}
		}
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t near = near_end(fabric, link), far = fabric->isl_to[link];
		ways->stands[link] = ways->allowed[link] =
		    distance[far] != HD_NONE &&
		    distance[far] + (cost ? cost[link] : 1) == distance[near];
	}
}

/* Allows the switch every link in that direction to switches at `length`; false: there is none. */
static bool allow_steps(struct oracle_ways *ways, const struct hd_fabric *fabric, const uint8_t *up,
			uint32_t sw, uint8_t direction, uint32_t length, const bool *goes_down)
{
	bool found = false;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (up[link] == direction && ways->distance[far] == length &&
		    (direction || goes_down[far]))
			found = ways->allowed[link] = ways->stands[link] = true;
	}
	return found;
}

/* Lets sw go to its lowest-numbered neighbour that is served. */
static void go_to_any(struct oracle_ways *ways, const struct hd_fabric *fabric, uint32_t sw,
		      const uint32_t *served, bool any_stands)
{
	uint32_t best = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (served[fabric->isl_to[link]] == HD_NONE)
			continue;
		ways->stands[link] = any_stands;
		if (best == HD_NONE || fabric->isl_to[link] < fabric->isl_to[best])
			best = link;
	}
	if (best == HD_NONE)
		return;
	ways->allowed[best] = ways->stands[best] = true;
	ways->distance[sw] = served[fabric->isl_to[best]] + 1;
}

static void go_against_the_tree(struct oracle_ways *ways, const struct hd_fabric *fabric,
				unsigned rounds, bool any_stands)
{
	uint32_t *served = malloc((fabric->switch_count + 1) * sizeof(*served));
	size_t size = fabric->switch_count * sizeof(*served);
	bool changed = served != NULL;

	for (unsigned round = 0; round < rounds && changed; round++) {
		memcpy(served, ways->distance, size);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (served[sw] == HD_NONE)
				go_to_any(ways, fabric, sw, served, any_stands);
		changed = memcmp(served, ways->distance, size) != 0;
	}
	free(served);
}

void oracle_ways_legal(struct oracle_ways *ways, const struct hd_fabric *fabric, const uint8_t *up,
		       unsigned max_reverse_hops, bool any_stands, uint32_t exit)
{
	bool *goes_down = calloc(fabric->switch_count + 1, sizeof(*goes_down));

	start(ways, fabric, exit);
	if (goes_down)
		goes_down[exit] = true;
	for (uint32_t length = 1; goes_down && length < fabric->switch_count; length++) {
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			if (ways->distance[sw] != HD_NONE)
				continue;
			goes_down[sw] = allow_steps(ways, fabric, up, sw, 0, length - 1, goes_down);
			if (goes_down[sw] ||
			    allow_steps(ways, fabric, up, sw, 1, length - 1, goes_down))
				ways->distance[sw] = length;
		}
	}
	free(goes_down);
	go_against_the_tree(ways, fabric, max_reverse_hops, any_stands);
}

void oracle_has_legal_path(const struct hd_fabric *fabric, const uint8_t *up, uint32_t exit,
			   bool *has)
{
	bool *descends = calloc(fabric->switch_count + 1, sizeof(*descends));

	if (!descends)
		return;
	descends[exit] = true;
	for (int phase = 0; phase < 2; phase++) {
		bool *reaches = phase ? has : descends;
		if (phase)
			memcpy(has, descends, fabric->switch_count * sizeof(*has));
		for (bool changed = true; changed;) {
			changed = false;
			for (uint32_t link = 0; link < fabric->isl_count; link++) {
				uint32_t near = near_end(fabric, link);
				if (up[link] == phase && reaches[fabric->isl_to[link]] &&
				    !reaches[near])
					changed = reaches[near] = true;
			}
		}
	}
	free(descends);
}

void oracle_steps(const struct hd_fabric *fabric, const bool *marked, uint32_t *steps)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		steps[sw] = marked[sw] ? 0 : HD_NONE;
	for (uint32_t length = 0; length < fabric->switch_count; length++)
		for (uint32_t link = 0; link < fabric->isl_count; link++)
			if (steps[fabric->isl_to[link]] == length &&
			    steps[near_end(fabric, link)] == HD_NONE)
				steps[near_end(fabric, link)] = length + 1;
}

uint32_t oracle_centre(const struct hd_fabric *fabric)
{
	uint32_t centre = HD_NONE, least = HD_NONE, fewest = HD_NONE;
	bool *marked = calloc(fabric->switch_count + 1, sizeof(*marked));
	uint32_t *steps = calloc(fabric->switch_count + 1, sizeof(*steps));

	for (uint32_t sw = 0; marked && steps && sw < fabric->switch_count; sw++) {
		uint32_t farthest = 0, unreached = 0;
		memset(marked, 0, fabric->switch_count * sizeof(*marked));
		marked[sw] = true;
		oracle_steps(fabric, marked, steps);
		for (uint32_t far = 0; far < fabric->switch_count; far++) {
			unreached += steps[far] == HD_NONE;
			if (steps[far] != HD_NONE && steps[far] > farthest)
				farthest = steps[far];
		}
		if (unreached < fewest || (unreached == fewest && farthest < least)) {
			fewest = unreached;
			least = farthest;
			centre = sw;
		}
	}
	free(steps);
	free(marked);
	return centre;
}

void oracle_ranks(const struct hd_fabric *fabric, bool *is_root, uint32_t *rank)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		oracle_steps(fabric, is_root, rank);
		if (rank[sw] == HD_NONE)
			is_root[sw] = true;
	}
	oracle_steps(fabric, is_root, rank);
}

void oracle_direct(const struct hd_fabric *fabric, const uint32_t *rank, uint8_t *up)
{
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t near = near_end(fabric, link), far = fabric->isl_to[link];
		up[link] = rank[far] != rank[near] ? rank[far] < rank[near] : far < near;
	}
}

static uint32_t compute_nodes(const struct hd_fabric *fabric, const bool *is_compute, uint32_t sw)
{
	uint32_t count = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		count += fabric->host_switch[host] == sw && (!is_compute || is_compute[host]);
	return count;
}

/* True when no link joins two switches of one level. */
static bool levels_alternate(const struct hd_fabric *fabric, const uint32_t *level)
{
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t far = fabric->isl_to[link];
		if (level[far] != HD_NONE && level[near_end(fabric, link)] == level[far])
			return false;
	}
	return true;
}

uint32_t oracle_levels(const struct hd_fabric *fabric, const bool *is_compute, uint32_t least,
		       uint32_t *level)
{
	bool *leaf = calloc(fabric->switch_count + 1, sizeof(*leaf));
	uint32_t found = 0;

	for (uint32_t hosts = least; leaf && !found && hosts <= HD_PORTS_MAX; hosts++) {
		bool any = false, exactly = false;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint32_t count = compute_nodes(fabric, is_compute, sw);
			leaf[sw] = count >= hosts;
			any |= leaf[sw];
			exactly |= count == hosts;
		}
		oracle_steps(fabric, leaf, level);
		if (any && exactly && levels_alternate(fabric, level))
			found = hosts;
	}
	free(leaf);
	for (uint32_t sw = 0; found && sw < fabric->switch_count; sw++)
		if (level[sw] == HD_NONE)
			level[sw] = 0;
	return found;
}
