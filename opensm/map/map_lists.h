/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What routers are to know about this subnet: their ports in it, its hosts, and its map. */
#ifndef OPENSM_MAP_LISTS_H
#define OPENSM_MAP_LISTS_H

#include "map_table.h"

#include <heddle/base/arena.h>
#include <heddle/ir_router/handshake.h>

struct routing;

struct map_lists {
	struct hd_handshake_lists lists; /* in memory of the arena */
	struct hd_arena arena;
};

/*
 * Makes the lists of a routing and of the map in force. Of the map only lines of GIDs are listed,
 * with the first usable port. Only for a subnet that is a fat tree with routers on its top, hosts
 * have the top switch that D-mod-K names. *out is freed with map_lists_free(). Errors: -EINVAL the
 * prefix is link-local, -ENOMEM. Cost: O(links + lines of the map + hosts log hosts).
 */
int map_lists_make(const struct routing *routing, uint64_t prefix, const struct map_table *table,
		   struct map_lists **out, struct hd_error *err);

/* NULL is allowed. */
void map_lists_free(struct map_lists *lists);

/* Whether both say the same; false if one of them is NULL. */
bool map_lists_equal(const struct map_lists *a, const struct map_lists *b);

#endif
