/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A shift: for each switch above the same leaves of a key, other cables. */
#ifndef KEYD_KEY_SHIFT_H
#define KEYD_KEY_SHIFT_H

#include "key_tree.h"

struct hd_key_shift {
	/* per level: [group * cables + cable] of the key as it was made: the cable to take */
	uint8_t *cable[HD_KEY_LEVELS];
	struct hd_arena arena;
};

/* The cable that a flow takes. group: the one that its path has without a shift. */
static inline uint32_t key_shift_cable(const struct key_level *level, uint32_t number,
				       const struct hd_key_shift *shift, uint32_t group,
				       uint32_t cable)
{
	return shift ? shift->cable[number][(size_t)group * level->cables + cable] : cable;
}

#endif
