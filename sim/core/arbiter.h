/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* VL arbitration. Source: InfiniBand Architecture Specification, volume 1, section 7.6.9. */
#ifndef ARBITER_H
#define ARBITER_H

#include "core_state.h"

/* What a lane of an output would send. */
struct arbiter_offer {
	uint32_t lane, input, queue; /* input and queue: not at hosts */
	uint32_t bytes;
};

/* Sets the arbiter to the beginning of both tables. */
void arbiter_reset(const struct hd_sim *sim, struct sim_arbiter *arbiter);

/*
 * The lane that sends next, of those in `able` (bits, not 0), which offer offers[lane]. The lane of
 * management comes first. HD_NONE never comes: if no table names a lane, lanes take turns.
 */
uint32_t arbiter_choose(struct hd_sim *sim, uint32_t port, uint32_t able,
			const struct arbiter_offer *offers);

#endif
