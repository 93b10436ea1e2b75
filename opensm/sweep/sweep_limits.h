/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bounds an ordered sweep. It ends early when the time is over, when writing would take longer than is left, when a
 * trap may have come, or when OpenSM is no longer the master. OpenSM then writes what is left. A trap is not known as
 * such while OpenSM's lock is held: but no answer to OpenSM is under way, so an SMP that comes in is a trap, or a
 * question of another subnet manager.
 */
#ifndef OPENSM_SWEEP_LIMITS_H
#define OPENSM_SWEEP_LIMITS_H

#include "writer_sweep.h"

#include <stdbool.h>
#include <stdint.h>

struct part_context;

struct sweep_settings {
	bool ordered;
	bool adaptive; /* adaptive routing may lead */
	uint32_t limit_ms;
	uint64_t max_entries; /* 0: no limit */
	uint32_t window, timeout_ms; /* of SMPs */
};

struct sweep_figures {
	uint64_t sweeps; /* in which entries were written in order */
	uint64_t entries; /* that were */
	uint64_t loose; /* of these: without a proof against credit loops */
	uint64_t left; /* that OpenSM wrote, in its own order */
	uint64_t blocks; /* that were written in order */
	uint64_t groups; /* of multicast, whose trees were */
	uint64_t groups_left; /* whose trees OpenSM wrote, in its own order */
	uint64_t mft_blocks;
	double last_ms;
};

/* What outlasts a sweep. Zero-initialise before use. */
struct sweep_memory {
	struct writer_sweep_port port;
	double us_each; /* that an SMP took; 0: not known */
	struct sweep_figures figures;
};

struct sweep_limits {
	const struct part_context *context;
	struct sweep_memory *memory;
	double begun, until; /* monotonic_ms() */
	uint32_t came; /* SMPs that have come to OpenSM until the beginning */
	uint32_t others; /* other subnet managers, each of which may ask meanwhile */
	char stopped[HD_ERROR_TEXT]; /* why OpenSM writes the rest; "" */
};

void sweep_limits_begin(struct sweep_limits *limits, const struct part_context *context,
			const struct sweep_settings *settings, struct sweep_memory *memory);

/* For an hd_go_on. */
bool sweep_limits_ask(void *limits);

/* The same for what adaptive routing leads, which bounds the time itself: only when OpenSM is no longer the master. */
bool sweep_limits_go_on(void *limits);

/* Notes a reason, unless there is one. */
void sweep_limits_stop(struct sweep_limits *limits, const char *reason);

/* Notes why nothing more is done after an error. */
void sweep_limits_explain(struct sweep_limits *limits, int rc);

/* Whether there is time for so many SMPs; else notes the reason. `what`: "to write". */
bool sweep_limits_allow(struct sweep_limits *limits, uint32_t count, const char *what);

/* So many SMPs have taken the time since `begun`. */
void sweep_limits_measure(struct sweep_limits *limits, double begun, uint32_t count);

/* A queue to the switches of a fabric: destination s is switch s. *out is the caller's. With OpenSM's lock held. Errors:
 * of the port, -ENOMEM. */
int sweep_limits_queue(const struct sweep_limits *limits, const struct sweep_settings *settings,
		       const struct hd_fabric *fabric, struct hd_smp_queue **out,
		       struct hd_error *err);

#endif
