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
	/* flows divide over groups of ports: adaptive_run(); NULL: they do not */
	struct adaptive *adaptive;
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

/* With HD_LIDS_PARALLEL, after counting_run(): the mean share of the parts of a route of the round, in units of
 * TALLY_ONE. */
uint64_t counting_parallel_share(const struct counting *counting, uint32_t route);

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

/* ---- adaptive routing ---- */

/* Rounds in which each flow divides evenly at each switch over the ports of its group, and the
 * bound that no other division can exceed: see struct hd_spread. */

/* The groups as lists of links. All threads share them. */
struct adaptive_links {
	const struct hd_spread *spread;
	uint32_t *switch_base; /* [switch_count]: number of the first group of a switch */
	uint32_t *base; /* [groups + 1]: where the links of a group begin; preferred ones first */
	uint32_t *first; /* [groups]: how many links are preferred */
	uint32_t *link;
};

/* Each thread has one. A place is a switch and one of its tables. */
struct adaptive {
	const struct adaptive_links *links;
	double *load; /* [isl_count] of the round */
	double *part; /* [isl_count] of the flow at hand; 0 elsewhere */
	uint32_t *touched; /* [isl_count] links with a part of the flow at hand */
	uint32_t touched_count;
	double *here, *there; /* [places] what of the flow is at a place, now and one hop later */
	uint32_t *wave, *next; /* [places] where that is not 0 */
	uint32_t *leaving, *arriving; /* [switch_count] flows of hosts there with others */
	bool *used; /* [isl_count] a flow of a host at the near end may take the link */
	uint64_t bound; /* of the round, in whole flows */
};

/* Memory is the arena's. Errors: -ENOMEM. Cost: O(groups * radix). */
int adaptive_links_init(struct adaptive_links *links, const struct hd_spread *spread,
			const struct paths *paths, struct hd_arena *arena);

/* Lets flows of `counting`, at most round_max in a round, divide; sets counting->parts. Errors:
 * -ENOMEM. */
int adaptive_init(struct adaptive *adaptive, const struct adaptive_links *links,
		  struct counting *counting, uint32_t round_max, struct hd_arena *arena);

/* Like counting_run() for the first `count` of counting->flows, in units of 1/counting->parts. A
 * flow is broken if any part of it does not arrive. */
void adaptive_run(struct counting *counting, uint32_t count);

/* ---- other shares ---- */

/* Shares other than 1/pi, for links of different rates and for max-min fairness. */

/* Each thread has one. Links are numbered as in hd_congestion_report. */
struct shares {
	enum hd_share_model model;
	uint32_t link_count;
	double *capacity; /* [link_count] in units of the fastest host link */
	/* For max-min fairness: free capacity of a link, and its flows that have no share yet. */
	double *left;
	uint32_t *open;
	uint32_t *flow_base; /* [link_count + 1]: where a link's flows begin in `flow` */
	uint32_t *flow;
	uint32_t *active; /* [link_count] links with open flows: a heap */
	uint32_t *place; /* [link_count] place of a link in the heap */
	double *share; /* [round_max] share of a route; negative while the route is open */
};

static inline bool shares_wanted(const struct hd_congestion_request *request)
{
	return request->shares != HD_SHARE_CONGESTION || request->rate_weights;
}

int shares_init(struct shares *shares, const struct hd_congestion_request *request,
		const struct paths *paths, struct hd_arena *arena);

/* Sum over the round's routes of their shares, in units of TALLY_ONE. */
uint64_t shares_sum(struct shares *shares, const struct counting *counting);

#endif
