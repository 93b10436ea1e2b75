/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a shift consists of. */
#ifndef KEYD_KEY_SHIFT_H
#define KEYD_KEY_SHIFT_H

#include "key_tree.h"

/* Another path for all flows from one switch to one LID, in a tree that is not regular. */
struct key_moved {
	uint32_t source, destination; /* switch, host */
	uint8_t offset, climbs, descents;
	uint8_t up[HD_KEY_LEVELS], down[HD_KEY_LEVELS];
};

struct hd_key_shift {
	/* per level: [group * cables + cable] of the key as it was made: the cable to take */
	uint8_t *cable[HD_KEY_LEVELS];
	struct key_moved *
	    moved; /* [moved_count] by destination, offset, source; in trees that are not regular */
	uint32_t moved_count;
	struct hd_arena arena;
};

/* hd_key_shift_choose(). skips_idle false: slower, with the same result; only tests want that. */
int key_shift_choose(const struct hd_key_tree *tree, const struct hd_key *key,
		     const struct hd_key_loads *loads, enum hd_key_objective objective,
		     bool skips_idle, struct hd_key_shift **out, struct hd_error *err);

#endif
