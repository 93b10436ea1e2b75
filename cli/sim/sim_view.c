/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_view.h"
#include "interrupt.h"
#include "kept_work.h"
#include "message.h"
#include "need.h"
#include "progress.h"

#include <heddle/base/clock.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric.h>
#include <heddle/sim/settings.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "heddle-sim-runs 1 %016" PRIx64 "\n"
#define HEAD_SIZE 64

/* Takes records of a file, which end where it does or where one is cut off. A run that the job has already is left
 * alone. */
static int take_kept(void *context, const struct hd_text *text, size_t *length,
		     struct hd_error *err)
{
	const struct sim_runs *job = context;
	struct hd_lines lines = hd_lines_of(text);
	struct hd_record *record;
	uint32_t run;
	int more;

	lines.number = 1; /* the head */
	*length = 0;
	while ((more = hd_record_read(&lines, &run, &record, err)) > 0) {
		*length = (size_t)(lines.at - text->bytes);
		if (run >= job->runs->count || record->partial || job->records[run])
			hd_record_free(record);
		else
			job->records[run] = record;
	}
	return more;
}

/* The runs of a scenario: over threads and processes, with progress, kept in a file, ended by
 * SIGINT. */

#define REPORT_SECONDS 0.2

/* What the threads share. */
struct working {
	struct sim_runs *job;
	struct kept_work state;
	uint32_t *left_runs; /* [left_count] that are not kept; all processes share them */
	uint32_t left_count, done, failed_run;
	atomic_bool dealt_out; /* all of them */
	double *share; /* [runs->count] of each run that is done */
	uint64_t *in_flight; /* [runs->count] */
	double begun, reported; /* seconds */
	pthread_mutex_t lock;
	int rc;
	struct hd_error err;
};

/* Call it with the lock. */
static void report(struct working *working)
{
	double time = hd_clock_ms() / 1e3, share = 0;
	uint64_t packets = 0;
	char left[32] = "?";

	if (time - working->reported < REPORT_SECONDS)
		return;
	working->reported = time;
	for (uint32_t i = 0; i < working->left_count; i++) {
		share += working->share[working->left_runs[i]];
		packets += working->in_flight[working->left_runs[i]];
	}
	share *= (double)working->job->processes->parts / working->left_count;
	share = share > 1 ? 1 : share; /* others may be slower */
	if (share > 0.001) {
		double seconds = (time - working->begun) * (1 - share) / share;
		size_t size = sizeof(left);
		unsigned whole = (unsigned)seconds + 1;
		if (whole < 100)
			snprintf(left, size, "%u s", whole);
		else if (whole < 6000)
			snprintf(left, size, "%u min", (whole + 30) / 60);
		else
			snprintf(left, size, "%.1f h", seconds / 3600);
	}
	progress_update("%s: %" PRIu32 " of %" PRIu32 " runs%s, %.1f%%, %s left, %" PRIu64
			" packets in flight",
			working->job->title, working->done, working->left_count,
			working->job->processes->parts > 1 ? " by this process" : "", 100 * share,
			left, packets);
}

static bool show_progress(void *context, uint32_t run, const struct hd_scenario_progress *progress)
{
	struct working *working = context;

	if (interrupt_came())
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
		if (!working->state.stream)
			rc = 0;
		else {
			hd_record_write(record, run, working->state.stream);
			rc = kept_work_flush(&working->state, &reason);
		}
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
	const struct hd_scenario_watch watch = {show_progress, working};

	(void)worker;
	for (uint32_t i = begin; i < end && !working->dealt_out; i++) {
		struct hd_record *record = NULL;
		struct hd_error err;
		if (interrupt_came() || working->rc)
			return;
		uint64_t number = processes_next(working->job->processes);
		if (number >= working->left_count) {
			working->dealt_out = true;
			return;
		}
		uint32_t run = working->left_runs[number];
		int rc = hd_scenario_run(working->job->runs, run, &watch, &record, &err);
		take_result(working, run, record, rc, &err);
	}
}

static void choose(struct working *working)
{
	const struct sim_runs *job = working->job;

	for (uint32_t run = 0; run < job->runs->count; run++)
		if (!job->records[run])
			working->left_runs[working->left_count++] = run;
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

static void count(struct sim_runs *job)
{
	uint64_t stopped = interrupt_came() ? 1 : 0;

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

	/* Reads what all processes have kept, and goes on with the file of this process. */
	char head[HEAD_SIZE];
	snprintf(head, sizeof(head), HEAD, job->runs->digest);
	int rc =
	    kept_work_open(&working->state, job->state, head, job->processes, take_kept, job, err);

	rc = processes_agree(job->processes, rc, err);
	if (rc)
		return rc;
	for (uint32_t run = 0; run < job->runs->count; run++)
		job->kept += job->records[run] != NULL;
	choose(working);
	working->begun = hd_clock_ms() / 1e3;
	processes_deal(job->processes);
	if (working->left_count) {
		progress_begin("%s", job->title);
		hd_parallel_for(job->threads, working->left_count, 1, work, working);
		progress_end();
	}
	rc = working->rc;
	if (rc)
		*err = working->err;
	rc = processes_agree(job->processes, rc, err);
	if (rc)
		return rc;
	if (job->processes->parts > 1) {
		/* All processes get all records: the texts of all are added up, each in a place of its own. */
		const struct processes *processes = working->job->processes;
		size_t own = 0, words = 0, before = 0, total = 0;
		/* This process's records, behind each other. */
		char *text = NULL;
		FILE *stream = need(open_memstream(&text, &own));
		for (uint32_t i = 0; i < working->left_count; i++) {
			const struct hd_record *record =
			    working->job->records[working->left_runs[i]];
			if (record)
				hd_record_write(record, working->left_runs[i], stream);
		}
		need_close(stream);
		uint64_t *sizes = need(calloc(processes->parts, sizeof(*sizes))), *all = NULL;
		sizes[processes->part] = own;
		rc = processes_combine(NULL, sizes, processes->parts, NULL, 0);
		for (uint32_t i = 0; !rc && i < processes->parts; i++) {
			before += i < processes->part ? sizes[i] : 0;
			total += sizes[i];
		}
		words = total / sizeof(*all) + 1;
		if (!rc) {
			all = need(calloc(words, sizeof(*all)));
			memcpy((char *)all + before, text, own);
			rc = processes_combine(NULL, all, words, NULL, 0);
		}
		if (!rc && total)
			rc = take_all(working->job, (const char *)all, total, err);
		free(all);
		free(sizes);
		free(text);
	}
	count(job);
	return rc;
}

int sim_runs_do(struct sim_runs *job, struct hd_error *err)
{
	struct working working = {.job = job, .lock = PTHREAD_MUTEX_INITIALIZER};
	size_t runs = job->runs->count;

	job->records = need(calloc(runs, sizeof(struct hd_record *)));
	working.left_runs = need(calloc(runs, sizeof(*working.left_runs)));
	working.share = need(calloc(runs, sizeof(*working.share)));
	working.in_flight = need(calloc(runs, sizeof(*working.in_flight)));
	int rc = do_all(&working, err);
	kept_work_close(&working.state);
	free(working.left_runs);
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

int sim_view_make(const struct sim_runs *job, struct sim_view *view, struct hd_error *err)
{
	uint32_t points = job->runs->point_count;

	view->job = job;
	view->runs = job->runs;
	view->title = *job->runs->title ? job->runs->title : job->title;
	view->figures = need(calloc(points, sizeof(struct hd_scenario_figure *)));
	view->figure_count = need(calloc(points, sizeof(*view->figure_count)));
	int rc = 0;
	for (uint32_t i = 0; !rc && i < points; i++)
		rc = hd_scenario_figures(job->runs, job->records, i, &view->figures[i],
					 &view->figure_count[i], err);
	if (!rc)
		rc = hd_scenario_judge(job->runs, job->records, &view->expectations,
				       &view->expectation_count, err);
	return rc;
}

void sim_view_release(struct sim_view *view)
{
	for (uint32_t i = 0; view->figures && i < view->runs->point_count; i++)
		free(view->figures[i]);
	free(view->figures);
	free(view->figure_count);
	free(view->expectations);
	view->figures = NULL;
}

const struct hd_scenario_figure *sim_view_find(const struct sim_view *view, uint32_t point,
					       const char *name)
{
	for (uint32_t i = 0; i < view->figure_count[point]; i++)
		if (!strcmp(view->figures[point][i].name, name))
			return &view->figures[point][i];
	return NULL;
}

static int by_share(const void *left, const void *right)
{
	const struct sim_view_link *a = left, *b = right;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

struct sim_view_link *sim_view_hottest(const struct sim_view *view, uint32_t point, uint32_t *count)
{
	const struct hd_record *record = view->job->records[point * view->runs->seed_count];
	const struct hd_record_item *item = record ? hd_record_find(record, "links.0") : NULL;

	*count = 0;
	if (!item || !item->count)
		return NULL;
	struct sim_view_link *links = need(calloc(item->count, sizeof(*links)));
	for (uint32_t i = 0; i < item->count; i++)
		links[i] = (struct sim_view_link){i, item->values[i]};
	qsort(links, item->count, sizeof(*links), by_share);
	*count = item->count < view->hot ? item->count : view->hot;
	while (*count && !(links[*count - 1].share > 0))
		(*count)--;
	return links;
}

const char *sim_view_link_name(const struct hd_fabric *fabric, uint32_t link, char *buffer,
			       size_t size)
{
	snprintf(buffer, size, "%s[%u] -> %s[%u]", fabric->node_name[hd_isl_from(fabric, link)],
		 fabric->isl_port[link], fabric->node_name[fabric->isl_to[link]],
		 fabric->isl_port[fabric->isl_reverse[link]]);
	return buffer;
}

struct scale {
	double from;
	const char *name;
};

/* NULL: values of the unit have no scales. */
static const struct scale *scales_of(const char *unit)
{
	static const struct scale seconds[] = {
	    {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {0, NULL}};
	static const struct scale bits[] = {{1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"},
					    {1e3, "kb/s"},  {1, "b/s"},	   {0, NULL}};
	static const struct scale rate[] = {
	    {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}, {0, NULL}};
	static const struct scale bytes[] = {
	    {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}, {0, NULL}};

	static const struct {
		const char *unit;
		const struct scale *scales;
	} units[] = {{"s", seconds}, {"bit/s", bits}, {"B/s", rate}, {"B", bytes}};

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].unit))
			return units[i].scales;
	return NULL;
}

double sim_view_scale(double value, const char *unit, const char **name)
{
	const struct scale *scales = scales_of(unit);

	*name = !strcmp(unit, "1") || !strcmp(unit, "-") ? "" : unit;
	if (!scales)
		return 1;
	while (scales[1].name && fabs(value) < scales->from * 0.9995)
		scales++;
	*name = scales->name;
	return scales->from;
}

const char *sim_view_value(double value, const char *unit, char *buffer, size_t size)
{
	const char *name;
	double from = sim_view_scale(value, unit, &name);

	if (scales_of(unit) && value == 0)
		return "0";
	if (scales_of(unit)) {
		int length = snprintf(buffer, size, "%#.4g", value / from);
		length -= length > 0 && buffer[length - 1] == '.';
		snprintf(buffer + length, size - (size_t)length, " %s", name);
	} else if (!strcmp(unit, "1"))
		snprintf(buffer, size, "%.4f", value);
	else
		snprintf(buffer, size,
			 value == floor(value) || fabs(value) >= 1000 ? "%.0f" : "%.4g", value);
	return buffer;
}

bool sim_view_deadlocked(const struct sim_view *view, uint32_t point)
{
	const struct hd_scenario_figure *figure = sim_view_find(view, point, "run.deadlock");

	return figure && figure->greatest > 0;
}

const char *sim_view_verdict(enum hd_verdict verdict)
{
	static const char *const names[] = {"within", "outside", "undecided", "open"};

	return names[verdict];
}

const char *sim_view_expected(const struct hd_expectation *row, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s%.4g",
		 row->judge == HD_JUDGE_BELOW	? "< "
		 : row->judge == HD_JUDGE_ABOVE ? "> "
						: "",
		 row->expected);
	return buffer;
}

const char *sim_view_interval(const struct hd_expectation *row, char *buffer, size_t size)
{
	snprintf(buffer, size, "-");
	if (row->verdict != HD_VERDICT_OPEN && row->seeds > 1)
		snprintf(buffer, size, "%.4g to %.4g", row->low, row->high);
	return buffer;
}

const char *sim_view_tolerance(const struct hd_expectation *row, char *buffer, size_t size)
{
	if (row->judge == HD_JUDGE_WITHIN)
		snprintf(buffer, size, "%.3g%%", 100 * row->tolerance);
	else
		snprintf(buffer, size, "%s", row->judge == HD_JUDGE_SIGN ? "sign" : "-");
	return buffer;
}

int sim_view_status(const struct sim_view *view)
{
	for (uint32_t i = 0; i < view->runs->point_count; i++)
		if (sim_view_deadlocked(view, i))
			return STATUS_FAULTS;
	return view->job->finished < view->runs->count ? STATUS_FAULTS : STATUS_CLEAN;
}
