/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes put on virtual lanes first fit: what the rounds of hd_lanes_assign() share. */
#ifndef ENGINES_LANE_ASSIGNMENT_H
#define ENGINES_LANE_ASSIGNMENT_H

#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/routes.h>

#define LANE_ASSIGNMENT_LANES                                                                      \
	24u /* opened at most: more than there are, to see how many are needed */
#define LANE_ASSIGNMENT_NONE 0xFF /* lane of a route that is not placed */

/* A LID of a host, and the switch it hangs on. */
struct lane_assignment_destination {
	uint32_t lid, exit;
};

struct lane_assignment {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct hd_arena arena;
	struct hd_dependency_workspace workspace;
	struct hd_dependencies lanes[LANE_ASSIGNMENT_LANES];
	unsigned opened; /* lanes with memory */
	unsigned used; /* lanes of this round */
	unsigned most; /* that may be used */
	struct lane_assignment_destination
	    *ends; /* hosts in the fabric's order, each with all its LIDs */
	uint32_t end_count;
	uint32_t *sources; /* switches with hosts */
	uint32_t source_count;
	uint8_t *link_number; /* [switch_count * 256] by port: link among the switch's own */
	uint32_t *fits[LANE_ASSIGNMENT_LANES]; /* [switch_count] what is known of the way to visit's
						  end */
	uint32_t visit;
	uint32_t *way; /* [switch_count] links of the route at hand */
	uint64_t steps; /* along routes, so far */
};

/* Errors: -ENOMEM; lane_assignment_release() in any case. */
int lane_assignment_init(struct lane_assignment *assignment, const struct hd_fabric *fabric,
			 const struct hd_routes *routes);
void lane_assignment_release(struct lane_assignment *assignment);

/* Lane of a route in a table of the routes' shape. */
static inline uint8_t *lane_assignment_lane(const struct lane_assignment *assignment,
					    uint8_t *table, uint32_t source, uint32_t lid)
{
	return table + (size_t)source * assignment->routes->stride + lid;
}

/* What has been done so far: steps along routes and links searched. */
static inline uint64_t lane_assignment_work(const struct lane_assignment *assignment)
{
	return assignment->steps + assignment->workspace.searched;
}

/*
 * The rounds. Each begins with empty lanes and writes the lane of every route into `table`,
 * which is [switch_count * stride] and may hold anything where no route is. The lane of a route
 * that does not arrive means nothing. Errors: -ENOSPC more than LANE_ASSIGNMENT_LANES, -ENOMEM.
 */

/* Destination by destination. */
int lane_assignment_fill(struct lane_assignment *assignment, uint8_t *table);

/* The routes of one lane of `before` after those of another, from the last lane to the first. */
int lane_assignment_refill(struct lane_assignment *assignment, const uint8_t *before,
			   unsigned lane_count, uint8_t *table);

/* Those first that can stay on the lane that `table` has for them, then the others; lane_count
 * lanes are open from the start, and a lane beyond them is as good as none. */
int lane_assignment_keep(struct lane_assignment *assignment, unsigned lane_count, uint8_t *table);

/* To what the last round placed, the routes to one more end; -ENOSPC when lane_count lanes are
 * too few, and its entries in the table then mean nothing. */
int lane_assignment_add(struct lane_assignment *assignment,
			const struct lane_assignment_destination *end, unsigned lane_count,
			uint8_t *table);

#endif
