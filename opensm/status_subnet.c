/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_subnet.h"
#include "opensm_headers.h"
#include "routing.h"

#include <inttypes.h>
#include <opensm/osm_version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMED_MOST 50u /* lost switches and cables */

/* ---- what the thread knows ---- */

void status_view_release(struct status_view *view)
{
	routing_release(view->routing);
	hd_fabric_free(view->fabric);
	status_lost_release(&view->lost);
	*view = (struct status_view){0};
}

static const struct hd_fabric *fabric_of(const struct status_view *view)
{
	return view->fabric ? view->fabric : view->routing ? view->routing->fabric : NULL;
}

int status_view_take(struct status_view *view, struct status_sweeps *sweeps, struct hd_error *err)
{
	if (!sweeps->any)
		return 0;
	view->counted &= view->routing == sweeps->routing;
	routing_release(view->routing);
	hd_fabric_free(view->fabric);
	view->routing = sweeps->routing;
	view->fabric = sweeps->fabric;
	sweeps->any = false;
	sweeps->routing = NULL;
	sweeps->fabric = NULL;
	return fabric_of(view) ? status_lost_note(&view->lost, fabric_of(view), err) : 0;
}

/* ---- the subnet ---- */

/* No lock: the value may be old for a moment, as any answer would be. */
static unsigned state_of(const struct osm_opensm *osm)
{
	return __atomic_load_n(&osm->subn.sm_state, __ATOMIC_RELAXED);
}

bool status_subnet_is_master(const struct osm_opensm *osm)
{
	return state_of(osm) == IB_SMINFO_STATE_MASTER;
}

static const char *state_name(const struct osm_opensm *osm)
{
	switch (state_of(osm)) {
	case IB_SMINFO_STATE_MASTER:
		return "master";
	case IB_SMINFO_STATE_STANDBY:
		return "standby";
	case IB_SMINFO_STATE_DISCOVERING:
		return "discovering";
	default:
		return "not active";
	}
}

/* Without the word OpenSM, with which OpenSM's own text begins. */
static const char *opensm_version(void)
{
	static const char text[] = OSM_VERSION, word[] = "OpenSM ";

	return strncmp(text, word, sizeof(word) - 1) ? text : text + sizeof(word) - 1;
}

static void report_sweeps(const struct status_sweeps *sweeps, const char *state,
			  struct status_report *report)
{
	const char *doing = sweeps->sweeping ? "; a sweep is under way" : "";

	if (sweeps->count)
		status_report_text(
		    report, "summary", "%s; %" PRIu64 " heavy sweep%s, the last took %.3f s%s",
		    state, sweeps->count, sweeps->count == 1 ? "" : "s", sweeps->seconds, doing);
	else
		status_report_text(report, "summary", "%s; no heavy sweep is complete%s", state,
				   doing);
	status_report_flag(report, "sweeping", sweeps->sweeping);
	status_report_number(report, "heavy_sweeps", sweeps->count);
	if (!sweeps->count)
		return;
	status_report_number(report, "last_sweep", (uint64_t)sweeps->last);
	status_report_real(report, "last_sweep_seconds", sweeps->seconds);
}

static void report_subnet(const struct status_sweeps *sweeps, const struct osm_opensm *osm,
			  struct status_report *report)
{
	static const struct status_metric
	    info = {"heddle_info", "gauge", "Always 1; the label is the version of Heddle"},
	    opensm = {"heddle_opensm_info", "gauge",
		      "Always 1; the label is the version of OpenSM"},
	    master = {"heddle_master", "gauge", "1: this OpenSM is the master of the subnet"},
	    started = {"heddle_start_time_seconds", "gauge", "When OpenSM was started, Unix time"},
	    count = {"heddle_sweeps_total", "counter", "Heavy sweeps since the start"},
	    seconds = {"heddle_sweep_seconds", "gauge", "Duration of the last heavy sweep"},
	    last = {"heddle_last_sweep_timestamp_seconds", "gauge",
		    "End of the last heavy sweep, Unix time"};

	status_report_section(report, "subnet");
	report_sweeps(sweeps, state_name(osm), report);
	status_report_text(report, "opensm", "%s", opensm_version());
	status_report_text(report, "heddle", "%s", HEDDLE_VERSION);
	status_report_text(report, "state", "%s", state_name(osm));
	status_report_number(report, "pid", (uint64_t)getpid());
	status_report_number(report, "started", (uint64_t)sweeps->started);
	status_report_metric_with(report, &info, "version", HEDDLE_VERSION, 1);
	status_report_metric_with(report, &opensm, "version", opensm_version(), 1);
	status_report_metric(report, &master, status_subnet_is_master(osm));
	status_report_metric(report, &started, (double)sweeps->started);
	status_report_metric(report, &count, (double)sweeps->count);
	if (!sweeps->count)
		return;
	status_report_metric(report, &seconds, sweeps->seconds);
	status_report_metric(report, &last, (double)sweeps->last);
}

/* ---- the fabric ---- */

static uint32_t count_cables(const struct hd_fabric *fabric)
{
	uint32_t count = 0;

	for (uint32_t port = 0; port < fabric->port_count; port++)
		count += fabric->peer[port] != HD_NONE && port <= fabric->peer[port];
	return count;
}

static void report_lost(const struct status_lost *lost, struct status_report *report)
{
	uint32_t at = 0, named = 0;
	char text[HD_ERROR_TEXT];

	status_report_number(report, "lost_switches", lost->switches);
	status_report_number(report, "lost_cables", lost->lost_cables);
	status_report_number(report, "lost_hosts", lost->others);
	status_report_list(report, "lost");
	while (named < NAMED_MOST && status_lost_next(lost, &at, text, sizeof(text))) {
		status_report_item(report);
		status_report_text(report, "text", "%s", text);
		status_report_item_end(report);
		named++;
	}
	status_report_list_end(report);
	if (lost->switches)
		status_report_fault(report, "%" PRIu32 " switch%s lost since OpenSM was started",
				    lost->switches, lost->switches == 1 ? " was" : "es were");
	if (lost->lost_cables)
		status_report_fault(report, "%" PRIu32 " cable%s lost since OpenSM was started",
				    lost->lost_cables, lost->lost_cables == 1 ? " was" : "s were");
}

static void report_fabric_metrics(const struct hd_fabric *fabric, uint32_t cables,
				  const struct status_lost *lost, struct status_report *report)
{
	static const struct status_metric
	    switch_count = {"heddle_switches", "gauge", "Switches of the fabric"},
	    host_count = {"heddle_hosts", "gauge", "Hosts of the fabric"},
	    cable_count = {"heddle_cables", "gauge", "Cables of the fabric"},
	    lost_switches = {"heddle_lost_switches", "gauge",
			     "Switches that were there since OpenSM was started, and are not now"},
	    lost_cables = {"heddle_lost_cables", "gauge",
			   "Cables that were there since OpenSM was started, and are not now"},
	    lost_hosts = {"heddle_lost_hosts", "gauge",
			  "Hosts that were there since OpenSM was started, and are not now"};

	status_report_metric(report, &switch_count, fabric->switch_count);
	status_report_metric(report, &host_count, fabric->host_count);
	status_report_metric(report, &cable_count, cables);
	status_report_metric(report, &lost_switches, lost->switches);
	status_report_metric(report, &lost_cables, lost->lost_cables);
	status_report_metric(report, &lost_hosts, lost->others);
}

static void report_fabric(const struct hd_fabric *fabric, const struct status_lost *lost,
			  struct status_report *report)
{
	const uint32_t cables = count_cables(fabric);

	status_report_section(report, "fabric");
	status_report_text(report, "summary",
			   "%" PRIu32 " switches, %" PRIu32 " hosts, %" PRIu32 " cables",
			   fabric->switch_count, fabric->host_count, cables);
	status_report_number(report, "switches", fabric->switch_count);
	status_report_number(report, "hosts", fabric->host_count);
	status_report_number(report, "cables", cables);
	report_lost(lost, report);
	report_fabric_metrics(fabric, cables, lost, report);
}

/* ---- loads ---- */

static void print_link(const struct hd_fabric *fabric, uint32_t link, char *text, size_t size)
{
	if (link == HD_NONE)
		snprintf(text, size, "none");
	else
		snprintf(text, size, "'%s'[%u] to '%s'",
			 fabric->node_name[hd_isl_from(fabric, link)], fabric->isl_port[link],
			 fabric->node_name[fabric->isl_to[link]]);
}

static void report_load(const struct hd_fabric *fabric, const struct status_load *load,
			struct status_report *report)
{
	static const struct status_metric
	    largest = {"heddle_largest_load", "gauge",
		       "Paths between hosts over the most loaded link between switches"},
	    mean = {"heddle_mean_load", "gauge",
		    "Paths between hosts over a link between switches, mean of all"},
	    lanes = {"heddle_virtual_lanes", "gauge", "Virtual lanes that the routes use"};
	const unsigned lane_count = (unsigned)__builtin_popcount(load->lanes);
	char link[HD_ERROR_TEXT];

	print_link(fabric, load->link, link, sizeof(link));
	status_report_section(report, "load");
	status_report_text(report, "summary",
			   "largest load %" PRIu64 " (%s), mean %.1f; %u virtual lane%s in use",
			   load->largest, link, load->mean, lane_count, lane_count == 1 ? "" : "s");
	status_report_number(report, "largest", load->largest);
	status_report_real(report, "mean", load->mean);
	status_report_text(report, "link", "%s", link);
	status_report_number(report, "virtual_lanes", lane_count);
	status_report_metric(report, &largest, (double)load->largest);
	status_report_metric(report, &mean, load->mean);
	status_report_metric(report, &lanes, lane_count);
}

/* Who has a LID, as people call it. */
static const char *owner_name(const struct hd_fabric *fabric, uint32_t lid)
{
	return fabric->node_name[fabric->port_node[fabric->lid_owner[lid]]];
}

static void report_missing(const struct hd_fabric *fabric, const struct status_missing *missing,
			   struct status_report *report)
{
	static const struct status_metric metric = {
	    "heddle_missing_entries", "gauge",
	    "Entries that switches lack, though cables lead to the LID"};

	status_report_number(report, "missing_entries", missing->count);
	status_report_metric(report, &metric, (double)missing->count);
	if (missing->count)
		status_report_fault(
		    report,
		    "%" PRIu64 " entr%s missing in the switches; the first is that of "
		    "'%s' for LID %" PRIu32 " of '%s'",
		    missing->count, missing->count == 1 ? "y is" : "ies are",
		    fabric->node_name[missing->sw], missing->lid, owner_name(fabric, missing->lid));
}

static bool count_tables(struct status_view *view)
{
	const struct routing *routing = view->routing;

	return !status_load_count(routing->fabric, routing->routes, &view->load, NULL) &&
	       !status_missing_count(routing->fabric, routing->routes, &view->missing, NULL);
}

void status_subnet_report(struct status_view *view, const struct status_sweeps *sweeps,
			  const struct osm_opensm *osm, struct status_report *report)
{
	report_subnet(sweeps, osm, report);
	if (fabric_of(view))
		report_fabric(fabric_of(view), &view->lost, report);
	if (!view->routing)
		return;
	if (!view->counted)
		view->counted = count_tables(view);
	if (!view->counted)
		return;
	report_load(view->routing->fabric, &view->load, report);
	report_missing(view->routing->fabric, &view->missing, report);
}
