/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep_limits.h"
#include "master.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "switch_addresses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define EACH 8 /* outstanding requests to one switch */
#define RETRIES 2
#define US_EACH 30.0 /* that an SMP takes, before one was measured */
#define MEASURED_LEAST 64u /* SMPs from which the time of one is known */
#define NOWHERE (HD_SMP_HOPS + 1) /* hops to a switch that OpenSM does not have */

void sweep_limits_begin(struct sweep_limits *limits, const struct part_context *context,
			const struct sweep_settings *settings, struct sweep_memory *memory)
{
	const osm_opensm_t *osm = context->osm;

	*limits = (struct sweep_limits){.context = context,
					.memory = memory,
					.begun = monotonic_ms(),
					.came = (uint32_t)osm->stats.qp0_mads_rcvd,
					.others = (uint32_t)cl_qmap_count(&osm->subn.sm_guid_tbl)};
	limits->until = limits->begun + settings->limit_ms;
}

static bool heard_trap(const struct sweep_limits *limits)
{
	const osm_opensm_t *osm = limits->context->osm;

	return (uint32_t)osm->stats.qp0_mads_rcvd - limits->came > limits->others;
}

bool sweep_limits_go_on(void *context)
{
	const struct sweep_limits *limits = context;

	return master_is_ours(limits->context->osm);
}

bool sweep_limits_ask(void *context)
{
	const struct sweep_limits *limits = context;

	return monotonic_ms() < limits->until && !heard_trap(limits) && sweep_limits_go_on(context);
}

void sweep_limits_stop(struct sweep_limits *limits, const char *reason)
{
	if (!*limits->stopped)
		snprintf(limits->stopped, sizeof(limits->stopped), "%s", reason);
}

void sweep_limits_explain(struct sweep_limits *limits, int rc)
{
	if (rc == -ENOMEM)
		sweep_limits_stop(limits, "out of memory");
	else if (rc == -EAGAIN)
		sweep_limits_stop(limits, "a switch did not take a block");
	else if (rc != -ECANCELED)
		sweep_limits_stop(limits, "the port does not send");
	else if (heard_trap(limits))
		sweep_limits_stop(limits, "a trap came, and another sweep follows");
	else if (!master_is_ours(limits->context->osm))
		sweep_limits_stop(limits, "OpenSM is no longer the master");
	else
		sweep_limits_stop(limits, "limit_ms is over");
}

bool sweep_limits_allow(struct sweep_limits *limits, uint32_t count, const char *what)
{
	const double each = limits->memory->us_each > 0 ? limits->memory->us_each : US_EACH;
	const double needed = count * each / 1000, left = limits->until - monotonic_ms();
	char reason[160];

	if (needed <= left)
		return true;
	snprintf(reason, sizeof(reason),
		 "%s %u blocks would take about %.0f ms, more than limit_ms leaves (%.0f)", what,
		 count, needed, left > 0 ? left : 0);
	sweep_limits_stop(limits, reason);
	return false;
}

void sweep_limits_measure(struct sweep_limits *limits, double begun, uint32_t count)
{
	double *known = &limits->memory->us_each;

	if (count < MEASURED_LEAST)
		return;
	const double each = (monotonic_ms() - begun) * 1000 / count;
	*known = *known > 0 ? (*known + each) / 2 : each;
}

int sweep_limits_queue(const struct sweep_limits *limits, const struct sweep_settings *settings,
		       const struct hd_fabric *fabric, struct hd_smp_queue **out,
		       struct hd_error *err)
{
	osm_opensm_t *osm = limits->context->osm;
	struct writer_sweep_port *port = &limits->memory->port;
	const struct hd_smp_limits smps = {.window = settings->window,
					   .each = EACH,
					   .timeout_ms = settings->timeout_ms,
					   .retries = RETRIES,
					   .errors = 1};
	int rc = writer_sweep_port_open(port, cl_ntoh64(osm->subn.sm_port_guid), err);

	if (rc)
		return rc;
	struct hd_smp_queue *queue =
	    hd_smp_queue_new(writer_sweep_port_smp(port), &smps, fabric->switch_count);
	struct hd_smp_address *addresses = switch_addresses_find(fabric, osm);
	for (uint32_t sw = 0; queue && addresses && sw < fabric->switch_count; sw++)
		if (addresses[sw].hop_count < NOWHERE)
			hd_smp_queue_aim(queue, sw, &addresses[sw]);
	if (!queue || !addresses) {
		hd_smp_queue_free(queue);
		queue = NULL;
		rc = hd_error_no_memory(err);
	}
	free(addresses);
	*out = queue;
	return rc;
}
