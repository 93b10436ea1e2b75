/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "match_shape.h"

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t common_pendants(const struct match_shape *shape, uint32_t hub, uint32_t live)
{
	const uint32_t *a = shape->plan->pendants[hub], *b = shape->live->pendants[live];

	return least(a[0], b[0]) + least(a[1], b[1]);
}

uint32_t match_shape_agreement(struct match_shape *shape, uint32_t hub, uint32_t live,
			       uint32_t without)
{
	const struct match_graph *plan = shape->plan, *other = shape->live;
	uint32_t sum = common_pendants(shape, hub, live);

	for (uint32_t arc = other->base[live]; arc < other->base[live + 1]; arc++)
		shape->live_votes[other->arcs[arc].to] = other->arcs[arc].cables;
	for (uint32_t arc = plan->base[hub]; arc < plan->base[hub + 1]; arc++) {
		uint32_t next = plan->arcs[arc].to;
		if (next != without && shape->image[next] != HD_NONE)
			sum += least(plan->arcs[arc].cables, shape->live_votes[shape->image[next]]);
	}
	for (uint32_t arc = other->base[live]; arc < other->base[live + 1]; arc++)
		shape->live_votes[other->arcs[arc].to] = 0;
	return sum;
}
