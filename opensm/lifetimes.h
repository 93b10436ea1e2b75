/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Head-of-queue lifetimes of heddle.conf in place of OpenSM's own, which come back when heddle.conf
 * no longer names any.
 */
#ifndef OPENSM_LIFETIMES_H
#define OPENSM_LIFETIMES_H

#include "log.h"

#include <stdbool.h>
#include <stdint.h>

struct hd_config;
struct osm_subn_opt;

/* One of OpenSM's options that we may have overwritten. */
struct lifetime {
	bool given; /* by us */
	uint8_t theirs; /* what it was before */
};

/* Zero-initialise before use. */
struct lifetimes {
	struct lifetime between; /* switches: head_of_queue_lifetime */
	struct lifetime leaf; /* switches and hosts: leaf_head_of_queue_lifetime */
};

/*
 * Sets OpenSM's options from which its link manager sets the ports; to be called after OpenSM
 * has read its own configuration and before the link manager runs. What changes is said in the
 * log.
 */
void lifetimes_apply(struct lifetimes *lifetimes, const struct hd_config *config,
		     struct osm_subn_opt *options, const struct host_log *log);

/* Says in the log what an engine with `deadlock=drop` relies on; warns where that is nothing. */
void lifetimes_say_drop(const struct osm_subn_opt *options, const char *engine,
			struct host_log *log);

#endif
