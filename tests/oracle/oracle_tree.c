/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_tree.h"

#include <stdlib.h>
#include <string.h>

void oracle_tree_legal(const struct hd_fabric *fabric, const uint8_t *up, uint32_t destination,
		       bool *has)
{
	bool *descends = calloc(fabric->switch_count + 1, sizeof(*descends));

	if (!descends)
		return;
	descends[destination] = true;
	for (int phase = 0; phase < 2; phase++) {
		bool *reaches = phase ? has : descends;
		if (phase)
			memcpy(has, descends, fabric->switch_count * sizeof(*has));
		for (bool changed = true; changed;) {
			changed = false;
			for (uint32_t link = 0; link < fabric->isl_count; link++) {
				uint32_t near = hd_isl_from(fabric, link);
				if (up[link] == phase && reaches[fabric->isl_to[link]] &&
				    !reaches[near])
					changed = reaches[near] = true;
			}
		}
	}
	free(descends);
}

void oracle_tree_steps(const struct hd_fabric *fabric, const bool *marked, uint32_t *steps)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		steps[sw] = marked[sw] ? 0 : HD_NONE;
	for (uint32_t length = 0; length < fabric->switch_count; length++)
		for (uint32_t link = 0; link < fabric->isl_count; link++)
			if (steps[fabric->isl_to[link]] == length &&
			    steps[hd_isl_from(fabric, link)] == HD_NONE)
				steps[hd_isl_from(fabric, link)] = length + 1;
}

uint32_t oracle_tree_centre(const struct hd_fabric *fabric)
{
	uint32_t centre = HD_NONE, least = HD_NONE, fewest = HD_NONE;
	bool *marked = calloc(fabric->switch_count + 1, sizeof(*marked));
	uint32_t *steps = calloc(fabric->switch_count + 1, sizeof(*steps));

	for (uint32_t sw = 0; marked && steps && sw < fabric->switch_count; sw++) {
		uint32_t farthest = 0, unreached = 0;
		memset(marked, 0, fabric->switch_count * sizeof(*marked));
		marked[sw] = true;
		oracle_tree_steps(fabric, marked, steps);
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

void oracle_tree_ranks(const struct hd_fabric *fabric, bool *is_root, uint32_t *rank)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		oracle_tree_steps(fabric, is_root, rank);
		if (rank[sw] == HD_NONE)
			is_root[sw] = true;
	}
	oracle_tree_steps(fabric, is_root, rank);
}

void oracle_tree_direct(const struct hd_fabric *fabric, const uint32_t *rank, uint8_t *up)
{
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
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
		if (level[far] != HD_NONE && level[hd_isl_from(fabric, link)] == level[far])
			return false;
	}
	return true;
}

uint32_t oracle_tree_levels(const struct hd_fabric *fabric, const bool *is_compute, uint32_t least,
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
		oracle_tree_steps(fabric, leaf, level);
		if (any && exactly && levels_alternate(fabric, level))
			found = hosts;
	}
	free(leaf);
	for (uint32_t sw = 0; found && sw < fabric->switch_count; sw++)
		if (level[sw] == HD_NONE)
			level[sw] = 0;
	return found;
}
