/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "balance_worth.h"

#define NEARLY_EVEN 1.01 /* mean of squared loads over the square of their mean */

uint32_t balance_largest_load(const struct balance_trees *trees)
{
	uint32_t largest = 0;

	for (uint32_t link = 0; link < trees->fabric->isl_count; link++)
		if (trees->load[link] > largest)
			largest = trees->load[link];
	return largest;
}

/*
 * The hosts of a switch send over its links to all destinations elsewhere, and the hosts elsewhere
 * send to its destinations. So at least one of its links has the mean of that.
 */
static uint32_t least_largest_load(const struct balance_trees *trees,
				   const struct destinations *list, uint32_t count)
{
	const struct hd_fabric *fabric = trees->fabric;
	uint32_t *arriving = trees->weight, least = 0;

	memset(arriving, 0, fabric->switch_count * sizeof(*arriving));
	for (uint32_t d = 0; d < count; d++)
		arriving[list->items[d].sw]++;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint64_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		uint64_t hosts = trees->host_load[sw], own = arriving[sw];
		uint64_t out = hosts * (count - own), in = own * (fabric->host_count - hosts);
		uint64_t most = out > in ? out : in;
		if (links && (most + links - 1) / links > least)
			least = (uint32_t)((most + links - 1) / links);
	}
	return least;
}

static bool nearly_even(const struct balance_trees *trees)
{
	double sum = 0, squares = 0, links = trees->fabric->isl_count;

	for (uint32_t link = 0; link < trees->fabric->isl_count; link++) {
		double load = trees->load[link];
		sum += load;
		squares += load * load;
	}
	return squares * links <= sum * sum * NEARLY_EVEN;
}

/* Between components of the fabric there are no paths, and the bound is too high. At worst that
 * saves a pass that would have lowered the loads a little. */
bool balance_is_ideal(struct balance_trees *trees, const struct destinations *list, uint32_t count)
{
	return !trees->uncounted && nearly_even(trees) &&
	       balance_largest_load(trees) <= least_largest_load(trees, list, count);
}
