/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The LIDs to be routed, in the order in which they are balanced. */
#ifndef ENGINES_DESTINATIONS_H
#define ENGINES_DESTINATIONS_H

#include "balance.h"

struct destinations {
	struct balance_destination *items;
	uint32_t count;
	uint32_t
	    layer_count; /* one for each LID offset of hosts, and a last one for all switches */
	uint32_t *layer_begin; /* [layer_count + 1] */
};

/* Lists them into memory of the arena. Errors: -ENOMEM. */
int destinations_list(const struct hd_fabric *fabric, const struct resolved_policy *policy,
		      struct hd_arena *arena, struct destinations *out);

#endif
