/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `heddle status` and `heddle metrics`, and writes the metrics to a file: doc/guide/status.md.
 * A thread of the part asks all parts for their sections. The part's own sections are about the subnet:
 * sweeps, what the fabric has lost, and loads, which the thread counts when somebody asks.
 */
#include "file_mark.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "parts.h"
#include "port_path.h"
#include "routing.h"
#include "snapshot.h"
#include "status_counters.h"
#include "status_load.h"
#include "status_lost.h"
#include "status_missing.h"
#include "status_report.h"
#include "status_server.h"
#include "status_textfile.h"
#include "switch_tables.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <inttypes.h>
#include <opensm/osm_version.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What the status part says itself, of sweeps and of the fabric. For its own files. */

struct osm_opensm;

struct routing;

/* Of the sweeper thread, which the lock of the part guards. */
struct status_sweeps {
	bool sweeping; /* a heavy sweep has begun, and is not complete */
	uint64_t count; /* complete heavy sweeps */
	time_t started, last; /* of OpenSM; end of the last heavy sweep */
	double seconds; /* it took */
	/* The tables in force now, and their fabric, if the thread has not taken them yet. */
	bool any;
	struct routing *routing; /* held; NULL: the tables are not ours */
	struct hd_fabric *fabric; /* owned; NULL: that of the routing, or none could be read */
	uint64_t late; /* GUID of a switch that has not acknowledged its table; 0: all have */
};

/* Of the thread. Zero-initialise before use. */
struct status_view {
	struct routing *routing; /* held; NULL: the tables are not ours */
	struct hd_fabric *fabric; /* owned; NULL: that of the routing */
	uint64_t late; /* as in the figures of the sweep */
	struct status_lost lost;
	struct status_load load;
	struct status_missing missing;
	bool counted; /* `load` and `missing` are those of the routing */
};

#define NAMED_MOST 50u /* lost switches and cables */

static void status_view_release(struct status_view *view)
{
	routing_release(view->routing);
	hd_fabric_free(view->fabric);
	status_lost_release(&view->lost);
	*view = (struct status_view){0};
}

static const struct hd_fabric *fabric_of(const struct status_view *view)
{
	return view->fabric ? view->fabric : view->routing ? routing_found(view->routing) : NULL;
}

/* Takes what a sweep found; *sweeps has it no more. Errors: -ENOMEM: nothing is known to be lost. */
static int status_view_take(struct status_view *view, struct status_sweeps *sweeps,
			    struct hd_error *err)
{
	if (!sweeps->any)
		return 0;
	view->counted &= view->routing == sweeps->routing;
	routing_release(view->routing);
	hd_fabric_free(view->fabric);
	view->routing = sweeps->routing;
	view->fabric = sweeps->fabric;
	view->late = sweeps->late;
	sweeps->any = false;
	sweeps->routing = NULL;
	sweeps->fabric = NULL;
	return fabric_of(view) ? status_lost_note(&view->lost, fabric_of(view), err) : 0;
}

/* No lock: the value may be old for a moment, as any answer would be. */
static unsigned state_of(const struct osm_opensm *osm)
{
	return __atomic_load_n(&osm->subn.sm_state, __ATOMIC_RELAXED);
}

/* Whether OpenSM manages the subnet now. */
static bool status_subnet_is_master(const struct osm_opensm *osm)
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

static void report_sweeps(const struct status_sweeps *sweeps, const struct osm_opensm *osm,
			  struct status_report *report)
{
	/* a sweep that finds another master ends without a word to us */
	const bool sweeping = sweeps->sweeping && (status_subnet_is_master(osm) ||
						   state_of(osm) == IB_SMINFO_STATE_DISCOVERING);
	const char *doing = sweeping ? "; a sweep is under way" : "", *state = state_name(osm);

	if (sweeps->count)
		status_report_text(
		    report, "summary", "%s; %" PRIu64 " heavy sweep%s, the last took %.3f s%s",
		    state, sweeps->count, sweeps->count == 1 ? "" : "s", sweeps->seconds, doing);
	else
		status_report_text(report, "summary", "%s; no heavy sweep is complete%s", state,
				   doing);
	status_report_flag(report, "sweeping", sweeping);
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
	report_sweeps(sweeps, osm, report);
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

static bool count_tables(struct status_view *view)
{
	const struct routing *routing = view->routing;

	return !status_load_count(routing->fabric, routing->routes, &view->load, NULL) &&
	       !status_missing_count(routing->fabric, routing->routes, &view->missing, NULL);
}

static void report_late(uint64_t guid, struct status_report *report)
{
	if (guid)
		status_report_fault(
		    report,
		    "switch 0x%016" PRIx64
		    " has not got its forwarding table: it keeps older entries, by which "
		    "packets can be lost or loop, until it takes the new ones",
		    guid);
}

/* Adds the sections `subnet`, `fabric` and `load`. Counts the loads if that is not done. */
static void status_subnet_report(struct status_view *view, const struct status_sweeps *sweeps,
				 const struct osm_opensm *osm, struct status_report *report)
{
	report_subnet(sweeps, osm, report);
	if (fabric_of(view))
		report_fabric(fabric_of(view), &view->lost, report);
	if (!view->routing)
		return;
	report_late(view->late, report);
	if (!view->counted)
		view->counted = count_tables(view);
	if (!view->counted)
		return;
	report_load(view->routing->fabric, &view->load, report);
	status_missing_report(view->routing->fabric, &view->missing, report);
}

#define PATH_SIZE HD_ERROR_TEXT

struct status_state {
	struct part_context *context;
	struct status_server *server; /* NULL: there is no thread */
	struct status_server_settings settings; /* of the server */
	char path[PATH_SIZE], group[PATH_SIZE]; /* for them */
	/* only the sweeper thread */
	bool fresh; /* the published routing is of this sweep */
	double begun; /* ms; of the sweep */
	bool ended; /* the sweep, but what it found is not in `sweeps` yet */
	time_t last; /* when; `seconds` is how long it took */
	double seconds;
	/* both threads */
	pthread_mutex_t lock; /* of all below */
	struct status_sweeps sweeps;
	char textfile[PATH_SIZE];
	/* only the part's thread */
	struct status_view view;
	char file_fault[HD_ERROR_TEXT]; /* why the file was not written; "" it was */
	char written[PATH_SIZE]; /* the last file; "": none */
	struct file_mark mark; /* of it */
};

static const char *option(const struct status_state *state, const char *section, const char *name)
{
	return hd_options_get(hd_config_options(state->context->config, section), name)->text;
}

static void expand(const struct status_state *state, const char *text, char path[PATH_SIZE])
{
	port_path_expand(port_path_guid(state->context->osm), text, path, PATH_SIZE);
}

/* Takes what the last sweep found. Returns a copy of the figures. */
static struct status_sweeps look(struct status_state *state)
{
	struct status_sweeps found, figures;

	pthread_mutex_lock(&state->lock);
	found = state->sweeps;
	state->sweeps.any = false;
	state->sweeps.routing = NULL;
	state->sweeps.fabric = NULL;
	pthread_mutex_unlock(&state->lock);
	figures = found;
	status_view_take(&state->view, &found, NULL);
	return figures;
}

static void status(void *data, struct status_report *report)
{
	struct status_state *state = data;
	const struct status_sweeps sweeps = look(state);

	status_subnet_report(&state->view, &sweeps, state->context->osm, report);
	if (fabric_of(&state->view))
		status_counters_report(state->context->counted, fabric_of(&state->view), report);
}

/* Asks all parts. */
static int make_answer(struct status_state *state, struct status_answer *out, struct hd_error *err)
{
	struct status_report report;
	int rc = status_report_begin(&report, err);

	if (rc)
		return rc;
	report.is_quiet = !status_subnet_is_master(state->context->osm);
	part_status(state->context, &report);
	return status_report_end(&report, out, err);
}

/* The fabric of the last sweep as a netlist. */
static int print_fabric(const struct status_state *state, FILE *stream)
{
	const struct hd_fabric *fabric = fabric_of(&state->view);

	return fabric ? hd_fabric_write_netlist(fabric, stream, NULL) : -ENODATA;
}

/* The tables of our engine that are in force, without entries of routing keys. */
static int print_tables(const struct status_state *state, FILE *stream)
{
	const struct routing *routing = state->view.routing;

	return routing ? hd_routes_write_blocks(routing->fabric, routing->routes, stream, NULL)
		       : -ENODATA;
}

/* What OpenSM has counted at the ports of the fabric. */
static int print_counters(const struct status_state *state, FILE *stream)
{
	const struct hd_fabric *fabric = fabric_of(&state->view);

	return fabric ? status_counters_print(state->context->counted, fabric, stream) : -ENODATA;
}

static const struct {
	const char *line; /* that asks for it */
	int (*print)(const struct status_state *state, FILE *stream); /* not 0: it is not known */
} texts[] = {{"fabric", print_fabric}, {"tables", print_tables}, {"counters", print_counters}};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static char *answer_text(struct status_state *state, unsigned which, size_t *length)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, length);

	if (!stream)
		return NULL;
	look(state);
	int rc = texts[which].print(state, stream);
	if (!fclose(stream) && !rc)
		return text;
	free(text);
	return NULL;
}

static char *answer(void *context, const char *line, size_t *length)
{
	const bool json = !strcmp(line, "status"), metrics = !strcmp(line, "metrics");
	struct status_answer made;

	for (unsigned i = 0; i < TEXTS; i++)
		if (!strcmp(line, texts[i].line))
			return answer_text(context, i, length);
	if ((!json && !metrics) || make_answer(context, &made, NULL))
		return NULL;
	free(json ? made.metrics : made.json);
	*length = json ? made.json_length : made.metrics_length;
	return json ? made.json : made.metrics;
}

/* Logs why the file is not written, once. */
static void note_file(struct status_state *state, int rc, const struct hd_error *err)
{
	const char *fault = rc ? err->text : "";

	if (rc && strcmp(state->file_fault, fault))
		log_error(&state->context->log, LOG_ERROR_STATUS, "metrics: %s", fault);
	snprintf(state->file_fault, sizeof(state->file_fault), "%s", fault);
}

static void work(void *context)
{
	struct status_state *state = context;
	char path[PATH_SIZE];
	struct status_answer made;
	struct hd_error err;

	look(state);
	pthread_mutex_lock(&state->lock);
	memcpy(path, state->textfile, sizeof(path));
	pthread_mutex_unlock(&state->lock);
	/* a collector would go on with a file that is not written any more */
	if (strcmp(state->written, path)) {
		if (file_mark_remove(state->written, &state->mark))
			log_info(&state->context->log,
				 "metrics: removed %s, which heddle.conf does not name any more",
				 state->written);
		*state->written = '\0';
	}
	if (!*path)
		return;
	int rc = make_answer(state, &made, &err);
	if (!rc) {
		rc = status_textfile_write(path, made.metrics, made.metrics_length, &err);
		free(made.json);
		free(made.metrics);
	}
	note_file(state, rc, &err);
	if (rc)
		return; /* what is at the path is not of this time, perhaps of somebody else */
	memcpy(state->written, path, sizeof(path));
	state->mark = file_mark(path);
}

/* Where the administrator has asked for nothing, it is no error: another OpenSM of the machine answers
 * there, or this one has no right to the folder. */
static void say_deaf(struct status_state *state, int deaf, const struct hd_error *err)
{
	const bool is_default = !strcmp(state->path, HD_STATUS_SOCKET) && !*state->group;

	if (deaf == -EBUSY || is_default)
		log_info(&state->context->log, "heddle status cannot ask this OpenSM: %s",
			 err->text);
	else
		log_error(&state->context->log, LOG_ERROR_STATUS,
			  "heddle status cannot ask this OpenSM: %s", err->text);
}

static void start_server(struct status_state *state)
{
	struct hd_error err = {""};
	int deaf;

	state->settings = (struct status_server_settings){.path = state->path,
							  .group = state->group,
							  .work = work,
							  .answer = answer,
							  .context = state};
	if (status_server_start(&state->settings, &state->server, &deaf, &err))
		state->server = NULL;
	if (deaf)
		say_deaf(state, deaf, &err);
}

/* Starts the server, if it does not run with these settings. */
static void keep_server(struct status_state *state)
{
	char path[PATH_SIZE], textfile[PATH_SIZE];
	const char *group = option(state, "status", "group");

	expand(state, option(state, "status", "socket"), path);
	expand(state, option(state, "metrics", "textfile"), textfile);
	pthread_mutex_lock(&state->lock);
	memcpy(state->textfile, textfile, sizeof(textfile));
	pthread_mutex_unlock(&state->lock);
	if (state->server && !strcmp(path, state->path) && !strcmp(group, state->group))
		return;
	status_server_end(state->server);
	state->server = NULL;
	snprintf(state->path, sizeof(state->path), "%s", path);
	snprintf(state->group, sizeof(state->group), "%s", group);
	start_server(state);
}

static int create(struct part_context *context, void **out, struct hd_error *err)
{
	struct status_state *state = calloc(1, sizeof(*state));

	if (!state)
		return hd_error_no_memory(err);
	state->context = context;
	state->sweeps.started = time(NULL);
	pthread_mutex_init(&state->lock, NULL);
	*out = state;
	return 0;
}

static void started(void *data)
{
	keep_server(data);
}

static void sweep_begins(void *data)
{
	struct status_state *state = data;

	keep_server(state);
	state->begun = monotonic_ms();
	state->fresh = false;
	pthread_mutex_lock(&state->lock);
	state->sweeps.sweeping = true;
	pthread_mutex_unlock(&state->lock);
}

static void published(void *data)
{
	struct status_state *state = data;

	state->fresh = state->context->published != NULL;
}

/* The tables in force and their fabric. With tables of another engine, or of OpenSM's cache, there is no snapshot.
 * Keys make no difference to us, and their part reuses routings that nobody else holds. */
static void find(struct status_state *state, struct status_sweeps *out)
{
	struct part_context *context = state->context;
	struct routing *routing;
	const osm_switch_t *late;

	*out = (struct status_sweeps){.any = true};
	cl_plock_acquire(&context->osm->lock);
	routing = context->published;
	if (routing) {
		out->routing = routing_hold(routing->origin ? routing->origin : routing);
		late = switch_tables_incomplete(routing, context->osm);
		out->late = late ? cl_ntoh64(osm_node_get_node_guid(late->p_node)) : 0;
	}
	if (!state->fresh)
		snapshot_take(context->osm, NULL, &out->fabric, NULL);
	cl_plock_release(&context->osm->lock);
}

static void idle(void *data)
{
	struct status_state *state = data;

	state->ended = true;
	state->last = time(NULL);
	state->seconds = (monotonic_ms() - state->begun) / 1000;
}

/* With the lock. */
static void note_sweep(struct status_state *state)
{
	struct status_sweeps *sweeps = &state->sweeps;

	if (!state->ended)
		return; /* the command `reroute` */
	state->ended = false;
	sweeps->sweeping = false;
	sweeps->count++;
	sweeps->last = state->last;
	sweeps->seconds = state->seconds;
}

static void settled(void *data)
{
	struct status_state *state = data;
	struct status_sweeps found;

	find(state, &found);
	pthread_mutex_lock(&state->lock);
	const struct status_sweeps old = state->sweeps;
	note_sweep(state);
	state->sweeps.any = true;
	state->sweeps.routing = found.routing;
	state->sweeps.fabric = found.fabric;
	state->sweeps.late = found.late;
	pthread_mutex_unlock(&state->lock);
	routing_release(old.routing);
	hd_fabric_free(old.fabric);
	if (state->server)
		status_server_wake(state->server);
}

static void ends(void *data)
{
	struct status_state *state = data;

	status_server_end(state->server);
	state->server = NULL;
}

static void destroy(void *data)
{
	struct status_state *state = data;

	routing_release(state->sweeps.routing);
	hd_fabric_free(state->sweeps.fabric);
	status_view_release(&state->view);
	pthread_mutex_destroy(&state->lock);
	free(state);
}

const struct part status_part = {
    .name = "status",
    .create = create,
    .started = started,
    .sweep_begins = sweep_begins,
    .published = published,
    .idle = idle,
    .settled = settled,
    .status = status,
    .ends = ends,
    .destroy = destroy,
};
