/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle ebb, as text, as JSON and as CSV. */
#ifndef CLI_EBB_REPORT_H
#define CLI_EBB_REPORT_H

#include "csv.h"
#include "json_value.h"
#include "shared_arguments.h"
#include "workload.h"

#include <heddle/analysis.h>
#include <heddle/analysis/application.h>
#include <heddle/ar_manager.h>

/* The report of heddle ebb, as text and as JSON. */

struct ebb_adaptive {
	const char *plan_path; /* NULL: none is read */
	bool make;
	enum hd_ar_algorithm algorithm; /* with which it is made */
	struct hd_ar_plan *plan;
	struct hd_spread spread; /* of the plan */
	struct hd_arena arena;
	struct hd_congestion_report *report;
};

/* The place is a struct ebb_adaptive. */
arguments_take_fn ebb_adaptive_take_algorithm;

#define EBB_ADAPTIVE_ARGUMENTS(type, member)                                                       \
	{0, "plan", "FILE",                                                                        \
	 "measure this plan of adaptive routing too (.far file, see heddle ar plan)",              \
	 ARGUMENT_TEXT(type, member.plan_path)},                                                   \
	{                                                                                          \
		0, "ar", "auto|lag|tree|dfp",                                                      \
		    "the same with a plan that is made now; without a value auto",                 \
		    .otherwise = "auto", ARGUMENT_BY(ebb_adaptive_take_algorithm, type, member)    \
	}

static inline bool ebb_adaptive_wanted(const struct ebb_adaptive *adaptive)
{
	return adaptive->plan_path || adaptive->make;
}

/* Reads or makes the plan, and what of it counts: `spread`. Errors: those of the reader or of the
 * planner. */
int ebb_adaptive_load(struct ebb_adaptive *adaptive, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, unsigned threads, const struct hd_log *log,
		      struct hd_error *err);

void ebb_adaptive_release(struct ebb_adaptive *adaptive);

#define EBB_BROKEN_SHOWN 20

/* Routes between hosts that the tables do not carry. */
struct ebb_broken {
	uint64_t routes[HD_BROKEN_KINDS];
	struct hd_broken_route list[EBB_BROKEN_SHOWN];
	uint32_t listed;
};

struct ebb_view {
	const char *fabric_path, *tables_name;
	const struct workload *workload;
	const struct workload_on *on;
	const struct hd_congestion_report *report;
	const struct ebb_broken *broken;
	const struct ebb_adaptive *adaptive; /* NULL: the tables alone */
	uint32_t hot; /* links to name */
};

uint64_t ebb_broken_total(const struct ebb_broken *broken);

/* Prints how many routes are broken and lists the first of them; nothing if none is. */
void ebb_print_broken(const struct hd_fabric *fabric, const struct ebb_broken *broken,
		      const struct hd_congestion_report *report);

void ebb_print(const struct ebb_view *view);

/* A table with one row for spreadsheets, to standard output. */
void ebb_csv(const struct ebb_view *view);

/* The columns of ebb_csv_figures(), and such fields of a row: tables and their figures. */
#define EBB_CSV_COLUMNS                                                                            \
	"tables,mean,half_width_99,minimum,deviation,pi_sum_max,pi_sum_avg,patterns,routes,"       \
	"broken_routes,machine_mean"
void ebb_csv_figures(struct csv *csv, const char *tables, const struct hd_congestion_report *report,
		     const struct ebb_broken *broken);

/* NULL: no memory. */
json_t *ebb_json(const struct ebb_view *view);

/* What does not depend on the tables: fabric, ranks, pattern ... NULL: no memory. */
json_t *ebb_workload_json(const char *fabric_path, const struct workload *workload,
			  const struct workload_on *on);

/* Figures of one report; NULL: no memory. */
json_t *ebb_figures_json(const struct hd_congestion_report *report);

/* "'leaf1'[17] -> 'spine2'[3]" */
const char *ebb_link_text(const struct hd_fabric *fabric, uint32_t link, char *buffer, size_t size);

#define EBB_LINK_TEXT 320

/* ---- applications ---- */

/* heddle ebb --application: how much of its run time an application would keep if the network had
 * full bandwidth. */

/* One pattern of the application on these tables. */
struct ebb_part {
	double mean, half_width; /* share of a route, and half of its 99% confidence interval */
	double crossbar; /* the mean share on one crossbar for all hosts */
	uint64_t patterns, broken; /* patterns drawn, and flows of theirs that do not arrive */
};

struct ebb_application {
	const char *path; /* NULL: no --application */
	struct hd_application *file;
	double *bandwidth; /* [count of the file] shares of full bandwidth that count */
	struct ebb_part *parts; /* [count of the file]; NULL: those of the file count */
};

/* What the report needs. Without FABRIC only the first two are set. */
struct ebb_application_view {
	const struct ebb_application *application;
	const struct workload *workload;
	const char *fabric_path, *tables_name; /* NULL: no FABRIC */
	const struct hd_ranks *ranks;
	uint64_t broken_routes;
};

/* Reads the file. With `measured`, makes room for what is measured. Without, each line must have a
 * bandwidth. Errors: those of hd_application_read(), -EINVAL a line without a bandwidth. */
int ebb_application_load(struct ebb_application *application, bool measured, struct hd_error *err);

/* Takes the figures of part number `index` from a run of its pattern. Errors: those of
 * hd_pattern_crossbar(). */
int ebb_application_note(struct ebb_application *application, uint32_t index,
			 const struct hd_congestion_request *request,
			 const struct hd_congestion_report *report, struct hd_error *err);

/* Prints the report as the workload's options say. Returns the exit status. */
int ebb_application_show(const struct ebb_application_view *view);

void ebb_application_release(struct ebb_application *application);

#endif
