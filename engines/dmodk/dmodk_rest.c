/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_repairing.h"

#include <string.h>

static void mark_reached(struct dmodk_repairing *repairing)
{
	const struct dmodk_damage *damage = repairing->damage;
	const struct hd_regular_tree *tree = damage->tree;
	const struct dmodk_masks *masks = &damage->masks;
	uint64_t **found = repairing->reach.all ? repairing->reach.legal : repairing->reach.climb;

	memset(repairing->reached, 0, tree->fabric->switch_count);
	repairing->reached[repairing->sw] = 1;
	for (uint32_t level = 0; tree->group[repairing->sw] != HD_NONE && level < tree->level_count;
	     level++)
		for (uint32_t block = 0; block < hd_regular_tree_blocks(tree, level); block++)
			for (uint32_t bit = 0; bit < masks->words[level] * 64; bit++)
				if (dmodk_bit(dmodk_reach_of(repairing, found, level, block), bit))
					repairing->reached
					    [tree->at[level][(size_t)block * tree->above[level] +
							     masks->group_of[level][bit]]] = 1;
}

/* The link to the lowest-numbered neighbour that earlier rounds have reached, or HD_NONE. */
static uint32_t lowest_reached(const struct dmodk_repairing *repairing, uint32_t sw, uint8_t round)
{
	const struct hd_fabric *fabric = dmodk_tree_of(repairing)->fabric;
	uint32_t best = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (repairing->reached[far] && repairing->reached[far] != round &&
		    (best == HD_NONE || far < fabric->isl_to[best]))
			best = link;
	}
	return best;
}

static uint8_t *row_of(const struct dmodk_repairing *repairing, uint32_t sw)
{
	return hd_routes_row(repairing->damage->routes, sw);
}

void dmodk_rest_repair(struct dmodk_repairing *repairing)
{
	const struct hd_fabric *fabric = dmodk_tree_of(repairing)->fabric;
	uint32_t count = 0;

	mark_reached(repairing);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (!repairing->reached[sw])
			repairing->rest[count++] = sw;
	/* rounds alternate between two marks, so that a round does not see its own */
	for (uint8_t round = 2; count; round = round == 2 ? 3 : 2) {
		uint32_t left = 0;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t sw = repairing->rest[i];
			uint32_t link = lowest_reached(repairing, sw, round);
			if (link != HD_NONE) {
				repairing->reached[sw] = round;
				dmodk_set_entries(repairing, row_of(repairing, sw),
						  fabric->isl_port[link]);
			} else {
				repairing->rest[left++] = sw;
			}
		}
		for (uint32_t s = 0; s < fabric->switch_count; s++)
			if (repairing->reached[s] == round)
				repairing->reached[s] = 1;
		if (left == count)
			break;
		count = left;
	}
	for (uint32_t i = 0; i < count; i++)
		dmodk_set_entries(repairing, row_of(repairing, repairing->rest[i]), HD_NO_PORT);
}
