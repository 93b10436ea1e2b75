/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "facts.h"
#include <stdlib.h>

/* Spreads the smallest number of a component to all its switches. */
uint32_t *facts_components(const struct hd_fabric *fabric)
{
	uint32_t *component = calloc(fabric->switch_count, sizeof(*component));
	bool changed = component != NULL;

	for (uint32_t sw = 0; changed && sw < fabric->switch_count; sw++)
		component[sw] = sw;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < fabric->isl_count; i++) {
			uint32_t from = hd_isl_from(fabric, i);
			if (component[fabric->isl_to[i]] <= component[from])
				continue;
			component[fabric->isl_to[i]] = component[from];
			changed = true;
		}
	}
	return component;
}

uint8_t *facts_levels(const struct hd_fabric *fabric)
{
	uint8_t *level = malloc(fabric->switch_count);
	bool changed = level != NULL;

	for (uint32_t sw = 0; level && sw < fabric->switch_count; sw++)
		level[sw] = fabric->host_base[sw] < fabric->host_base[sw + 1] ? 0 : 0xFF;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < fabric->isl_count; i++) {
			uint32_t from = hd_isl_from(fabric, i);
			if (level[from] == 0xFF || level[fabric->isl_to[i]] <= level[from] + 1)
				continue;
			level[fabric->isl_to[i]] = (uint8_t)(level[from] + 1);
			changed = true;
		}
	}
	return level;
}

enum {
	UNSEEN,
	CLIMBING,
	DESCENDING
}; /* a path that only climbed so far may still climb or descend */

/* Marks all switches on legal paths from `leaf`. */
static void spread(const uint8_t *level, const struct hd_fabric *fabric, uint32_t leaf,
		   uint8_t *seen)
{
	bool changed = true;

	memset(seen, UNSEEN, fabric->switch_count);
	seen[leaf] = CLIMBING;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < fabric->isl_count; i++) {
			uint32_t from = hd_isl_from(fabric, i);
			uint32_t to = fabric->isl_to[i];
			bool up = level[to] > level[from];
			uint8_t state = up ? CLIMBING : DESCENDING;
			if (seen[from] == UNSEEN || (up && seen[from] == DESCENDING) ||
			    seen[to] == CLIMBING || seen[to] == state)
				continue;
			seen[to] = state;
			changed = true;
		}
	}
}

static bool has_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->host_base[sw] < fabric->host_base[sw + 1];
}

bool facts_is_tree_still(const uint8_t *level, const struct hd_fabric *fabric)
{
	uint32_t *component = facts_components(fabric);
	uint8_t *seen = malloc(fabric->switch_count);
	bool still = component && seen;

	for (uint32_t leaf = 0; leaf < fabric->switch_count && still; leaf++) {
		if (!has_hosts(fabric, leaf))
			continue;
		spread(level, fabric, leaf, seen);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			if (has_hosts(fabric, sw) && component[sw] == component[leaf] &&
			    seen[sw] == UNSEEN)
				still = false;
	}
	free(component);
	free(seen);
	return still;
}
