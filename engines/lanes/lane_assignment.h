/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* First-fit assignment of paths to virtual lanes: what the rounds of hd_lanes_assign() share. */
#ifndef ENGINES_LANE_ASSIGNMENT_H
#define ENGINES_LANE_ASSIGNMENT_H

#include <heddle/base/go_on.h>
#include <heddle/engines/lanes.h>
#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/routes.h>

#define LANE_ASSIGNMENT_LANES                                                                      \
	24u /* tried at most: more than InfiniBand has, to find out how many are needed */
#define LANE_ASSIGNMENT_NONE 0xFF /* lane of a path that has none yet */

/* A LID of a host, and its destination switch. */
struct lane_assignment_destination {
	uint32_t lid, sw;
};

struct lane_assignment {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct hd_arena arena;
	struct hd_dependency_workspace workspace;
	struct hd_dependencies lanes[LANE_ASSIGNMENT_LANES];
	unsigned opened; /* lanes with memory */
	unsigned used; /* lanes of this round */
	unsigned most; /* lanes that may be used */
	/* hosts in the order of the fabric, each with all its LIDs */
	struct lane_assignment_destination *destinations;
	uint32_t destination_count;
	uint32_t *sources; /* switches with hosts */
	uint32_t source_count;
	/* [switch_count * 256] by port: link among the switch's own; where parallel cables count as one link, the first of
	 * them; the one of both that counts */
	uint8_t *own_number, *merged_number, *link_number;
	bool parallel; /* there are parallel cables */
	/* [switch_count] of each lane: whether the path from a switch to the destination of the
	 * visit fits the lane, as far as that is known */
	uint32_t *fits[LANE_ASSIGNMENT_LANES];
	uint32_t visit;
	uint32_t *path; /* [switch_count] links of the path at hand */
	uint64_t steps; /* along paths, so far */
	/* ---- to be set after lane_assignment_init() ---- */
	struct hd_go_on go_on; /* asked for each destination */
	bool brief; /* as in struct hd_lanes_request */
};

/* Errors: -ENOMEM. To be released in any case. */
int lane_assignment_init(struct lane_assignment *assignment, const struct hd_fabric *fabric,
			 const struct hd_routes *routes);
void lane_assignment_release(struct lane_assignment *assignment);

/* Lane of a path in a table of the routes' shape. */
static inline uint8_t *lane_assignment_lane(const struct lane_assignment *assignment,
					    uint8_t *table, uint32_t source, uint32_t lid)
{
	return table + (size_t)source * assignment->routes->stride + lid;
}

/* The work done so far: steps along paths, and links searched. */
static inline uint64_t lane_assignment_work(const struct lane_assignment *assignment)
{
	return assignment->steps + assignment->workspace.searched;
}

/*
 * The rounds. Each begins with empty lanes and writes the lane of every path into `table`, which is
 * [switch_count * stride] and may hold anything where there is no path. The lane of a path that
 * does not arrive means nothing. Errors: -ENOSPC more than LANE_ASSIGNMENT_LANES,
 * -ECANCELED, -ENOMEM.
 */

/* Destination by destination. */
int lane_assignment_fill(struct lane_assignment *assignment, uint8_t *table);

/* Lane by lane of the table `before`, from the last lane to the first. */
int lane_assignment_refill(struct lane_assignment *assignment, const uint8_t *before,
			   unsigned lane_count, uint8_t *table);

/* First the paths that can stay on the lane that `table` has for them, then the others. lane_count
 * lanes are open from the start; a path on a lane beyond them counts as one without a lane. */
int lane_assignment_keep(struct lane_assignment *assignment, unsigned lane_count, uint8_t *table);

/* Adds the paths to one more destination to those of the last round. -ENOSPC when lane_count lanes
 * are not enough; the entries in the table then mean nothing. */
int lane_assignment_add(struct lane_assignment *assignment,
			const struct lane_assignment_destination *destination, unsigned lane_count,
			uint8_t *table);

/* ---- the best of several rounds ---- */

/* Rounds of lane assignment, and the best of them. */

struct lane_rounds_table {
	uint8_t *lane; /* [switch_count * stride] like the routes' */
	unsigned lanes; /* in use, at least 1 */
};

static inline size_t lane_rounds_table_size(const struct lane_assignment *assignment)
{
	return (size_t)assignment->routes->switch_count * assignment->routes->stride;
}

/* The largest number of lanes in a first round from which later rounds may get down to `available`:
 * they take a third away at best. Unless it is brief, the search goes as far as InfiniBand's own limit, so that
 * the message can say how many lanes are needed. */
static inline unsigned lane_rounds_most(unsigned available, bool brief)
{
	unsigned hopeful = (3 * available + 2) / 2;

	return brief || hopeful > HD_LANES_MAX ? hopeful : HD_LANES_MAX;
}

/*
 * Assigns afresh, on as few lanes as a bounded search finds. Parallel cables count as one link, so that adaptive routing
 * may choose among them on any lane, unless the lanes that are available are too few for that. The search is longer while more than
 * `available` are needed. It ends as soon as more than lane_rounds_most() are: table->lanes is then
 * one more than that, and the lanes mean nothing. Errors: -ENOMEM.
 */
int lane_rounds_fresh(struct lane_assignment *assignment, unsigned available,
		      struct lane_rounds_table *table);

/* Paths stay on their lanes of `previous` wherever they can. Parallel cables count as one link, unless that takes more
 * lanes than there were. Errors: those of a round. */
int lane_rounds_keep(struct lane_assignment *assignment, const struct hd_routes *previous,
		     struct lane_rounds_table *table);

#endif
