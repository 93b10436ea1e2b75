/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The blocks of forwarding tables that a key changes. */
#ifndef OPENSM_KEYS_BLOCKS_H
#define OPENSM_KEYS_BLOCKS_H

#include <heddle/change/repair.h>
#include <heddle/fabric/routes.h>

struct keys_entries;

struct keys_block {
	uint32_t sw; /* row of the tables */
	uint32_t number;
	const uint8_t *before, *after; /* [HD_LFT_BLOCK] in the tables */
};

struct keys_blocks {
	uint32_t count;
	struct keys_block *list; /* [count] by switch, then number */
	uint32_t changed; /* of the entries asked for, those that differ */
};

/*
 * The blocks in which entries of `old` and `fresh` differ, and how many of these entries do. *out points into the
 * tables, and is released with keys_blocks_release(). Errors: -ENOMEM. O(entries).
 */
int keys_blocks_find(const struct hd_routes *before, const struct hd_routes *after,
		     const struct keys_entries *old, const struct keys_entries *fresh,
		     struct keys_blocks *out);

void keys_blocks_release(struct keys_blocks *blocks);

#endif
