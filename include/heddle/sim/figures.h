/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a simulation has measured, from settings.warm_up to now. */
#ifndef HEDDLE_SIM_FIGURES_H
#define HEDDLE_SIM_FIGURES_H

#include <heddle/sim/simulation.h>

/*
 * Latencies in bins whose width is at most 1/64 of their value. Mean, least and greatest are exact.
 */
#define HD_SIM_HISTOGRAM_BINS 3712u
struct hd_sim_histogram {
	uint64_t count;
	uint64_t least, greatest; /* ps; without a value UINT64_MAX and 0 */
	double mean, square; /* ps; mean, and sum of squared differences to it (Welford) */
	uint64_t bins[HD_SIM_HISTOGRAM_BINS];
};

void hd_sim_histogram_add(struct hd_sim_histogram *histogram, uint64_t value);
void hd_sim_histogram_merge(struct hd_sim_histogram *histogram,
			    const struct hd_sim_histogram *other);
/* The value that `share` (0 .. 1) of all values do not exceed, ps; 0 without values. */
uint64_t hd_sim_histogram_quantile(const struct hd_sim_histogram *histogram, double share);

struct hd_sim_class {
	uint64_t messages_sent, messages_delivered,
	    messages_lost; /* multicast: delivered and lost for each member */
	uint64_t packets_injected, packets_delivered, packets_dropped;
	uint64_t bytes_delivered; /* of payload */
	struct hd_sim_histogram packet; /* first byte out of the source to last byte in */
	struct hd_sim_histogram message; /* hd_sim_send() to last byte in */
};

/* A direction of a cable: from a port. */
struct hd_sim_link {
	uint64_t bytes; /* with headers */
	uint64_t packets;
	uint64_t busy; /* ps in which it sent */
	uint64_t blocked; /* ps in which it was free and had a packet, but no credits for it */
};

struct hd_sim_figures {
	uint64_t from, to; /* ps: what counts lies between */
	uint64_t events, hops; /* of the whole run; a hop: a packet has left a switch or a host */
	uint64_t in_flight; /* packets in the network now */
	uint64_t packets; /* that were made in the whole run: = in_flight + arrived + dropped */
	uint64_t arrived, dropped;
	uint64_t dropped_head, dropped_switch,
	    dropped_route; /* by head lifetime, by switch lifetime, for want of an entry */
	uint32_t class_count, flow_count, bin_count;
	const struct hd_sim_class *classes; /* [class_count] */
	const uint64_t *flow_bytes; /* [flow_count] payload delivered */
	const uint64_t
	    *flow_bins; /* [flow_count * bin_count] the same by bins of settings.bin, from time 0 */
	/* [subnet] by port index of its fabric: the direction away from that port. Ports without a
	 * cable: 0. */
	const struct hd_sim_link *const *links;
};

/* All belongs to the simulation, and is valid until it goes on or is freed. O(1), and with
 * settings.bin O(flows * bins). */
void hd_sim_figures(struct hd_sim *sim, struct hd_sim_figures *out);

/* ---- deadlock ---- */

/* A buffer whose first packet waits for room in the next buffer of the cycle. */
struct hd_sim_buffer {
	uint32_t subnet, port; /* input port of a switch or router: an index of its fabric */
	uint8_t lane;
	uint32_t waits_for; /* the output port, an index of the same fabric */
};

/* The cycle of buffers, *count of them, none twice; the last waits for the first. Belongs to the
 * simulation. NULL, 0: no deadlock was found. */
const struct hd_sim_buffer *hd_sim_deadlock(const struct hd_sim *sim, uint32_t *count);

/* Checks all invariants: packets are conserved, no buffer holds more than its bytes, and credits and buffers
 * agree. For tests. Errors: -EFAULT with what is wrong. O(ports * lanes + packets). */
int hd_sim_check(const struct hd_sim *sim, struct hd_error *err);

#endif
