/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applications that do what an MPI trace says (traffic_program.h). */
#include "traffic_draw.h"
#include "traffic_keys.h"
#include "traffic_program.h"
#include "traffic_ranks.h"

#include <heddle/base/text.h>
#include <inttypes.h>

struct trace_rank {
	uint32_t at, depth; /* next operation; open repeats */
	uint64_t turns[PROGRAM_DEPTH]; /* that are left of them */
	uint64_t actions;
};

struct trace_job {
	uint32_t *keys; /* [key_count] numbers of keys */
	struct trace_rank *ranks;
};

struct trace {
	struct ranks *ranks; /* first */
	struct hd_traffic_part *part;
	struct program *program;
	uint32_t job_count;
	const struct rank_job *jobs;
	struct trace_job *state;
	struct keys_settings keys;
	uint32_t *flow; /* [operation_count * ranks] of a key; without keys NULL */
	uint64_t actions; /* of one rank that takes part in everything */
	uint64_t actions_done;
};

/* The flow that an earlier message of the same rank to the same partner has; HD_NONE: a new one. */
static uint32_t known_flow(const struct trace *trace, uint32_t request, uint32_t operation,
			   uint32_t rank, uint32_t peer)
{
	const struct program *program = trace->program;
	uint32_t ranks = trace->jobs[0].count;

	for (uint32_t i = request + 1; i < operation; i++)
		if (trace->flow[(size_t)i * ranks + rank] != HD_NONE &&
		    program_peer(program, &program->operations[i], rank, ranks) == peer)
			return trace->flow[(size_t)i * ranks + rank];
	return HD_NONE;
}

/* The flows between RODRequest and RODDone, by ranks; returns their number. */
static uint32_t number_flows(struct trace *trace, uint32_t request, struct hd_key_flow *flows)
{
	const struct program *program = trace->program;
	uint32_t ranks = trace->jobs[0].count, count = 0;

	for (uint32_t i = request + 1; i < program->operations[request].partner; i++) {
		const struct program_operation *operation = &program->operations[i];
		for (uint32_t r = 0; operation->action == PROGRAM_SEND && r < ranks; r++) {
			uint32_t peer = program_peer(program, operation, r, ranks);
			uint32_t *flow = &trace->flow[(size_t)i * ranks + r];
			if (peer == HD_NONE || peer == r || !program_takes_part(program, i, r))
				continue;
			*flow = known_flow(trace, request, i, r, peer);
			if (*flow != HD_NONE)
				continue;
			*flow = count;
			flows[count++] = (struct hd_key_flow){r, peer};
		}
	}
	return count;
}

static int add_key(struct trace *trace, uint32_t request, struct hd_key_flow *flows,
		   struct hd_key_flow *on_hosts, struct hd_error *err)
{
	const struct program_operation *operation = &trace->program->operations[request];
	uint32_t count = number_flows(trace, request, flows);
	int rc = 0;

	for (uint32_t j = 0; !rc && j < trace->job_count; j++) {
		const uint32_t *hosts = trace->jobs[j].hosts;
		for (uint32_t i = 0; i < count; i++)
			on_hosts[i] = (struct hd_key_flow){hosts[flows[i].source],
							   hosts[flows[i].destination]};
		rc = keys_add(trace->part, j, &trace->keys, on_hosts, count,
			      &trace->state[j].keys[operation->key], err);
	}
	return rc ? hd_error_prefix(err, rc, "key %s", trace->program->keys[operation->key]) : 0;
}

static int make_keys(struct trace *trace, struct hd_error *err)
{
	struct hd_arena *arena = &trace->part->traffic->arena;
	const struct program *program = trace->program;
	size_t all = (size_t)program->operation_count * trace->jobs[0].count;
	struct hd_key_flow *flows = hd_arena_alloc(arena, all, sizeof(*flows));
	struct hd_key_flow *on_hosts = hd_arena_alloc(arena, all, sizeof(*on_hosts));
	int rc = 0;

	trace->flow = hd_arena_alloc(arena, all, sizeof(*trace->flow));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (size_t i = 0; i < all; i++)
		trace->flow[i] = HD_NONE;
	for (uint32_t i = 0; !rc && i < program->operation_count; i++)
		if (program->operations[i].action == PROGRAM_REQUEST)
			rc = add_key(trace, i, flows, on_hosts, err);
	return rc;
}

/* Goes to where a repeat or an `only` leads; false: the operation is none of them. */
static bool follow_block(const struct trace *trace, uint32_t rank, struct trace_rank *state)
{
	const struct program_operation *operations = trace->program->operations;
	const struct program_operation *operation = &operations[state->at];

	switch (operation->action) {
	case PROGRAM_REPEAT:
		state->turns[state->depth++] = operation->amount;
		state->at++;
		return true;
	case PROGRAM_ONLY:
		state->at = program_in_ranges(trace->program, operation, rank)
				? state->at + 1
				: operation->partner + 1;
		return true;
	case PROGRAM_END:
		if (operations[operation->partner].action == PROGRAM_REPEAT &&
		    --state->turns[state->depth - 1]) {
			state->at = operation->partner + 1;
			return true;
		}
		state->depth -= operations[operation->partner].action == PROGRAM_REPEAT;
		state->at++;
		return true;
	default:
		return false;
	}
}

static uint64_t calculation(const struct program_operation *operation, uint64_t *random)
{
	double deviation = (double)operation->deviation / 1e6;

	if (!operation->deviation)
		return operation->amount;
	return (uint64_t)((double)operation->amount *
			      (1 + deviation * (2 * draw_uniform(random) - 1)) +
			  0.5);
}

/* The offset of a message while its key is in force. */
static uint32_t offset_of(const struct trace *trace, uint32_t job, uint32_t rank, uint32_t at)
{
	const struct program *program = trace->program;
	uint32_t flow =
	    trace->flow ? trace->flow[(size_t)at * trace->jobs[0].count + rank] : HD_NONE;
	uint32_t request = at;

	if (flow == HD_NONE)
		return HD_NONE;
	while (program->operations[request].action != PROGRAM_REQUEST)
		request--;
	return keys_offset(trace->part->traffic->keys,
			   trace->state[job].keys[program->operations[request].key], flow);
}

/* False: the rank has nothing to do here. */
static bool take(const struct trace *trace, uint32_t job, uint32_t rank, struct trace_rank *state,
		 struct rank_step *step)
{
	static const enum rank_action actions[] = {
	    [PROGRAM_CALCULATE] = RANK_CALCULATE, [PROGRAM_SEND] = RANK_SEND,
	    [PROGRAM_RECEIVE] = RANK_RECEIVE,	  [PROGRAM_WAIT] = RANK_WAIT,
	    [PROGRAM_EXCHANGE] = RANK_EXCHANGE,	  [PROGRAM_REQUEST] = RANK_REQUEST,
	    [PROGRAM_DONE] = RANK_DONE,
	};
	uint32_t at = state->at++;
	const struct program_operation *operation = &trace->program->operations[at];
	bool message = operation->action == PROGRAM_SEND || operation->action == PROGRAM_RECEIVE;
	bool key = operation->action == PROGRAM_REQUEST || operation->action == PROGRAM_DONE;

	*step = (struct rank_step){.action = actions[operation->action],
				   .blocks = operation->blocks,
				   .exchange = operation->exchange,
				   .peer = operation->root,
				   .tag = key ? operation->key : operation->tag,
				   .offset = HD_NONE,
				   .bytes = operation->amount};
	if (operation->action == PROGRAM_CALCULATE)
		step->time = calculation(operation, ranks_random(trace->ranks, job, rank));
	if (message) {
		step->peer = program_peer(trace->program, operation, rank, trace->jobs[job].count);
		step->offset = offset_of(trace, job, rank, at);
	}
	return message ? step->peer != HD_NONE : !key || trace->keys.mode;
}

static void next(void *context, uint32_t job, uint32_t rank, struct rank_step *step)
{
	struct trace *trace = context;
	struct trace_rank *state = &trace->state[job].ranks[rank];

	while (state->at < trace->program->operation_count) {
		if (follow_block(trace, rank, state))
			continue;
		state->actions++;
		trace->actions_done++;
		if (take(trace, job, rank, state, step))
			return;
	}
	trace->actions_done += trace->actions - state->actions; /* of blocks of others */
	state->actions = trace->actions;
	*step = (struct rank_step){.action = RANK_END};
}

static int request(void *context, uint32_t job, uint32_t tag, uint64_t *delay, struct hd_error *err)
{
	struct trace *trace = context;

	*delay = trace->keys.delay;
	return keys_begin(trace->part->traffic->keys, trace->state[job].keys[tag], err);
}

static void done(void *context, uint32_t job, uint32_t tag)
{
	struct trace *trace = context;

	keys_end(trace->part->traffic->keys, trace->state[job].keys[tag]);
}

static int read_program(struct trace *trace, const char *path, struct hd_error *err)
{
	static const char prefix[] = "file:";
	struct hd_text text;

	if (strncmp(path, prefix, strlen(prefix)) != 0)
		return hd_error_set(err, -EINVAL, "option 'trace': '%s': expected file:PATH", path);
	path += strlen(prefix);
	int rc = hd_text_open(path, &text, err);
	if (rc)
		return rc;
	rc = program_read(&trace->part->traffic->arena, text.bytes, text.length, path,
			  &trace->program, err);
	hd_text_close(&text);
	return rc;
}

static void count_actions(struct trace *trace)
{
	const struct program *program = trace->program;
	uint64_t turns[PROGRAM_DEPTH + 1] = {1};
	uint32_t depth = 0;

	for (uint32_t i = 0; i < program->operation_count; i++) {
		const struct program_operation *operation = &program->operations[i];
		if (operation->action == PROGRAM_REPEAT || operation->action == PROGRAM_ONLY) {
			turns[depth + 1] = turns[depth];
			if (operation->action == PROGRAM_REPEAT)
				turns[depth + 1] *= operation->amount;
			depth++;
		} else if (operation->action == PROGRAM_END) {
			depth--;
		} else {
			trace->actions += turns[depth];
		}
	}
}

static int check_roots(const struct trace *trace, struct hd_error *err)
{
	for (uint32_t i = 0; i < trace->program->operation_count; i++)
		if (trace->program->operations[i].root >= trace->jobs[0].count)
			return hd_error_set(
			    err, -ERANGE,
			    "the root is %" PRIu32 ", but there are %" PRIu32 " ranks",
			    trace->program->operations[i].root, trace->jobs[0].count);
	return 0;
}

static int make_jobs(struct trace *trace, const struct hd_options *options, struct hd_error *err)
{
	struct hd_arena *arena = &trace->part->traffic->arena;
	uint32_t wanted = trace->program->ranks;
	struct rank_job *jobs = NULL;
	int rc = ranks_place(trace->part, trace->job_count,
			     !hd_options_get(options, "placement")->number, &jobs, err);

	if (rc)
		return rc;
	if (wanted > jobs[0].count)
		return hd_error_set(err, -EINVAL,
				    "the trace has %" PRIu32 " ranks, but each application has "
				    "%" PRIu32 " hosts",
				    wanted, jobs[0].count);
	trace->jobs = jobs;
	trace->state = hd_arena_alloc(arena, trace->job_count, sizeof(*trace->state));
	for (uint32_t j = 0; trace->state && j < trace->job_count; j++) {
		jobs[j].count = wanted ? wanted : jobs[j].count;
		trace->state[j].keys =
		    hd_arena_alloc(arena, trace->program->key_count, sizeof(uint32_t));
		trace->state[j].ranks =
		    hd_arena_alloc(arena, jobs[j].count, sizeof(struct trace_rank));
	}
	return hd_arena_check(arena) ? hd_error_no_memory(err) : check_roots(trace, err);
}

static int create(struct hd_traffic_part *part, const struct hd_options *options,
		  struct hd_error *err)
{
	struct trace *trace = hd_arena_alloc(&part->traffic->arena, 1, sizeof(*trace));

	if (!trace)
		return hd_error_no_memory(err);
	part->state = trace;
	trace->part = part;
	trace->job_count = (uint32_t)hd_options_get(options, "applications")->number;
	keys_settings(options, &trace->keys);
	struct rank_script script = {next, request, done, NULL, trace};
	int rc = read_program(trace, hd_options_get(options, "trace")->text, err);
	if (!rc)
		rc = make_jobs(trace, options, err);
	if (!rc)
		count_actions(trace);
	if (!rc && trace->keys.mode && trace->program->key_count)
		rc = make_keys(trace, err);
	return rc ? rc
		  : ranks_new(part, &script, trace->jobs, trace->job_count, &trace->ranks, err);
}

static int list_messages(const struct trace *trace, const struct rank_job *job, uint32_t index,
			 hd_traffic_visit visit, void *context, struct hd_error *err)
{
	const struct program *program = trace->program;
	int rc = 0;

	for (uint32_t r = 0; !rc && r < job->count; r++) {
		uint32_t peer = program_peer(program, &program->operations[index], r, job->count);
		if (peer != HD_NONE && peer != r && program_takes_part(program, index, r))
			rc = traffic_visit(trace->part, job->hosts[r], job->hosts[peer], visit,
					   context, err);
	}
	return rc;
}

static int list(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
		struct hd_error *err)
{
	const struct trace *trace = part->state;
	int rc = 0;

	for (uint32_t j = 0; j < trace->job_count; j++)
		for (uint32_t i = 0; !rc && i < trace->program->operation_count; i++) {
			const struct program_operation *operation = &trace->program->operations[i];
			if (operation->action == PROGRAM_SEND)
				rc = list_messages(trace, &trace->jobs[j], i, visit, context, err);
			else if (operation->action == PROGRAM_EXCHANGE)
				rc = ranks_list_exchange(part, &trace->jobs[j], operation->exchange,
							 operation->root, operation->amount, visit,
							 context, err);
		}
	return rc;
}

static double progress(const struct hd_traffic_part *part)
{
	const struct trace *trace = part->state;

	return (double)trace->actions_done /
	       ((double)trace->actions * trace->job_count * trace->jobs[0].count);
}

static void figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct trace *trace = part->state;
	double second = (double)HD_SIM_SECOND;

	for (uint32_t j = 0; j < trace->job_count; j++) {
		struct rank_times times;
		ranks_times(trace->ranks, j, &times);
		const struct traffic_value values[] = {
		    {"completion", "time until the last rank ended", HD_TRAFFIC_SECONDS,
		     (double)times.total / second, "application", j},
		    {"communication", "time outside of calculation, mean of the ranks",
		     HD_TRAFFIC_SECONDS, (double)times.communication / second, "application", j},
		    {"communication-max", "the same of the slowest rank", HD_TRAFFIC_SECONDS,
		     (double)times.longest / second, "application", j},
		    {"messages", "that were sent", HD_TRAFFIC_COUNT, (double)times.messages,
		     "application", j},
		    {"waiting", "ranks that have not ended", HD_TRAFFIC_COUNT, times.waiting,
		     "application", j},
		};
		for (unsigned i = 0; i < TRAFFIC_COUNT(values); i++)
			traffic_report(report, &values[i]);
	}
}

static const struct hd_option options[] = {
    {.name = "trace", .summary = "file:PATH of an MPI trace", .type = HD_OPTION_STRING},
    TRAFFIC_INT("applications", "that do what the trace says, each on hosts of its own", "1", 1,
		65536),
    TRAFFIC_CHOICE("placement", "of the ranks on hosts", "random", "random|contiguous"),
    KEYS_OPTIONS,
    TRAFFIC_COMMON_OPTIONS("sl", "none"),
};

const struct hd_traffic_kind traffic_trace = {
    .name = "trace",
    .summary = "applications that do what an MPI trace says",
    .options = options,
    .option_count = TRAFFIC_COUNT(options),
    .create = create,
    .list = list,
    RANKS_FUNCTIONS,
    .progress = progress,
    .figures = figures,
};
