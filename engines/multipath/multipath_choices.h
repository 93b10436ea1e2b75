/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which next hops the path bits allow, for one destination switch. */
#ifndef ENGINES_MULTIPATH_CHOICES_H
#define ENGINES_MULTIPATH_CHOICES_H

#include "multipath_paths.h"

#include <heddle/base/port_set.h>

struct multipath_choices {
	const struct hd_fabric *fabric;
	const struct multipath_cycle_lists *lists;
	struct multipath_path_search search;
	unsigned bits; /* room for that many */
	uint32_t *looks_at; /* [switch_count] path bits that the switch tells apart */
	uint32_t *distance; /* [switch_count] hops to the destination; HD_NONE: no path */
	/* [switch_count << bits], at (switch << bits) + pattern, for patterns of the bits that the
	 * switch looks at: least hops of a path that matches (HD_NONE: no path matches), and the
	 * ports by which such paths leave the switch */
	uint32_t *hops;
	struct hd_port_set *ports;
};

/* Memory from the arena, with room for `bits` path bits. Errors: -ENOMEM. */
int multipath_choices_allocate(struct multipath_choices *choices, const struct hd_fabric *fabric,
			       const struct multipath_cycle_lists *lists, unsigned bits,
			       struct hd_arena *arena);

/*
 * Fills them for a port on the switch `destination` that has `bits` path bits, at most those there
 * is room for. A switch looks at the bits whose cycles pass through it, or with `all` at each of
 * them. Cost: O(paths to the destination * (hops + patterns that match)).
 */
void multipath_choices_build(struct multipath_choices *choices, uint32_t destination, unsigned bits,
			     bool all);

static inline size_t multipath_choices_at(const struct multipath_choices *choices, uint32_t sw,
					  uint32_t bits)
{
	return ((size_t)sw << choices->bits) + (bits & choices->looks_at[sw]);
}

#endif
