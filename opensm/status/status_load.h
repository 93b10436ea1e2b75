/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loads of links, as `heddle check` counts them, without its proofs. */
#ifndef OPENSM_STATUS_LOAD_H
#define OPENSM_STATUS_LOAD_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

struct status_load {
	uint64_t largest; /* paths from hosts to base LIDs of other hosts over one link */
	double mean; /* over all links between switches, in both directions */
	uint32_t link; /* the first with the largest load; HD_NONE: there are no links */
	uint16_t lanes; /* bit v: virtual lane v is in use between hosts */
};

/* Only paths that arrive are counted. Errors: -ENOMEM. Cost: O(switches * LIDs). Memory: 256 bytes a
 * switch, and links. */
int status_load_count(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      struct status_load *out, struct hd_error *err);

#endif
