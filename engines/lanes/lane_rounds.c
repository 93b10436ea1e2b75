/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_rounds.h"

#include <errno.h>
#include <stdlib.h>

/* What the search for fewer lanes may cost, in rounds like the first: few rounds if the lanes are
 * available, many if not, for then paths of their own would have to be given up. */
#define EFFORT_FEWER 3u
#define EFFORT_NEEDED 10u
#define ROUNDS_IN_VAIN 8u /* in a row that take no lane away */
/* Steps along paths and links searched that are always allowed, and that are never exceeded: a
 * fifth of a second, and a few seconds. */
#define WORK_FREE UINT64_C(8000000)
#define WORK_MAX UINT64_C(100000000)

/* Two lanes are the fewest possible if one is not enough. */
#define FEW_LANES 2

static void copy(const struct lane_assignment *assignment, const struct lane_rounds_table *from,
		 struct lane_rounds_table *to)
{
	memcpy(to->lane, from->lane, lane_rounds_table_size(assignment));
	to->lanes = from->lanes;
}

/* The rounds for one table. */
struct rounds {
	struct lane_assignment *assignment;
	unsigned available;
	uint64_t begun; /* lane_assignment_work() at the beginning */
	uint64_t first; /* work of the first round */
	struct lane_rounds_table *best;
};

static bool goes_on(const struct rounds *rounds)
{
	unsigned lanes = rounds->best->lanes;
	uint64_t effort = lanes > rounds->available ? EFFORT_NEEDED : EFFORT_FEWER;
	uint64_t most = (1 + effort) * rounds->first;

	most = most > WORK_FREE ? most : WORK_FREE;
	return lane_assignment_work(rounds->assignment) - rounds->begun <
	       (most < WORK_MAX ? most : WORK_MAX);
}

/* Makes each table from the one before, and keeps the best. */
static int refill(const struct rounds *rounds, struct lane_rounds_table two[2])
{
	copy(rounds->assignment, rounds->best, &two[0]);
	for (unsigned round = 0, in_vain = 0; in_vain < ROUNDS_IN_VAIN && goes_on(rounds);
	     round++, in_vain++) {
		struct lane_rounds_table *last = &two[round % 2], *next = &two[(round + 1) % 2];
		int rc =
		    lane_assignment_refill(rounds->assignment, last->lane, last->lanes, next->lane);
		if (rc)
			return rc;
		next->lanes = rounds->assignment->used;
		if (next->lanes < rounds->best->lanes) {
			copy(rounds->assignment, next, rounds->best);
			in_vain = 0;
		}
	}
	return 0;
}

static int search_fewer(const struct rounds *rounds)
{
	size_t size = lane_rounds_table_size(rounds->assignment);
	struct lane_rounds_table two[2] = {{.lane = calloc(size, 1)}, {.lane = calloc(size, 1)}};
	int rc = two[0].lane && two[1].lane ? refill(rounds, two) : -ENOMEM;

	free(two[0].lane);
	free(two[1].lane);
	return rc;
}

int lane_rounds_fresh(struct lane_assignment *assignment, unsigned available,
		      struct lane_rounds_table *table)
{
	struct rounds rounds = {assignment, available, lane_assignment_work(assignment), 0, table};

	memset(table->lane, 0, lane_rounds_table_size(assignment));
	assignment->most = lane_rounds_most(available);
	int rc = lane_assignment_fill(assignment, table->lane);
	if (rc == -ENOSPC) {
		table->lanes = assignment->most + 1;
		rc = 0;
	} else if (!rc) {
		table->lanes = assignment->used ? assignment->used : 1;
		rounds.first = lane_assignment_work(assignment) - rounds.begun;
		if (table->lanes > FEW_LANES && goes_on(&rounds))
			rc = search_fewer(&rounds);
	}
	assignment->most = LANE_ASSIGNMENT_LANES;
	return rc;
}

int lane_rounds_keep(struct lane_assignment *assignment, const struct hd_routes *previous,
		     struct lane_rounds_table *table)
{
	unsigned lanes = 0;

	for (unsigned sl = 0; sl < 16; sl++)
		lanes = lanes > previous->sl2vl[sl] + 1u ? lanes : previous->sl2vl[sl] + 1u;
	for (uint32_t s = 0; s < assignment->source_count; s++)
		for (uint32_t i = 0; i < assignment->destination_count; i++) {
			uint32_t source = assignment->sources[s],
				 lid = assignment->destinations[i].lid;
			bool local = source == assignment->destinations[i].sw;
			*lane_assignment_lane(assignment, table->lane, source, lid) =
			    local ? 0 : hd_routes_vl(previous, source, lid);
		}
	int rc = lane_assignment_keep(assignment, lanes, table->lane);
	table->lanes = assignment->used ? assignment->used : 1;
	return rc;
}
