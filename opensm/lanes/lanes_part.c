/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that watches virtual lanes. It logs which lane multicast has, or why it has none. It
 * requests another sweep if OpenSM wrote tables before it set up the lanes. The tables themselves
 * are in the published routing (lane_tables.h).
 */
#include "lane_tables.h"
#include "late_ports.h"
#include "log.h"
#include "opensm_headers.h"
#include "parts.h"
#include "routing.h"
#include "settings.h"
#include "status_report.h"
#include "virtual_lanes.h"

#include <complib/cl_passivelock.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lanes of ports that come late ---- */

/*
 * OpenSM sets up the lanes of a link at the end of a sweep. Tables that it writes earlier have only
 * the lanes that are operational then. In that case one more sweep completes them.
 */

struct opensm_log;

struct lane_tables;

struct osm_opensm;

/* Zero-initialise before use. */
struct late_lanes {
	struct late_ports known;
	size_t due; /* ports for which we requested one more sweep */
	size_t said; /* ports that the log called late even after that sweep */
};

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Finds the ports whose tables OpenSM has just written for fewer lanes. */
static struct late_ports find(struct osm_opensm *osm, const struct lane_tables *tables,
			      const struct opensm_log *log)
{
	struct late_ports late = {0};
	bool all = true;

	if (!tables->levels && !tables->multicast)
		return late;
	cl_plock_acquire(&osm->lock);
	all = virtual_lanes_late(osm, lane_tables_needed(tables), &late);
	cl_plock_release(&osm->lock);
	if (!all)
		log_error(
		    log, LOG_ERROR_HANDOVER,
		    "out of memory in the search for ports whose virtual lanes were set up late; "
		    "the next heavy sweep searches again");
	return late;
}

static void ask_for_sweep(struct late_lanes *late, struct osm_opensm *osm, size_t count,
			  const struct opensm_log *log)
{
	log_info(
	    log,
	    "OpenSM wrote tables of %zu port%s before it set up all virtual lanes there; Heddle "
	    "requests one more heavy sweep, and until then service levels share fewer lanes there",
	    count, plural(count));
	late->due = count;
	osm->subn.force_heavy_sweep = TRUE;
}

static void say_left(struct late_lanes *late, size_t count, struct opensm_log *log)
{
	struct hd_log remarks = log_sink(log);

	if (count && count != late->said)
		hd_log(
		    &remarks, HD_LOG_WARNING,
		    "%zu port%s still %s fewer virtual lanes operational than both ends support: "
		    "service levels share lanes there, and packets can deadlock",
		    count, plural(count), count == 1 ? "has" : "have");
	late->said = count;
}

/*
 * Finds the ports that had fewer lanes than the tables when OpenSM wrote the tables. Requests one
 * more sweep if one of these ports is new. The sweeper thread calls this after OpenSM has written
 * the tables, also those of its unicast cache, and does not hold OpenSM's lock.
 */
static void late_lanes_look(struct late_lanes *late, struct osm_opensm *osm,
			    const struct lane_tables *tables, struct opensm_log *log)
{
	struct late_ports now = find(osm, tables, log);
	size_t count = now.count;

	late->due = 0;
	if (late_ports_note(&late->known, &now))
		ask_for_sweep(late, osm, count, log);
	else
		say_left(late, count, log);
}

/* Logs that OpenSM ends before a requested sweep, if that is so. */
static void late_lanes_say_end(const struct late_lanes *late, const struct opensm_log *log)
{
	if (late->due)
		log_info(log,
			 "OpenSM ends before the sweep that completes the tables of %zu "
			 "port%s: run OpenSM once more",
			 late->due, plural(late->due));
}

static void late_lanes_release(struct late_lanes *late)
{
	late_ports_release(&late->known);
	late->due = late->said = 0;
}

/* ---- the part ---- */

/* What the report of the plugin's state says of a routing. */
struct lanes_figures {
	bool any;
	struct virtual_lanes usable;
	bool multicast; /* has a lane of its own */
	unsigned multicast_lane;
	char fault[HD_ERROR_TEXT];
};

/* Only the hooks of the sweeper thread use what is not `figures`. */
struct lanes {
	struct part_context *context;
	struct late_lanes late; /* ports whose tables OpenSM wrote for fewer lanes */
	struct lane_tables last; /* those of the last published routing */
	char fault[HD_ERROR_TEXT]; /* why multicast had no lane in it; "" = it had one or wanted
				      none */
	unsigned unused_sl; /* multicast_sl that the log called without effect; 0 = none */
	pthread_mutex_t lock; /* of what is below */
	struct lanes_figures figures;
};

/* Logs it once, although each sweep reads the file. */
static void say_unused(struct lanes *lanes)
{
	const struct hd_config *config = lanes->context->config;
	unsigned level = settings_multicast_sl(config);

	if (settings_multicast_share(config) != SHARE_SAME)
		level = 0;
	if (level && level != lanes->unused_sl)
		log_info(&lanes->context->log,
			 "multicast_sl = %u in section [heddle] has no effect without "
			 "multicast_share",
			 level);
	lanes->unused_sl = level;
}

static int create(struct part_context *context, void **state, struct hd_error *err)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes));

	if (!lanes)
		return hd_error_no_memory(err);
	lanes->context = context;
	pthread_mutex_init(&lanes->lock, NULL);
	say_unused(lanes);
	*state = lanes;
	return 0;
}

static void sweep_begins(void *state)
{
	say_unused(state);
}

/* Logs a fault only if it is another than before. */
static void say_fault(struct lanes *lanes, const char *fault)
{
	if (*fault && strcmp(fault, lanes->fault))
		log_error(&lanes->context->log, LOG_ERROR_MULTICAST_LANE,
			  "%s; multicast stays on the lanes of unicast", fault);
	snprintf(lanes->fault, sizeof(lanes->fault), "%s", fault);
}

static void say_multicast(const struct lanes *lanes, const struct lane_tables *now)
{
	const struct lane_tables *last = &lanes->last;

	if (!now->multicast || (last->multicast && last->lanes == now->lanes &&
				!memcmp(&last->weights, &now->weights, sizeof(now->weights))))
		return;
	log_info(&lanes->context->log,
		 "multicast on service level %u has lane %u: weight %u; %u unicast lane%s: weight "
		 "%u%s; %.1f destinations per packet",
		 now->multicast_sl, now->multicast_lane, now->weights.multicast, now->unicast_lanes,
		 now->unicast_lanes == 1 ? "" : "s", now->weights.unicast,
		 now->unicast_lanes == 1 ? "" : " each", now->destinations);
}

static void note_figures(struct lanes *lanes, const struct routing *routing)
{
	struct lanes_figures figures = {.any = routing != NULL};

	if (routing) {
		figures.usable = routing->lanes;
		figures.multicast = routing->lane_tables.multicast;
		figures.multicast_lane = routing->lane_tables.multicast_lane;
		memcpy(figures.fault, routing->multicast_fault, sizeof(figures.fault));
	}
	pthread_mutex_lock(&lanes->lock);
	lanes->figures = figures;
	pthread_mutex_unlock(&lanes->lock);
}

static void published(void *state)
{
	struct lanes *lanes = state;
	const struct routing *routing = lanes->context->published;

	note_figures(lanes, routing);
	if (!routing)
		return;
	say_fault(lanes, routing->multicast_fault);
	say_multicast(lanes, &routing->lane_tables);
	lanes->last = routing->lane_tables;
}

/* Looks for late ports only if our tables are in force. */
static void routed(void *state)
{
	struct lanes *lanes = state;
	struct part_context *context = lanes->context;

	if (context->published)
		late_lanes_look(&lanes->late, context->osm, &context->published->lane_tables,
				&context->log);
	else
		late_lanes_release(&lanes->late);
}

static void add_summary(const struct lanes_figures *figures, struct status_report *report)
{
	char multicast[64] = "";

	if (figures->multicast)
		snprintf(multicast, sizeof(multicast), ", multicast has lane %u",
			 figures->multicast_lane);
	status_report_text(report, "summary", "%u usable%s", figures->usable.count, multicast);
}

static void status(void *state, struct status_report *report)
{
	static const struct status_metric usable = {
	    "heddle_usable_virtual_lanes", "gauge",
	    "Virtual lanes that all links between switches support"};
	struct lanes *lanes = state;
	struct lanes_figures figures;

	pthread_mutex_lock(&lanes->lock);
	figures = lanes->figures;
	pthread_mutex_unlock(&lanes->lock);
	if (!figures.any)
		return;
	status_report_section(report, "lanes");
	add_summary(&figures, report);
	status_report_number(report, "usable", figures.usable.count);
	status_report_text(report, "limit", "%s", figures.usable.reason);
	if (figures.multicast)
		status_report_number(report, "multicast_lane", figures.multicast_lane);
	if (*figures.fault)
		status_report_fault(report, "%s; multicast stays on the lanes of unicast",
				    figures.fault);
	status_report_metric(report, &usable, figures.usable.count);
}

static void destroy(void *state)
{
	struct lanes *lanes = state;

	pthread_mutex_destroy(&lanes->lock);
	late_lanes_say_end(&lanes->late, &lanes->context->log);
	late_lanes_release(&lanes->late);
	free(lanes);
}

const struct part lanes_part = {
    .name = "lanes",
    .create = create,
    .sweep_begins = sweep_begins,
    .published = published,
    .routed = routed,
    .status = status,
    .destroy = destroy,
};
