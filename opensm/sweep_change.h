/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sweep's forwarding tables before they are written, as other parts see them. The part sweep calls the hook
 * sweep_programs with it, once for each routing that is published. The part ar leads the steps if adaptive routing is on:
 * it changes AR tables and forwarding tables together. Otherwise, or if it cannot, it switches adaptive routing off, and
 * the part sweep or OpenSM writes.
 */
#ifndef OPENSM_SWEEP_CHANGE_H
#define OPENSM_SWEEP_CHANGE_H

#include <heddle/base/error.h>
#include <stdint.h>

struct hd_ar_steps;
struct hd_routes;

struct sweep_change {
	/* What the switches hold, in the shape of the fabric of the published routing. NULL: that is not known, or OpenSM
	 * writes in an order of its own. */
	const struct hd_routes *before;
	uint64_t entries; /* that differ from the published routing */
	/* Writes the forwarding entries of a step, from 1; until the hook returns. For the sweeper thread. Errors: -EIO a
	 * switch did not take a block, -ECANCELED, those of the port, -ENOMEM; with a reason. */
	int (*write)(struct sweep_change *change, const struct hd_ar_steps *steps, uint32_t step,
		     struct hd_error *err);
};

#endif
