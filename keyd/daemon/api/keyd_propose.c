/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * POST /v1/propose: a queue of calls, and the thread that answers them one after the other. keyd_calls.c has the
 * call in its table; keyd_main.c starts and stops the thread.
 *
 * A call waits, its body is read, hosts are resolved in the event thread, and the choice is made in the thread.
 * Schedulers come first; a user has few places. A search ends at its deadline.
 */
#include "keyd_calls.h"
#include "keyd_keys.h"
#include "keyd_op.h"
#include "keyd_request.h"
#include "keyd_text.h"
#include "keyd_view.h"

#include <errno.h>
#include <heddle/engines.h>
#include <heddle/keyd/key_choose.h>
#include <stdlib.h>
#include <string.h>

/* Hosts and an order of ranks for a job, chosen by a worker. */

/* The tables without keys of a view. Workers make them when the first proposal needs them, one at a time. Only
 * the event thread counts references. */
struct keyd_tables {
	unsigned references;
	struct keyd_view *view; /* a reference */
	const struct hd_engine *engine;
	struct hd_routes *routes; /* NULL: not made yet */
};

/* What is asked and what is found. */
struct keyd_proposal {
	/* given */
	struct keyd_propose_request request;
	struct keyd_tables *tables; /* a reference; NULL: none yet */
	uint32_t *others; /* [isl_count] flows of keys in force */
	uint32_t *hosts; /* [host_count] of the view, each once */
	uint32_t *names; /* [host_count] their numbers in request.place.hosts */
	uint32_t host_count;
	uint32_t *unknown; /* [unknown_count] names that are not in the fabric */
	uint32_t unknown_count;
	uint32_t flows_max;
	uint64_t deadline; /* microseconds of keyd_op_now() */
	/* found */
	struct keyd_text *answer;
	struct keyd_problem problem; /* status 0: none */
};

/* ---- proposal ---- */

/* NULL: no memory. */
static struct keyd_tables *keyd_tables_new(struct keyd_view *view, const struct hd_engine *engine)
{
	struct keyd_tables *tables = malloc(sizeof(*tables));

	if (tables)
		*tables = (struct keyd_tables){
		    .references = 1, .view = keyd_view_hold(view), .engine = engine};
	return tables;
}

/* Frees them if this was the last reference. NULL is allowed. */
static void keyd_tables_release(struct keyd_tables *tables)
{
	if (!tables || --tables->references)
		return;
	hd_routes_free(tables->routes);
	keyd_view_release(tables->view);
	free(tables);
}

static int no_memory(struct keyd_problem *problem)
{
	return keyd_problem_set(problem, 503, "heddle-keyd has no memory for a proposal");
}

/* Takes a host. Only a list to choose from may have names that the fabric does not have. */
static int take_host(struct keyd_proposal *proposal, uint32_t number, uint32_t host,
		     const struct hd_error *err, uint32_t *first_name)
{
	const struct keyd_place_request *place = &proposal->request.place;

	if (host == HD_NONE && !proposal->request.choose)
		return keyd_problem_set(&proposal->problem, 422, "%s", err->text);
	if (host == HD_NONE) {
		proposal->unknown[proposal->unknown_count++] = number;
		return 0;
	}
	if (first_name[host] != HD_NONE)
		return keyd_problem_set(&proposal->problem, 422,
					"hosts[%u] '%.200s' and hosts[%u] '%.200s' are one host",
					first_name[host], place->hosts[first_name[host]], number,
					place->hosts[number]);
	first_name[host] = number;
	proposal->hosts[proposal->host_count] = host;
	proposal->names[proposal->host_count++] = number;
	return 0;
}

static uint32_t find_host(const struct keyd_view *view, const struct keyd_hosts *hosts,
			  const char *name, struct hd_error *err)
{
	uint32_t host = HD_NONE;

	if (keyd_view_host(view, hosts, name, &host, err))
		return HD_NONE;
	if (view->fabric->lid[view->fabric->host_port[host]])
		return host;
	hd_error_set(err, -EINVAL, "host '%s' has no LID", name);
	return HD_NONE;
}

static void write_worth(struct keyd_writer *writer, const char *name,
			const struct hd_key_worth *worth)
{
	keyd_write_name(writer, name);
	keyd_write(writer, "{");
	keyd_write_member(writer, "lost", worth->lost);
	keyd_write_member(writer, "keys", worth->keys);
	keyd_write_member(writer, "contention", worth->contention);
	keyd_write_member(writer, "shared_links", worth->shared);
	keyd_write_member(writer, "leaves", worth->leaves);
	keyd_write_member(writer, "pods", worth->pods);
	keyd_write(writer, "}");
}

static void write_host(struct keyd_writer *writer, const char *name)
{
	keyd_write_comma(writer);
	keyd_write_string(writer, name);
}

static uint32_t count_busy(const struct keyd_proposal *proposal)
{
	uint32_t links = proposal->tables->view->fabric->isl_count, busy = 0;

	for (uint32_t link = 0; link < links; link++)
		busy += proposal->others[link] > 0;
	return busy;
}

static struct keyd_text *write_answer(const struct keyd_proposal *proposal,
				      const struct hd_key_choice *choice, uint32_t phases)
{
	const struct keyd_view *view = proposal->tables->view;
	uint32_t *name_of = calloc(view->fabric->host_count, sizeof(*name_of));
	struct keyd_writer writer = {.room = 0};

	if (!name_of)
		return NULL;
	keyd_write(&writer, "{");
	keyd_write_member(&writer, "epoch", view->epoch);
	keyd_write_member(&writer, "free", proposal->host_count);
	keyd_write_member(&writer, "hosts", choice->host_count);
	keyd_write_member(&writer, "ranks", choice->ranks);
	keyd_write_member(&writer, "phases", phases);
	keyd_write_member(&writer, "busy_links", count_busy(proposal));
	keyd_write_name(&writer, "stopped");
	keyd_write(&writer, choice->stopped ? "true" : "false");
	write_worth(&writer, "listed", &choice->given);
	write_worth(&writer, "proposed", &choice->chosen);
	/* name_of: [hosts of the fabric] number of its name. */
	char **names = proposal->request.place.hosts;
	for (uint32_t i = 0; i < proposal->host_count; i++)
		name_of[proposal->hosts[i]] = proposal->names[i];
	keyd_write_name(&writer, "host_of_rank");
	keyd_write(&writer, "[");
	for (uint32_t rank = 0; rank < choice->ranks; rank++)
		write_host(&writer, names[name_of[choice->host_of[rank]]]);
	keyd_write(&writer, "]");
	keyd_write_name(&writer, "unknown");
	keyd_write(&writer, "[");
	for (uint32_t i = 0; i < proposal->unknown_count; i++)
		write_host(&writer, names[proposal->unknown[i]]);
	keyd_write(&writer, "]");
	keyd_write(&writer, "}");
	free(name_of);
	return keyd_writer_end(&writer);
}

static bool has_time(void *context)
{
	const struct keyd_proposal *proposal = context;

	return keyd_op_now() < proposal->deadline;
}

static int make_pattern(struct keyd_proposal *proposal, struct hd_key_pattern **pattern)
{
	const struct keyd_place_request *place = &proposal->request.place;
	struct hd_error err = {""};
	int rc = keyd_keys_pattern(place, place->ranks, pattern, &err);

	if (rc)
		return keyd_problem_set(&proposal->problem, rc == -ENOMEM ? 503 : 422, "%s",
					err.text);
	if ((*pattern)->base[(*pattern)->phase_count] <= proposal->flows_max)
		return 0;
	return keyd_problem_set(&proposal->problem, 422,
				"the job has %u flows; max_flows in [keyd] allows %u",
				(*pattern)->base[(*pattern)->phase_count], proposal->flows_max);
}

static int propose_choose(struct keyd_proposal *proposal, const struct hd_key_pattern *pattern)
{
	const struct keyd_propose_request *asked = &proposal->request;
	const struct hd_key_choose_request request = {
	    .fabric = proposal->tables->view->fabric,
	    .routes = proposal->tables->routes,
	    .others = proposal->others,
	    .pattern = pattern,
	    .free = proposal->hosts,
	    .free_count = proposal->host_count,
	    .host_count = asked->choose ? asked->choose : proposal->host_count,
	    .tries = asked->tries,
	    .go_on = {has_time, proposal},
	};
	struct hd_key_choice *choice = NULL;
	struct hd_error err = {""};
	int rc = hd_key_choose(&request, &choice, &err);

	if (rc)
		return keyd_problem_set(&proposal->problem, rc == -ENOMEM ? 503 : 422, "%s",
					err.text);
	proposal->answer = write_answer(proposal, choice, pattern->phase_count);
	hd_key_choice_free(choice);
	return proposal->answer ? 0 : no_memory(&proposal->problem);
}

/* ---- propose ---- */

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

static void propose_start(struct keyd_proposals *proposals);

static void propose_drop(struct proposing *proposing)
{
	/* Frees what it has, in the event thread. */
	struct keyd_proposal *proposal = &proposing->proposal;
	keyd_text_release(proposal->answer);
	keyd_tables_release(proposal->tables);
	hd_arena_release(&proposal->request.place.arena);
	free(proposing->call);
	free(proposing);
}

static void propose_end(struct proposing *proposing)
{
	struct keyd_proposals *proposals = proposing->proposals;
	struct keyd_proposal *proposal = &proposing->proposal;

	if (proposal->problem.status)
		keyd_call_problem(proposing->call, &proposal->problem);
	else
		keyd_call_answer_text(proposing->call, proposal->answer);
	proposing->call = NULL;
	propose_drop(proposing);
	proposals->running = NULL;
	propose_start(proposals);
}

static void run_make(struct keyd_task *task)
{
	/* Chooses, and writes the answer or the problem. For a worker, one at a time. Ends at
	 * the deadline, or soon after it. */
	struct keyd_proposal *proposal = &((struct proposing *)task)->proposal;
	struct hd_key_pattern *pattern = NULL;
	int rc = make_pattern(proposal, &pattern);
	if (!rc) {
		struct keyd_tables *tables = proposal->tables;
		struct keyd_problem *problem = &proposal->problem;
		const struct hd_route_request request = {.fabric = tables->view->fabric,
							 .threads = 1};
		struct hd_error err = {""};
		rc = tables->routes
			 ? 0
			 : hd_engine_route(tables->engine, &request, &tables->routes, &err);
		rc = rc ? keyd_problem_set(problem, rc == -ENOMEM ? 503 : 422, "%s: %s",
					   tables->engine->name, err.text)
			: 0;
	}
	if (!rc)
		propose_choose(proposal, pattern);
	hd_key_pattern_free(pattern);
}

static void on_made(struct keyd_task *task)
{
	propose_end((struct proposing *)task);
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
static int propose_prepare(struct proposing *proposing)
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
	/* Finds the hosts of the names, and copies the loads. O(names + links). */
	const struct keyd_hosts *hosts = keyd->hosts;
	const struct hd_key_loads *loads = keyd->loads;
	struct hd_arena *arena = &proposal->request.place.arena;
	uint32_t count = proposal->request.place.host_count;
	const struct hd_fabric *fabric = proposal->tables->view->fabric;
	uint32_t *first_name = hd_arena_alloc(arena, fabric->host_count, sizeof(*first_name));
	proposal->hosts = hd_arena_alloc(arena, count, sizeof(*proposal->hosts));
	proposal->names = hd_arena_alloc(arena, fabric->host_count, sizeof(*proposal->names));
	proposal->unknown = hd_arena_alloc(arena, count, sizeof(*proposal->unknown));
	proposal->others = hd_arena_alloc(arena, fabric->isl_count + 1, sizeof(*proposal->others));
	if (hd_arena_check(arena))
		return no_memory(&proposal->problem);
	memcpy(proposal->others, loads->flows, fabric->isl_count * sizeof(*proposal->others));
	const struct keyd_place_request *place = &proposal->request.place;
	const struct keyd_view *view = proposal->tables->view;
	int rc = 0;
	memset(first_name, 0xff, view->fabric->host_count * sizeof(*first_name));
	for (uint32_t i = 0; !rc && i < place->host_count; i++) {
		struct hd_error err = {""};
		uint32_t host = find_host(view, hosts, place->hosts[i], &err);
		rc = take_host(proposal, i, host, &err, first_name);
	}
	return rc;
}

static void on_parsed(struct keyd_task *task)
{
	struct proposing *proposing = (struct proposing *)task;

	if (proposing->proposal.problem.status || propose_prepare(proposing)) {
		propose_end(proposing);
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
	propose_drop(proposing);
}

/* Gives the thread the next call whose client still waits. */
static void propose_start(struct keyd_proposals *proposals)
{
	while (!proposals->running && !TAILQ_EMPTY(&proposals->queue)) {
		struct proposing *proposing = TAILQ_FIRST(&proposals->queue);

		TAILQ_REMOVE(&proposals->queue, proposing, link);
		proposals->count--;
		proposals->running = proposing;
		if (keyd_call_is_abandoned(proposing->call, &proposing->proposal.problem))
			propose_end(proposing);
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
	struct proposing *at = TAILQ_FIRST(&proposals->queue);
	while (at && (!proposing->call->scheduler || at->call->scheduler))
		at = TAILQ_NEXT(at, link);
	if (at)
		TAILQ_INSERT_BEFORE(at, proposing, link);
	else
		TAILQ_INSERT_TAIL(&proposals->queue, proposing, link);
	proposals->count++;
	propose_start(proposals);
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
		propose_drop(proposing);
	}
	keyd_tables_release(proposals->tables);
	free(proposals);
}
