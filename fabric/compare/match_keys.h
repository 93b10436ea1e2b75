/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which live node is at the place of a planned one, by GUIDs or names, and by what its neighbours' ports lead to. */
#ifndef FABRIC_MATCH_KEYS_H
#define FABRIC_MATCH_KEYS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

struct match_keys {
	const struct hd_fabric *plan, *live;
	uint32_t *key_live; /* [planned nodes] the live node with this GUID or name, or HD_NONE */
	uint32_t *key_plan; /* [live nodes] the reverse */
	uint32_t *live_of; /* [planned nodes] the live node at this place, or HD_NONE */
	uint32_t *plan_of; /* [live nodes] the reverse */
	uint32_t switches; /* planned switches that were found by their key */
};

/* Finds nodes by GUID or by name. The arrays are of `arena`. Errors: -ENOMEM. O(nodes log nodes). */
int match_keys_find(const struct hd_fabric *plan, const struct hd_fabric *live, bool by_name,
		    struct hd_arena *arena, struct match_keys *out, struct hd_error *err);

/* Fills live_of and plan_of: by key, but by place where the key is unknown or most cables speak against it. Errors:
 * -ENOMEM. O(ports) a round, a few rounds. */
int match_keys_place(struct match_keys *keys, struct hd_error *err);

#endif
