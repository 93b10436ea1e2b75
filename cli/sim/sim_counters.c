/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of simulated ports, as real ones have them. */
#include "need.h"
#include "output.h"
#include "sim_view.h"

#include <errno.h>
#include <heddle/analysis/counters.h>

#define WORD 4 /* bytes */
#define TICK 1e-9 /* seconds */

static void count(struct hd_counters *counters, uint32_t port, enum hd_counter counter,
		  double value)
{
	if (port == HD_NONE)
		return;
	counters->ports[port].known |= HD_COUNTER_BIT(counter);
	counters->ports[port].value[counter] = (uint64_t)(value + 0.5);
}

static int take_lists(struct hd_counters *counters, const struct hd_fabric *fabric,
		      const struct hd_record *record, struct hd_error *err)
{
	const struct hd_record_item *bytes = hd_record_find(record, HD_SCENARIO_BYTES);
	const struct hd_record_item *packets = hd_record_find(record, HD_SCENARIO_PACKETS);
	const struct hd_record_item *waiting = hd_record_find(record, HD_SCENARIO_WAITING);
	const struct hd_record_item *time = hd_record_find(record, HD_SCENARIO_COUNTED);
	const uint32_t ports = fabric->port_count;

	if (!time || !bytes || !packets || !waiting || bytes->count != ports ||
	    packets->count != ports || waiting->count != ports)
		return hd_error_set(
		    err, -ENODATA,
		    "the run has no counters: nothing was simulated, or it was kept without them");
	counters->seconds = time->values[0];
	counters->wait_tick = TICK;
	for (uint32_t port = 0; port < ports; port++) {
		if (fabric->peer[port] == HD_NONE)
			continue;
		count(counters, port, HD_XMIT_DATA, bytes->values[port] / WORD);
		count(counters, port, HD_XMIT_PACKETS, packets->values[port]);
		count(counters, port, HD_XMIT_WAIT, waiting->values[port] / TICK);
		count(counters, fabric->peer[port], HD_RCV_DATA, bytes->values[port] / WORD);
		count(counters, fabric->peer[port], HD_RCV_PACKETS, packets->values[port]);
	}
	return 0;
}

int sim_counters_write(const struct sim_view *view, const char *path, struct hd_error *err)
{
	const struct hd_fabric *fabric = hd_scenario_fabric(view->runs, 0);
	const struct hd_record *record = view->job->records[0];
	struct hd_counters *counters = need(hd_counters_new(fabric));
	struct output output;
	int rc = record ? take_lists(counters, fabric, record, err)
			: hd_error_set(err, -ENODATA, "the run was ended before it began");

	if (!rc)
		rc = output_open(&output, path, err);
	if (!rc) {
		hd_counters_write(counters, fabric, output.stream);
		rc = output_close(&output, 0, err);
	}
	hd_counters_free(counters);
	return rc;
}
