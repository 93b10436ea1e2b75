/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel: flows of one round counted on every link, and the congestion of each route. */
#ifndef ANALYSIS_COUNTING_H
#define ANALYSIS_COUNTING_H

#include "paths.h"
#include "stream.h"

/* One a thread. Links are numbered as in hd_congestion_report. */
struct counting {
	const struct paths *paths;
	bool single; /* no host sends twice nor receives twice in a round */
	enum hd_lid_choice lids;

	/* Flows divide into so many parts (mostly 1), and load, sent, received and congestion are
	 * in units of 1/parts. */
	uint32_t parts;
	uint32_t *load; /* [isl_count + 1] flows on a link; the last one is a dummy */
	uint32_t *sent, *received; /* [host_count] */
	uint32_t
	    *turn; /* [host_count] where LIDs rotate: offset of a source's next flow, not reduced */

	struct hd_flow *flows; /* [round_max] of the round, those that arrive first */
	uint32_t *lid_offset; /* [round_max] where LIDs are chosen */
	size_t *entry; /* [round_max] first link of a flow in the table of paths */
	/* [round_max * stride] the same where there is no table; [stride] of one part of a flow
	 * where flows divide */
	uint32_t *walked;
	uint32_t *congestion; /* [round_max] pi of a flow */
	uint32_t routes, broken; /* flows of the round that arrive, and that do not */
};

int counting_init(struct counting *counting, const struct paths *paths, uint32_t round_max,
		  bool single, enum hd_lid_choice lids, struct hd_arena *arena);

/* Begins the pattern of that number: whose turn it is starts anew. */
void counting_begin(struct counting *counting, uint64_t index);

/*
 * Counts the first `count` of counting->flows and finds the congestion of each that arrives;
 * those are moved to the front. `stream` chooses LIDs. The loads stay until counting_clear().
 */
void counting_run(struct counting *counting, uint32_t count, struct stream *stream);

/* Takes the round's flows off the links. */
void counting_clear(struct counting *counting);

/* Inter-switch links of route `route` of the round, where flows do not divide; unused places are
 * isl_count. */
static inline uint32_t counting_link(const struct counting *counting, uint32_t route, uint32_t hop)
{
	const struct paths *paths = counting->paths;

	return paths->links ? paths->links[counting->entry[route] + hop]
			    : counting->walked[(size_t)route * paths->stride + hop];
}

#endif
