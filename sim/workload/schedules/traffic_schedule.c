/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applications that do what a schedule says (heddle/analysis/schedule.h). An operation that may
 * start needs its cpu. Those that find it busy wait for it in the order in which they came. Only a
 * calculation keeps it busy.
 */
#include "chakra.h"
#include "traffic.h"
#include "traffic_ranks.h"

#include <errno.h>
#include <heddle/analysis/schedule.h>
#include <inttypes.h>
#include <stdlib.h>

struct cpu {
	uint32_t first, last; /* operations that wait for it, or HD_NONE */
	bool busy;
};

struct run_rank {
	uint32_t left; /* operations that have not ended */
	uint32_t busy; /* cpus that calculate */
	uint64_t since, calculated; /* ps: when the first of them began; until then */
	uint64_t ended;
};

struct run_job {
	const uint32_t *hosts;
	struct hd_schedule_match *match;
	uint32_t *waits; /* [operation_count] 0: may start or has started, HD_NONE: has ended */
	uint32_t *next; /* [operation_count] of a queue */
	uint32_t first, last; /* the queue of operations that may start */
	struct cpu *cpus; /* [rank_count * cpu_count] */
	struct run_rank *ranks;
	uint32_t left; /* ranks that have not ended */
	uint64_t active; /* messages on their way, and calculations */
	uint64_t done, messages, untaken;
};

struct run {
	struct hd_traffic_part *part;
	struct hd_schedule *schedule;
	uint64_t unit, eager; /* ps; bytes */
	uint32_t job_count, jobs_ended;
	struct run_job *jobs;
	uint32_t *job_of, *rank_of; /* [endpoints] HD_NONE: none */
};

#define NANOSECOND 1000u /* ps */
#define OPERATION_BITS 31
#define OPERATION_MASK ((UINT64_C(1) << OPERATION_BITS) - 1)
#define JOB_MASK UINT64_C(0xFFFF)
#define AGAIN (UINT64_C(1) << 47)

static uint64_t token_of(uint32_t job, uint32_t operation)
{
	return (uint64_t)job << OPERATION_BITS | operation;
}

static uint32_t job_of(uint64_t token)
{
	return (uint32_t)(token >> OPERATION_BITS & JOB_MASK);
}

static void schedule_append(struct run_job *job, uint32_t *first, uint32_t *last,
			    uint32_t operation)
{
	job->next[operation] = HD_NONE;
	if (*first == HD_NONE)
		*first = operation;
	else
		job->next[*last] = operation;
	*last = operation;
}

static uint32_t take_first(struct run_job *job, uint32_t *first)
{
	uint32_t operation = *first;

	if (operation != HD_NONE)
		*first = job->next[operation];
	return operation;
}

/* Those that wait for the start, or for the end, of an operation wait for one less. */
static void schedule_release(struct run *run, struct run_job *job, uint32_t operation,
			     uint32_t started)
{
	const struct hd_schedule *schedule = run->schedule;
	uint32_t end = schedule->operations[operation + 1].edge;

	for (uint32_t e = schedule->operations[operation].edge; e < end; e++) {
		uint32_t after = schedule->edges[e];
		if ((after & HD_SCHEDULE_STARTED) == started &&
		    !--job->waits[after & ~HD_SCHEDULE_STARTED])
			schedule_append(job, &job->first, &job->last, after & ~HD_SCHEDULE_STARTED);
	}
}

static void schedule_finish(struct run *run, struct run_job *job, uint32_t operation)
{
	struct run_rank *rank = &job->ranks[run->schedule->operations[operation].rank];

	job->waits[operation] = HD_NONE;
	job->done++;
	schedule_release(run, job, operation, 0);
	if (--rank->left)
		return;
	rank->ended = traffic_now(run->part);
	if (!--job->left && ++run->jobs_ended == run->job_count)
		traffic_finish(run->part);
}

static bool is_eager(const struct run *run, uint32_t send)
{
	return run->schedule->operations[send].amount <= run->eager;
}

/* A receive has the message of a send. */
static void meet(struct run *run, struct run_job *job, uint32_t send, uint32_t receive)
{
	job->untaken--;
	schedule_finish(run, job, receive);
	if (!is_eager(run, send))
		schedule_finish(run, job, send);
}

static void schedule_arrive(struct run *run, struct run_job *job, uint32_t send)
{
	uint32_t receive = hd_schedule_arrive(job->match, send);

	job->untaken++;
	if (receive != HD_NONE)
		meet(run, job, send, receive);
}

static void start_send(struct run *run, uint32_t index, uint32_t send)
{
	struct run_job *job = &run->jobs[index];
	const struct hd_schedule_operation *operation = &run->schedule->operations[send];
	uint32_t from = job->hosts[operation->rank], to = job->hosts[operation->peer];
	uint64_t bytes = operation->amount ? operation->amount : 1;

	job->messages++;
	if (from == to) { /* memory only */
		if (is_eager(run, send))
			schedule_finish(run, job, send);
		schedule_arrive(run, job, send);
		return;
	}
	struct hd_sim_message message = traffic_message(run->part, from, to, bytes);
	job->active++;
	traffic_send(run->part, &message, token_of(index, send));
}

static void start_receive(struct run *run, struct run_job *job, uint32_t receive)
{
	uint32_t send = hd_schedule_receive(job->match, receive);

	if (send != HD_NONE)
		meet(run, job, send, receive);
}

/* Calculates. False: it takes no time. */
static bool start_calculation(struct run *run, uint32_t index, uint32_t operation)
{
	const struct hd_schedule_operation *calculation = &run->schedule->operations[operation];
	struct run_job *job = &run->jobs[index];
	struct run_rank *rank = &job->ranks[calculation->rank];
	uint64_t now = traffic_now(run->part), time = calculation->amount * run->unit;

	if (!time)
		return false;
	if (!rank->busy++)
		rank->since = now;
	job->active++;
	traffic_wake(run->part, now + time, token_of(index, operation));
	return true;
}

static struct cpu *cpu_of(const struct run *run, const struct run_job *job, uint32_t operation)
{
	const struct hd_schedule_operation *of = &run->schedule->operations[operation];

	return &job->cpus[(size_t)of->rank * run->schedule->cpu_count + of->cpu];
}

static void schedule_start(struct run *run, uint32_t index, uint32_t operation)
{
	struct run_job *job = &run->jobs[index];

	schedule_release(run, job, operation, HD_SCHEDULE_STARTED);
	switch ((enum hd_schedule_action)run->schedule->operations[operation].action) {
	case HD_SCHEDULE_CALCULATE:
		if (start_calculation(run, index, operation))
			cpu_of(run, job, operation)->busy = true;
		else
			schedule_finish(run, job, operation);
		break;
	case HD_SCHEDULE_SEND:
		start_send(run, index, operation);
		break;
	case HD_SCHEDULE_RECEIVE:
		start_receive(run, job, operation);
		break;
	}
}

/* Starts all that may start; nothing calls it from within. A job stands still if nothing is on its
 * way then. */
static void proceed(struct run *run, uint32_t index)
{
	struct run_job *job = &run->jobs[index];
	struct hd_error err = {""};

	while (!run->part->traffic->rc) {
		uint32_t operation = take_first(job, &job->first);
		if (operation == HD_NONE)
			break;
		struct cpu *cpu = cpu_of(run, job, operation);
		if (cpu->busy)
			schedule_append(job, &cpu->first, &cpu->last, operation);
		else
			schedule_start(run, index, operation);
	}
	if (job->left && !job->active && !run->part->traffic->rc) {
		int rc = hd_schedule_deadlock(run->schedule, job->waits, &err);
		traffic_fail(run->part, rc, &err);
	}
}

static void end_calculation(struct run *run, uint32_t index, uint32_t operation)
{
	struct run_job *job = &run->jobs[index];
	struct run_rank *rank = &job->ranks[run->schedule->operations[operation].rank];
	struct cpu *cpu = cpu_of(run, job, operation);

	job->active--;
	cpu->busy = false;
	if (!--rank->busy)
		rank->calculated += traffic_now(run->part) - rank->since;
	schedule_finish(run, job, operation);
	/* those that have waited come before those that the end lets start */
	while (!cpu->busy && cpu->first != HD_NONE && !run->part->traffic->rc)
		schedule_start(run, index, take_first(job, &cpu->first));
}

static int start_all(struct hd_traffic_part *part, struct hd_error *err)
{
	const struct run *run = part->state;

	(void)err;
	for (uint32_t j = 0; j < run->job_count; j++)
		traffic_wake(part, part->start, AGAIN | token_of(j, 0));
	return 0;
}

static void schedule_wake(struct hd_traffic_part *part, uint64_t token)
{
	struct run *run = part->state;

	if (token & AGAIN) {
		uint32_t index = job_of(token);
		struct run_job *job = &run->jobs[index];
		for (uint32_t i = 0; i < run->schedule->operation_count; i++)
			if (!job->waits[i])
				schedule_append(job, &job->first, &job->last, i);
		proceed(run, index);
		return;
	}
	end_calculation(run, job_of(token), (uint32_t)(token & OPERATION_MASK));
	proceed(run, job_of(token));
}

static void sent(struct hd_traffic_part *part, const struct hd_sim_message *message,
		 const struct hd_sim_times *times)
{
	struct run *run = part->state;
	uint32_t job = job_of(message->tag), send = (uint32_t)(message->tag & OPERATION_MASK);

	(void)times;
	if (message->tag & AGAIN || !is_eager(run, send))
		return;
	schedule_finish(run, &run->jobs[job], send);
	proceed(run, job);
}

static void delivered(struct hd_traffic_part *part, const struct hd_sim_message *message,
		      const struct hd_sim_times *times, uint32_t endpoint)
{
	struct run *run = part->state;
	uint32_t job = job_of(message->tag);

	(void)times;
	(void)endpoint;
	run->jobs[job].active--;
	schedule_arrive(run, &run->jobs[job], (uint32_t)(message->tag & OPERATION_MASK));
	proceed(run, job);
}

static void lost(struct hd_traffic_part *part, const struct hd_sim_message *message,
		 const struct hd_sim_times *times, uint32_t endpoint)
{
	struct hd_sim_message again = *message;

	(void)times;
	(void)endpoint;
	traffic_send(part, &again, message->tag | AGAIN);
}

static int check_amounts(const struct run *run, struct hd_error *err)
{
	const struct hd_schedule *schedule = run->schedule;
	uint64_t most = run->unit ? (UINT64_C(1) << 60) / run->unit : UINT64_MAX;
	char place[HD_ERROR_TEXT / 2];

	for (uint32_t i = 0; i < schedule->operation_count; i++)
		if (schedule->operations[i].action == HD_SCHEDULE_CALCULATE &&
		    schedule->operations[i].amount > most)
			return hd_error_set(
			    err, -ERANGE, "%s: a calculation of more than %" PRIu64 " units",
			    hd_schedule_place(schedule, i, place, sizeof(place)), most);
	return 0;
}

static int read_trace(struct run *run, const struct hd_options *options, struct hd_error *err)
{
	const char *path = hd_options_get(options, "trace")->text;
	static const char prefix[] = "file:";

	if (strncmp(path, prefix, strlen(prefix)) != 0)
		return hd_error_set(err, -EINVAL, "option 'trace': '%s': expected file:PATH", path);
	path += strlen(prefix);
	return run->part->kind == &traffic_chakra
		   ? chakra_read(path, (uint32_t)hd_options_get(options, "operations")->number,
				 &run->schedule, err)
		   : hd_schedule_read_goal(path, &run->schedule, err);
}

static int schedule_create(struct hd_traffic_part *part, const struct hd_options *options,
			   struct hd_error *err)
{
	struct run *run = hd_arena_alloc(&part->traffic->arena, 1, sizeof(*run));

	if (!run)
		return hd_error_no_memory(err);
	part->state = run;
	run->part = part;
	run->job_count = (uint32_t)hd_options_get(options, "applications")->number;
	run->unit = part->kind == &traffic_chakra ? NANOSECOND : traffic_time(options, "calc");
	run->eager = traffic_size(options, "eager");
	int rc = read_trace(run, options, err);
	if (!rc)
		rc = check_amounts(run, err);
	bool random = !hd_options_get(options, "placement")->number;
	if (rc)
		return rc;
	uint32_t wanted = run->schedule->rank_count;
	struct rank_job *jobs = NULL;
	rc = ranks_place(run->part, run->job_count, random, &jobs, err);
	if (rc)
		return rc;
	if (wanted > jobs[0].count)
		return hd_error_set(err, -EINVAL,
				    "%s has %" PRIu32 " ranks, but each application has %" PRIu32
				    " hosts",
				    run->schedule->file, wanted, jobs[0].count);
	run->jobs = hd_arena_alloc(&run->part->traffic->arena, run->job_count, sizeof(*run->jobs));
	if (!run->jobs)
		return hd_error_no_memory(err);
	for (uint32_t j = 0; !rc && j < run->job_count; j++) {
		const struct hd_schedule *schedule = run->schedule;
		struct hd_arena *arena = &run->part->traffic->arena;
		struct run_job *job = &run->jobs[j];
		size_t cpus = (size_t)schedule->rank_count * schedule->cpu_count;

		job->hosts = jobs[j].hosts;
		job->first = HD_NONE;
		job->waits = hd_arena_alloc(arena, schedule->operation_count, sizeof(*job->waits));
		job->next = hd_arena_alloc(arena, schedule->operation_count, sizeof(*job->next));
		job->cpus = hd_arena_alloc(arena, cpus, sizeof(*job->cpus));
		job->ranks = hd_arena_alloc(arena, schedule->rank_count, sizeof(*job->ranks));
		if (hd_arena_check(arena))
			return hd_error_no_memory(err);
		hd_schedule_waits(schedule, job->waits);
		for (size_t i = 0; i < cpus; i++)
			job->cpus[i].first = HD_NONE;
		for (uint32_t r = 0; r < schedule->rank_count; r++) {
			job->ranks[r].left = schedule->count[r];
			job->left += schedule->count[r] > 0;
		}
		rc = hd_schedule_match_new(schedule, &job->match, err);
	}
	return rc;
}

static void release_run(struct hd_traffic_part *part)
{
	struct run *run = part->state;

	if (!run)
		return;
	for (uint32_t j = 0; run->jobs && j < run->job_count; j++)
		hd_schedule_match_free(run->jobs[j].match);
	hd_schedule_free(run->schedule);
}

static int schedule_list(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
			 struct hd_error *err)
{
	const struct run *run = part->state;
	uint32_t ranks = run->schedule->rank_count;
	uint32_t *seen = malloc(ranks * sizeof(*seen));
	int rc = 0;

	if (!seen)
		return hd_error_no_memory(err);
	for (uint32_t j = 0; !rc && j < run->job_count; j++) {
		memset(seen, 0, ranks * sizeof(*seen));
		for (uint32_t r = 0; !rc && r < ranks; r++) {
			/* The peers of a rank, each once. `seen` has the number of the last rank that had a peer, and 1. */
			const struct run_job *job = &run->jobs[j];
			const struct hd_schedule *schedule = run->schedule;
			uint32_t end = schedule->base[r] + schedule->count[r];
			for (uint32_t i = schedule->base[r]; !rc && i < end; i++) {
				const struct hd_schedule_operation *operation =
				    &schedule->operations[i];
				if (operation->action != HD_SCHEDULE_SEND || operation->peer == r ||
				    seen[operation->peer] == r + 1)
					continue;
				seen[operation->peer] = r + 1;
				rc =
				    traffic_visit(run->part, job->hosts[r],
						  job->hosts[operation->peer], visit, context, err);
			}
		}
	}
	free(seen);
	return rc;
}

static double schedule_progress(const struct hd_traffic_part *part)
{
	const struct run *run = part->state;
	uint64_t done = 0;

	for (uint32_t j = 0; j < run->job_count; j++)
		done += run->jobs[j].done;
	return (double)done / ((double)run->schedule->operation_count * run->job_count);
}

static void schedule_figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct run *run = part->state;
	double second = (double)HD_SIM_SECOND;

	for (uint32_t j = 0; j < run->job_count; j++) {
		const struct run_job *job = &run->jobs[j];
		uint64_t from = run->part->start, sum = 0;
		uint64_t now = run->part->traffic->sim ? traffic_now(run->part) : from;
		struct rank_times times = {.messages = job->messages, .waiting = job->left};
		for (uint32_t r = 0; r < run->schedule->rank_count; r++) {
			const struct run_rank *rank = &job->ranks[r];
			if (!run->schedule->count[r])
				continue;
			uint64_t end = rank->left ? now : rank->ended;
			uint64_t total = end > from ? end - from : 0;
			uint64_t calculated =
			    rank->calculated + (rank->busy ? now - rank->since : 0);
			uint64_t spent = total > calculated ? total - calculated : 0;
			times.total = total > times.total ? total : times.total;
			times.longest = spent > times.longest ? spent : times.longest;
			sum += spent;
		}
		times.communication = sum / run->schedule->rank_count;

		const struct traffic_value values[] = {
		    {"completion", "time until the last rank ended", HD_TRAFFIC_SECONDS,
		     (double)times.total / second, "application", j},
		    {"communication", "time outside of calculation, mean of the ranks",
		     HD_TRAFFIC_SECONDS, (double)times.communication / second, "application", j},
		    {"communication-max", "the same of the slowest rank", HD_TRAFFIC_SECONDS,
		     (double)times.longest / second, "application", j},
		    {"messages", "that were sent", HD_TRAFFIC_COUNT, (double)times.messages,
		     "application", j},
		    {"untaken", "messages that came and that no receive has taken",
		     HD_TRAFFIC_COUNT, (double)run->jobs[j].untaken, "application", j},
		    {"waiting", "ranks that have not ended", HD_TRAFFIC_COUNT, times.waiting,
		     "application", j},
		};
		for (unsigned i = 0; i < TRAFFIC_COUNT(values); i++)
			traffic_report(report, &values[i]);
	}
}

#define OPTIONS                                                                                    \
	TRAFFIC_INT("applications", "that do what the trace says, each on hosts of its own", "1",  \
		    1, 65536),                                                                     \
	    TRAFFIC_CHOICE("placement", "of the ranks on hosts", "random", "random|contiguous"),   \
	    TRAFFIC_CHECKED("eager", "a send of more bytes ends when its receive has them",        \
			    "65535", hd_sim_check_size),                                           \
	    TRAFFIC_COMMON_OPTIONS("sl", "none")

static const struct hd_option goal_options[] = {
    {.name = "trace",
     .summary = "file:PATH of a GOAL trace, as text or packed by gzip",
     .type = HD_OPTION_STRING},
    TRAFFIC_CHECKED("calc", "time of one unit of calc", "1 ns", hd_sim_check_time),
    OPTIONS,
};

static const struct hd_option chakra_options[] = {
    {.name = "trace",
     .summary = "file:PREFIX of a Chakra trace: its files are PREFIX.0.et, PREFIX.1.et ...",
     .type = HD_OPTION_STRING},
    TRAFFIC_INT("operations", "the most of the trace, with the messages of collectives", "4000000",
		1, HD_SCHEDULE_OPERATIONS_MAX),
    OPTIONS,
};

#define FUNCTIONS                                                                                  \
	.finite = true, .create = schedule_create, .list = schedule_list, .start = start_all,      \
	.wake = schedule_wake, .sent = sent, .delivered = delivered, .lost = lost,                 \
	.release = release_run, .progress = schedule_progress, .figures = schedule_figures

const struct hd_traffic_kind traffic_goal = {
    .name = "goal",
    .summary = "applications that do what a GOAL trace says",
    .options = goal_options,
    .option_count = TRAFFIC_COUNT(goal_options),
    FUNCTIONS,
};

const struct hd_traffic_kind traffic_chakra = {
    .name = "chakra",
    .summary = "applications that do what a Chakra execution trace says",
    .options = chakra_options,
    .option_count = TRAFFIC_COUNT(chakra_options),
    FUNCTIONS,
};
