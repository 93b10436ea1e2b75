/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_counters.h"
#include "counted.h"
#include "monotonic.h"
#include "status_report.h"

#include <errno.h>
#include <heddle/analysis/congestion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MOST 5u /* busy links, and ports with errors */
#define BUSY_SHARE 0.5 /* of its rate, from which a link is listed */
#define BUSY_WAIT 0.1 /* of the time */

/* Those with the largest figures, in descending order. Zero-initialise before use. */
struct ranking {
	struct {
		double figure;
		uint32_t index;
	} rows[NAMED_MOST];
	unsigned count; /* of rows */
	uint32_t all; /* that were offered */
};

/* Of equal ones, the first that is offered comes first. */
static void offer(struct ranking *ranking, double figure, uint32_t index)
{
	unsigned at = ranking->count;

	ranking->all++;
	while (at > 0 && ranking->rows[at - 1].figure < figure)
		at--;
	if (at == NAMED_MOST)
		return;
	ranking->count += ranking->count < NAMED_MOST;
	memmove(&ranking->rows[at + 1], &ranking->rows[at],
		(ranking->count - at - 1) * sizeof(ranking->rows[0]));
	ranking->rows[at].figure = figure;
	ranking->rows[at].index = index;
}

static double positive(double figure)
{
	return figure > 0 ? figure : 0;
}

static struct ranking rank_links(const struct hd_measured *measured)
{
	struct ranking ranking = {.count = 0};

	for (uint32_t link = 0; link < measured->link_count; link++) {
		const struct hd_measured_link *row = &measured->links[link];
		if (row->share >= BUSY_SHARE || row->wait >= BUSY_WAIT)
			offer(&ranking, positive(row->share) + positive(row->wait), link);
	}
	return ranking;
}

static uint64_t faults_of(const struct hd_port_counters *port)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < HD_COUNTERS; i++)
		sum += hd_counter_is_fault(i) ? port->value[i] : 0;
	return sum;
}

static struct ranking rank_errors(const struct hd_counters *counters)
{
	struct ranking ranking = {.count = 0};

	for (uint32_t port = 0; port < counters->port_count; port++) {
		uint64_t faults = faults_of(&counters->ports[port]);
		if (faults)
			offer(&ranking, (double)faults, port);
	}
	return ranking;
}

/* "'S1_0'[5]" */
static const char *label_port(const struct hd_fabric *fabric, uint32_t port,
			      char text[HD_LABEL_SIZE])
{
	snprintf(text, HD_LABEL_SIZE, "'%s'[%" PRIu32 "]",
		 fabric->node_name[fabric->port_node[port]], hd_port_number(fabric, port));
	return text;
}

static void report_link(const struct hd_measured *measured, uint32_t link,
			struct status_report *report)
{
	const struct hd_measured_link *row = &measured->links[link];
	const struct hd_fabric *fabric = measured->fabric;
	const uint32_t port = hd_congestion_link_port(fabric, link);
	char from[HD_LABEL_SIZE], to[HD_LABEL_SIZE];

	status_report_item(report);
	status_report_text(
	    report, "text", "%s -> %s, %.0f%% of its rate, waits at most %.0f%% of the time",
	    label_port(fabric, port, from), label_port(fabric, fabric->peer[port], to),
	    100 * positive(row->share), 100 * positive(row->wait));
	status_report_real(report, "share", positive(row->share));
	status_report_real(report, "wait", positive(row->wait));
	status_report_item_end(report);
}

static void report_errors(const struct hd_counters *counters, const struct hd_fabric *fabric,
			  uint32_t port, struct status_report *report)
{
	const struct hd_port_counters *row = &counters->ports[port];
	char label[HD_LABEL_SIZE], list[HD_ERROR_TEXT] = "";
	size_t used = 0;

	for (unsigned i = 0; i < HD_COUNTERS && used < sizeof(list); i++)
		if (hd_counter_is_fault(i) && row->value[i])
			used +=
			    (size_t)snprintf(list + used, sizeof(list) - used, "%s%" PRIu64 " %s",
					     used ? ", " : "", row->value[i], hd_counter_name(i));
	status_report_item(report);
	status_report_text(report, "text", "%s: %s", label_port(fabric, port, label), list);
	status_report_number(report, "count", faults_of(row));
	status_report_item_end(report);
}

/* What is busiest and what waits longest, of all links. */
struct extremes {
	double share, wait;
};

static struct extremes find_extremes(const struct hd_measured *measured)
{
	struct extremes most = {0, 0};

	for (uint32_t link = 0; link < measured->link_count; link++) {
		const struct hd_measured_link *row = &measured->links[link];
		most.share = row->share > most.share ? row->share : most.share;
		most.wait = row->wait > most.wait ? row->wait : most.wait;
	}
	return most;
}

static void report_metrics(const struct hd_counters *counters, const struct counted_sums *sums,
			   const struct extremes *most, struct status_report *report)
{
	static const struct status_metric
	    ports = {"heddle_counted_ports", "gauge",
		     "Ports of which OpenSM's performance manager has read counters"},
	    seconds = {"heddle_counted_seconds", "gauge", "Time between two readings of a port"},
	    share = {"heddle_busiest_link_share", "gauge",
		     "What the busiest link has sent between the last two readings, of its rate"},
	    wait = {"heddle_longest_wait_share", "gauge",
		    "Longest time that a port can have had to wait, of that between the last two "
		    "readings"},
	    errors = {"heddle_port_errors_total", "counter",
		      "Errors of all ports since their first readings"};

	status_report_metric(report, &ports, counters->ports_read);
	status_report_metric(report, &seconds, counters->seconds);
	status_report_metric(report, &share, most->share);
	status_report_metric(report, &wait, most->wait);
	for (unsigned i = HD_SYMBOL_ERRORS; i < HD_QP1_DROPPED; i++)
		status_report_metric_with(report, &errors, "counter", hd_counter_name(i),
					  (double)sums->errors[i]);
}

static void report_lists(const struct hd_measured *measured, struct status_report *report)
{
	const struct ranking links = rank_links(measured), errors = rank_errors(measured->counters);

	status_report_number(report, "busy_links", links.all);
	status_report_list(report, "busy");
	for (unsigned i = 0; i < links.count; i++)
		report_link(measured, links.rows[i].index, report);
	status_report_list_end(report);
	status_report_number(report, "ports_with_errors", errors.all);
	status_report_list(report, "errors");
	for (unsigned i = 0; i < errors.count; i++)
		report_errors(measured->counters, measured->fabric, errors.rows[i].index, report);
	status_report_list_end(report);
}

static void report_section(const struct hd_measured *measured, const struct counted_sums *sums,
			   struct status_report *report)
{
	const struct hd_counters *counters = measured->counters;
	const struct extremes most = find_extremes(measured);

	status_report_section(report, "counters");
	if (!counters->ports_read) {
		status_report_text(report, "summary", "%s",
				   sums->ports ? "no port was read twice of late"
					       : "not read: perfmgr in opensm.conf");
		return;
	}
	status_report_text(
	    report, "summary",
	    "%" PRIu32
	    " ports, every %.1f s; busiest link %.0f%% of its rate, longest wait at most %.0f%%",
	    counters->ports_read, counters->seconds, 100 * most.share, 100 * most.wait);
	status_report_number(report, "ports", counters->ports_read);
	status_report_real(report, "seconds", counters->seconds);
	report_lists(measured, report);
	if (sums->left_out)
		status_report_fault(report,
				    "%" PRIu64 " readings were left out: no memory, or more than "
				    "%u ports",
				    sums->left_out, COUNTED_MOST);
	report_metrics(counters, sums, &most, report);
}

void status_counters_report(struct counted *counted, const struct hd_fabric *fabric,
			    struct status_report *report)
{
	struct hd_counters *counters = NULL;
	struct hd_measured *measured = NULL;
	struct counted_sums sums;

	if (!counted_take(counted, fabric, monotonic_ms(), &counters, &sums, NULL) &&
	    !hd_measured_new(fabric, counters, &measured, NULL))
		report_section(measured, &sums, report);
	hd_measured_free(measured);
	hd_counters_free(counters);
}

int status_counters_print(struct counted *counted, const struct hd_fabric *fabric, FILE *stream)
{
	struct hd_counters *counters = NULL;
	struct counted_sums sums;
	int rc = counted_take(counted, fabric, monotonic_ms(), &counters, &sums, NULL);

	if (!rc && !counters->ports_read)
		rc = -ENODATA;
	if (!rc)
		hd_counters_write(counters, fabric, stream);
	hd_counters_free(counters);
	return rc;
}
