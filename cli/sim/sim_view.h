/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all reports of simulations show. */
#ifndef CLI_SIM_VIEW_H
#define CLI_SIM_VIEW_H

#include "json_value.h"
#include "processes.h"

#include <heddle/sim/scenario.h>
#include <stdio.h>

struct sim_runs {
	const struct hd_scenario_runs *runs;
	const char *title; /* for progress */
	const char *state; /* a file that keeps finished runs, see kept_work.h; NULL: none */
	const struct processes *processes;
	unsigned threads;
	/* After sim_runs_do(): */
	struct hd_record **records; /* [runs->count] NULL: the run has not begun */
	uint32_t finished, kept; /* runs that are complete; of these, read from the file */
	bool interrupted;
};

/*
 * Does all runs that the file does not have. Another process may fail: then all do. Errors: those of
 * hd_scenario_run() and of the file; -ESTALE the file is of other runs.
 */
int sim_runs_do(struct sim_runs *job, struct hd_error *err);

void sim_runs_release(struct sim_runs *job);

struct sim_view {
	const struct sim_runs *job;
	const struct hd_scenario_runs *runs;
	const char *title; /* of the reports */
	struct hd_scenario_figure **figures; /* [point_count] */
	uint32_t *figure_count; /* [point_count] */
	struct hd_expectation *expectations;
	uint32_t expectation_count;
	bool asked; /* a planner's question: the answer comes first */
	bool all; /* also the figures of each item: rank, ring, flow */
	uint32_t hot; /* links to name */
};

/* After the runs. Released by sim_view_release() also after an error. Errors: -ENOMEM. */
int sim_view_make(const struct sim_runs *job, struct sim_view *view, struct hd_error *err);
void sim_view_release(struct sim_view *view);

/* The figure of a point, or NULL. */
const struct hd_scenario_figure *sim_view_find(const struct sim_view *view, uint32_t point,
					       const char *name);

/* The links of a point between switches, by descending utilisation: [*count] of at most view->hot.
 * NULL: none. */
struct sim_view_link {
	uint32_t link; /* of the fabric */
	double share;
};
struct sim_view_link *sim_view_hottest(const struct sim_view *view, uint32_t point,
				       uint32_t *count);

/* A link's name: "S1[3] -> S2[4]". Returns buffer. */
const char *sim_view_link_name(const struct hd_fabric *fabric, uint32_t link, char *buffer,
			       size_t size);

/* A value with its unit, for people: "1.25 us". Returns buffer. */
const char *sim_view_value(double value, const char *unit, char *buffer, size_t size);

/* The unit in which a value is best shown: *name, and by what values must be divided for it. */
double sim_view_scale(double value, const char *unit, const char **name);

/* Points with a deadlock. */
bool sim_view_deadlocked(const struct sim_view *view, uint32_t point);

/* "within", "outside", "open". */
const char *sim_view_verdict(enum hd_verdict verdict);

/* "0.667", "< 1", and "3%", "sign", "". Return buffer. */
const char *sim_view_expected(const struct hd_expectation *row, char *buffer, size_t size);
/* "0.1 to 0.2": the interval of confidence; "-" with one seed. */
const char *sim_view_interval(const struct hd_expectation *row, char *buffer, size_t size);
const char *sim_view_tolerance(const struct hd_expectation *row, char *buffer, size_t size);

/* STATUS_FAULTS if a run met a deadlock or the runs were ended early, else STATUS_CLEAN. */
int sim_view_status(const struct sim_view *view);

/* ---- reports: to standard output, or a page ---- */

void sim_report_print(const struct sim_view *view);
void sim_report_expectations(const struct sim_view *view);
struct csv;
void sim_report_csv(const struct sim_view *view, const char *experiment, struct csv *csv);
#define SIM_REPORT_CSV_COLUMNS "scenario,point,figure,unit,runs,mean,least,greatest,deviation"
json_t *sim_report_json(const struct sim_view *view, const char *name);

/* The part of a page about one scenario; `id` is a word of its own in the page, and `heading` the
 * element of headings in the part: "h2". */
void sim_html_section(const struct sim_view *view, const char *id, const char *heading, FILE *page);

/* ---- counters ---- */

/* Writes what the ports of the first subnet have counted in the first run, as hd_counters_write() does. Errors:
 * -ENODATA the run has no simulation; those of output_open(); -ENOMEM. */
int sim_counters_write(const struct sim_view *view, const char *path, struct hd_error *err);

/* ---- the answer to a question ---- */

/* The answer to a planner's question: how long the traffic takes under each of the tables. Only runs
 * that end with their traffic have an answer. */

#define SIM_ANSWER_SENTENCE 400
#define SIM_ANSWER_ADAPTIVE " with AR" /* at the end of a label */

/* The sentence, and a row for each point: to standard output, or to a page. */
void sim_answer_print(const struct sim_view *view);
void sim_answer_html(const struct sim_view *view, FILE *page);

/* ---- pictures ---- */

/* Pictures of a scenario's figures in files of their own, drawn by gnuplot. */

/*
 * Draws a figure against the sweeps, with what [expect] says about it. `figure` NULL: the figure of
 * the first [expect]; without one, the time if the traffic decides on it, or else throughput. Errors:
 * -ENOENT no run has the figure; those of gnuplot_draw(); -ENOMEM.
 */
int sim_plot_figure(const struct sim_view *view, const char *figure, const char *path,
		    struct hd_error *err);

/* Draws all expectations: each figure divided by its expected value. Does nothing if there are none.
 * Errors: as before. */
int sim_plot_expectations(const struct sim_view *view, const char *path, struct hd_error *err);

#endif
