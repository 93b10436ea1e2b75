/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls that place a job, and that lay out a step. keyd_calls.c has them in its table.
 *
 * A body is parsed, by a worker if it is long. Then an operation (keyd_op.h) goes through these states: hosts are
 * found, keys are made, offsets are taken, a worker writes the answer, the database commits. If any state fails,
 * all that was taken is given back, and the answer is the problem.
 */
#include "keyd_answer.h"
#include "keyd_call.h"
#include "keyd_calls.h"
#include "keyd_op.h"
#include "keyd_program.h"
#include "keyd_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bodies of placements and layouts are parsed here: short ones at once, long ones by a worker, because the event
 * thread would need up to 70 ms for one. */

struct keyd_parsing {
	struct keyd_task task; /* first */
	struct keyd_call *call;
	const char *body; /* of the call */
	size_t length;
	int (*parse)(struct keyd_parsing *parsing); /* as keyd_request_place() */
	void (*go_on)(struct keyd_parsing *parsing);
	int rc;
	struct keyd_problem problem;
	/* what was parsed; go_on() takes the arena of the one that it uses */
	struct keyd_place_request placement;
	struct keyd_layout_request layout;
	uint32_t owner; /* for the caller */
};

/* ---- parse ---- */

#define SHORT 16384u /* bytes of a body that the event thread parses itself */

static void run_parse(struct keyd_task *task)
{
	struct keyd_parsing *parsing = (struct keyd_parsing *)task;

	parsing->rc = parsing->parse(parsing);
}

static void place_finish(struct keyd_parsing *parsing)
{
	if (parsing->rc)
		keyd_call_problem(parsing->call, &parsing->problem);
	else
		parsing->go_on(parsing);
	free(parsing);
}

static void on_parsed(struct keyd_task *task)
{
	struct keyd_parsing *parsing = (struct keyd_parsing *)task;

	parsing->call->keyd->parsings--;
	place_finish(parsing);
}

static void drop_parse(struct keyd_task *task)
{
	struct keyd_parsing *parsing = (struct keyd_parsing *)task;

	hd_arena_release(&parsing->placement.arena);
	hd_arena_release(&parsing->layout.arena);
	free(parsing->call);
	free(parsing);
}

/*
 * Calls parse() in this or in another thread, and then go_on() in this one, also if other calls have come meanwhile.
 * If the body is wrong, answers so instead. owner: see above.
 */
static void keyd_parse(struct keyd_call *call, int (*parse)(struct keyd_parsing *parsing),
		       void (*go_on)(struct keyd_parsing *parsing), uint32_t owner)
{
	struct keyd_parsing *parsing = calloc(1, sizeof(*parsing));

	if (!parsing) {
		keyd_call_fail(call, 503, "heddle-keyd has no memory for this call");
		return;
	}
	parsing->task =
	    (struct keyd_task){.run = run_parse, .finish = on_parsed, .drop = drop_parse};
	parsing->call = call;
	parsing->body = keyd_call_body(call, &parsing->length);
	parsing->parse = parse;
	parsing->go_on = go_on;
	parsing->owner = owner;
	if (parsing->length > SHORT) {
		call->keyd->parsings++;
		keyd_workers_submit(call->keyd->workers, &parsing->task);
		return;
	}
	run_parse(&parsing->task);
	place_finish(parsing);
}

/* ---- place ---- */

enum state { START, KEYS, ANSWER, COMMIT };

static void on_answer(struct keyd_task *task)
{
	struct keyd_answering *answering = (struct keyd_answering *)task;
	struct keyd_op *op = answering->context;

	op->answering = answering;
	keyd_op_run(op);
}

static void drop_answer(struct keyd_task *task)
{
	keyd_answering_free((struct keyd_answering *)task);
}

/* A worker makes the text; then run() continues with op->answering. */
static int begin_answer(struct keyd_op *op, unsigned lmc)
{
	struct keyd_answering *answering = keyd_answering_new(op->job, op->step, lmc);

	if (!answering)
		return keyd_problem_set(&op->problem, 503, "heddle-keyd has no memory for a job");
	answering->context = op;
	answering->task.finish = on_answer;
	answering->task.drop = drop_answer;
	keyd_workers_submit(op->keyd->workers, &answering->task);
	return 0;
}

/* Takes the texts over. */
static int end_answer(struct keyd_op *op, struct keyd_text **answer, struct keyd_text **names)
{
	struct keyd_answering *answering = op->answering;
	bool complete = answering->answer && (answering->names || !names);

	op->answering = NULL;
	*answer = answering->answer;
	if (names)
		*names = answering->names;
	answering->answer = answering->names = NULL;
	keyd_answering_free(answering);
	if (!complete)
		return keyd_problem_set(&op->problem, 503,
					"heddle-keyd has no memory for an answer");
	return 0;
}

static void run_again(struct keyd_op *op)
{
	keyd_call_answer_text(op->call, op->job->answer);
	keyd_op_end(op);
}

static int find_hosts(struct keyd_op *op)
{
	struct keyd *keyd = op->keyd;
	struct hd_error err = {""};
	uint32_t first, second;

	if (!keyd->view)
		return keyd_op_no_view(keyd, &op->problem);
	if (keyd_job_resolve(op->job, keyd->view, keyd->hosts, &err))
		return keyd_problem_set(&op->problem, 422, "%s", err.text);
	if (keyd_job_duplicate(op->job, &first, &second))
		return keyd_problem_set(&op->problem, 422,
					"hosts[%u] '%.200s' and hosts[%u] '%.200s' are one host",
					first, op->job->placement.hosts[first], second,
					op->job->placement.hosts[second]);
	return 0;
}

/* How many offsets the job takes. */
static uint32_t count_offsets(struct keyd_op *op)
{
	struct keyd *keyd = op->keyd;
	const struct keyd_job *job = op->job;
	uint32_t phases = op->step->keys->phase_count;

	if (job->placement.mode != KEYD_ALTERNATE)
		return keyd_step_offsets(op->step, phases);
	return phases > 1 && job->placement.keys != 1 &&
		       keyd_offsets_room(&keyd->offsets, keyd->view, job->hosts,
					 job->placement.host_count, 0, 0) > 1
		   ? 2
		   : 1;
}

static int take_offsets(struct keyd_op *op)
{
	struct keyd *keyd = op->keyd;
	struct keyd_job *job = op->job;
	struct hd_error err = {""};

	if (!keyd->view || job->missing[0])
		return keyd_problem_set(&op->problem, 503,
					"the fabric has changed meanwhile; try again");
	uint32_t count = count_offsets(op);
	if (job->placement.keys && count > job->placement.keys)
		return keyd_problem_set(&op->problem, 422,
					"the pattern has %u phases, and 'keys' allows %u offsets; "
					"use mode rewrite",
					count, job->placement.keys);
	int rc = keyd_offsets_find(&keyd->offsets, keyd->view, job->hosts,
				   job->placement.host_count, count, &job->offset, &err);
	if (rc) {
		keyd_problem_set(&op->problem, rc == -EBUSY ? 503 : 422, "%s", err.text);
		return keyd_problem_lasts(&op->problem);
	}
	job->offsets = count;
	keyd_offsets_mark(&keyd->offsets, job->hosts, job->placement.host_count, job->offset, count,
			  true);
	return 0;
}

/* Others may have taken offsets since the keys were made: then phases that have several get one each. */
static bool makes_again(struct keyd_op *op)
{
	struct keyd *keyd = op->keyd;
	uint32_t count = keyd_step_offsets(op->step, op->step->keys->phase_count);

	if (!op->job->spread.paths || !keyd->view ||
	    count <= keyd_offsets_room(&keyd->offsets, keyd->view, op->job->hosts,
				       op->job->placement.host_count, 0, 0))
		return false;
	keyd_step_forget_paths(op->step);
	op->one_offset = true;
	op->state = KEYS;
	return true;
}

/* Offsets and numbers of keys. */
static int place_settle(struct keyd_op *op)
{
	struct keyd *keyd = op->keyd;
	int rc = op->rc;

	/* A job that was placed after its client has gone might have been released before, and
	 * stay for ever. Others may wait for the same answer. */
	if (!rc && (!TAILQ_NEXT(op, link) && keyd_call_is_abandoned(op->call, &op->problem)))
		rc = -ECANCELED;
	if (!rc && makes_again(op))
		return keyd_op_make_keys(op);
	if (!rc)
		rc = take_offsets(op);
	if (rc)
		return rc;
	if (keyd_step_add_slots(&keyd->jobs, op->step, op->step->keys->phase_count, keyd->next_key))
		return keyd_problem_set(&op->problem, 503, "heddle-keyd has no memory for a job");
	keyd->next_key += op->step->slot_count;
	op->state = ANSWER;
	return begin_answer(op, keyd->view->lmc);
}

static int commit_place(struct keyd_op *op)
{
	struct keyd_text *answer, *names;
	int rc = end_answer(op, &answer, &names);

	keyd_job_set_answer(op->job, answer, names);
	if (rc)
		return rc;
	op->change.row = (struct keyd_store_row){.body = op->job->placement.text,
						 .answer = op->job->answer->bytes,
						 .uid = op->job->uid,
						 .offset = op->job->offset,
						 .offsets = op->job->offsets,
						 .key = (int64_t)op->step->slots[0].key};
	keyd_op_commit(op, KEYD_STORE_JOB);
	return 0;
}

static void run_place(struct keyd_op *op)
{
	int rc = 0;

	switch ((enum state)op->state) {
	case START:
		op->state = KEYS;
		struct hd_error err = {""};
		rc = find_hosts(op);
		if (!rc && keyd_step_new(op->job, "0", NULL, &op->step, &err))
			rc = keyd_problem_set(&op->problem, 503, "%s", err.text);
		if (!rc)
			rc = keyd_op_make_keys(op);
		break;
	case KEYS:
		rc = place_settle(op);
		break;
	case ANSWER:
		op->state = COMMIT;
		rc = commit_place(op);
		break;
	case COMMIT:
		rc = op->rc;
		if (!rc) {
			op->job->state = KEYD_PLACED;
			run_again(op);
			return;
		}
	}
	if (rc) {
		struct keyd_problem problem = op->problem;
		struct keyd_job *job = op->job;
		if (job->offsets && op->keyd->view)
			keyd_offsets_mark(&op->keyd->offsets, job->hosts, job->placement.host_count,
					  job->offset, job->offsets, false);
		keyd_op_end_job(op, &problem);
	}
}

static void place_new(struct keyd_call *call, uint32_t uid, struct keyd_place_request *placement)
{
	struct keyd *keyd = call->keyd;
	struct keyd_job *job;

	if (keyd->jobs.count >= keyd->config->max_jobs) {
		keyd_call_fail(call, 429, "there are %u jobs: see max_jobs in [keyd]",
			       keyd->jobs.count);
		hd_arena_release(&placement->arena);
		return;
	}
	if (keyd_job_new(&keyd->jobs, call->job, uid, placement, &job)) {
		keyd_call_fail(call, 503, "heddle-keyd has no memory for a job");
		hd_arena_release(&placement->arena);
		return;
	}
	struct keyd_op *op = keyd_op_new(keyd, job, call, run_place);
	if (op)
		keyd_op_start(op);
	else
		keyd_job_free(&keyd->jobs, job);
}

static int parse_placement(struct keyd_parsing *parsing)
{
	return keyd_request_place(parsing->body, parsing->length, &parsing->placement,
				  &parsing->problem);
}

static void take_placement(struct keyd_parsing *parsing)
{
	struct keyd_place_request *placement = &parsing->placement;
	struct keyd_call *call = parsing->call;
	struct keyd_job *job = keyd_job_find(&call->keyd->jobs, call->job);
	uint32_t uid = placement->has_uid ? placement->uid : call->uid;

	if (!job) {
		place_new(call, uid, placement);
		return;
	}
	if (!(job->uid == uid && !strcmp(job->placement.text, placement->text)))
		keyd_call_fail(call, 409, "job %s exists with another content; release it first",
			       job->id);
	else {
		struct keyd_op *op = keyd_op_new(call->keyd, job, call, run_again);
		if (op)
			keyd_op_start(op);
	}
	hd_arena_release(&placement->arena);
}

void keyd_place_job(struct keyd_call *call)
{
	keyd_parse(call, parse_placement, take_placement, 0);
}

enum layout_state { LAYOUT_START, LAYOUT_KEYS, LAYOUT_ANSWER, LAYOUT_COMMIT };

static void end_layout(struct keyd_op *op)
{
	keyd_call_answer_text(op->call, op->step->answer);
	keyd_op_end(op);
}

/* The job takes more offsets, behind those that it has, or gives them back. */
static void change_offsets(struct keyd_op *op, bool used)
{
	struct keyd_job *job = op->job;

	if (!used)
		job->offsets -= op->more_offsets;
	if (op->keyd->view)
		keyd_offsets_mark(&op->keyd->offsets, job->hosts, job->placement.host_count,
				  job->offset + job->offsets, op->more_offsets, used);
	if (used)
		job->offsets += op->more_offsets;
}

static int begin_layout(struct keyd_op *op)
{
	struct hd_error err = {""};

	if (keyd_call_is_abandoned(op->call, &op->problem))
		return -ECANCELED;
	op->old = keyd_step_find(op->job, op->name);
	if (op->old && keyd_step_is_active(op->old))
		return keyd_problem_set(&op->problem, 409,
					"step %s has an active phase and another layout; end the "
					"phase first",
					op->name);
	if (op->layout.rank_count > HD_KEY_RANKS_MAX)
		return keyd_problem_set(&op->problem, 422, "more than %u ranks", HD_KEY_RANKS_MAX);
	int rc = keyd_step_new(op->job, op->name, &op->layout, &op->step, &err);
	if (rc)
		return keyd_problem_set(&op->problem, rc == -ENOMEM ? 503 : 422, "%s", err.text);
	return keyd_op_make_keys(op);
}

/* The offsets of the job, and those that the layout takes besides them. -EAGAIN: others have taken some since its keys
 * were made, and these are made again. */
static int extend_offsets(struct keyd_op *op)
{
	struct keyd *keyd = op->keyd;
	struct keyd_job *job = op->job;
	uint32_t count = keyd_step_offsets(op->step, op->step->keys->phase_count);

	if (count <= job->offsets)
		return 0;
	if (!keyd->view)
		return keyd_op_no_view(keyd, &op->problem);
	if (keyd_step_spread(op->step)->paths) {
		if (count <= keyd_offsets_room(&keyd->offsets, keyd->view, job->hosts,
					       job->placement.host_count, job->offset,
					       job->offsets)) {
			op->more_offsets = count - job->offsets;
			change_offsets(op, true);
			return 0;
		}
		keyd_step_forget_paths(op->step);
		op->one_offset = true;
		return keyd_op_make_keys(op) ? -EINVAL : -EAGAIN;
	}
	return keyd_problem_set(&op->problem, 422,
				"the pattern has %u phases for this layout, and the job has "
				"%u offsets",
				op->step->keys->phase_count, job->offsets);
}

static int settle_layout(struct keyd_op *op)
{
	struct keyd *keyd = op->keyd;

	if (op->rc)
		return op->rc;
	if (keyd_call_is_abandoned(op->call, &op->problem))
		return -ECANCELED;
	int rc = extend_offsets(op);
	if (rc)
		return rc == -EAGAIN ? 0 : rc;
	uint32_t phases = op->step->keys->phase_count;
	if (keyd_step_add_slots(&keyd->jobs, op->step, phases, keyd->next_key))
		return keyd_problem_set(&op->problem, 503, "heddle-keyd has no memory for a step");
	keyd->next_key += op->step->slot_count;
	op->state = LAYOUT_ANSWER;
	return begin_answer(op, KEYD_NO_LMC);
}

static int commit_layout(struct keyd_op *op)
{
	struct keyd_text *answer;
	int rc = end_answer(op, &answer, NULL);

	keyd_step_set_answer(op->step, answer);
	if (rc)
		return rc;
	op->step->turn = op->old ? op->old->turn : 0;
	op->text = keyd_step_active(op->step, KEYD_STEP_STAYS, 0);
	op->change.row = (struct keyd_store_row){.body = op->step->layout.text,
						 .active = op->text,
						 .answer = op->step->answer->bytes,
						 .offsets = op->more_offsets ? op->job->offsets : 0,
						 .key = (int64_t)op->step->slots[0].key};
	keyd_op_commit(op, KEYD_STORE_STEP);
	return 0;
}

static void run_layout(struct keyd_op *op)
{
	int rc = 0;

	switch ((enum layout_state)op->state) {
	case LAYOUT_START:
		op->state = LAYOUT_KEYS;
		op->old = keyd_step_find(op->job, op->name);
		if (op->old && op->old->answer && !strcmp(op->old->layout.text, op->layout.text)) {
			op->step = op->old;
			end_layout(op);
			return;
		}
		rc = begin_layout(op);
		break;
	case LAYOUT_KEYS:
		rc = settle_layout(op);
		break;
	case LAYOUT_ANSWER:
		op->state = LAYOUT_COMMIT;
		rc = commit_layout(op);
		break;
	case LAYOUT_COMMIT:
		rc = op->rc;
		if (!rc) {
			if (op->old) {
				keyd_program_remove(op->keyd, op->old);
				keyd_step_free(&op->keyd->jobs, op->old);
			}
			keyd_program_trim(op->keyd, op->job, op->step);
			end_layout(op);
			return;
		}
	}
	if (rc) {
		change_offsets(op, false);
		keyd_call_problem(op->call, &op->problem);
		if (op->step)
			keyd_step_free(&op->keyd->jobs, op->step);
		keyd_op_end(op);
	}
}

static int parse_layout(struct keyd_parsing *parsing)
{
	return keyd_request_layout(parsing->body, parsing->length, &parsing->layout,
				   &parsing->problem);
}

/* The job may have gone meanwhile, and another user may have one of its name. */
static struct keyd_op *layout_op(struct keyd_parsing *parsing)
{
	struct keyd_call *call = parsing->call;
	struct keyd_job *job = keyd_job_find(&call->keyd->jobs, call->job);

	if (job && job->state != KEYD_PLACING && job->uid == parsing->owner)
		return keyd_op_new(call->keyd, job, call, run_layout);
	keyd_call_fail(call, 404, "job %s was released meanwhile", call->job);
	return NULL;
}

static void take_layout(struct keyd_parsing *parsing)
{
	char step[KEYD_ID_LONGEST + 1];

	memcpy(step, parsing->call->step, sizeof(step)); /* the call may be answered at once */
	struct keyd_op *op = layout_op(parsing);
	if (!op) {
		hd_arena_release(&parsing->layout.arena);
		return;
	}
	op->layout = parsing->layout;
	memcpy(op->name, step, sizeof(op->name));
	keyd_op_start(op);
}

void keyd_place_layout(struct keyd_call *call)
{
	const struct keyd_job *job = keyd_job_find(&call->keyd->jobs, call->job);

	keyd_parse(call, parse_layout, take_layout, job->uid);
}
