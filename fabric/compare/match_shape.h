/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A mapping of hubs of the plan to live hubs, and how many cables agree under it. */
#ifndef FABRIC_MATCH_SHAPE_H
#define FABRIC_MATCH_SHAPE_H

#include "match_graph.h"

struct match_shape {
	const struct match_graph *plan, *live;
	uint32_t *image; /* [hubs of the plan] or HD_NONE */
	uint32_t *origin; /* [live hubs] or HD_NONE */
	uint32_t *agreeing; /* [hubs of the plan] for match_improve() */
	/* Scratch memory, all 0 between two uses: [live hubs], [hubs of the plan] */
	uint32_t *live_votes, *plan_votes;
	int64_t *paths; /* [live hubs] */
	bool *seen; /* [live hubs] */
	uint32_t *touched; /* [hubs of both] a list */
};

/* Maps a hub, which must be free, to a live hub, which must be free. */
static inline void match_shape_pair(struct match_shape *shape, uint32_t hub, uint32_t live)
{
	shape->image[hub] = live;
	shape->origin[live] = hub;
}

/* Cables that hub of the plan and a live hub have in common, if the one is mapped to the other: to mapped
 * neighbours, and to pendants. Neighbour `without` of the plan is left out. O(radix). */
uint32_t match_shape_agreement(struct match_shape *shape, uint32_t hub, uint32_t live,
			       uint32_t without);

#endif
