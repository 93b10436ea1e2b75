/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle ebb, as text and as JSON. */
#ifndef CLI_EBB_REPORT_H
#define CLI_EBB_REPORT_H

#include "csv.h"
#include "json_value.h"
#include "shared_arguments.h"
#include "workload.h"

#include <heddle/analysis.h>
#include <heddle/ar_manager.h>

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
		0, "ar", "auto|lag|tree|dfp", "the same with a plan that is made now",             \
		    ARGUMENT_BY(ebb_adaptive_take_algorithm, type, member)                         \
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

/* Prints the report. If memory is short, prints nothing and returns -ENOMEM. */
int ebb_print(const struct ebb_view *view);

/* A table with one row for spreadsheets, to standard output. */
void ebb_csv(const struct ebb_view *view);

/* The columns of ebb_csv_figures(), and such fields of a row: tables and their figures. */
#define EBB_CSV_COLUMNS                                                                            \
	"tables,mean,half_width_99,minimum,deviation,pi_sum_max,pi_sum_avg,patterns,routes,"       \
	"broken_routes"
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

#endif
