/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* To whom sources send. */
#ifndef TRAFFIC_TARGETS_H
#define TRAFFIC_TARGETS_H

#include <heddle/analysis/pattern.h>

#include "traffic.h"

/* ---- pairs ---- */

/* Lists of pairs as users write them: "A>B, C>D@5s, E>F@1s-2s", or a file with a pair a line. */

struct traffic_pair {
	uint32_t source, destination; /* endpoints, never the same */
	uint64_t from, to; /* ps; 0 and HD_SIM_NEVER if not given */
};

/* Reads a text, or "file:PATH" with lines "SOURCE DESTINATION [FROM-TO]". Times are refused unless
 * `timed`. *pairs is freed with free(), also after an error. Errors: -EINVAL with the pair or the
 * line, the errno of the file, -ENOMEM. */
int targets_read_pairs(const struct hd_traffic *traffic, const char *text, bool timed,
		       struct traffic_pair **pairs, uint32_t *count, struct hd_error *err);

/* ---- targets ---- */

#define TARGETS_OPTIONS                                                                            \
	TRAFFIC_OPTION("to",                                                                       \
		       "destinations: uniform, permutation, shift:N, pairs:A>B,C>D, file:PATH, "   \
		       "pattern:NAME[,OPTION=VALUE]",                                              \
		       "uniform"),                                                                 \
	    TRAFFIC_OPTION("remote",                                                               \
			   "share of messages to other subnets, or to other leaves where there "   \
			   "is one subnet; any: all hosts alike",                                  \
			   "any"),                                                                 \
	    TRAFFIC_CHECKED("hot",                                                                 \
			    "share of messages to the hot host of the destination's subnet or "    \
			    "leaf, which the seed chooses",                                        \
			    "0", hd_sim_check_share)

struct traffic_targets;

/* Reads TARGETS_OPTIONS; *out lives in the traffic's arena. Errors: -EINVAL, those of patterns and
 * files, -ENOMEM. */
int targets_new(struct hd_traffic_part *part, const struct hd_options *options,
		struct traffic_targets **out, struct hd_error *err);

/* The destination of the next message of members[source], or HD_NONE: it sends none. O(1). */
uint32_t targets_draw(const struct traffic_targets *targets, uint32_t source, uint64_t *random);

/* Whether members[source] ever sends. */
bool targets_sends(const struct traffic_targets *targets, uint32_t source);

/* Visits all addresses. */
int targets_list(const struct traffic_targets *targets, hd_traffic_visit visit, void *context,
		 struct hd_error *err);

#endif
