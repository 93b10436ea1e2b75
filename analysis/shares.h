/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shares other than 1/pi, for links of different rates and for max-min fairness. */
#ifndef ANALYSIS_SHARES_H
#define ANALYSIS_SHARES_H

#include "counting.h"

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
