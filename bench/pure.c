/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-pure [-r RUNS] KIND OPTION=VALUE...
 *
 * Times Heddle's computations without OpenSM, on a generated tree. Each job runs in fresh memory,
 * as in a process that has just started, and in memory that the run before has used. Both times are
 * compared with a memset of the tables in the same kind of memory.
 */
#include "memory.h"
#include "pure_jobs.h"
#include "stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RUNS_MAX 101
#define MILLISECONDS_MAX 10e3 /* after this time a job is not run again */
#define WARM_UP_MAX 10
#define WARM_UP_MILLISECONDS 1e3
#define WARM_PAGE_FAULTS 100
#define MEGABYTE 1e6

struct measured {
	double fresh_ms, reused_ms;
	size_t growth; /* largest growth in bytes, in fresh memory */
};

struct asked {
	unsigned runs;
	const char *kind;
	char **options;
	int option_count;
};

static int fail(const char *what, const struct hd_error *err)
{
	fprintf(stderr, "heddle-bench-pure: %s: %s\n", what, err->text);
	return 1;
}

static double time_once(const struct pure_job *job, const struct pure_input *input,
			unsigned threads, int *rc, struct hd_error *err)
{
	double begin = stopwatch_now();

	*rc = job->run(job, input, threads, err);
	return stopwatch_now() - begin;
}

/* Runs the job once. *growth becomes its growth if that is more. */
static double time_fresh(const struct pure_job *job, const struct pure_input *input,
			 unsigned threads, size_t *growth, int *rc, struct hd_error *err)
{
	size_t before = memory_mark(), peak;
	double time = time_once(job, input, threads, rc, err);

	peak = memory_peak();
	if (peak > before && peak - before > *growth)
		*growth = peak - before;
	return time;
}

static int measure_fresh(const struct pure_job *job, const struct pure_input *input,
			 unsigned threads, unsigned runs, struct measured *out,
			 struct hd_error *err)
{
	double times[RUNS_MAX], end = stopwatch_now() + MILLISECONDS_MAX;
	unsigned done = 0;
	int rc = 0;

	memory_be_fresh();
	out->growth = 0;
	while (!rc && (!done || (done < runs && stopwatch_now() < end)))
		times[done++] = time_fresh(job, input, threads, &out->growth, &rc, err);
	out->fresh_ms = stopwatch_median(times, done);
	return rc;
}

/* Runs until the C library has the memory ready. For aligned blocks, a hole of exactly the right
 * size is not always enough. */
static int warm_up(const struct pure_job *job, const struct pure_input *input, unsigned threads,
		   struct hd_error *err)
{
	double end = stopwatch_now() + WARM_UP_MILLISECONDS;
	int rc = 0;

	for (unsigned i = 0; i < WARM_UP_MAX && !rc; i++) {
		size_t before = memory_page_faults();
		(void)time_once(job, input, threads, &rc, err);
		if (memory_page_faults() - before < WARM_PAGE_FAULTS || stopwatch_now() > end)
			break;
	}
	return rc;
}

static int measure_reused(const struct pure_job *job, const struct pure_input *input,
			  unsigned threads, unsigned runs, struct measured *out,
			  struct hd_error *err)
{
	double times[RUNS_MAX], end = stopwatch_now() + MILLISECONDS_MAX;
	unsigned done = 0;
	int rc;

	memory_be_reused();
	rc = warm_up(job, input, threads, err);
	while (!rc && (!done || (done < runs && stopwatch_now() < end)))
		times[done++] = time_once(job, input, threads, &rc, err);
	if (!rc)
		out->reused_ms = stopwatch_median(times, done);
	return rc;
}

static int measure(const struct pure_job *job, const struct pure_input *input, unsigned threads,
		   unsigned runs, struct measured *out, struct hd_error *err)
{
	int rc = measure_fresh(job, input, threads, runs, out, err);

	return rc ? rc : measure_reused(job, input, threads, runs, out, err);
}

static void print_header(const struct pure_input *input)
{
	const struct hd_fabric *fabric = input->fabric;
	double fabric_bytes = (double)input->fabric_bytes, table_bytes = (double)input->table_bytes;

	printf("%u switches, %u hosts, LIDs below %u: fabric %.2f MB, tables %.2f MB\n",
	       fabric->switch_count, fabric->host_count, fabric->lid_count, fabric_bytes / MEGABYTE,
	       table_bytes / MEGABYTE);
	printf("%-28s %7s %10s %9s %10s %9s %9s %9s\n", "", "threads", "fresh ms", "x memset",
	       "reused ms", "x memset", "grows MB", "x tables");
}

static void print_row(const struct pure_job *job, unsigned threads, const struct measured *it,
		      const struct measured *reference, const struct pure_input *input)
{
	printf("%-28s %7u %10.2f %9.2f %10.2f %9.2f %9.2f %9.2f\n", job->name, threads,
	       it->fresh_ms, it->fresh_ms / reference->fresh_ms, it->reused_ms,
	       it->reused_ms / reference->reused_ms, (double)it->growth / MEGABYTE,
	       (double)it->growth / (double)input->table_bytes);
	fflush(stdout);
}

static int run_jobs(const struct pure_input *input, unsigned runs)
{
	struct measured it, reference = {0};
	struct hd_error err;

	print_header(input);
	for (unsigned i = 0; i < pure_job_count; i++) {
		const struct pure_job *job = &pure_jobs[i];
		if (job->on_dump && !input->dump)
			continue;
		for (unsigned threads = 1; threads <= (job->threaded ? 2 : 1); threads++) {
			if (measure(job, input, threads, runs, &it, &err))
				return fail(job->name, &err);
			if (!i)
				reference = it;
			print_row(job, threads, &it, &reference, input);
		}
	}
	return 0;
}

static int generate_with(const struct hd_generator *generator, const struct asked *asked,
			 struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	int rc = 0;

	for (int i = 0; i < asked->option_count && !rc; i++)
		rc = hd_options_set_pair(options, asked->options[i], err);
	if (!rc)
		rc = hd_options_complete(options, err);
	return rc ? rc : generator->generate(options, out, err);
}

static int generate(const struct asked *asked, struct hd_fabric **out, struct hd_error *err)
{
	const struct hd_generator *generator = hd_generator_find(asked->kind);
	struct hd_options *options;
	int rc;

	if (!generator)
		return hd_error_set(err, -1, "unknown kind of fabric");
	options = hd_options_new(generator->options, generator->option_count);
	if (!options)
		return hd_error_no_memory(err);
	rc = generate_with(generator, asked, options, out, err);
	hd_options_free(options);
	return rc;
}

static int run(const struct asked *asked)
{
	size_t before = memory_in_use();
	struct pure_input input;
	struct hd_fabric *fabric;
	struct hd_error err;
	int rc;

	if (generate(asked, &fabric, &err))
		return fail(asked->kind, &err);
	if (pure_input_make(fabric, memory_in_use() - before, &input, &err))
		return fail(asked->kind, &err);
	rc = run_jobs(&input, asked->runs);
	pure_input_release(&input);
	return rc;
}

int main(int argc, char **argv)
{
	struct asked asked = {.runs = 5};
	int option;

	while ((option = getopt(argc, argv, "r:")) == 'r')
		asked.runs = (unsigned)strtoul(optarg, NULL, 10);
	if (option != -1 || optind == argc || !asked.runs || asked.runs > RUNS_MAX) {
		fprintf(stderr, "usage: heddle-bench-pure [-r 1..%d] KIND OPTION=VALUE...\n",
			RUNS_MAX);
		return 2;
	}
	asked.kind = argv[optind];
	asked.options = argv + optind + 1;
	asked.option_count = argc - optind - 1;
	return run(&asked);
}
