/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When counters do not say whether there is a bottleneck, or where. */
#include "why.h"

#include <stdio.h>

#define PORTS_NAMED 3u
#define COVERED                                                                                    \
	0.5 /* of the links: with fewer, that there is no bottleneck among them says little */
#define EXPLAINED                                                                                  \
	0.5 /* of the bytes between switches: with less, who waits for what is not known */

/* How many links the counters tell the bytes of, and how many have waited or may have. */
struct coverage {
	uint32_t between_switches, all, waits;
	bool waiting;
};

/* Whether no link between switches can be told from others, whatever was found. */
static bool is_blind(const struct why_view *view, const struct coverage *coverage, char *buffer,
		     size_t size)
{
	if (!coverage->all)
		snprintf(buffer, size, "no port has %s or %s", hd_counter_name(HD_XMIT_DATA),
			 hd_counter_name(HD_RCV_DATA));
	else if (view->fabric->isl_count && !coverage->between_switches)
		snprintf(buffer, size,
			 "no port between switches has %s or %s, so hosts may wait for any of "
			 "them; read the "
			 "counters of switches, too",
			 hd_counter_name(HD_XMIT_DATA), hd_counter_name(HD_RCV_DATA));
	else
		return false;
	return true;
}

void why_find_doubt(struct why_view *view)
{
	struct coverage coverage = {0, 0, 0, false};

	for (uint32_t link = 0; link < view->measured->link_count; link++) {
		const struct hd_measured_link *row = &view->measured->links[link];
		coverage.between_switches += link < view->fabric->isl_count && row->bytes >= 0;
		coverage.all += row->bytes >= 0;
		coverage.waits += row->wait >= 0;
		coverage.waiting |= row->wait > 0;
	}
	char *buffer = view->doubt;
	const size_t size = sizeof(view->doubt);

	if (is_blind(view, &coverage, buffer, size)) {
		for (uint32_t i = 0; i < view->hot_count; i++)
			view->hot[i].bottleneck = view->hot[i].as_likely = false;
	} else if (why_has_bottleneck(view))
		return;
	else if (coverage.all < COVERED * view->measured->link_count)
		snprintf(buffer, size, "the bytes of %u of %u links alone are known", coverage.all,
			 view->measured->link_count);
	else if (!view->measured->timed && !coverage.waits && view->estimate)
		snprintf(buffer, size, "no port has %s, and no time is known; give --period",
			 hd_counter_name(HD_XMIT_WAIT));
	else if (coverage.waiting && view->estimate && view->estimate->explained < EXPLAINED)
		snprintf(buffer, size,
			 "ports have waited, but the estimate of who sends to whom explains %.0f%% "
			 "of the bytes "
			 "between switches alone",
			 100 * view->estimate->explained);
	if (view->counters->ports_full) {
		/* Names the first ones. */
		const struct hd_counters *counters = view->counters;
		char label[HD_LABEL_SIZE];
		uint32_t named = 0;
		size_t used = (size_t)snprintf(
		    buffer, size, "counters of 32 bits of %u ports had stopped at their end (",
		    counters->ports_full);
		for (uint32_t port = 0;
		     port < counters->port_count && named < PORTS_NAMED && used < size; port++)
			if (counters->ports[port].stopped)
				used += (size_t)snprintf(
				    buffer + used, size - used, "%s%s", named++ ? ", " : "",
				    hd_port_label(view->fabric, port, label, sizeof(label)));
		if (used < size)
			snprintf(
			    buffer + used, size - used,
			    "%s), and such ports are often the busiest; use 'perfquery -x', or "
			    "readings that are less "
			    "far apart",
			    counters->ports_full > named ? ", ..." : "");
	}
}
