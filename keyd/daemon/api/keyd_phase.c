/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls request, join, done and release of a job. keyd_calls.c has them in its table.
 *
 * A request is an operation (keyd_op.h) with these states: START finds or makes the step; ACTIVATE checks the
 * phase and its turn; ACTIVATED follows when the database has the phase; KEYS makes keys; PROGRAM sends them;
 * RESULT waits for the subnet manager, and tries again; ATTEMPT tries other keys. The database has every phase
 * before the switches do. A client that has gone ends its operation.
 */
#include "keyd_answer.h"
#include "keyd_attempt.h"
#include "keyd_calls.h"
#include "keyd_memory.h"
#include "keyd_op.h"
#include "keyd_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_FIRST_MS 10u

enum state { START, NEW_STEP, ACTIVATE, ACTIVATED, KEYS, PROGRAM, RESULT, ATTEMPT, STOP = 99 };

static struct keyd_slot *slot_of(const struct keyd_op *op)
{
	return keyd_step_slot(op->step, op->phase);
}

static int answer_problem(struct keyd_op *op)
{
	keyd_call_problem(op->call, &op->problem);
	keyd_op_end(op);
	return STOP;
}

/* Nothing more is to be done for a client that has gone. */
static bool gives_up(struct keyd_op *op)
{
	if (!keyd_call_is_abandoned(op->call, &op->problem))
		return false;
	answer_problem(op);
	return true;
}

static int answer_not_ready(struct keyd_op *op, const char *reason)
{
	op->keyd->metrics.not_ready++;
	keyd_call_answer(op->call,
			 keyd_answer_phase(slot_of(op), op->phase, op->rank, false, reason));
	keyd_op_end(op);
	return STOP;
}

static int answer_ready(struct keyd_op *op)
{
	keyd_call_answer(op->call, keyd_answer_phase(slot_of(op), op->phase, op->rank, true, ""));
	keyd_op_end(op);
	return STOP;
}

static int add_step(struct keyd_op *op)
{
	struct hd_key_pattern *pattern;
	struct hd_error err = {""};
	int rc = keyd_keys_pattern(&op->job->placement, op->job->placement.ranks, &pattern, &err);

	if (rc)
		return rc;
	rc = keyd_step_new(op->job, op->name, NULL, &op->step, &err);
	if (!rc) {
		rc = keyd_step_add_slots(&op->keyd->jobs, op->step, pattern->phase_count,
					 op->keyd->next_key);
		op->keyd->next_key += op->step->slot_count;
	}
	hd_key_pattern_free(pattern);
	return rc;
}

/* A step without a layout has the placement's. Its keys need numbers, which are written first. */
static int run_start(struct keyd_op *op)
{
	if (gives_up(op))
		return STOP;
	op->step = keyd_step_find(op->job, op->name);
	if (op->step)
		return ACTIVATE;
	if (keyd_memory_check(op->keyd, op->job, &op->problem))
		return answer_problem(op);
	if (add_step(op)) {
		keyd_problem_set(&op->problem, 503, "heddle-keyd has no memory for a step");
		if (op->step)
			keyd_step_free(&op->keyd->jobs, op->step);
		return answer_problem(op);
	}
	op->change.row = (struct keyd_store_row){.key = (int64_t)op->step->slots[0].key};
	op->state = NEW_STEP;
	keyd_op_commit(op, KEYD_STORE_STEP);
	return -1;
}

static int run_new_step(struct keyd_op *op)
{
	if (!op->rc) {
		keyd_program_trim(op->keyd, op->job, op->step);
		return gives_up(op) ? STOP : ACTIVATE;
	}
	keyd_step_free(&op->keyd->jobs, op->step);
	return answer_problem(op);
}

static bool is_wanted(const struct keyd_step *step)
{
	for (uint32_t i = 0; i < step->slot_count; i++)
		if (step->slots[i].wanted || step->slots[i].sent)
			return true;
	return false;
}

/* Steps on the same hosts have the same offset, so the last one that asks has it. */
static bool is_replaced(const struct keyd_op *op, const struct keyd_step *step)
{
	return step != op->step && is_wanted(step) && keyd_step_overlaps(op->step, step);
}

/* What the database has of these steps then. */
static int list_other_steps(struct keyd_op *op, const struct keyd_store_row **rows, uint32_t *count)
{
	struct keyd_store_row *row;
	struct keyd_step *step;
	uint32_t steps = 0;

	*count = 0;
	LIST_FOREACH(step, &op->job->steps, link)
	{
		steps++;
	}
	row = hd_arena_alloc(&op->memory, steps, sizeof(*row));
	*rows = row;
	LIST_FOREACH(step, &op->job->steps, link)
	{
		char *text;

		if (op->memory.failed || !is_replaced(op, step))
			continue;
		text = keyd_step_active(step, KEYD_STEP_CEASES, 0);
		row[(*count)++] = (struct keyd_store_row){
		    .job = op->job->id,
		    .step = step->name,
		    .active = text ? hd_arena_strdup(&op->memory, text) : NULL};
		op->memory.failed |= !text;
		free(text);
	}
	return hd_arena_check(&op->memory);
}

/* Writes what the phases are to be. They are as before until that is done, and if it fails. */
static int commit_phases(struct keyd_op *op, enum keyd_step_change change)
{
	free(op->text);
	op->text = keyd_step_active(op->step, change, op->phase);
	op->change.row = (struct keyd_store_row){.active = op->text};
	op->change.more_count = 0;
	if (!op->text || (change == KEYD_STEP_BEGINS &&
			  list_other_steps(op, &op->change.more, &op->change.more_count))) {
		keyd_problem_set(&op->problem, 503, "heddle-keyd has no memory for a phase");
		return answer_problem(op);
	}
	keyd_op_commit(op, KEYD_STORE_ACTIVE);
	return -1;
}

/* The caller does not know the step as it is: another phase has begun since it asked. */
static int answer_late(struct keyd_op *op, const char *call)
{
	keyd_problem_set(&op->problem, 409,
			 "the %s for phase %u of step %s is late: the step's turn was %u when "
			 "it was made and is %u now; nothing has changed",
			 call, op->phase, op->step->name, op->known_turn, op->step->turn);
	op->problem.has_turn = true;
	op->problem.turn = op->step->turn;
	return answer_problem(op);
}

/* The phase before is over. Its key stays in the switches until another phase needs its offset, so that ranks that still
 * send have their routes. */
static void leave_other_slots(struct keyd_op *op, const struct keyd_slot *own)
{
	for (uint32_t i = 0; i < op->step->slot_count; i++) {
		struct keyd_slot *slot = &op->step->slots[i];

		if (slot == own)
			continue;
		keyd_program_count(op->keyd, slot, false);
		slot->active = slot->wanted = false;
	}
}

static int run_activate(struct keyd_op *op)
{
	if (op->rank != HD_NONE && op->rank >= op->step->rank_count) {
		keyd_problem_set(&op->problem, 422,
				 "step %s has the ranks 0 to %u; there is no rank %u",
				 op->step->name, op->step->rank_count - 1, op->rank);
		return answer_problem(op);
	}
	if (op->joins && keyd_step_present(op->step) != HD_NONE) {
		op->phase = keyd_step_present(op->step);
		/* A node that joins takes the phase that the step has. Only if there was none,
		 * one begins. */
		char reason[KEYD_ID_LONGEST + 80];
		if (slot_of(op)->in_force)
			return answer_ready(op);
		if (slot_of(op)->active)
			return KEYS;
		snprintf(reason, sizeof(reason),
			 "phase %u of step %s has ended, and no other has begun", op->phase,
			 op->step->name);
		return answer_not_ready(op, reason);
	}
	if (op->phase >= op->step->phase_count) {
		keyd_problem_set(&op->problem, 422,
				 "step %s has the phases 0 to %u; there is no phase %u",
				 op->step->name, op->step->phase_count - 1, op->phase);
		return answer_problem(op);
	}
	const struct keyd_slot *slot = slot_of(op);
	if (slot->active && slot->phase == op->phase)
		return slot->in_force ? answer_ready(op) : KEYS;
	if (op->has_known_turn && op->known_turn != op->step->turn)
		return answer_late(op, "request");
	op->state = ACTIVATED;
	return commit_phases(op, KEYD_STEP_BEGINS);
}

static int run_activated(struct keyd_op *op)
{
	if (op->rc)
		return answer_problem(op);
	/* The slot gets the phase, which the database has. */
	struct keyd_slot *slot = slot_of(op);
	struct keyd_step *step;
	LIST_FOREACH(step, &op->job->steps, link)
	{
		if (!is_replaced(op, step))
			continue;
		keyd_program_remove(op->keyd, step);
		for (uint32_t i = 0; i < step->slot_count; i++)
			step->slots[i].active = false;
		step->turn++;
	}
	if (slot->phase != op->phase) {
		keyd_program_count(op->keyd, slot, false);
		keyd_slot_forget_shift(slot);
		slot->in_force = false;
	}
	if (op->job->placement.mode == KEYD_ALTERNATE)
		leave_other_slots(op, slot);
	slot->hopeless = false;
	slot->phase = op->phase;
	slot->active = true;
	op->step->newest = op->phase;
	slot->turn = ++op->step->turn;
	return KEYS;
}

static int run_keys(struct keyd_op *op)
{
	if (keyd_op_has_keys(op))
		return PROGRAM;
	if (op->rc || keyd_op_make_keys(op)) {
		slot_of(op)->wanted = true; /* when the fabric is back */
		return answer_not_ready(op, op->problem.detail);
	}
	op->state = KEYS;
	return -1;
}

/* In mode offset, the keys of all phases go to the switches with the first one. */
static void phase_program(struct keyd_op *op)
{
	struct keyd_slot *own = slot_of(op);

	for (uint32_t i = 0; i < op->step->slot_count; i++) {
		struct keyd_slot *slot = &op->step->slots[i];

		if (slot == own ||
		    (op->job->placement.mode == KEYD_OFFSET && !slot->in_force && !slot->request))
			keyd_program_slot(op->keyd, slot);
	}
}

static int run_program(struct keyd_op *op)
{
	struct keyd_slot *slot = slot_of(op);

	if (!keyd_op_has_keys(op))
		return KEYS; /* another fabric has come */
	op->state = RESULT;
	if (slot->in_force && slot->wanted && op->job->placement.mode == KEYD_OFFSET) {
		keyd_program_count(op->keyd, slot, true);
		slot->blocks = slot->changed = 0;
		return RESULT;
	}
	op->awaits = true;
	phase_program(op);
	return RESULT;
}

/* A key may be refused because one of a job that has gone still has its LIDs. */
static bool may_pass(const struct keyd_op *op, enum hd_channel_status status)
{
	return status == HD_CHANNEL_BUSY || status == HD_CHANNEL_STALE ||
	       (status == HD_CHANNEL_REFUSED && op->keyd->removals);
}

static bool tries_again(struct keyd_op *op)
{
	if (!may_pass(op, slot_of(op)->status) || !keyd_managers_master(op->keyd->managers) ||
	    keyd_op_now() + op->wait_ms * 1000u >= op->deadline ||
	    keyd_http_is_gone(op->call->request))
		return false;
	op->state = PROGRAM;
	op->rc = 0;
	keyd_op_wait(op, op->wait_ms * 1000u);
	op->wait_ms *= 2;
	return true;
}

static int run_result(struct keyd_op *op)
{
	struct keyd_slot *slot = slot_of(op);

	if ((slot->request || slot->storing) && keyd_op_has_time(op))
		return -1;
	op->awaits = false;
	event_del(&op->timer);
	if (slot->request) {
		keyd_attempt_end(op);
		return answer_not_ready(op, "the subnet manager has not answered in time");
	}
	switch (keyd_attempt_next(op, slot)) {
	case KEYD_ATTEMPT_MAKING:
		op->state = ATTEMPT;
		return -1;
	case KEYD_ATTEMPT_SENT:
		op->awaits = true;
		return RESULT;
	default:
		break;
	}
	if (slot->in_force)
		return answer_ready(op);
	return tries_again(op) ? -1 : answer_not_ready(op, slot->reason);
}

/* A worker has made the next attempt. */
static int run_attempt(struct keyd_op *op)
{
	return keyd_attempt_resume(op) ? RESULT : KEYS;
}

static void run_request(struct keyd_op *op)
{
	static int (*const steps[])(struct keyd_op *) = {
	    [START] = run_start,	 [NEW_STEP] = run_new_step, [ACTIVATE] = run_activate,
	    [ACTIVATED] = run_activated, [KEYS] = run_keys,	    [PROGRAM] = run_program,
	    [RESULT] = run_result,	 [ATTEMPT] = run_attempt};
	int next = (int)op->state;

	while (next >= 0 && next != STOP) {
		op->state = (unsigned)next;
		next = steps[next](op);
	}
}

/* Starts the operation of a call with a step and a phase, or answers it. */
static void phase_start(struct keyd_call *call, enum keyd_phase_call kind,
			void (*run)(struct keyd_op *op))
{
	struct keyd_phase_request request;
	struct keyd_problem problem;
	size_t length;
	const char *body = keyd_call_body(call, &length);

	if (keyd_request_phase(body, length, kind, &request, &problem)) {
		keyd_call_problem(call, &problem);
		return;
	}
	struct keyd_op *op =
	    keyd_op_new(call->keyd, keyd_job_find(&call->keyd->jobs, call->job), call, run);
	if (!op)
		return;
	memcpy(op->name, request.step, sizeof(op->name));
	op->phase = request.phase;
	op->joins = kind == KEYD_JOIN;
	op->rank = request.has_rank ? request.rank : HD_NONE;
	op->has_known_turn = request.has_turn;
	op->known_turn = request.turn;
	op->wait_ms = WAIT_FIRST_MS;
	op->deadline = keyd_op_now() + call->keyd->config->answer_ms * UINT64_C(1000);
	keyd_op_start(op);
}

void keyd_phase_request(struct keyd_call *call)
{
	phase_start(call, KEYD_REQUEST, run_request);
}

void keyd_phase_join(struct keyd_call *call)
{
	phase_start(call, KEYD_JOIN, run_request);
}

/* Writes that the phase has ended, if it is active, and the caller does not mean one before it. */
static void begin_done(struct keyd_op *op)
{
	if (gives_up(op))
		return;
	op->step = keyd_step_find(op->job, op->name);
	const struct keyd_slot *slot =
	    op->step && op->phase < op->step->phase_count ? slot_of(op) : NULL;
	if (!slot || !slot->active || slot->phase != op->phase) {
		keyd_problem_set(&op->problem, 409, "phase %u of step %s is not active", op->phase,
				 op->name);
		answer_problem(op);
	} else if (op->has_known_turn && op->known_turn < slot->turn) {
		answer_late(op, "end");
	} else {
		op->state = 1;
		commit_phases(op, KEYD_STEP_ENDS);
	}
}

static void run_done(struct keyd_op *op)
{
	if (!op->state) {
		begin_done(op);
		return;
	}
	if (op->rc) {
		answer_problem(op);
		return;
	}
	struct keyd_slot *slot = slot_of(op);
	slot->active = false;
	keyd_program_count(op->keyd, slot, false);
	if (op->job->placement.mode != KEYD_OFFSET)
		slot->wanted = false;
	keyd_call_answer(op->call, json_pack("{s:I}", "phase", (json_int_t)op->phase));
	keyd_op_end(op);
}

void keyd_phase_done(struct keyd_call *call)
{
	phase_start(call, KEYD_DONE, run_done);
}

static void run_release(struct keyd_op *op)
{
	struct keyd *keyd = op->keyd;
	struct keyd_job *job = op->job;
	struct keyd_problem gone;
	struct keyd_step *step;

	if (!op->state) {
		op->state = 1;
		job->state = KEYD_RELEASING;
		op->change.row = (struct keyd_store_row){.job = NULL};
		keyd_op_commit(op, KEYD_STORE_DELETE);
		return;
	}
	if (op->rc) {
		job->state = KEYD_PLACED;
		answer_problem(op);
		return;
	}
	LIST_FOREACH(step, &job->steps, link)
	{
		keyd_program_remove(keyd, step);
	}
	keyd_offsets_mark(&keyd->offsets, job->hosts, job->placement.host_count, job->offset,
			  job->offsets, false);
	keyd_tokens_forget(&keyd->tokens, job->id, 0);
	keyd_call_answer(op->call, json_pack("{s:s}", "job", job->id));
	op->call = NULL;
	keyd_problem_set(&gone, 404, "job %s was released meanwhile", job->id);
	keyd_op_end_job(op, &gone);
}

void keyd_phase_release(struct keyd_call *call)
{
	struct keyd_op *op =
	    keyd_op_new(call->keyd, keyd_job_find(&call->keyd->jobs, call->job), call, run_release);

	if (op)
		keyd_op_start(op);
}
