/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The traffic of a placement, as --pattern gives it. */
#ifndef CLI_KEY_TRAFFIC_H
#define CLI_KEY_TRAFFIC_H

#include "key_service.h"

#include <heddle/base/error.h>
#include <heddle/keyd_client.h>

struct key_traffic {
	struct hd_key_client_flow *flows; /* of a file */
	uint32_t *base;
};

/*
 * Fills in the pattern or flows, and the ranks if none are given, of a placement that has hosts
 * already. keyd gets named patterns by name. A file is read here for the caller; in a prolog, with slurm, its flows
 * are those that came with the job, or else it is read as key_slurm_pattern() does. Release the traffic
 * after the placement. Errors: those of hd_key_pattern_new(), hd_key_pattern_unpack() and key_slurm_pattern().
 */
int key_traffic_take(const char *pattern, const struct key_slurm_job *slurm,
		     struct key_traffic *traffic, struct hd_key_client_placement *placement,
		     struct hd_error *err);

void key_traffic_release(struct key_traffic *traffic);

#endif
