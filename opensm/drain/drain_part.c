/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DRAINING: people take cables and switches out of routing before they pull them (drained.h).
 *
 *	discovered     before the first sweep routes, reads what an earlier run had drained
 *	computed ...   the engine has left it out (engine_drained.h), the part ar has switched adaptive routing off, and
 *	               the part sweep writes the tables in proved steps, because the routing says so
 *	settled        looks whether all switches have their tables, and none leads to what is drained
 *
 * A thread of the part answers `heddle drain` (drain_server.h).
 */
#include "drain_complete.h"
#include "drain_file.h"
#include "drain_server.h"
#include "opensm_headers.h"
#include "part.h"
#include "parts.h"
#include "port_path.h"
#include "routing.h"
#include "status_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE HD_ERROR_TEXT
#define NAMED_MOST 50u

/* Only the hooks of the sweeper thread and of the main thread use it. */
struct drain_state {
	struct part_context *context;
	struct drain_server *server; /* NULL: there is no thread */
	char path[PATH_SIZE], group[PATH_SIZE], file[PATH_SIZE]; /* of the server */
	bool loaded;
	uint64_t said; /* the number of what the log has named */
};

static const char *option(const struct drain_state *state, const char *name)
{
	return hd_options_get(hd_config_options(state->context->config, "drain"), name)->text;
}

/* To be freed; NULL: there is no file. */
static char *file_path(const struct drain_state *state)
{
	return drain_file_path(option(state, "state"), port_path_guid(state->context->osm));
}

/* Where the administrator has asked for nothing, it is no error: another OpenSM of the machine answers there, or this
 * one has no right to the folder. */
static void say_deaf(const struct drain_state *state, int deaf, const struct hd_error *err)
{
	const bool is_default = !strcmp(state->path, HD_DRAIN_SOCKET) && !*state->group;

	if (deaf == -EBUSY || is_default)
		log_info(&state->context->log, "heddle drain cannot ask this OpenSM: %s",
			 err->text);
	else
		log_error(&state->context->log, LOG_ERROR_DRAIN,
			  "heddle drain cannot ask this OpenSM: %s", err->text);
}

static void start_server(struct drain_state *state)
{
	struct hd_error err = {""};
	int deaf;

	if (drain_server_start(state->context, state->path, state->group,
			       *state->file ? state->file : NULL, &state->server, &deaf, &err))
		state->server = NULL;
	if (deaf)
		say_deaf(state, deaf, &err);
}

/* heddle.conf names another file, or none: what is drained is there before the old file goes. What is at the old place, but
 * is no such file, stays. */
static void move_file(const struct drain_state *state, const char *file)
{
	struct drained_set old = {0};
	struct drained_state now;
	struct hd_error err;

	if (!state->loaded || !*state->file || !strcmp(state->file, file))
		return;
	int rc = drained_read(state->context->drained, &now);
	if (!rc && *file)
		rc = drain_file_write(file, &now.accepted, &err); /* the server tries again */
	if (!rc && !drain_file_read(state->file, &old, &err))
		unlink(state->file);
	drained_set_release(&old);
	drained_state_release(&now);
}

/* Starts the server, if it does not run with these settings. */
static void keep_server(struct drain_state *state)
{
	char path[PATH_SIZE];
	const char *group = option(state, "group");
	char *file = file_path(state);

	port_path_expand(port_path_guid(state->context->osm), option(state, "socket"), path,
			 sizeof(path));
	if (!state->server || strcmp(path, state->path) != 0 || strcmp(group, state->group) != 0 ||
	    strcmp(file ? file : "", state->file) != 0) {
		drain_server_end(state->server);
		state->server = NULL;
		move_file(state, file ? file : "");
		snprintf(state->path, sizeof(state->path), "%s", path);
		snprintf(state->group, sizeof(state->group), "%s", group);
		snprintf(state->file, sizeof(state->file), "%s", file ? file : "");
		start_server(state);
	}
	free(file);
}

static void load(struct drain_state *state)
{
	struct part_context *context = state->context;
	struct drained_set set = {0};
	struct hd_error err;
	char *path = file_path(state);
	int rc = path ? drain_file_read(path, &set, &err) : -ENOENT;

	if (rc && rc != -ENOENT)
		log_error(&context->log, LOG_ERROR_DRAIN,
			  "%s; what an earlier run of OpenSM had drained is used again", err.text);
	if (!rc && set.count)
		drained_restore(context->drained, &set);
	drained_set_release(&set);
	free(path);
}

static int create(struct part_context *context, void **out, struct hd_error *err)
{
	struct drain_state *state = calloc(1, sizeof(*state));

	if (!state)
		return hd_error_no_memory(err);
	state->context = context;
	*out = state;
	return 0;
}

static void started(void *data)
{
	keep_server(data);
}

static void sweep_begins(void *data)
{
	struct drain_state *state = data;
	struct drained *drained = state->context->drained;

	keep_server(state);
	pthread_mutex_lock(&drained->lock);
	drained->begun = drained->number;
	pthread_mutex_unlock(&drained->lock);
}

static void discovered(void *data)
{
	struct drain_state *state = data;

	if (!state->loaded)
		load(state);
	state->loaded = true;
}

/* "2 cables and 1 switch", "1 switch" */
static void print_counts(const struct drained_set *set, char *text, size_t size)
{
	uint32_t cables = 0;

	for (uint32_t i = 0; i < set->count; i++)
		cables += set->things[i].cable;
	const uint32_t switches = set->count - cables;
	if (!cables || !switches) {
		snprintf(text, size, "%" PRIu32 " %s%s", set->count, cables ? "cable" : "switch",
			 set->count == 1 ? ""
			 : cables	 ? "s"
					 : "es");
		return;
	}
	snprintf(text, size, "%" PRIu32 " cable%s and %" PRIu32 " switch%s", cables,
		 cables == 1 ? "" : "s", switches, switches == 1 ? "" : "es");
}

static void name_all(const struct drain_state *state, const struct drained_set *set)
{
	char label[DRAINED_LABEL];

	for (uint32_t i = 0; i < set->count && i < NAMED_MOST; i++) {
		drained_label(&set->things[i], label);
		log_info(&state->context->log, "drained: %s", label);
	}
}

/* A line for each sweep, and the names after a change. */
static void say_drained(struct drain_state *state, const struct drained_set *accepted,
			uint64_t number)
{
	char counts[80];

	if (accepted->count) {
		print_counts(accepted, counts, sizeof(counts));
		log_info(&state->context->log,
			 "%s drained: heddle drain --list names what is, "
			 "heddle drain --undo uses it again",
			 counts);
	}
	if (number != state->said)
		name_all(state, accepted);
	state->said = number;
}

/* What a sweep did not decide about, because OpenSM did not ask our engine, will not be decided. */
static void refuse_undecided(const struct drain_state *state)
{
	struct drained *drained = state->context->drained;

	pthread_mutex_lock(&drained->lock);
	const uint64_t begun = drained->begun;
	const bool undecided = begun > drained->routed && begun > drained->refused;
	pthread_mutex_unlock(&drained->lock);
	if (undecided)
		drained_refuse(drained, begun,
			       "OpenSM has not routed with an engine of Heddle in this sweep");
}

static void settled(void *data)
{
	struct drain_state *state = data;
	struct drained *drained = state->context->drained;
	struct drained_set out = {0}, accepted = {0};
	struct hd_error err = {""};

	refuse_undecided(state);
	pthread_mutex_lock(&drained->lock);
	const uint64_t routed = drained->routed;
	int rc = drained_set_copy(&drained->out, &out);
	rc = rc ? rc : drained_set_copy(&drained->accepted, &accepted);
	pthread_mutex_unlock(&drained->lock);
	if (!rc)
		rc = drain_complete_check(state->context, &out, &err);
	drained_note_tables(drained, rc ? err.text : "");
	if (rc && accepted.count)
		log_error(&state->context->log, LOG_ERROR_DRAIN,
			  "what is drained is not safe to pull yet: %s", err.text);
	say_drained(state, &accepted, routed);
	drained_set_release(&out);
	drained_set_release(&accepted);
}

static void report_things(const struct drained_set *set, struct status_report *report)
{
	char label[DRAINED_LABEL];

	status_report_list(report, "drained");
	for (uint32_t i = 0; i < set->count && i < NAMED_MOST; i++) {
		drained_label(&set->things[i], label);
		status_report_item(report);
		status_report_text(report, "text", "%s", label);
		status_report_item_end(report);
	}
	status_report_list_end(report);
}

static void status(void *data, struct status_report *report)
{
	static const struct status_metric metric = {"heddle_drained", "gauge",
						    "Cables and switches that are drained"};
	const struct drain_state *state = data;
	struct drained_state now;
	char counts[80];

	drained_read(state->context->drained, &now); /* without memory: nothing is named */
	const char *incomplete =
	    *now.incomplete ? now.incomplete : drain_complete_doubt(state->context);
	status_report_section(report, "drain");
	print_counts(&now.accepted, counts, sizeof(counts));
	status_report_text(report, "summary", "%s", now.accepted.count ? counts : "nothing");
	status_report_number(report, "count", now.accepted.count);
	report_things(&now.accepted, report);
	if (*now.suspended)
		status_report_fault(report, "what is drained is used again, do not pull it: %s",
				    now.suspended);
	else if (now.accepted.count && *incomplete)
		status_report_fault(report, "what is drained is not safe to pull yet: %s",
				    incomplete);
	if (*now.unstored)
		status_report_fault(report,
				    "a restarted OpenSM will not know what is drained now: %s",
				    now.unstored);
	status_report_metric(report, &metric, now.accepted.count);
	drained_state_release(&now);
}

static void destroy(void *data)
{
	struct drain_state *state = data;

	drain_server_end(state->server);
	free(state);
}

const struct part drain_part = {
    .name = "drain",
    .create = create,
    .started = started,
    .sweep_begins = sweep_begins,
    .discovered = discovered,
    .settled = settled,
    .status = status,
    .destroy = destroy,
};
