/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engines done the slow, obvious way, to compare the fast ones with on small fabrics. They
 * share no code: costs are sequences and not ranks, ways are found by trying every link until
 * nothing changes, loads by walking from every host, D-mod-K by its formula for one switch and
 * one host at a time.
 */
#ifndef ENGINES_ORACLE_H
#define ENGINES_ORACLE_H

#include <heddle/fabric.h>

/* The next hops that lead to one switch. */
struct oracle_ways {
	uint32_t *distance; /* [switch_count], HD_NONE where there is no way */
	bool *allowed; /* [isl_count]: the switch the link leaves may take it */
	bool *stands; /* [isl_count]: it may stay where previous tables have it */
};

/* Memory for the ways to one switch after another; false when it is short. */
bool oracle_ways_new(struct oracle_ways *ways, const struct hd_fabric *fabric,
		     struct hd_arena *arena);

/* Least sum of cost[link] > 0; NULL: fewest hops. Cost: O(switches * links). */
void oracle_ways_shortest(struct oracle_ways *ways, const struct hd_fabric *fabric,
			  const uint32_t *cost, uint32_t exit);

/*
 * Climb, then descend, length by length: a switch not served yet that can step down to one which
 * is served at one hop less and goes down only, goes down; else, if it can climb to one served
 * at one hop less, it climbs. Then up to max_reverse_hops rounds in which each switch still not
 * served goes to its lowest-numbered neighbour that is; with any_stands an entry stands that goes
 * to any neighbour served before. Cost: O(switches * links).
 */
void oracle_ways_legal(struct oracle_ways *ways, const struct hd_fabric *fabric, const uint8_t *up,
		       unsigned max_reverse_hops, bool any_stands, uint32_t exit);

/* True where the switch has any path to the exit that climbs, then descends, whatever other
 * switches forward. Cost: O(switches * links). */
void oracle_has_legal_path(const struct hd_fabric *fabric, const uint8_t *up, uint32_t exit,
			   bool *has /* [switch_count] */);

/* Steps from the nearest switch that is marked; HD_NONE where there is no way. */
void oracle_steps(const struct hd_fabric *fabric, const bool *marked, uint32_t *steps);

/* Of the switches that reach most others, the one whose farthest is nearest; ties by index. */
uint32_t oracle_centre(const struct hd_fabric *fabric);

/* Steps from the nearest root; each part of the fabric without one makes its lowest-numbered
 * switch a root. */
void oracle_ranks(const struct hd_fabric *fabric, bool *is_root, uint32_t *rank);

/* Directions by ranks: up towards the lower rank, between equals towards the lower index. */
void oracle_direct(const struct hd_fabric *fabric, const uint32_t *rank, uint8_t *up);

/*
 * Levels of a tree, from the switches with at least T compute nodes (is_compute NULL: all are),
 * for the least T >= least from which no link joins two of one level. That T; 0: none.
 */
uint32_t oracle_levels(const struct hd_fabric *fabric, const bool *is_compute, uint32_t least,
		       uint32_t *level);

struct oracle_plan {
	const struct hd_fabric *fabric;
	const uint8_t *up; /* [isl_count] ways climb, then descend; NULL: ways are shortest */
	const uint32_t *cost; /* [isl_count] for shortest ways; NULL: hops */
	const bool *is_io; /* [host_count] NULL: reverse hops to all hosts without limit */
	unsigned max_reverse_hops; /* to those; none to all others */
	const uint32_t *host_order; /* [host_count]; NULL: leaf-major */
	const bool *uncounted; /* [isl_count]; NULL: every link has a load */
	unsigned passes;
	const struct hd_routes *previous; /* NULL: from nothing */
	unsigned rebalance; /* then so many host LIDs at most take the columns of a fresh start */
};

/*
 * Destination-first balance over those ways: what balance_route() must give, byte for byte.
 * NULL: no memory. Cost: O(passes * LIDs * (switches * links + hosts * diameter)).
 */
struct hd_routes *oracle_route(const struct oracle_plan *plan);

/* Most source hosts whose routes to host LIDs cross one link. */
uint32_t oracle_max_load(const struct hd_fabric *fabric, const struct hd_routes *routes);

/* True when every route to a host LID that arrives climbs, then descends. */
bool oracle_climbs_then_descends(const struct hd_fabric *fabric, const struct hd_routes *routes,
				 const uint8_t *up);

#define ORACLE_LEVELS 8

/* XGFT(height; children; parents) with parallel cables, as its generator takes them. */
struct oracle_shape {
	unsigned height;
	uint32_t children[ORACLE_LEVELS], parents[ORACLE_LEVELS], parallel[ORACLE_LEVELS];
};

/*
 * Port by which D-mod-K leaves `sw` for LID offset `offset` of `host`, from the generator's names
 * and port convention: at level l host d climbs by number (d / (w1 ... wl)) mod
 * (w(l+1) p(l+1)), which is cable number / w(l+1) to parent number % w(l+1); it comes down by the
 * same cables. The fabric must be the whole output of the generator.
 */
uint8_t oracle_dmodk(const struct hd_fabric *fabric, const struct oracle_shape *shape, uint32_t sw,
		     uint32_t host, uint32_t offset);

#endif
