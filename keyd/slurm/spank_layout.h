/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which node each rank of a step runs on. */
#ifndef SPANK_LAYOUT_H
#define SPANK_LAYOUT_H

#include <heddle/keyd_client.h>

struct spank_layout {
	uint32_t count; /* ranks */
	const char **hosts; /* [count] */
	char **names; /* [node_count] to which these point */
	uint32_t node_count;
};

/* Asks slurmctld. Release with spank_layout_release(), also after a failure. Errors: -EREMOTEIO
 * slurmctld does not say, -ENOMEM. */
int spank_layout_get(uint32_t job, uint32_t step, struct spank_layout *out,
		     struct hd_key_client_problem *problem);

void spank_layout_release(struct spank_layout *layout);

#endif
