/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The hash tables with which a map finds its lines, and the parts of blocks. */
#ifndef IR_ROUTER_MAP_INDEX_H
#define IR_ROUTER_MAP_INDEX_H

#include <heddle/ir_router/map.h>

/* The GID with all bits behind the first `length` set to 0. */
struct hd_gid map_index_mask(const struct hd_gid *gid, unsigned length);

/* Puts all lines into the tables. *twice becomes a line with a destination that an earlier line
 * has, and *first that one; else both are HD_NONE. Errors: -ENOMEM. Cost: O(lines). */
int map_index_fill(struct hd_map *map, uint32_t *twice, uint32_t *first);

void map_index_release(struct hd_map *map);

/* The line with exactly that GID, or that block; HD_NONE if no line has it. Expected cost: O(1). */
uint32_t map_index_find(const struct hd_map *map, const struct hd_gid *gid, unsigned length);

/* A hash of a GID, different for each salt. */
uint64_t map_index_hash(const struct hd_gid *gid, uint64_t salt);

#endif
