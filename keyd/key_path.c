/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_shift.h"
#include "key_tree.h"

#include <stdlib.h>

uint32_t hd_key_path(const struct hd_key_tree *tree, const struct hd_key_route *route,
		     const struct hd_key_shift *shift, uint32_t *links)
{
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t from = tree->leaf[route->source], to = tree->leaf[route->destination];
	uint32_t group = 0, made = 0; /* with and without the shift */

	for (uint32_t number = 0; number < route->climbs; number++) {
		const struct key_level *level = &tree->level[number];
		uint32_t up = key_shift_cable(level, number, shift, made, route->up[number]);
		uint32_t down = key_shift_cable(level, number, shift, made, route->down[number]);
		links[number] = key_tree_link(level, from / level->leaves, group, up);
		links[2u * route->climbs - 1 - number] =
		    fabric->isl_reverse[key_tree_link(level, to / level->leaves, group, down)];
		made = key_tree_parent_group(level, made, route->up[number]);
		group = key_tree_parent_group(level, group, up);
	}
	return 2u * route->climbs;
}

struct hd_key_loads *hd_key_loads_new(const struct hd_key_tree *tree)
{
	struct hd_key_loads *loads = calloc(1, sizeof(*loads));

	if (!loads)
		return NULL;
	loads->link_count = tree->fabric->isl_count;
	loads->flows = calloc((size_t)loads->link_count + 1, sizeof(*loads->flows));
	if (loads->flows)
		return loads;
	free(loads);
	return NULL;
}

void hd_key_loads_free(struct hd_key_loads *loads)
{
	if (loads)
		free(loads->flows);
	free(loads);
}

void hd_key_loads_add(struct hd_key_loads *loads, const struct hd_key_tree *tree,
		      const struct hd_key *key, const struct hd_key_shift *shift, int sign)
{
	uint32_t links[2 * HD_KEY_LEVELS];

	for (uint32_t i = 0; i < key->flow_count; i++) {
		uint32_t count = hd_key_path(tree, &key->routes[i], shift, links);
		for (uint32_t hop = 0; hop < count; hop++)
			loads->flows[links[hop]] += (uint32_t)sign;
	}
}
