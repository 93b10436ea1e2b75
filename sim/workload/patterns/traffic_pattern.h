/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns of heddle ebb among the hosts of a traffic. */
#ifndef TRAFFIC_PATTERN_H
#define TRAFFIC_PATTERN_H

#include "traffic.h"

#include <heddle/analysis/pattern.h>

struct traffic_pattern {
	struct hd_ranks ranks; /* hosts in the arena of the traffic */
	struct hd_pattern *pattern;
};

/*
 * Reads "shift,distance=3": the name of a pattern and its options. The hosts of the traffic are its
 * ranks, in their order; for a pattern of machines, those of one machine stand together, and hosts
 * of machines with another number of adapters do not take part. Released with
 * traffic_pattern_release(), also after an error. Errors: -ENOTSUP several subnets, -EINVAL no such
 * pattern, those of hd_pattern_new(), -ENOMEM.
 */
int traffic_pattern_new(const struct hd_traffic_part *part, const char *text,
			struct traffic_pattern *out, struct hd_error *err);

/* Writes the flows of a round, between endpoints, as hd_pattern_draw() does. `flows` has room for
 * pattern->round_max. */
int traffic_pattern_round(const struct traffic_pattern *pattern, const struct hd_traffic_part *part,
			  uint32_t round, struct hd_flow *flows, uint32_t *count,
			  struct hd_error *err);

void traffic_pattern_release(struct traffic_pattern *pattern);

#endif
