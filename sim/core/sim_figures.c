/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes over time: rows of flows, bin_room entries each ---- */

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

void figures_payload(struct hd_sim *sim, const struct hd_sim_message *message, uint32_t bytes)
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

void hd_sim_figures(const struct hd_sim *sim, struct hd_sim_figures *out)
{
	uint64_t from = sim->settings.warm_up;

	if (sim->bin_room > sim->bin_count)
		narrow((struct hd_sim *)sim);
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
