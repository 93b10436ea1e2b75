/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_propose.h"

#include "keyd_op.h"
#include "keyd_proposal.h"

#include <stdlib.h>

#define CALLS_MOST 16u /* that wait; twice as many with those of schedulers */
#define USER_MOST 4u /* of one user */
#define LARGE 65536u /* bytes of an answer that counts as a long one */
#define NAME_BYTES 16u /* of a host in an answer, about */

struct proposing {
	struct keyd_task task; /* first */
	TAILQ_ENTRY(proposing) link;
	struct keyd_proposals *proposals;
	struct keyd_call *call;
	const char *body; /* [length] of the call */
	size_t length;
	struct keyd_proposal proposal;
};

struct keyd_proposals {
	struct keyd *keyd;
	struct keyd_workers *worker; /* one thread */
	TAILQ_HEAD(, proposing) queue;
	unsigned count; /* in the queue */
	struct proposing *running; /* the thread has it; NULL: it has nothing to do */
	struct keyd_tables *tables; /* of the newest view that a call has asked about */
};

static void start(struct keyd_proposals *proposals);

static void drop(struct proposing *proposing)
{
	keyd_proposal_release(&proposing->proposal);
	free(proposing->call);
	free(proposing);
}

static void end(struct proposing *proposing)
{
	struct keyd_proposals *proposals = proposing->proposals;
	struct keyd_proposal *proposal = &proposing->proposal;

	if (proposal->problem.status)
		keyd_call_problem(proposing->call, &proposal->problem);
	else
		keyd_call_answer_text(proposing->call, proposal->answer);
	proposing->call = NULL;
	drop(proposing);
	proposals->running = NULL;
	start(proposals);
}

static void run_make(struct keyd_task *task)
{
	keyd_proposal_make(&((struct proposing *)task)->proposal);
}

static void on_made(struct keyd_task *task)
{
	end((struct proposing *)task);
}

/* The tables of the present view. NULL: no memory. */
static struct keyd_tables *tables_of(struct keyd_proposals *proposals)
{
	struct keyd *keyd = proposals->keyd;
	const struct hd_channel_hello *hello = keyd_managers_master(keyd->managers);
	const struct hd_engine *engine = hello ? hd_engine_find(hello->engine) : NULL;
	struct keyd_tables *tables = proposals->tables;

	if (!tables || tables->view != keyd->view || (engine && tables->engine != engine)) {
		keyd_tables_release(tables);
		if (!engine)
			engine = hd_engine_find("dmodk"); /* the routes of all engines with keys */
		tables = proposals->tables = keyd_tables_new(keyd->view, engine);
	}
	if (tables)
		tables->references++;
	return tables;
}

/* Finds hosts and tables, and takes a copy of the loads. */
static int prepare(struct proposing *proposing)
{
	struct keyd *keyd = proposing->proposals->keyd;
	struct keyd_proposal *proposal = &proposing->proposal;

	if (!keyd->view)
		return keyd_op_no_view(keyd, &proposal->problem);
	if (proposal->request.place.ranks * (size_t)NAME_BYTES > LARGE &&
	    !keyd_http_takes_large(keyd->http, proposing->call->request))
		return keyd_problem_set(&proposal->problem, 503,
					"too many long answers are under way: see "
					"max_large_answers in [keyd]");
	proposal->tables = tables_of(proposing->proposals);
	if (!proposal->tables)
		return keyd_problem_set(&proposal->problem, 503,
					"heddle-keyd has no memory for a proposal");
	proposal->flows_max = keyd->config->max_flows;
	proposal->deadline = keyd_op_now() + (uint64_t)keyd->config->proposal_ms * 1000u;
	return keyd_proposal_resolve(proposal, keyd->hosts, keyd->loads);
}

static void on_parsed(struct keyd_task *task)
{
	struct proposing *proposing = (struct proposing *)task;

	if (proposing->proposal.problem.status || prepare(proposing)) {
		end(proposing);
		return;
	}
	proposing->task.run = run_make;
	proposing->task.finish = on_made;
	keyd_workers_submit(proposing->proposals->worker, &proposing->task);
}

static void run_parse(struct keyd_task *task)
{
	struct proposing *proposing = (struct proposing *)task;
	struct keyd_proposal *proposal = &proposing->proposal;

	if (keyd_request_propose(proposing->body, proposing->length, &proposal->request,
				 &proposal->problem))
		proposal->request = (struct keyd_propose_request){.choose = 0};
}

static void drop_task(struct keyd_task *task)
{
	struct proposing *proposing = (struct proposing *)task;

	proposing->proposals->running = NULL;
	drop(proposing);
}

/* Gives the thread the next call whose client still waits. */
static void start(struct keyd_proposals *proposals)
{
	while (!proposals->running && !TAILQ_EMPTY(&proposals->queue)) {
		struct proposing *proposing = TAILQ_FIRST(&proposals->queue);

		TAILQ_REMOVE(&proposals->queue, proposing, link);
		proposals->count--;
		proposals->running = proposing;
		if (keyd_call_is_abandoned(proposing->call, &proposing->proposal.problem))
			end(proposing);
		else
			keyd_workers_submit(proposals->worker, &proposing->task);
	}
}

static unsigned count_of_user(const struct keyd_proposals *proposals, uint32_t uid)
{
	const struct proposing *proposing;
	unsigned count = proposals->running && proposals->running->call->uid == uid;

	TAILQ_FOREACH(proposing, &proposals->queue, link)
	{
		count += proposing->call->uid == uid;
	}
	return count;
}

static void insert(struct keyd_proposals *proposals, struct proposing *proposing)
{
	struct proposing *at = TAILQ_FIRST(&proposals->queue);

	while (at && (!proposing->call->scheduler || at->call->scheduler))
		at = TAILQ_NEXT(at, link);
	if (at)
		TAILQ_INSERT_BEFORE(at, proposing, link);
	else
		TAILQ_INSERT_TAIL(&proposals->queue, proposing, link);
	proposals->count++;
}

void keyd_propose(struct keyd_call *call)
{
	struct keyd_proposals *proposals = call->keyd->proposals;
	struct proposing *proposing;

	if (proposals->count >= CALLS_MOST * (call->scheduler ? 2 : 1)) {
		keyd_call_fail(call, 503, "%u proposals wait already", proposals->count);
		return;
	}
	if (!call->scheduler && count_of_user(proposals, call->uid) >= USER_MOST) {
		keyd_call_fail(call, 429, "%u proposals for user %u wait already", USER_MOST,
			       call->uid);
		return;
	}
	proposing = calloc(1, sizeof(*proposing));
	if (!proposing) {
		keyd_call_fail(call, 503, "heddle-keyd has no memory for a proposal");
		return;
	}
	proposing->task =
	    (struct keyd_task){.run = run_parse, .finish = on_parsed, .drop = drop_task};
	proposing->proposals = proposals;
	proposing->call = call;
	proposing->body = keyd_call_body(call, &proposing->length);
	insert(proposals, proposing);
	start(proposals);
}

int keyd_proposals_new(struct keyd *keyd, struct keyd_proposals **out, struct hd_error *err)
{
	struct keyd_proposals *proposals = calloc(1, sizeof(*proposals));
	int rc = proposals ? keyd_workers_new(keyd->mailbox, 1, &proposals->worker, err)
			   : hd_error_no_memory(err);

	if (rc) {
		free(proposals);
		return rc;
	}
	proposals->keyd = keyd;
	TAILQ_INIT(&proposals->queue);
	*out = proposals;
	return 0;
}

bool keyd_proposals_are_busy(const struct keyd_proposals *proposals)
{
	return proposals->running || proposals->count;
}

void keyd_proposals_stop(struct keyd_proposals *proposals)
{
	if (!proposals)
		return;
	keyd_workers_free(proposals->worker);
	proposals->worker = NULL;
}

void keyd_proposals_free(struct keyd_proposals *proposals)
{
	if (!proposals)
		return;
	while (!TAILQ_EMPTY(&proposals->queue)) {
		struct proposing *proposing = TAILQ_FIRST(&proposals->queue);

		TAILQ_REMOVE(&proposals->queue, proposing, link);
		drop(proposing);
	}
	keyd_tables_release(proposals->tables);
	free(proposals);
}
