/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Operations on a job (keyd_op.h): one after the other for each job. The calls of the API and keyd_rekey.c begin
 * them.
 *
 * keyd_op_start() runs an operation when it is the first of its job; run() is called again when keys are made, the
 * database has committed, the subnet manager has answered, or time is over. keyd_op_end() begins the next one.
 * Operations end in the event thread only.
 */
#include "keyd_op.h"

#include "keyd_memory.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t keyd_op_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

void keyd_op_run(struct keyd_op *op)
{
	op->keyd->changes++;
	op->run(op);
}

static void on_timer(evutil_socket_t unused, short what, void *context)
{
	struct keyd_op *op = context;

	(void)unused;
	(void)what;
	keyd_op_run(op);
}

struct keyd_op *keyd_op_new(struct keyd *keyd, struct keyd_job *job, struct keyd_call *call,
			    void (*run)(struct keyd_op *op))
{
	struct keyd_op *op = calloc(1, sizeof(*op));

	if (!op) {
		if (call)
			keyd_call_fail(call, 503, "heddle-keyd has no memory for this call");
		return NULL;
	}
	op->keyd = keyd;
	op->number = ++keyd->op_numbers;
	op->job = job;
	op->call = call;
	op->run = run;
	evtimer_assign(&op->timer, keyd->base, on_timer, op);
	TAILQ_INSERT_TAIL(&job->ops, op, link);
	keyd->op_count++;
	return op;
}

void keyd_op_start(struct keyd_op *op)
{
	if (TAILQ_FIRST(&op->job->ops) == op)
		keyd_op_run(op);
}

static void free_op(struct keyd_op *op)
{
	event_del(&op->timer);
	if (op->attempting)
		op->end_attempts(op);
	TAILQ_REMOVE(&op->job->ops, op, link);
	op->keyd->op_count--;
	hd_arena_release(&op->layout.arena);
	hd_arena_release(&op->memory);
	free(op->text);
	free(op);
}

void keyd_op_end(struct keyd_op *op)
{
	struct keyd_job *job = op->job;
	struct keyd *keyd = op->keyd;

	free_op(op);
	keyd_memory_settle(keyd, job->user);
	if (!TAILQ_EMPTY(&job->ops))
		keyd_op_run(TAILQ_FIRST(&job->ops));
}

void keyd_op_end_job(struct keyd_op *op, const struct keyd_problem *problem)
{
	struct keyd_job *job = op->job;
	struct keyd_user *user = job->user;
	struct keyd *keyd = op->keyd;

	while (!TAILQ_EMPTY(&job->ops)) {
		struct keyd_op *first = TAILQ_FIRST(&job->ops);

		if (first->call)
			keyd_call_problem(first->call, problem);
		first->call = NULL;
		if (first != op && first->drop)
			first->drop(first);
		free_op(first);
	}
	keyd_job_free(&keyd->jobs, job);
	keyd_memory_settle(keyd, user);
}

bool keyd_op_has_keys(const struct keyd_op *op)
{
	return op->step->keys && op->keyd->view && op->step->keys->view == op->keyd->view;
}

static struct keyd_op *to_op(struct keyd_task *task)
{
	return (struct keyd_op *)((char *)task - offsetof(struct keyd_op, task));
}

static void make_keys(struct keyd_task *task)
{
	struct keyd_op *op = to_op(task);
	uint64_t begin = keyd_op_now();

	op->rc = keyd_keys_make(&op->making, &op->keys, &op->problem);
	op->make_us = keyd_op_now() - begin;
}

static void take_keys(struct keyd_task *task)
{
	struct keyd_op *op = to_op(task);

	if (op->rc && op->problem.bytes &&
	    keyd_memory_make_room(op->keyd, op->job, op->problem.bytes, op->step)) {
		keyd_workers_submit(op->keyd->workers, &op->task);
		return;
	}
	free((void *)op->making.rank_host);
	op->making.rank_host = NULL;
	if (op->rc) {
		keyd_view_release(op->making.view);
	} else {
		op->keyd->metrics.keys += op->keys->phase_count;
		op->keyd->metrics.key_microseconds += op->make_us;
		if (!keyd_step_spread(op->step)->known)
			keyd_step_take_paths(op->step, op->keys->paths);
		else
			keyd_paths_free(op->keys->paths);
		op->keys->paths = NULL;
		keyd_step_take_keys(op->step, op->keys);
		op->keys = NULL;
	}
	keyd_op_run(op);
}

/* The operation itself goes with its job. */
static void drop_keys(struct keyd_task *task)
{
	struct keyd_op *op = to_op(task);

	free((void *)op->making.rank_host);
	if (op->keys)
		keyd_keys_free(op->keys); /* these have the view */
	else
		keyd_view_release(op->making.view);
}

int keyd_op_no_view(const struct keyd *keyd, struct keyd_problem *problem)
{
	int rc = keyd_problem_set(problem, 503, "%s", keyd->no_view);

	return keyd->unsupported ? keyd_problem_lasts(problem) : rc;
}

/* How many LID offsets the phases may have. 0: it is settled which ones they have. */
static uint32_t offsets_max(const struct keyd_op *op)
{
	const struct keyd_job *job = op->job;

	if (keyd_step_spread(op->step)->known || op->one_offset ||
	    job->placement.mode == KEYD_ALTERNATE)
		return 0;
	uint32_t room = keyd_offsets_room(&op->keyd->offsets, op->keyd->view, job->hosts,
					  job->placement.host_count, job->offset, job->offsets);
	return job->placement.keys && job->placement.keys < room ? job->placement.keys : room;
}

int keyd_op_make_keys(struct keyd_op *op)
{
	struct keyd *keyd = op->keyd;
	uint32_t *hosts;

	if (!keyd->view)
		return keyd_op_no_view(keyd, &op->problem);
	/* The host of each rank in the view. */
	const struct keyd_step *step = op->step;
	struct keyd_problem *problem = &op->problem;
	hosts = malloc((step->rank_count + 1) * sizeof(*hosts));
	if (!hosts) {
		keyd_problem_set(problem, 503, "heddle-keyd has no memory for these keys");
		return -EINVAL;
	}
	for (uint32_t rank = 0; rank < step->rank_count; rank++) {
		hosts[rank] = step->job->hosts[step->rank_host[rank]];
		if (hosts[rank] == HD_NONE) {
			keyd_problem_set(problem, 503, "%s", step->job->missing);
			keyd_problem_lasts(problem);
			free(hosts);
			return -EINVAL;
		}
	}
	keyd_step_drop_keys(op->step); /* of another view */
	op->making = (struct keyd_keys_request){.view = keyd_view_hold(keyd->view),
						.placement = &op->job->placement,
						.rank_count = op->step->rank_count,
						.rank_host = hosts,
						.flows_max = keyd->config->max_flows,
						.paths = keyd_step_spread(op->step)->paths,
						.offsets_max = offsets_max(op),
						.used = &op->job->user->bytes,
						.bytes_max = keyd_memory_limit(keyd),
						.threads = keyd->config->threads};
	op->task = (struct keyd_task){.run = make_keys, .finish = take_keys, .drop = drop_keys};
	keyd_workers_submit(keyd->workers, &op->task);
	return 0;
}

static void on_commit(struct keyd_task *task)
{
	static const char *const things[] = {
	    [KEYD_STORE_JOB] = "the",		[KEYD_STORE_STEP] = "a step of",
	    [KEYD_STORE_RECIPE] = "a key of",	[KEYD_STORE_ACTIVE] = "a phase of",
	    [KEYD_STORE_DELETE] = "the end of", [KEYD_STORE_DELETE_STEP] = "the end of a step of"};
	struct keyd_store_change *change =
	    (struct keyd_store_change *)((char *)task - offsetof(struct keyd_store_change, task));
	struct keyd_op *op = (struct keyd_op *)((char *)change - offsetof(struct keyd_op, change));

	op->rc = change->rc;
	if (op->rc) {
		keyd_problem_set(
		    &op->problem, 503,
		    "heddle-keyd cannot store %s job %s in %s: %s; nothing has changed",
		    things[change->kind], op->job->id, keyd_store_path(op->keyd->store),
		    strerror(-op->rc));
		keyd_problem_lasts(&op->problem);
	}
	keyd_op_run(op);
}

void keyd_op_commit(struct keyd_op *op, enum keyd_store_kind kind)
{
	op->change.kind = kind;
	op->change.task = (struct keyd_task){.finish = on_commit};
	op->change.row.job = op->job->id;
	op->change.row.step = op->step ? op->step->name : "0";
	op->change.row.next_key = (int64_t)op->keyd->next_key;
	keyd_store_submit(op->keyd->store, &op->change);
}

void keyd_op_wait(struct keyd_op *op, uint64_t microseconds)
{
	struct timeval wait = {.tv_sec = (time_t)(microseconds / 1000000u),
			       .tv_usec = (suseconds_t)(microseconds % 1000000u)};

	event_add(&op->timer, &wait);
}

bool keyd_op_has_time(struct keyd_op *op)
{
	uint64_t now = keyd_op_now();

	if (now >= op->deadline)
		return false;
	if (!evtimer_pending(&op->timer, NULL))
		keyd_op_wait(op, op->deadline - now);
	return true;
}
