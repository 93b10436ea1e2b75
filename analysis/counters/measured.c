/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of ports as loads of links. */
#include <heddle/analysis/congestion.h>
#include <heddle/analysis/counters.h>

#include <stdlib.h>

#define WORD 4.0 /* bytes */
#define GIGABIT 1e9
#define LANES 4u /* of a link whose width is not known */
#define LEAST_FREE                                                                                 \
	0.05 /* a port that sends for nearly all of the time says little of the length of a tick */

static bool knows(const struct hd_port_counters *port, enum hd_counter counter)
{
	return port->known & HD_COUNTER_BIT(counter);
}

/* By the sender; if that says nothing, or has stopped counting, by the receiver. */
static double bytes_of(const struct hd_fabric *fabric, const struct hd_counters *counters,
		       uint32_t port)
{
	uint32_t peer = fabric->peer[port];

	if (knows(&counters->ports[port], HD_XMIT_DATA))
		return WORD * (double)counters->ports[port].value[HD_XMIT_DATA];
	if (peer != HD_NONE && knows(&counters->ports[peer], HD_RCV_DATA))
		return WORD * (double)counters->ports[peer].value[HD_RCV_DATA];
	return -1;
}

static void take_link(struct hd_measured *measured, uint32_t link)
{
	const struct hd_counters *counters = measured->counters;
	struct hd_measured_link *row = &measured->links[link];
	uint32_t port = hd_congestion_link_port(measured->fabric, link);
	double seconds = measured->timed ? counters->seconds : 1;

	row->bytes = bytes_of(measured->fabric, counters, port);
	row->capacity = hd_port_rate(measured->fabric, port) * GIGABIT / 8 * seconds;
	row->share = row->bytes >= 0 && row->capacity > 0 ? row->bytes / row->capacity : -1;
	row->wait = -1;
	if (knows(&counters->ports[port], HD_XMIT_WAIT))
		row->wait = (double)counters->ports[port].value[HD_XMIT_WAIT];
	measured->known += row->bytes >= 0;
}

/* The share of the time that a tick of a link is. */
static double tick_of(const struct hd_measured *measured, uint32_t link, double longest)
{
	const struct hd_counters *counters = measured->counters;
	const struct hd_fabric *fabric = measured->fabric;
	uint32_t lanes = fabric->width[hd_congestion_link_port(fabric, link)];
	double capacity = measured->links[link].capacity;

	if (measured->timed && counters->wait_tick > 0)
		return counters->wait_tick / counters->seconds;
	if (!measured->timed || capacity <= 0)
		return longest;
	if (counters->wait_bytes > 0)
		return counters->wait_bytes / capacity;
	double most = HD_TICK_LONGEST * (lanes ? lanes : LANES) / capacity;
	return longest < most ? longest : most;
}

int hd_measured_new(const struct hd_fabric *fabric, const struct hd_counters *counters,
		    struct hd_measured **out, struct hd_error *err)
{
	struct hd_measured *measured = calloc(1, sizeof(*measured));

	if (!measured)
		return hd_error_no_memory(err);
	measured->fabric = fabric;
	measured->counters = counters;
	measured->link_count = fabric->isl_count + 2 * fabric->host_count;
	measured->timed = counters->seconds > 0;
	measured->ticked = measured->timed && (counters->wait_tick > 0 || counters->wait_bytes > 0);
	measured->links = calloc((size_t)measured->link_count + 1, sizeof(*measured->links));
	if (!measured->links) {
		free(measured);
		return hd_error_no_memory(err);
	}
	for (uint32_t link = 0; link < measured->link_count; link++)
		take_link(measured, link);
	if (!measured->timed) {
		double most = 0;

		for (uint32_t link = 0; link < measured->link_count; link++)
			most =
			    measured->links[link].share > most ? measured->links[link].share : most;
		for (uint32_t link = 0; most > 0 && link < measured->link_count; link++)
			if (measured->links[link].share > 0)
				measured->links[link].share /= most;
	}
	/* The longest share of the time that a tick can be, by what ports have sent and waited. */
	double longest = 1;

	for (uint32_t link = 0; link < measured->link_count; link++) {
		const struct hd_measured_link *row = &measured->links[link];
		double free = 1 - (row->share > 0 ? row->share : 0);
		free = free > LEAST_FREE ? free : LEAST_FREE;
		if (row->wait > 0 && free / row->wait < longest)
			longest = free / row->wait;
	}

	for (uint32_t link = 0; link < measured->link_count; link++)
		if (measured->links[link].wait > 0)
			measured->links[link].wait *= tick_of(measured, link, longest);
	*out = measured;
	return 0;
}

void hd_measured_free(struct hd_measured *measured)
{
	if (!measured)
		return;
	free(measured->links);
	free(measured);
}
