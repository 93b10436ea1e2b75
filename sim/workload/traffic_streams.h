/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many video streams a host has, and of which rates. */
#ifndef TRAFFIC_STREAMS_H
#define TRAFFIC_STREAMS_H

#include "traffic.h"

#define STREAM_RATES_MAX 16u

struct stream_rates {
	uint32_t count;
	uint64_t rate[STREAM_RATES_MAX]; /* bits/s */
	uint32_t frames; /* per second */
	bool whole_packets; /* frames are filled up to packets of the MTU */
};

struct stream_plan {
	uint32_t streams; /* of the host */
	double scale; /* of their rates */
};

/* Reads "2 Mb/s, 3 Mb/s" into count and rate. Errors: -EINVAL, -ERANGE. */
int streams_read_rates(struct stream_rates *rates, const char *text, struct hd_error *err);
int streams_check_rates(const char *text, struct hd_error *err);

/* Mean bytes of a frame of a host's stream: hosts use the rates in turn. */
double streams_mean_frame(const struct stream_rates *rates, uint32_t host, uint32_t stream);

/* As many streams as come nearest to `load` (millionths) of the endpoint's cable with headers, then
 * the scale that meets it. `host` is the endpoint's number among the members. O(streams). */
struct stream_plan streams_plan(const struct stream_rates *rates, const struct hd_traffic *traffic,
				uint32_t endpoint, uint32_t host, uint64_t load);

#endif
