/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core_state.h"
#include "sim_hosts.h"
#include "sim_switches.h"

#include <errno.h>
#include <heddle/sim/simulation.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 64u /* bins of values between a power of 2 and the next */

static uint32_t bin_of(uint64_t value)
{
	uint32_t shift;

	if (value < 2 * STEPS)
		return (uint32_t)value;
	if (value >> 63)
		return HD_SIM_HISTOGRAM_BINS - 1;
	shift = 57u - (uint32_t)__builtin_clzll(value);
	return shift * STEPS + (uint32_t)(value >> shift);
}

/* The greatest value of a bin. */
static uint64_t top_of(uint32_t bin)
{
	uint32_t shift;

	if (bin < 2 * STEPS)
		return bin;
	shift = bin / STEPS - 1;
	return ((uint64_t)(bin % STEPS + STEPS + 1) << shift) - 1;
}

static void clear_if_empty(struct hd_sim_histogram *histogram)
{
	if (!histogram->count) {
		histogram->least = UINT64_MAX;
		histogram->greatest = 0;
	}
}

void hd_sim_histogram_add(struct hd_sim_histogram *histogram, uint64_t value)
{
	double difference = (double)value - histogram->mean;

	clear_if_empty(histogram);
	histogram->count++;
	histogram->mean += difference / (double)histogram->count;
	histogram->square += difference * ((double)value - histogram->mean);
	if (value < histogram->least)
		histogram->least = value;
	if (value > histogram->greatest)
		histogram->greatest = value;
	histogram->bins[bin_of(value)]++;
}

uint64_t hd_sim_histogram_quantile(const struct hd_sim_histogram *histogram, double share)
{
	double wanted = share * (double)histogram->count;
	uint64_t seen = 0;

	if (!histogram->count)
		return 0;
	for (uint32_t bin = 0; bin < HD_SIM_HISTOGRAM_BINS; bin++) {
		seen += histogram->bins[bin];
		if (seen && (double)seen >= wanted)
			return top_of(bin) < histogram->greatest ? top_of(bin)
								 : histogram->greatest;
	}
	return histogram->greatest;
}

/* What is counted while the simulation runs. */

/* Bytes over time: rows of flows, bin_room entries each */
static int widen(struct hd_sim *sim, uint64_t bins)
{
	uint64_t flows = sim->settings.flow_count;
	uint64_t room = bins > 2ull * sim->bin_room ? bins : 2ull * sim->bin_room;
	uint64_t *grown;

	if (room > UINT32_MAX || room > SIZE_MAX / sizeof(*grown) / flows)
		return -ENOMEM;
	grown = realloc(sim->flow_bins, room * flows * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (uint64_t flow = flows; flow--;) {
		uint64_t *row = grown + flow * room;
		memmove(row, grown + flow * sim->bin_room, sim->bin_count * sizeof(*row));
		memset(row + sim->bin_count, 0, (room - sim->bin_count) * sizeof(*row));
	}
	sim->flow_bins = grown;
	sim->bin_room = (uint32_t)room;
	return 0;
}

static void add_to_bin(struct hd_sim *sim, uint32_t flow, uint32_t bytes)
{
	uint64_t bin = sim->now / sim->settings.bin;

	if (bin >= sim->bin_room && widen(sim, bin + 1)) {
		sim->rc = -ENOMEM;
		return;
	}
	if (bin >= sim->bin_count)
		sim->bin_count = (uint32_t)bin + 1;
	sim->flow_bins[(size_t)flow * sim->bin_room + bin] += bytes;
}

/* Bytes of a message's payload have come. */
static void figures_payload(struct hd_sim *sim, const struct hd_sim_message *message,
			    uint32_t bytes)
{
	if (message->flow != HD_NONE && sim->settings.bin)
		add_to_bin(sim, message->flow, bytes);
	if (!sim_counts(sim))
		return;
	sim->classes[message->traffic_class].bytes_delivered += bytes;
	if (message->flow != HD_NONE)
		sim->flow_bytes[message->flow] += bytes;
}

/* Leaves no room between rows. */
static void narrow(struct hd_sim *sim)
{
	for (uint64_t flow = 1; flow < sim->settings.flow_count; flow++)
		memmove(sim->flow_bins + flow * sim->bin_count,
			sim->flow_bins + flow * sim->bin_room,
			sim->bin_count * sizeof(*sim->flow_bins));
	sim->bin_room = sim->bin_count;
}

void hd_sim_figures(struct hd_sim *sim, struct hd_sim_figures *out)
{
	uint64_t from = sim->settings.warm_up;

	if (sim->bin_room > sim->bin_count)
		narrow(sim);
	*out = (struct hd_sim_figures){
	    .from = from < sim->now ? from : sim->now,
	    .to = sim->now,
	    .events = sim->event_count,
	    .hops = sim->hops,
	    .in_flight = sim->in_flight,
	    .packets = sim->made,
	    .arrived = sim->arrived,
	    .dropped = sim->dropped,
	    .dropped_head = sim->dropped_head,
	    .dropped_switch = sim->dropped_switch,
	    .dropped_route = sim->dropped_route,
	    .class_count = sim->settings.class_count,
	    .flow_count = sim->settings.flow_count,
	    .bin_count = sim->bin_count,
	    .classes = sim->classes,
	    .flow_bytes = sim->flow_bytes,
	    .flow_bins = sim->flow_bins,
	    .links = sim->links,
	};
}

const struct hd_sim_buffer *hd_sim_deadlock(const struct hd_sim *sim, uint32_t *count)
{
	*count = sim->cycle_length;
	return sim->cycle_length ? sim->cycle : NULL;
}

static struct hd_sim_times times_of(const struct hd_sim *sim, const struct sim_message *message)
{
	return (struct hd_sim_times){message->created, message->injected, sim->now};
}

/* The callbacks may send messages, so the pool may move: they get a copy. */
static void tell_delivered(struct hd_sim *sim, uint32_t message, uint32_t endpoint)
{
	struct sim_message done = sim->messages[message];
	struct hd_sim_times times = times_of(sim, &done);
	struct hd_sim_class *class = &sim->classes[done.what.traffic_class];

	if (sim_counts(sim)) {
		class->messages_delivered++;
		hd_sim_histogram_add(&class->message, sim->now - done.created);
	}
	if (sim->workload.delivered)
		sim->workload.delivered(sim->workload.context, sim, &done.what, &times, endpoint);
}

static void tell_lost(struct hd_sim *sim, uint32_t message, uint32_t endpoint, uint32_t count)
{
	struct sim_message done = sim->messages[message];
	struct hd_sim_times times = times_of(sim, &done);

	if (sim_counts(sim))
		sim->classes[done.what.traffic_class].messages_lost += count;
	if (sim->workload.lost)
		sim->workload.lost(sim->workload.context, sim, &done.what, &times, endpoint);
}

/* The members have got what they will get of a multicast message. */
static void finish_multicast(struct hd_sim *sim, uint32_t message)
{
	const struct sim_message *done = &sim->messages[message];

	if (done->live)
		return;
	if (done->members > done->complete)
		tell_lost(sim, message, HD_NONE, done->members - done->complete);
	groups_of_hosts_end(sim, &sim->messages[message]);
	pools_free_message(sim, message);
}

/* Whether all packets of a message have arrived or were dropped, and it has left its source. */
static void finish(struct hd_sim *sim, uint32_t message)
{
	const struct sim_message *done = &sim->messages[message];
	uint32_t destination = done->what.destination;

	if (!done->is_sent)
		return;
	if (destination == HD_NONE) {
		finish_multicast(sim, message);
		return;
	}
	if (done->accounted < done->packets)
		return;
	if (done->dropped)
		tell_lost(sim, message, destination, 1);
	else
		tell_delivered(sim, message, destination);
	pools_free_message(sim, message);
}

void sink_sent(struct hd_sim *sim, uint32_t message)
{
	struct sim_message *done = &sim->messages[message];
	struct hd_sim_times times = times_of(sim, done);

	done->is_sent = true;
	if (sim_counts(sim))
		sim->classes[done->what.traffic_class].messages_sent++;
	if (sim->workload.sent) {
		struct hd_sim_message what = done->what;
		sim->workload.sent(sim->workload.context, sim, &what, &times);
	}
	finish(sim, message);
}

void sink_self(struct hd_sim *sim, uint32_t message)
{
	const struct hd_sim_message *what = &sim->messages[message].what;

	sim->messages[message].injected = sim->now;
	figures_payload(sim, what, what->bytes);
	sink_sent(sim, message);
}

static void forget_packet(struct hd_sim *sim, uint32_t packet)
{
	sim->packets[packet].message = HD_NONE;
	pools_free_packet(sim, packet);
	sim->in_flight--;
}

static void count_arrival(struct hd_sim *sim, const struct sim_packet *packet,
			  const struct hd_sim_message *what)
{
	struct hd_sim_class *class = &sim->classes[what->traffic_class];

	sim->arrived++;
	if (sim_counts(sim)) {
		class->packets_delivered++;
		hd_sim_histogram_add(&class->packet, sim->now - packet->injected);
	}
	figures_payload(sim, what, packet->bytes - sim->settings.header);
}

void sink_arrive(struct hd_sim *sim, uint32_t packet)
{
	struct sim_packet *come = &sim->packets[packet];
	struct sim_message *message = &sim->messages[come->message];
	uint32_t index = come->message;
	uint32_t endpoint = sim->nodes[sim->ports[come->at].node].index, got = 0;

	if (message->what.destination == HD_NONE)
		got = groups_of_hosts_count(sim, message, endpoint);
	if (endpoint != message->what.destination && !got) {
		sink_drop(sim, packet, &sim->dropped_route);
		return;
	}
	outputs_return(sim, come->at, come->lane_in, sim->now, come->bytes);
	count_arrival(sim, come, &message->what);
	message->accounted++;
	message->live--;
	forget_packet(sim, packet);
	if (got && got == message->packets) {
		message->complete++;
		tell_delivered(sim, index, endpoint);
	}
	finish(sim, index);
}

void sink_drop(struct hd_sim *sim, uint32_t packet, uint64_t *reason)
{
	struct sim_packet *gone = &sim->packets[packet];
	struct sim_message *message = &sim->messages[gone->message];
	uint64_t end = gone->tail > sim->now ? gone->tail : sim->now;
	uint32_t index = gone->message;

	if (gone->copies == HD_NONE)
		outputs_return(sim, gone->at, gone->lane_in, end, gone->bytes);
	else
		copies_release(sim, gone->copies, end);
	++*reason;
	sim->dropped++;
	if (sim_counts(sim))
		sim->classes[message->what.traffic_class].packets_dropped++;
	message->accounted++;
	message->live--;
	message->dropped++;
	forget_packet(sim, packet);
	finish(sim, index);
}
