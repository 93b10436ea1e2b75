/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a certificate of the tables in force after each sweep, repair and change of keys: doc/guide/certificates.md. The
 * hooks only hand over the routing; a thread of low priority does the rest (certificate_worker.h).
 */
#include "certificate_worker.h"
#include "key_change.h"
#include "opensm_headers.h"
#include "part.h"
#include "parts.h"
#include "port_path.h"
#include "repair_change.h"
#include "routing.h"
#include "status_report.h"
#include "switch_tables.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct certificate {
	struct part_context *context;
	/* Never replaced once it is there: the hooks of the writer's thread use it. NULL: no file was ever wanted. */
	_Atomic(struct certificate_worker *) worker;
	bool failed; /* the thread could not be started: said once */
};

static int create(struct part_context *context, void **state, struct hd_error *err)
{
	struct certificate *part = calloc(1, sizeof(*part));

	if (!part)
		return hd_error_no_memory(err);
	part->context = context;
	*state = part;
	return 0;
}

static struct certificate_worker *worker_of(void *state)
{
	struct certificate *part = state;

	return atomic_load(&part->worker);
}

static void start(struct certificate *part)
{
	struct certificate_worker *worker;
	struct hd_error err;
	int rc = certificate_worker_start(part->context, &worker, &err);

	if (!rc)
		atomic_store(&part->worker, worker);
	else if (!part->failed)
		log_error(&part->context->log, LOG_ERROR_CERTIFICATE, "certificate: %s", err.text);
	part->failed = rc != 0;
}

static void sweep_begins(void *state)
{
	struct certificate *part = state;
	const struct hd_options *values = hd_config_options(part->context->config, "certificate");
	char path[PATH_MAX];

	port_path_expand(port_path_guid(part->context->osm), hd_options_get(values, "file")->text,
			 path, sizeof(path));
	if (*path && !worker_of(part))
		start(part);
	if (worker_of(part))
		certificate_worker_place(worker_of(part), path,
					 hd_options_get(values, "tables")->number != 0);
}

/* OpenSM sends these tables next. */
static void published(void *state)
{
	if (worker_of(state))
		certificate_worker_wait(worker_of(state), true);
}

static void settled(void *state)
{
	struct certificate *part = state;
	struct part_context *context = part->context;
	const osm_switch_t *late = NULL;
	struct routing *routing;

	if (!worker_of(part))
		return;
	cl_plock_acquire(&context->osm->lock);
	routing = context->published ? routing_hold(context->published) : NULL;
	if (routing)
		late = switch_tables_incomplete(routing, context->osm);
	const uint64_t guid = late ? cl_ntoh64(osm_node_get_node_guid(late->p_node)) : 0;
	cl_plock_release(&context->osm->lock);
	certificate_worker_take(worker_of(part), routing, guid, true);
	routing_release(routing);
}

static int repair_begins(void *state, struct repair_change *change, struct hd_error *err)
{
	(void)change;
	(void)err;
	if (worker_of(state))
		certificate_worker_wait(worker_of(state), false);
	return 0;
}

/* If it has failed halfway, the switches hold a mixture until the next sweep. */
static void repair_ends(void *state, struct repair_change *change)
{
	if (worker_of(state) && (change->published || !change->sent))
		certificate_worker_take(worker_of(state),
					change->published ? change->routing : NULL, 0, false);
}

static void key_begins(void *state)
{
	if (worker_of(state))
		certificate_worker_wait(worker_of(state), false);
}

static void key_ends(void *state, struct key_change *change)
{
	if (worker_of(state) && (change->published || !change->unsure))
		certificate_worker_take(worker_of(state), change->published ? change->after : NULL,
					0, false);
}

static void summarise(const struct certificate_report *now, struct status_report *report)
{
	const char *const old = now->current ? "" : ", not of the tables in force";

	if (!*now->wanted)
		status_report_text(report, "summary", "off");
	else if (*now->file)
		status_report_text(report, "summary", "%s is that of %s%s", now->file, now->made,
				   old);
	else
		status_report_text(report, "summary", "none was written");
}

static void add_values(const struct certificate_report *now, struct status_report *report)
{
	status_report_flag(report, "wanted", *now->wanted != '\0');
	status_report_flag(report, "current", now->current);
	status_report_text(report, "reason", "%s", now->reason);
	if (*now->wanted && *now->file) {
		status_report_text(report, "file", "%s", now->file);
		status_report_text(report, "made", "%s", now->made);
		status_report_number(report, "written", (uint64_t)now->written);
	}
}

static void status(void *state, struct status_report *report)
{
	static const struct status_metric current = {"heddle_certificate_current", "gauge",
						     "1: the last certificate is that of the "
						     "tables in force"},
					  written = {"heddle_certificate_timestamp_seconds",
						     "gauge",
						     "When the last certificate was written, Unix "
						     "time"};
	struct certificate_report now = {.written = 0};

	if (worker_of(state))
		certificate_worker_report(worker_of(state), &now);
	status_report_section(report, "certificate");
	summarise(&now, report);
	add_values(&now, report);
	if (!*now.wanted)
		return;
	if (*now.reason)
		status_report_fault(report, "the tables in force have none: %s", now.reason);
	status_report_metric(report, &current, now.current);
	if (*now.file)
		status_report_metric(report, &written, (double)now.written);
}

static void destroy(void *state)
{
	certificate_worker_end(worker_of(state));
	free(state);
}

const struct part certificate_part = {
    .name = "certificate",
    .create = create,
    .sweep_begins = sweep_begins,
    .published = published,
    .settled = settled,
    .repair_begins = repair_begins,
    .repair_ends = repair_ends,
    .key_begins = key_begins,
    .key_ends = key_ends,
    .status = status,
    .destroy = destroy,
};
