/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric that the subnet manager sends. keyd_manager.c calls keyd_fabric_take() with each one.
 *
 * A worker reads it and makes the view; the event thread takes the newest one, resolves the hosts of all jobs, and
 * has keys made again (keyd_rekey.h). Until then the view before stays in use. A fabric that cannot take keys is
 * refused with a reason that GET /v1/status shows.
 */
#include "keyd_fabric.h"

#include "keyd_memory.h"
#include "keyd_program.h"
#include "keyd_rekey.h"

#include <errno.h>
#include <heddle/engines.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keyd_fabric_task {
	struct keyd_task task;
	struct keyd *keyd;
	struct hd_channel_message message;
	uint64_t instance; /* of the manager that has sent it */
	struct keyd_view *view;
	struct hd_error err;
	int rc;
};

static struct keyd_fabric_task *to_fabric_task(struct keyd_task *task)
{
	return (struct keyd_fabric_task *)((char *)task - offsetof(struct keyd_fabric_task, task));
}

static void read_fabric(struct keyd_task *task)
{
	struct keyd_fabric_task *reading = to_fabric_task(task);

	reading->rc = keyd_view_new(&reading->message.fabric, &reading->view, &reading->err);
}

void keyd_fabric_resolve(struct keyd *keyd)
{
	struct keyd_job *job;

	keyd->changes++;
	if (!keyd->view || keyd_offsets_reset(&keyd->offsets, keyd->view))
		return;
	TAILQ_FOREACH(job, &keyd->jobs.list, link)
	{
		struct hd_error err = {""};

		keyd_job_resolve(job, keyd->view, keyd->hosts, &err);
		keyd_offsets_mark(&keyd->offsets, job->hosts, job->placement.host_count,
				  job->offset, job->offsets, true);
	}
}

static void drop_view(struct keyd *keyd)
{
	struct keyd_job *job;

	keyd->changes++;
	TAILQ_FOREACH(job, &keyd->jobs.list, link)
	{
		struct keyd_step *step;
		LIST_FOREACH(step, &job->steps, link)
		{
			for (uint32_t i = 0; i < step->slot_count; i++) {
				keyd_slot_forget_shift(&step->slots[i]);
				step->slots[i].counted = step->slots[i].hopeless = false;
			}
		}
	}
	keyd_memory_forget_view(keyd);
	hd_key_loads_free(keyd->loads);
	keyd->loads = NULL;
	keyd_offsets_release(&keyd->offsets);
	keyd_view_release(keyd->view);
	keyd->view = NULL;
}

static void install(struct keyd *keyd, struct keyd_view *view)
{
	char cause[128];

	drop_view(keyd);
	keyd->loads = hd_key_loads_new(view->tree);
	if (!keyd->loads || keyd_offsets_reset(&keyd->offsets, view)) {
		hd_log(keyd->log, HD_LOG_ERROR, "no memory for the fabric of epoch %" PRIu64,
		       view->epoch);
		snprintf(keyd->no_view, sizeof(keyd->no_view),
			 "heddle-keyd has no memory for the fabric");
		keyd_view_release(view);
		return;
	}
	keyd->view = view;
	keyd->unsupported = false;
	keyd->metrics.fabrics++;
	keyd_fabric_resolve(keyd);
	hd_log(keyd->log, view->lmc ? HD_LOG_INFO : HD_LOG_WARNING,
	       "fabric of epoch %" PRIu64 ": %u switches, %u hosts, LMC %u%s", view->epoch,
	       view->fabric->switch_count, view->fabric->host_count, view->lmc,
	       view->lmc ? "" : "; no host has a LID for keys: set lmc in opensm.conf");
	snprintf(cause, sizeof(cause), "fabric of epoch %" PRIu64, view->epoch);
	keyd_rekey(keyd, true, cause);
}

static void on_read(struct keyd_task *task)
{
	struct keyd_fabric_task *reading = to_fabric_task(task);
	struct keyd *keyd = reading->keyd;

	hd_channel_release(&reading->message);
	if (keyd->reading != reading) {
		keyd_view_release(reading->view); /* a newer one is being read */
	} else if (reading->rc) {
		keyd->reading = NULL;
		keyd->unsupported = reading->rc == -ENOTSUP;
		snprintf(keyd->no_view, sizeof(keyd->no_view), "%s", reading->err.text);
		drop_view(keyd);
		hd_log(keyd->log, HD_LOG_ERROR,
		       "fabric of epoch %" PRIu64 ": %s; no keys can be made for it",
		       reading->message.fabric.epoch, reading->err.text);
	} else {
		keyd->reading = NULL;
		reading->view->instance = reading->instance;
		install(keyd, reading->view);
	}
	free(reading);
}

static void drop_read(struct keyd_task *task)
{
	struct keyd_fabric_task *reading = to_fabric_task(task);

	hd_channel_release(&reading->message);
	keyd_view_release(reading->view);
	free(reading);
}

static bool takes_keys(const char *name)
{
	const struct hd_engine *engine = hd_engine_find(name);

	return engine && engine->takes_keys;
}

void keyd_fabric_take(void *context, struct hd_channel_message *message)
{
	struct keyd *keyd = context;
	const struct hd_channel_hello *hello = keyd_managers_master(keyd->managers);
	struct keyd_fabric_task *reading;

	if (!hello || !takes_keys(hello->engine))
		return;
	reading = calloc(1, sizeof(*reading));
	if (!reading) {
		hd_log(keyd->log, HD_LOG_ERROR, "no memory for a new fabric");
		return;
	}
	*reading = (struct keyd_fabric_task){
	    .task = {.run = read_fabric, .finish = on_read, .drop = drop_read},
	    .keyd = keyd,
	    .message = *message,
	    .instance = hello->instance};
	message->memory = NULL; /* taken over */
	keyd->reading = reading;
	keyd_workers_submit(keyd->workers, &reading->task);
}

void keyd_fabric_changed(void *context)
{
	struct keyd *keyd = context;
	const struct hd_channel_hello *hello = keyd_managers_master(keyd->managers);
	struct keyd_job *job;

	keyd->changes++;
	if (!hello)
		return;
	/* what the last manager had in force says nothing about this one */
	TAILQ_FOREACH(job, &keyd->jobs.list, link)
	{
		struct keyd_step *step;

		LIST_FOREACH(step, &job->steps, link)
		{
			for (uint32_t i = 0; i < step->slot_count; i++)
				step->slots[i].in_force = step->slots[i].sent = false;
		}
	}
	if (takes_keys(hello->engine))
		return;
	keyd->reading = NULL; /* that fabric is void when it has been read */
	keyd->unsupported = *hello->engine;
	if (keyd->unsupported) {
		snprintf(keyd->no_view, sizeof(keyd->no_view),
			 "the subnet manager routes with engine '%s', which takes no keys; set "
			 "'routing_engine nrk' in opensm.conf",
			 hello->engine);
		hd_log(keyd->log, HD_LOG_WARNING, "%s", keyd->no_view);
	} else {
		snprintf(keyd->no_view, sizeof(keyd->no_view),
			 "the subnet manager has not routed the fabric yet");
	}
	drop_view(keyd);
}

void keyd_fabric_release(struct keyd *keyd)
{
	drop_view(keyd);
}

const char *keyd_fabric_state(const struct keyd *keyd, const char **reason)
{
	*reason = "";
	if (!keyd_managers_master(keyd->managers)) {
		*reason =
		    "no subnet manager that is master is connected: see the log of heddle-keyd";
		return "none";
	}
	if (keyd->view)
		return "ready";
	*reason = keyd->no_view;
	return keyd->unsupported ? "unsupported" : "waiting";
}
