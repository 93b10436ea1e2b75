/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "survive_report.h"
#include "csv.h"
#include "ebb_report.h"
#include "json_value.h"

#include <inttypes.h>

static void print_row(const struct survive_share *share)
{
	printf("%7.4g%% %8" PRIu32 " %8" PRIu32 " %14" PRIu32, share->percent, share->trials,
	       share->routed, share->deadlock_free);
	if (share->routed)
		printf(" %10.4f %10.4f %16.1f\n", share->sum / share->routed, share->worst,
		       (double)share->changed / share->routed);
	else
		printf(" %10s %10s %16s\n", "-", "-", "-");
	if (*share->refusal)
		printf("         refused: %s\n", share->refusal);
}

void survive_print(const struct survive_view *view)
{
	printf("fabric   %s: %" PRIu32 " hosts, %" PRIu32 " switches, %" PRIu32 " cables\n",
	       view->fabric_path, view->on->ranks->fabric->host_count,
	       view->on->ranks->fabric->switch_count, view->on->ranks->fabric->isl_count / 2);
	printf("engine   %s\npattern  %s, %" PRIu64 " patterns a fabric, seed %" PRIu64 "%s\n",
	       view->engine, view->workload->pattern_text, view->on->count, view->workload->seed,
	       workload_lids_remark(view->workload));
	printf("intact   bandwidth %.4f (mean of %s)\n\n", view->intact,
	       workload_share_name(view->workload));
	printf("%8s %8s %8s %14s %10s %10s %16s\n", "removed", "trials", "routed", "deadlock-free",
	       "bandwidth", "worst", "entries changed");
	for (unsigned i = 0; i < view->count; i++)
		print_row(&view->shares[i]);
}

static void write_share(struct csv *csv, const struct survive_share *share)
{
	csv_real(csv, share->percent);
	csv_number(csv, share->trials);
	csv_number(csv, share->routed);
	csv_number(csv, share->deadlock_free);
	if (share->routed) {
		csv_real(csv, share->sum / share->routed);
		csv_real(csv, share->worst);
		csv_real(csv, (double)share->changed / share->routed);
	} else {
		for (unsigned column = 0; column < 3; column++)
			csv_empty(csv);
	}
	csv_text(csv, share->refusal);
	csv_end_row(csv);
}

void survive_csv(const struct survive_view *view)
{
	struct csv csv = csv_begin(stdout, "removed_percent,trials,routed,deadlock_free,mean,worst,"
					   "changed_entries,refusal");

	for (unsigned i = 0; i < view->count; i++)
		write_share(&csv, &view->shares[i]);
}

static json_t *share_json(const struct survive_share *share)
{
	json_t *row = json_pack("{s:f, s:I, s:I, s:I}", "removed_percent", share->percent, "trials",
				(json_int_t)share->trials, "routed", (json_int_t)share->routed,
				"deadlock_free", (json_int_t)share->deadlock_free, "measured",
				(json_int_t)share->routed);

	if (share->routed) {
		row = json_value_set(row, "mean", json_real(share->sum / share->routed));
		row = json_value_set(row, "worst", json_real(share->worst));
		row = json_value_set(row, "changed_entries",
				     json_real((double)share->changed / share->routed));
	}
	if (*share->refusal)
		row = json_value_set(row, "refusal", json_value_text(share->refusal));
	return row;
}

json_t *survive_json(const struct survive_view *view)
{
	json_t *all = ebb_workload_json(view->fabric_path, view->workload, view->on);
	json_t *rows = json_array();

	for (unsigned i = 0; i < view->count; i++)
		rows = json_value_append(rows, share_json(&view->shares[i]));
	all = json_value_set(all, "shares_removed", rows);
	all = json_value_set(all, "engine", json_value_text(view->engine));
	return json_value_set(all, "intact", json_real(view->intact));
}
