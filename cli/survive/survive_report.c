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

static void print_repair(const struct survive_repair *repair)
{
	if (*repair->refusal)
		printf("%s\n         refused: %s\n", repair->lost, repair->refusal);
	else
		printf("%9" PRIu32 " %8" PRIu32 " %7" PRIu32 " %5" PRIu32 " %5" PRIu32
		       " %9.1f  %s\n",
		       repair->entries, repair->switches, repair->writes, repair->steps,
		       repair->left, repair->plan_ms, repair->lost);
	if (repair->loop)
		printf("         LID %" PRIu32 " can loop while the blocks are written\n",
		       repair->loop);
}

static void print_repairs(const struct survive_repairs *repairs)
{
	uint32_t sound = 0;

	printf("%9s %8s %7s %5s %5s %9s\n", "entries", "switches", "blocks", "steps", "left",
	       "plan, ms");
	for (uint32_t i = 0; i < repairs->count; i++) {
		print_repair(&repairs->list[i]);
		sound += !repairs->list[i].loop && !*repairs->list[i].refusal;
	}
	printf("\n%" PRIu32 " of %" PRIu32 " repairs are proved, and no step of them can loop; "
	       "%.1f ms before the loss\n",
	       sound, repairs->count, repairs->base_ms);
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
	if (view->count)
		printf("%8s %8s %8s %14s %10s %10s %16s\n", "removed", "trials", "routed",
		       "deadlock-free", "bandwidth", "worst", "entries changed");
	for (unsigned i = 0; i < view->count; i++)
		print_row(&view->shares[i]);
	if (view->repairs->each)
		print_repairs(view->repairs);
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

static void repairs_csv(const struct survive_repairs *repairs)
{
	struct csv csv = csv_begin(stdout, "lost,entries,switches,blocks,steps,left_lids,"
					   "loop_free,plan_ms,refusal");

	for (uint32_t i = 0; i < repairs->count; i++) {
		const struct survive_repair *repair = &repairs->list[i];
		csv_text(&csv, repair->lost);
		csv_number(&csv, repair->entries);
		csv_number(&csv, repair->switches);
		csv_number(&csv, repair->writes);
		csv_number(&csv, repair->steps);
		csv_number(&csv, repair->left);
		csv_text(&csv, repair->loop ? "no" : "yes");
		csv_real(&csv, repair->plan_ms);
		csv_text(&csv, repair->refusal);
		csv_end_row(&csv);
	}
}

void survive_csv(const struct survive_view *view)
{
	if (view->repairs->each) {
		repairs_csv(view->repairs);
		return;
	}
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

static json_t *repair_json(const struct survive_repair *repair)
{
	json_t *row = json_pack(
	    "{s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:f}", "kind",
	    repair->is_switch ? "switch" : "cable", "entries", (json_int_t)repair->entries,
	    "switches", (json_int_t)repair->switches, "blocks", (json_int_t)repair->writes, "steps",
	    (json_int_t)repair->steps, "left_lids", (json_int_t)repair->left, "loop_free",
	    !repair->loop, "plan_ms", repair->plan_ms);

	row = json_value_set(row, "lost", json_value_text(repair->lost));
	if (*repair->refusal)
		row = json_value_set(row, "refusal", json_value_text(repair->refusal));
	return row;
}

static json_t *repairs_json(const struct survive_repairs *repairs)
{
	json_t *rows = json_array();

	for (uint32_t i = 0; i < repairs->count; i++)
		rows = json_value_append(rows, repair_json(&repairs->list[i]));
	return rows;
}

json_t *survive_json(const struct survive_view *view)
{
	json_t *all = ebb_workload_json(view->fabric_path, view->workload, view->on);
	json_t *rows = json_array();

	for (unsigned i = 0; i < view->count; i++)
		rows = json_value_append(rows, share_json(&view->shares[i]));
	all = json_value_set(all, "shares_removed", rows);
	if (view->repairs->each)
		all = json_value_set(all, "repairs", repairs_json(view->repairs));
	all = json_value_set(all, "engine", json_value_text(view->engine));
	return json_value_set(all, "intact", json_real(view->intact));
}
