/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel: counts the flows of one round on every link, and finds the congestion of each
 * route. */
#ifndef ANALYSIS_COUNTING_H
#define ANALYSIS_COUNTING_H

#include "paths.h"
#include "stream.h"

struct adaptive;

/* Each thread has one. Links are numbered as in hd_congestion_report. */
struct counting {
	const struct paths *paths;
	bool single; /* no host sends twice nor receives twice in a round */
	enum hd_lid_choice lids;

	/* A flow has this many parts (usually 1). load, sent, received and congestion are in units
	 * of 1/parts. */
	uint32_t parts;
	uint32_t *load; /* [isl_count + 1] flows on a link; the last one is a dummy */
	uint32_t *sent, *received; /* [host_count] */
	/* [host_count] for HD_LIDS_ROTATE: LID offset of a source's next flow, before the modulo */
	uint32_t *turn;

	struct hd_flow *flows; /* [round_max] flows of the round; those that arrive come first */
	/* [round_max] LID offset of a flow, unless all flows go to base LIDs */
	uint32_t *lid_offset;
	size_t *entry; /* [round_max] first link of a flow in the table of paths */
	/* Links that were walked. Without a table of paths: [round_max * stride]. If flows have
	 * several parts: [stride], for one part. */
	uint32_t *walked;
	uint32_t *congestion; /* [round_max] pi of a flow */
	uint32_t routes, broken; /* flows of the round that arrive; flows that do not */
	struct adaptive
	    *adaptive; /* flows divide over groups of ports: adaptive_run(); NULL: they do not */
};

int counting_init(struct counting *counting, const struct paths *paths, uint32_t round_max,
		  bool single, enum hd_lid_choice lids, struct hd_arena *arena);

/* Begins the pattern with that number: round robin starts from the beginning. */
void counting_begin(struct counting *counting, uint64_t index);

/*
 * Counts the first `count` of counting->flows. Moves those that arrive to the front and finds their
 * congestion. `stream` chooses LIDs. The loads stay until counting_clear().
 */
void counting_run(struct counting *counting, uint32_t count, struct stream *stream);

/* The end of a run of `count` flows, of which counting->routes arrive: counts the hosts' cables. */
void counting_finish(struct counting *counting, uint32_t count);

/* Sets the loads of the round's links back to 0. */
void counting_clear(struct counting *counting);

/* Inter-switch links of route `route` of the round. Unused places hold isl_count. Only valid if
 * flows have one part. */
static inline uint32_t counting_link(const struct counting *counting, uint32_t route, uint32_t hop)
{
	const struct paths *paths = counting->paths;

	return paths->links ? paths_link(paths->links, paths->wide, counting->entry[route] + hop)
			    : counting->walked[(size_t)route * paths->stride + hop];
}

#endif
