/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_part.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "port_path.h"
#include "routing.h"
#include "snapshot.h"
#include "socket_path.h"
#include "status_server.h"
#include "status_subnet.h"
#include "status_textfile.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE HD_ERROR_TEXT

struct status_state {
	struct part_context *context;
	struct status_server *server; /* NULL: there is no thread */
	struct status_server_settings settings; /* of the server */
	char path[PATH_SIZE], group[PATH_SIZE]; /* for them */
	/* ---- only the sweeper thread ---- */
	bool fresh; /* the published routing is of this sweep */
	double begun; /* ms; of the sweep */
	/* ---- both threads ---- */
	pthread_mutex_t lock; /* of all below */
	struct status_sweeps sweeps;
	char textfile[PATH_SIZE];
	/* ---- only the part's thread ---- */
	struct status_view view;
	char file_fault[HD_ERROR_TEXT]; /* why the file was not written; "" it was */
};

/* ---- heddle.conf ---- */

static int check_path(const char *text, struct hd_error *err)
{
	if (*text && *text != '/')
		return hd_error_set(err, -EINVAL, "expected an absolute path");
	if (strlen(text) >= PATH_SIZE)
		return hd_error_set(err, -EINVAL, "the path is too long");
	return 0;
}

static int check_socket(const char *text, struct hd_error *err)
{
	int rc = check_path(text, err);

	return rc ? rc : socket_path_validate(text, err);
}

static const struct hd_option status_options[] = {
    {.name = "socket",
     .summary = "where heddle status and heddle metrics ask; empty: nowhere",
     .type = HD_OPTION_STRING,
     .fallback = HD_STATUS_SOCKET,
     .validate = check_socket},
    {.name = "group",
     .summary = "the group that may ask; empty: the group of OpenSM",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};

static const struct hd_option metrics_options[] = {
    {.name = "textfile",
     .summary = "file for the node exporter of Prometheus, written after each sweep; empty: none",
     .type = HD_OPTION_STRING,
     .fallback = "",
     .validate = check_path},
};

static int sections(struct hd_config_sections *all, struct hd_error *err)
{
	static const struct hd_config_section status = {.name = "status",
							.options = status_options,
							.option_count = sizeof(status_options) /
									sizeof(status_options[0])};
	static const struct hd_config_section metrics = {
	    .name = "metrics",
	    .options = metrics_options,
	    .option_count = sizeof(metrics_options) / sizeof(metrics_options[0])};
	int rc = hd_config_sections_add(all, &status, err);

	return rc ? rc : hd_config_sections_add(all, &metrics, err);
}

static const char *option(const struct status_state *state, const char *section, const char *name)
{
	return hd_options_get(hd_config_options(state->context->config, section), name)->text;
}

static void expand(const struct status_state *state, const char *text, char path[PATH_SIZE])
{
	port_path_expand(port_path_guid(state->context->osm), text, path, PATH_SIZE);
}

/* ---- the thread ---- */

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

static char *answer(void *context, const char *line, size_t *length)
{
	const bool json = !strcmp(line, "status"), metrics = !strcmp(line, "metrics");
	struct status_answer made;

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
	if (!*path)
		return;
	int rc = make_answer(state, &made, &err);
	if (!rc) {
		rc = status_textfile_write(path, made.metrics, made.metrics_length, &err);
		free(made.json);
		free(made.metrics);
	}
	note_file(state, rc, &err);
}

/* ---- settings ---- */

/* Where the administrator has asked for nothing, it is no error: another OpenSM of the machine answers
 * there, or this one has no right to the folder. */
static void say_deaf(struct status_state *state, bool in_use, const struct hd_error *err)
{
	const bool is_default = !strcmp(state->path, HD_STATUS_SOCKET) && !*state->group;

	if (in_use || is_default)
		log_info(&state->context->log, "heddle status cannot ask this OpenSM: %s",
			 err->text);
	else
		log_error(&state->context->log, LOG_ERROR_STATUS,
			  "heddle status cannot ask this OpenSM: %s", err->text);
}

static void start_server(struct status_state *state)
{
	struct hd_error err = {""};
	bool listens = false;

	state->settings = (struct status_server_settings){.path = state->path,
							  .group = state->group,
							  .log = &state->context->log,
							  .work = work,
							  .answer = answer,
							  .context = state};
	if (status_server_start(&state->settings, &state->server, &listens, &err))
		state->server = NULL;
	if (!listens && *state->path)
		say_deaf(state, state->server && socket_path_is_answered(state->path), &err);
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

/* ---- hooks ---- */

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
static void find(struct status_state *state, struct routing **routing, struct hd_fabric **fabric)
{
	struct part_context *context = state->context;

	*routing = NULL;
	*fabric = NULL;
	cl_plock_acquire(&context->osm->lock);
	if (context->published)
		*routing = routing_hold(context->published->origin ? context->published->origin
								   : context->published);
	if (!state->fresh)
		snapshot_take(context->osm, NULL, fabric, NULL);
	cl_plock_release(&context->osm->lock);
}

static void idle(void *data)
{
	struct status_state *state = data;
	struct status_sweeps *sweeps = &state->sweeps;

	pthread_mutex_lock(&state->lock);
	sweeps->sweeping = false;
	sweeps->count++;
	sweeps->last = time(NULL);
	sweeps->seconds = (monotonic_ms() - state->begun) / 1000;
	pthread_mutex_unlock(&state->lock);
}

static void settled(void *data)
{
	struct status_state *state = data;
	struct routing *routing;
	struct hd_fabric *fabric;

	find(state, &routing, &fabric);
	pthread_mutex_lock(&state->lock);
	const struct status_sweeps old = state->sweeps;
	state->sweeps.any = true;
	state->sweeps.routing = routing;
	state->sweeps.fabric = fabric;
	pthread_mutex_unlock(&state->lock);
	routing_release(old.routing);
	hd_fabric_free(old.fabric);
	if (state->server)
		status_server_wake(state->server);
}

static void destroy(void *data)
{
	struct status_state *state = data;

	status_server_end(state->server);
	routing_release(state->sweeps.routing);
	hd_fabric_free(state->sweeps.fabric);
	status_view_release(&state->view);
	pthread_mutex_destroy(&state->lock);
	free(state);
}

const struct part status_part = {
    .name = "status",
    .sections = sections,
    .create = create,
    .started = started,
    .sweep_begins = sweep_begins,
    .published = published,
    .idle = idle,
    .settled = settled,
    .status = status,
    .destroy = destroy,
};
