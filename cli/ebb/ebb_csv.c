/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ebb_report.h"

void ebb_csv_figures(struct csv *csv, const char *tables, const struct hd_congestion_report *report,
		     const struct ebb_broken *broken)
{
	csv_text(csv, tables);
	csv_real(csv, report->mean);
	csv_real(csv, report->half_width);
	csv_real(csv, report->minimum);
	csv_real(csv, report->deviation);
	csv_real(csv, report->sum_max);
	csv_real(csv, report->sum_avg);
	csv_number(csv, report->patterns);
	csv_number(csv, report->routes);
	csv_number(csv, ebb_broken_total(broken));
}

void ebb_csv(const struct ebb_view *view)
{
	struct csv csv = csv_begin(stdout, "fabric,pattern,seed," EBB_CSV_COLUMNS ",adaptive_mean");

	csv_text(&csv, view->fabric_path);
	csv_text(&csv, view->workload->pattern_text);
	csv_number(&csv, view->workload->seed);
	ebb_csv_figures(&csv, view->tables_name, view->report, view->broken);
	if (view->adaptive)
		csv_real(&csv, view->adaptive->report->mean);
	else
		csv_empty(&csv);
	csv_end_row(&csv);
}
