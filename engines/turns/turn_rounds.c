/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "turn_rounds.h"

#include <errno.h>
#include <stdlib.h>

/* One destination once more, or for the first time. *changed: its tree is another one. */
static int grow_one(const struct turn_rounds *rounds, uint32_t destination, bool first,
		    uint8_t *earlier, bool *changed, struct hd_error *err)
{
	const uint32_t switches = rounds->request->fabric->switch_count;
	uint8_t *tree = rounds->chosen + (size_t)destination * switches;

	if (hd_go_on_check(&rounds->request->go_on, err))
		return -ECANCELED;
	if (first)
		memset(tree, LINK_NUMBER_NONE, switches);
	else if (turn_trees_follow(rounds->trees, rounds->list->items[destination].sw, tree))
		turn_trees_count(rounds->trees, tree, UINT32_MAX);
	memcpy(earlier, tree, switches);
	int rc = rounds->grow(rounds->context, destination, tree, err);
	if (rc)
		return rc;
	turn_trees_count(rounds->trees, tree, 1);
	*changed |= memcmp(earlier, tree, switches) != 0;
	return 0;
}

static int run_layer(const struct turn_rounds *rounds, uint32_t layer, unsigned passes,
		     uint8_t *earlier, struct hd_error *err)
{
	const uint32_t *begin = rounds->list->layer_begin;
	bool changed = true;
	int rc = 0;

	for (unsigned pass = 0; !rc && changed && pass < passes; pass++) {
		changed = !pass;
		for (uint32_t d = begin[layer]; !rc && d < begin[layer + 1]; d++)
			rc = grow_one(rounds, d, !pass, earlier, &changed, err);
	}
	return rc;
}

int turn_rounds_run(const struct turn_rounds *rounds, struct hd_error *err)
{
	const struct hd_route_request *request = rounds->request;
	const unsigned passes = (unsigned)hd_options_get(request->options, "passes")->number;
	const uint32_t layers = rounds->list->layer_count;
	uint8_t *earlier = malloc(request->fabric->switch_count + 1u);
	int rc = earlier ? 0 : hd_error_no_memory(err);

	for (uint32_t layer = 0; !rc && layer < layers; layer++)
		rc = run_layer(rounds, layer, layer + 1 < layers ? passes : 1, earlier, err);
	free(earlier);
	return rc;
}
