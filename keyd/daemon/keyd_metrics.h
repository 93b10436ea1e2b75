/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters for GET /metrics. */
#ifndef KEYD_METRICS_H
#define KEYD_METRICS_H

#include <heddle/keyd/channel.h>
#include <stdint.h>

#define KEYD_METRICS_CALLS 24u
#define KEYD_METRICS_STATUSES 600u

struct keyd_metrics {
	const char *names[KEYD_METRICS_CALLS]; /* of calls; NULL: none was made */
	uint64_t answers[KEYD_METRICS_CALLS][KEYD_METRICS_STATUSES / 100]; /* by call and class */
	uint64_t dropped[KEYD_METRICS_STATUSES]; /* connections, by status */
	uint64_t sets, results[HD_CHANNEL_STATUS_COUNT], lost; /* lost: the manager has gone */
	uint64_t set_microseconds; /* from SET to RESULT, all together */
	uint64_t blocks, changed; /* of all results */
	uint64_t fabrics, broken, remade;
	uint64_t keys, key_microseconds; /* phases for which keys were made, and the time */
	uint64_t not_ready; /* requests without a key in force */
};

#endif
