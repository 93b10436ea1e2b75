/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_numbers.h"
#include "dmodk_repairing.h"

#include <string.h>

static uint32_t climb_of(const struct dmodk_repairing *repairing, const struct dmodk_item *item,
			 uint32_t level)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);

	return item->to_switch ? dmodk_switch_climb(tree, level, repairing->sw, item->number)
			       : dmodk_host_climb(tree, level, item->number);
}

static void find_descents(struct dmodk_repairing *repairing, uint32_t i)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	uint8_t *descent = repairing->descents + (size_t)i * tree->level_count;
	struct dmodk_item *item = &repairing->items[i];

	for (uint32_t level = 1; level < tree->level_count; level++)
		if (tree->child_links[level] > 1)
			descent[level] =
			    (uint8_t)(item->to_switch
					  ? dmodk_switch_descent(tree, level, item->number)
					  : dmodk_host_descent(tree, level, item->number));
	item->descent = descent;
}

static void find_runs(struct dmodk_repairing *repairing, uint32_t level)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	struct dmodk_run *run = repairing->runs[level] - 1;

	for (uint32_t i = 0; i < repairing->item_count; i++) {
		const struct dmodk_item *item = &repairing->items[i];
		uint32_t first = climb_of(repairing, item, level);
		uint32_t key = dmodk_key(tree, level, item->number);
		if (!i || run->first != first || run->key != key)
			*++run = (struct dmodk_run){.begin = i,
						    .first = first,
						    .key = key,
						    .lid = item->lid,
						    .follow = true,
						    .next = HD_NONE};
		run->end = i + 1;
		run->follow &= item->lid == run->lid + i - run->begin;
	}
	repairing->run_count[level] = (uint32_t)(run + 1 - repairing->runs[level]);
}

/* Leaves look for the runs of the cables that they have lost. */
static void chain_runs(struct dmodk_repairing *repairing)
{
	const struct dmodk_cables *cables = &repairing->damage->cables[0];
	uint32_t width =
	    dmodk_tree_of(repairing)->parent_links[0] * repairing->damage->masks.words[1];

	memset(repairing->taken, 0, width * sizeof(*repairing->taken));
	for (uint32_t i = 0; i < repairing->run_count[0]; i++) {
		struct dmodk_run *run = &repairing->runs[0][i];
		uint32_t bit = cables->leaf_bit[run->first];
		uint64_t *word = &repairing->taken[bit / 64];
		run->next = *word >> bit % 64 & 1 ? repairing->first_run[bit] : HD_NONE;
		repairing->first_run[bit] = i;
		*word |= UINT64_C(1) << bit % 64;
	}
}

static void add_item(struct dmodk_repairing *repairing, uint32_t lid, uint32_t number,
		     bool to_switch)
{
	struct dmodk_span *last = repairing->spans + repairing->span_count - 1;

	if (repairing->span_count && last->lid + last->count == lid)
		last->count++;
	else
		repairing->spans[repairing->span_count++] =
		    (struct dmodk_span){.lid = lid, .count = 1};
	repairing->items[repairing->item_count++] =
	    (struct dmodk_item){.lid = lid, .number = number, .to_switch = to_switch};
}

void dmodk_items_list(struct dmodk_repairing *repairing, uint32_t sw)
{
	const struct hd_regular_tree *tree = dmodk_tree_of(repairing);
	const struct hd_fabric *fabric = tree->fabric;

	repairing->sw = sw;
	repairing->item_count = repairing->span_count = 0;
	for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1]; host++)
		for (uint32_t offset = 0;
		     offset < hd_port_lid_count(fabric, fabric->host_port[host]); offset++)
			add_item(repairing, fabric->lid[fabric->host_port[host]] + offset,
				 repairing->damage->position[host] + offset, false);
	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, fabric->port_base[sw]);
	     offset++)
		add_item(repairing, fabric->lid[fabric->port_base[sw]] + offset,
			 tree->ordinal[sw] + offset, true);
	if (tree->group[sw] == HD_NONE)
		return;
	for (uint32_t i = 0; i < repairing->item_count; i++)
		find_descents(repairing, i);
	for (uint32_t level = 0; level + 1 < tree->level_count; level++)
		find_runs(repairing, level);
	if (tree->level_count > 1)
		chain_runs(repairing);
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
