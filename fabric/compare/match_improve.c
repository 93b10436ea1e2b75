/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "match_improve.h"

#define ROUNDS_MOST 40u
#define PLACES_MOST 8u

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Cables that the neighbours of a live hub see between themselves and each hub of the plan: touched[] lists those that
 * any sees; returns how many. */
static uint32_t vote_places(struct match_shape *shape, uint32_t live)
{
	const struct match_graph *plan = shape->plan, *other = shape->live;
	uint32_t count = 0;

	for (uint32_t arc = other->base[live]; arc < other->base[live + 1]; arc++) {
		uint32_t origin = shape->origin[other->arcs[arc].to];
		if (origin == HD_NONE)
			continue;
		for (uint32_t next = plan->base[origin]; next < plan->base[origin + 1]; next++) {
			uint32_t place = plan->arcs[next].to;
			if (!shape->plan_votes[place])
				shape->touched[count++] = place;
			shape->plan_votes[place] +=
			    least(plan->arcs[next].cables, other->arcs[arc].cables);
		}
	}
	return count;
}

/* Cables that agree more if a live hub goes to another place, and what is there goes to its place. */
static int64_t gain_of(struct match_shape *shape, uint32_t live, uint32_t place)
{
	uint32_t from = shape->origin[live], away = shape->image[place];
	int64_t gain = match_shape_agreement(shape, place, live, from);

	if (away != HD_NONE)
		gain -= match_shape_agreement(shape, place, away, from);
	if (from != HD_NONE)
		gain -= match_shape_agreement(shape, from, live, place);
	if (from != HD_NONE && away != HD_NONE)
		gain += match_shape_agreement(shape, from, away, place);
	return gain;
}

static void exchange(struct match_shape *shape, uint32_t live, uint32_t place)
{
	uint32_t from = shape->origin[live], away = shape->image[place];

	if (from != HD_NONE)
		shape->image[from] = away;
	if (away != HD_NONE)
		shape->origin[away] = from;
	match_shape_pair(shape, place, live);
}

/* The places where a live hub would gain most, if what is there now went away for nothing, best first. Empties the
 * votes. */
static uint32_t best_places(struct match_shape *shape, uint32_t live, uint32_t *places)
{
	uint32_t count = vote_places(shape, live), kept = 0;
	int64_t gains[PLACES_MOST + 1];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t place = shape->touched[i], at;
		int64_t own = (int64_t)shape->plan_votes[place] - shape->agreeing[place];
		shape->plan_votes[place] = 0;
		if (place == shape->origin[live])
			continue;
		for (at = kept; at > 0 && gains[at - 1] < own; at--) {
			gains[at] = gains[at - 1];
			if (at < PLACES_MOST)
				places[at] = places[at - 1];
		}
		if (at == PLACES_MOST)
			continue;
		gains[at] = own;
		places[at] = place;
		kept += kept < PLACES_MOST;
	}
	return kept;
}

/* Whether all cables of a live hub are those of its place. */
static bool is_settled(struct match_shape *shape, uint32_t live)
{
	uint32_t place = shape->origin[live];

	if (place == HD_NONE)
		return false;
	uint32_t agreement = match_shape_agreement(shape, place, live, HD_NONE);
	return agreement == shape->plan->cables[place] && agreement == shape->live->cables[live];
}

/* Notes how many cables agree at a place. The numbers of its neighbours may be old; they only give an order. */
static void note_agreement(struct match_shape *shape, uint32_t place)
{
	uint32_t live = shape->image[place];

	shape->agreeing[place] =
	    live == HD_NONE ? 0 : match_shape_agreement(shape, place, live, HD_NONE);
}

static bool improve_one(struct match_shape *shape, uint32_t live)
{
	uint32_t places[PLACES_MOST], from = shape->origin[live];
	uint32_t count = is_settled(shape, live) ? 0 : best_places(shape, live, places);

	for (uint32_t i = 0; i < count; i++) {
		if (gain_of(shape, live, places[i]) <= 0)
			continue;
		exchange(shape, live, places[i]);
		note_agreement(shape, places[i]);
		if (from != HD_NONE)
			note_agreement(shape, from);
		return true;
	}
	return false;
}

uint32_t match_improve_wish(struct match_shape *shape, uint32_t live)
{
	uint32_t places[PLACES_MOST];

	return best_places(shape, live, places) ? places[0] : HD_NONE;
}

void match_improve(struct match_shape *shape)
{
	bool better = true;

	for (unsigned round = 0; better && round < ROUNDS_MOST; round++) {
		better = false;
		for (uint32_t hub = 0; hub < shape->plan->count; hub++)
			note_agreement(shape, hub);
		for (uint32_t live = 0; live < shape->live->count; live++)
			better |= improve_one(shape, live);
	}
}
