/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_runs.h"
#include "progress.h"
#include "sim_state.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/sim/settings.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPORT_SECONDS 0.2

static volatile sig_atomic_t signalled;

static void take_signal(int number)
{
	(void)number;
	signalled = 1;
}

void sim_runs_catch_signals(void)
{
	struct sigaction action = {.sa_handler = take_signal, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool sim_runs_interrupted(void)
{
	return signalled;
}

/* What the threads share. */
struct working {
	struct sim_runs *job;
	struct sim_state state;
	uint32_t *own_runs; /* [own_run_count] runs of this process */
	uint32_t own_run_count, done, failed_run;
	double *share; /* [runs->count] of each run that is done */
	uint64_t *in_flight; /* [runs->count] */
	double begun, reported; /* seconds */
	pthread_mutex_t lock;
	int rc;
	struct hd_error err;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- progress ---- */

static void print_time(double seconds, char *buffer, size_t size)
{
	unsigned whole = (unsigned)seconds + 1;

	if (whole < 100)
		snprintf(buffer, size, "%u s", whole);
	else if (whole < 6000)
		snprintf(buffer, size, "%u min", (whole + 30) / 60);
	else
		snprintf(buffer, size, "%.1f h", seconds / 3600);
}

/* Call it with the lock. */
static void report(struct working *working)
{
	double time = now(), share = 0;
	uint64_t packets = 0;
	char left[32] = "?";

	if (time - working->reported < REPORT_SECONDS)
		return;
	working->reported = time;
	for (uint32_t i = 0; i < working->own_run_count; i++) {
		share += working->share[working->own_runs[i]];
		packets += working->in_flight[working->own_runs[i]];
	}
	share /= working->own_run_count;
	if (share > 0.001)
		print_time((time - working->begun) * (1 - share) / share, left, sizeof(left));
	progress_update(
	    "%s: %" PRIu32 " of %" PRIu32 " runs, %.1f%%, %s left, %" PRIu64 " packets in flight",
	    working->job->title, working->done, working->own_run_count, 100 * share, left, packets);
}

static bool go_on(void *context, uint32_t run, const struct hd_scenario_progress *progress)
{
	struct working *working = context;

	if (signalled)
		return false;
	pthread_mutex_lock(&working->lock);
	if (progress->until != HD_SIM_NEVER && progress->until)
		working->share[run] = (double)progress->now / (double)progress->until;
	working->in_flight[run] = progress->in_flight;
	report(working);
	bool fine = !working->rc;
	pthread_mutex_unlock(&working->lock);
	return fine;
}

/* ---- work ---- */

static void take_result(struct working *working, uint32_t run, struct hd_record *record, int rc,
			const struct hd_error *err)
{
	struct hd_error reason;

	pthread_mutex_lock(&working->lock);
	working->job->records[run] = record;
	working->share[run] = 1;
	working->in_flight[run] = 0;
	working->done++;
	if (!rc && !record->partial) {
		rc = sim_state_add(&working->state, record, run, &reason);
		err = &reason;
	}
	/* Of several failures the first run's counts, so that the message is always the same. */
	if (rc && (!working->rc || run < working->failed_run)) {
		working->rc = rc;
		working->failed_run = run;
		working->err = *err;
	}
	report(working);
	pthread_mutex_unlock(&working->lock);
}

static void work(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct working *working = context;
	const struct hd_scenario_watch watch = {go_on, working};

	(void)worker;
	for (uint32_t i = begin; i < end; i++) {
		struct hd_record *record = NULL;
		struct hd_error err;
		if (signalled || working->rc)
			return;
		int rc = hd_scenario_run(working->job->runs, working->own_runs[i], &watch, &record,
					 &err);
		take_result(working, working->own_runs[i], record, rc, &err);
	}
}

/* Every parts-th run is for this process. */
static void choose(struct working *working)
{
	const struct sim_runs *job = working->job;

	for (uint32_t run = 0; run < job->runs->count; run++)
		if (!job->records[run] && run % job->processes->parts == job->processes->part)
			working->own_runs[working->own_run_count++] = run;
}

/* ---- between processes ---- */

/* Writes this process's records behind each other; malloc'ed. */
static char *write_own(const struct working *working, size_t *size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	for (uint32_t i = 0; stream && i < working->own_run_count; i++) {
		const struct hd_record *record = working->job->records[working->own_runs[i]];
		if (record)
			hd_record_write(record, working->own_runs[i], stream);
	}
	if (!stream || fclose(stream))
		return NULL;
	return text;
}

static int take_all(struct sim_runs *job, const char *text, size_t length, struct hd_error *err)
{
	const struct hd_text whole = {.bytes = text, .length = length, .name = "another process"};
	struct hd_lines lines = hd_lines_of(&whole);
	struct hd_record *record;
	uint32_t run;
	int more;

	while ((more = hd_record_read(&lines, &run, &record, err)) > 0) {
		if (run >= job->runs->count || job->records[run])
			hd_record_free(record);
		else
			job->records[run] = record;
	}
	return more;
}

/* All processes get all records: the texts of all are added up, each in a place of its own. */
static int exchange(struct working *working, struct hd_error *err)
{
	const struct processes *processes = working->job->processes;
	size_t own = 0, words = 0, before = 0, total = 0;
	char *text = write_own(working, &own);
	uint64_t *sizes = calloc(processes->parts, sizeof(*sizes)), *all = NULL;
	bool fine = processes_ready(processes, text && sizes);
	int rc = fine ? 0 : hd_error_no_memory(err);

	if (!rc) {
		sizes[processes->part] = own;
		rc = processes_combine(NULL, sizes, processes->parts, NULL, 0);
	}
	for (uint32_t i = 0; !rc && i < processes->parts; i++) {
		before += i < processes->part ? sizes[i] : 0;
		total += sizes[i];
	}
	words = total / sizeof(*all) + 1;
	if (!rc) {
		all = calloc(words, sizeof(*all));
		if (!processes_ready(processes, all))
			rc = hd_error_no_memory(err);
	}
	if (!rc) {
		memcpy((char *)all + before, text, own);
		rc = processes_combine(NULL, all, words, NULL, 0);
	}
	if (!rc && total)
		rc = take_all(working->job, (const char *)all, total, err);
	free(all);
	free(sizes);
	free(text);
	return rc;
}

/* ---- all of it ---- */

static void count(struct sim_runs *job)
{
	uint64_t stopped = signalled ? 1 : 0;

	if (job->processes->parts > 1)
		processes_combine(NULL, &stopped, 1, NULL, 0);
	job->interrupted = stopped;
	job->finished = 0;
	for (uint32_t run = 0; run < job->runs->count; run++)
		job->finished += job->records[run] && !job->records[run]->partial;
}

static int do_all(struct working *working, struct hd_error *err)
{
	struct sim_runs *job = working->job;
	int rc = sim_state_open(&working->state, job->state, job->processes, job->runs,
				job->records, err);

	if (!processes_ready(job->processes, !rc))
		return rc ? rc : hd_error_set(err, -EIO, "another process failed");
	for (uint32_t run = 0; run < job->runs->count; run++)
		job->kept += job->records[run] != NULL;
	choose(working);
	working->begun = now();
	if (working->own_run_count) {
		progress_begin("%s", job->title);
		hd_parallel_for(job->threads, working->own_run_count, 1, work, working);
		progress_end();
	}
	rc = working->rc;
	if (rc)
		*err = working->err;
	if (!processes_ready(job->processes, !rc))
		return rc ? rc : hd_error_set(err, -EIO, "another process failed");
	if (job->processes->parts > 1)
		rc = exchange(working, err);
	count(job);
	return rc;
}

int sim_runs_do(struct sim_runs *job, struct hd_error *err)
{
	struct working working = {.job = job, .lock = PTHREAD_MUTEX_INITIALIZER};
	size_t runs = job->runs->count;

	job->records = calloc(runs, sizeof(struct hd_record *));
	working.own_runs = calloc(runs, sizeof(*working.own_runs));
	working.share = calloc(runs, sizeof(*working.share));
	working.in_flight = calloc(runs, sizeof(*working.in_flight));
	bool memory = job->records && working.own_runs && working.share && working.in_flight;
	int rc = processes_ready(job->processes, memory) ? do_all(&working, err)
							 : hd_error_no_memory(err);
	sim_state_close(&working.state);
	free(working.own_runs);
	free(working.share);
	free(working.in_flight);
	return rc;
}

void sim_runs_release(struct sim_runs *job)
{
	for (uint32_t run = 0; job->records && run < job->runs->count; run++)
		hd_record_free(job->records[run]);
	free(job->records);
	job->records = NULL;
}
