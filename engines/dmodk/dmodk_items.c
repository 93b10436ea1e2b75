/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_choice.h"
#include "dmodk_numbers.h"
#include "dmodk_repairing.h"

#include <string.h>

static void number_item(const struct dmodk_repairing *repairing, struct dmodk_item *item,
			uint8_t *climb, uint8_t *descent, uint8_t *turn, uint32_t *key)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	uint32_t number = item->number;

	for (uint32_t level = 0; level + 1 < tree->level_count; level++) {
		climb[level] = (uint8_t)(item->to_switch ? dmodk_switch_climb(tree, level,
									      repairing->sw, number)
							 : dmodk_host_climb(tree, level, number));
		descent[level + 1] =
		    (uint8_t)(item->to_switch ? dmodk_switch_descent(tree, level + 1, number)
					      : dmodk_host_descent(tree, level + 1, number));
		/* what the first cable at the level does not depend on */
		key[level] = number / (tree->above[level] * dmodk_cables_up(tree, level));
		turn[level] = (uint8_t)dmodk_turn(dmodk_cables_up(tree, level), key[level]);
	}
	item->climb = climb;
	item->turn = turn;
	item->descent = descent;
	item->key = key;
}

/* Puts an item at the head of the lists of the cables by which it climbs. */
static void chain_item(struct dmodk_repairing *repairing, uint32_t i)
{
	uint32_t levels = dmodk_tree_of(repairing)->level_count;

	for (uint32_t level = 0; level + 1 < levels; level++) {
		uint32_t *first =
		    &repairing
			 ->first_item[level * HD_TREE_FANOUT + repairing->items[i].climb[level]];
		repairing->next_item[i * levels + level] = *first;
		*first = i;
	}
}

void dmodk_items_list(struct dmodk_repairing *repairing, uint32_t sw)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t count = 0, port = fabric->port_base[sw];

	repairing->sw = sw;
	for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1]; host++)
		for (uint32_t offset = 0;
		     offset < hd_port_lid_count(fabric, fabric->host_port[host]); offset++)
			repairing->items[count++] = (struct dmodk_item){
			    .lid = fabric->lid[fabric->host_port[host]] + offset,
			    .number = repairing->damage->position[host] + offset};
	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++)
		repairing->items[count++] =
		    (struct dmodk_item){.lid = fabric->lid[port] + offset,
					.number = tree->ordinal[sw] + offset,
					.to_switch = true};
	repairing->item_count = count;
	memset(repairing->first_item, 0xFF,
	       tree->level_count * HD_TREE_FANOUT * sizeof(*repairing->first_item));
	for (uint32_t i = 0; tree->group[sw] != HD_NONE && i < count; i++) {
		uint8_t *numbers = repairing->numbers + (size_t)i * 3 * tree->level_count;
		number_item(repairing, &repairing->items[i], numbers, numbers + tree->level_count,
			    numbers + 2 * tree->level_count,
			    repairing->keys + (size_t)i * tree->level_count);
		chain_item(repairing, i);
	}
}

uint32_t dmodk_items_most(const struct hd_fabric *fabric)
{
	uint32_t most = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t count = hd_port_lid_count(fabric, fabric->port_base[sw]);
		for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1];
		     host++)
			count += hd_port_lid_count(fabric, fabric->host_port[host]);
		most = count > most ? count : most;
	}
	return most;
}
