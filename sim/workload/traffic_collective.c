/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A collective operation of all hosts, again and again, and how long it takes. The ranks meet before
 * each, without messages. */
#include "traffic_draw.h"
#include "traffic_ranks.h"

#include <inttypes.h>

struct measured {
	double sum, worst; /* ps; of single ranks */
	uint64_t count;
};

struct caller {
	uint32_t call, at;
	uint64_t begun;
};

struct collective {
	struct ranks *ranks; /* first */
	struct hd_traffic_part *part;
	enum exchange exchange;
	struct traffic_sizes sizes;
	uint32_t repeat, application_count, root;
	const struct rank_job *jobs;
	struct caller **callers; /* by job and rank */
	struct measured *measured; /* by size */
	uint64_t finished;
};

/* Calls go through the sizes, each `repeat` times. */
static uint32_t call_count(const struct collective *collective)
{
	return collective->sizes.count * collective->repeat;
}

static void collective_next(void *context, uint32_t job, uint32_t rank, struct rank_step *step)
{
	static const enum rank_action actions[] = {RANK_MEET, RANK_MARK, RANK_EXCHANGE, RANK_MARK};
	struct collective *collective = context;
	struct caller *caller = &collective->callers[job][rank];

	*step = (struct rank_step){.offset = HD_NONE};
	if (caller->call == call_count(collective))
		return;
	step->action = actions[caller->at];
	step->tag = caller->at++ == 3;
	step->exchange = collective->exchange;
	step->peer = collective->root;
	step->bytes = collective->sizes.list[caller->call / collective->repeat];
}

static void collective_mark(void *context, uint32_t job, uint32_t rank, uint32_t tag, uint64_t now)
{
	struct collective *collective = context;
	struct caller *caller = &collective->callers[job][rank];
	struct measured *measured = &collective->measured[caller->call / collective->repeat];

	if (!tag) {
		caller->begun = now;
		return;
	}
	double time = (double)(now - caller->begun);
	measured->sum += time;
	measured->worst = time > measured->worst ? time : measured->worst;
	measured->count++;
	collective->finished++;
	caller->call++;
	caller->at = 0;
}

static int collective_create(struct hd_traffic_part *part, const struct hd_options *options,
			     struct hd_error *err)
{
	struct collective *collective =
	    hd_arena_alloc(&part->traffic->arena, 1, sizeof(*collective));
	struct rank_job *jobs = NULL;

	if (!collective)
		return hd_error_no_memory(err);
	part->state = collective;
	collective->part = part;
	struct rank_script script = {collective_next, NULL, NULL, collective_mark, collective};
	collective->exchange = (enum exchange)hd_options_get(options, "operation")->number;
	collective->repeat = (uint32_t)hd_options_get(options, "repeat")->number;
	collective->root = (uint32_t)hd_options_get(options, "root")->number;
	collective->application_count = (uint32_t)hd_options_get(options, "applications")->number;
	int rc = draw_sizes_parse(hd_options_get(options, "size")->text, &collective->sizes, err);
	if (!rc && !collective->sizes.count)
		rc =
		    hd_error_set(err, -EINVAL, "option 'size': expected a size or a list of sizes");

	if (!rc)
		rc = ranks_place(part, collective->application_count,
				 hd_options_get(options, "placement")->number, &jobs, err);
	if (!rc) {
		struct hd_arena *arena = &collective->part->traffic->arena;
		uint32_t jobs_count = collective->application_count;

		collective->jobs = jobs;
		collective->measured =
		    hd_arena_alloc(arena, collective->sizes.count, sizeof(*collective->measured));
		collective->callers = hd_arena_alloc(arena, jobs_count, sizeof(struct caller *));
		for (uint32_t j = 0; collective->callers && j < jobs_count; j++)
			collective->callers[j] =
			    hd_arena_alloc(arena, jobs[j].count, sizeof(struct caller));
		if (hd_arena_check(arena))
			return hd_error_no_memory(err);
		if (collective->root >= jobs[0].count)
			return hd_error_set(err, -ERANGE,
					    "option 'root' is %" PRIu32 ", but there are %" PRIu32
					    " ranks",
					    collective->root, jobs[0].count);
	}
	return rc ? rc
		  : ranks_new(part, &script, jobs, collective->application_count,
			      &collective->ranks, err);
}

static int collective_list(const struct hd_traffic_part *part, hd_traffic_visit visit,
			   void *context, struct hd_error *err)
{
	const struct collective *collective = part->state;
	int rc = 0;

	for (uint32_t j = 0; j < collective->application_count; j++)
		for (uint32_t i = 0; !rc && i < collective->sizes.count; i++)
			rc = ranks_list_exchange(part, &collective->jobs[j], collective->exchange,
						 collective->root, collective->sizes.list[i], visit,
						 context, err);
	return rc;
}

static double collective_progress(const struct hd_traffic_part *part)
{
	const struct collective *collective = part->state;

	return (double)collective->finished /
	       ((double)call_count(collective) * collective->jobs[0].count *
		collective->application_count);
}

static void collective_figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct collective *collective = part->state;

	for (uint32_t i = 0; i < collective->sizes.count; i++) {
		const struct measured *measured = &collective->measured[i];
		double count = measured->count ? (double)measured->count : 1;
		const struct traffic_value values[] = {
		    {"time", "mean time of an operation, over ranks and repetitions",
		     HD_TRAFFIC_SECONDS, measured->sum / count / (double)HD_SIM_SECOND, "bytes",
		     collective->sizes.list[i]},
		    {"time-max", "longest time of a rank", HD_TRAFFIC_SECONDS,
		     measured->worst / (double)HD_SIM_SECOND, "bytes", collective->sizes.list[i]},
		};
		for (unsigned k = 0; k < TRAFFIC_COUNT(values); k++)
			traffic_report(report, &values[k]);
	}
}

static const struct hd_option options[] = {
    TRAFFIC_CHOICE("operation", "and its algorithm; without one, the size decides as in MPICH",
		   "all-to-all",
		   "barrier|all-to-all|all-to-all-linear|all-to-all-pairwise|all-to-all-bruck|"
		   "all-reduce|all-reduce-doubling|all-reduce-ring|all-gather|all-gather-doubling|"
		   "all-gather-ring|broadcast|reduce|gather|scatter"),
    TRAFFIC_CHECKED("size",
		    "of what a rank gives to each other one, or of the whole vector; "
		    "several sizes are measured one after the other",
		    "32 KiB", draw_sizes_check),
    TRAFFIC_INT("repeat", "operations of each size", "1", 1, 1000000),
    TRAFFIC_INT("root", "rank from which or to which trees lead", "0", 0, 1000000),
    TRAFFIC_INT("applications", "that share the hosts equally", "1", 1, 65536),
    TRAFFIC_CHOICE("placement", "of the ranks on hosts", "contiguous", "contiguous|random"),
    TRAFFIC_COMMON_OPTIONS("sl", "none"),
};

const struct hd_traffic_kind traffic_collective = {
    .name = "collective",
    .summary = "a collective operation of MPI, such as all-to-all, by its usual algorithm",
    .options = options,
    .option_count = TRAFFIC_COUNT(options),
    .create = collective_create,
    .list = collective_list,
    RANKS_FUNCTIONS,
    .progress = collective_progress,
    .figures = collective_figures,
};
