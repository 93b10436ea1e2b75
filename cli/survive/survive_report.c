/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "csv.h"
#include "ebb_report.h"
#include "json_value.h"
#include "survive.h"

#include <inttypes.h>

#define SHARE_COLUMNS                                                                              \
	"removed_percent,trials,routed,deadlock_free,mean,worst,changed_entries,refusal"
#define RECOVERY_COLUMNS ",off,local,notices,off_least,local_least,notices_least"
#define REPAIR_COLUMNS "lost,entries,switches,blocks,steps,left_lids,loop_free,plan_ms,refusal"
#define MULTICAST_COLUMNS                                                                          \
	",trees_hit,trees_moved,mft_blocks,mft_steps,mft_loop_free,mft_delivers,mft_plan_ms,"      \
	"mft_refusal"

static void print_repair(const struct survive_repair *repair)
{
	if (*repair->refusal) {
		printf("%s\n         refused: %s\n", repair->lost, repair->refusal);
		return;
	}
	printf("%9" PRIu32 " %8" PRIu32 " %7" PRIu32 " %5" PRIu32 " %5" PRIu32 " %9.1f",
	       repair->entries, repair->switches, repair->writes, repair->steps, repair->left,
	       repair->plan_ms);
	/* The columns of multicast. */
	if (repair->multicast.tried)
		printf(" %9" PRIu32 " %6" PRIu32 " %10" PRIu32 " %5" PRIu32, repair->multicast.hit,
		       repair->multicast.moved, repair->multicast.writes, repair->multicast.steps);
	printf("  %s\n", repair->lost);
	if (repair->loop)
		printf("         LID %" PRIu32 " can loop while the blocks are written\n",
		       repair->loop);
	if (*repair->multicast.refusal)
		printf("         multicast is left to the sweep: %s\n", repair->multicast.refusal);
	if (repair->multicast.loop)
		printf("         MLID 0x%04" PRIX32 " can loop while the blocks are written\n",
		       repair->multicast.loop);
	if (repair->multicast.missed)
		printf("         MLID 0x%04" PRIX32 " does not reach all members that are left\n",
		       repair->multicast.missed);
}

/* The last line about the trees. */
static void print_trees(const struct survive_repairs *repairs)
{
	uint32_t tried = 0, sound = 0;

	for (uint32_t i = 0; i < repairs->count; i++) {
		const struct survive_multicast *multicast = &repairs->list[i].multicast;
		tried += multicast->tried;
		sound += multicast->tried && !survive_multicast_has_fault(multicast);
	}
	printf("%" PRIu32 " multicast groups: after %" PRIu32 " of %" PRIu32
	       " repairs they reach all members that are left, and no step can loop\n",
	       repairs->groups.count, sound, tried);
}

static void print_repairs(const struct survive_repairs *repairs)
{
	uint32_t sound = 0;

	printf("%9s %8s %7s %5s %5s %9s", "entries", "switches", "blocks", "steps", "left",
	       "plan, ms");
	if (repairs->groups.count)
		printf(" %9s %6s %10s %5s", "trees hit", "moved", "MFT blocks", "steps");
	putchar('\n');
	for (uint32_t i = 0; i < repairs->count; i++) {
		print_repair(&repairs->list[i]);
		sound += !repairs->list[i].loop && !*repairs->list[i].refusal;
	}
	printf("\n%" PRIu32 " of %" PRIu32 " repairs are proved, and no step of them can loop; "
	       "%.1f ms before the loss\n",
	       sound, repairs->count, repairs->base_ms);
	if (repairs->groups.count)
		print_trees(repairs);
}

void survive_print(const struct survive_view *view)
{
	char machines[WORKLOAD_MACHINES_TEXT];

	printf("fabric   %s: %" PRIu32 " hosts, %" PRIu32 " switches, %" PRIu32 " cables\n",
	       view->fabric_path, view->on->ranks->fabric->host_count,
	       view->on->ranks->fabric->switch_count, view->on->ranks->fabric->isl_count / 2);
	printf("engine   %s\npattern  %s, %" PRIu64 " patterns a fabric, seed %" PRIu64 "%s\n",
	       view->engine, view->workload->pattern_text, view->on->count, view->workload->seed,
	       workload_lids_remark(view->workload));
	if (workload_machines(view->on, machines, sizeof(machines)))
		printf("machines %s\n", machines);
	printf("intact   bandwidth %.4f (mean of %s)\n\n", view->intact,
	       workload_share_name(view->workload));
	if (view->recovery)
		printf("The columns off, local and notices: pairs of a switch and a LID that are "
		       "delivered right\nafter the loss by adaptive routing with so much fast "
		       "recovery, before any manager acts\n\n");
	if (view->count) {
		printf("%8s %8s %8s %14s %10s %10s %16s", "removed", "trials", "routed",
		       "deadlock-free", "bandwidth", "worst", "entries changed");
		for (unsigned level = 0; view->recovery && level < HD_AR_RECOVERY_LEVELS; level++)
			printf(" %10s", hd_ar_recovery_name((enum hd_ar_recovery)level));
		putchar('\n');
	}
	for (unsigned i = 0; i < view->count; i++) {
		const struct survive_share *share = &view->shares[i];
		printf("%7.4g%% %8" PRIu32 " %8" PRIu32 " %14" PRIu32, share->percent,
		       share->trials, share->routed, share->deadlock_free);
		if (share->routed)
			printf(" %10.4f %10.4f %16.1f", share->sum / share->routed, share->worst,
			       (double)share->changed / share->routed);
		else
			printf(" %10s %10s %16s", "-", "-", "-");
		for (unsigned level = 0;
		     view->recovery && share->trials && level < HD_AR_RECOVERY_LEVELS; level++)
			printf(" %9.4f%%", 100 * share->delivered[level] / share->trials);
		putchar('\n');
		if (*share->refusal)
			printf("         refused: %s\n", share->refusal);
	}
	if (view->repairs->each)
		print_repairs(view->repairs);
	char done[100], repairs[40] = "";
	uint32_t trials = 0;
	for (unsigned i = 0; i < view->count; i++)
		trials += view->shares[i].trials;
	if (view->repairs->each)
		snprintf(repairs, sizeof(repairs), "%" PRIu32 " repairs and ",
			 view->repairs->count);
	snprintf(done, sizeof(done), "%s%" PRIu32 " of %" PRIu32 " trials", repairs, trials,
		 view->count * view->trials);
	workload_print_partial(view->workload, done);
}

/* After the repair each member that is left gets each packet. */
static bool delivers(const struct survive_multicast *multicast)
{
	return !*multicast->refusal && !multicast->loop && !multicast->missed;
}

static void write_multicast(struct csv *csv, const struct survive_multicast *multicast)
{
	if (!multicast->tried) {
		for (unsigned column = 0; column < 8; column++)
			csv_empty(csv);
		return;
	}
	csv_number(csv, multicast->hit);
	csv_number(csv, multicast->moved);
	csv_number(csv, multicast->writes);
	csv_number(csv, multicast->steps);
	csv_text(csv, multicast->loop ? "no" : "yes");
	csv_text(csv, delivers(multicast) ? "yes" : "no");
	csv_real(csv, multicast->plan_ms);
	csv_text(csv, multicast->refusal);
}

static void repairs_csv(const struct survive_repairs *repairs)
{
	const bool multicast = repairs->groups.count;
	struct csv csv =
	    csv_begin(stdout, multicast ? REPAIR_COLUMNS MULTICAST_COLUMNS : REPAIR_COLUMNS);

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
		if (multicast)
			write_multicast(&csv, &repair->multicast);
		csv_end_row(&csv);
	}
}

void survive_csv(const struct survive_view *view)
{
	if (view->repairs->each) {
		repairs_csv(view->repairs);
		return;
	}
	struct csv csv =
	    csv_begin(stdout, view->recovery ? SHARE_COLUMNS RECOVERY_COLUMNS : SHARE_COLUMNS);

	for (unsigned i = 0; i < view->count; i++) {
		const struct survive_share *share = &view->shares[i];
		csv_real(&csv, share->percent);
		csv_number(&csv, share->trials);
		csv_number(&csv, share->routed);
		csv_number(&csv, share->deadlock_free);
		if (share->routed) {
			csv_real(&csv, share->sum / share->routed);
			csv_real(&csv, share->worst);
			csv_real(&csv, (double)share->changed / share->routed);
		} else {
			for (unsigned column = 0; column < 3; column++)
				csv_empty(&csv);
		}
		csv_text(&csv, share->refusal);
		for (unsigned level = 0; view->recovery && level < HD_AR_RECOVERY_LEVELS; level++)
			csv_real(&csv, share->delivered[level] / share->trials);
		for (unsigned level = 0; view->recovery && level < HD_AR_RECOVERY_LEVELS; level++)
			csv_real(&csv, share->least[level]);
		csv_end_row(&csv);
	}
}

static json_t *recovery_json(const struct survive_share *share)
{
	json_t *all = json_object();

	for (unsigned level = 0; level < HD_AR_RECOVERY_LEVELS; level++)
		all = json_value_set(all, hd_ar_recovery_name((enum hd_ar_recovery)level),
				     json_pack("{s:f, s:f}", "mean",
					       share->delivered[level] / share->trials, "least",
					       share->least[level]));
	return all;
}

static json_t *share_json(const struct survive_share *share, bool recovery)
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
	if (recovery && share->trials)
		row = json_value_set(row, "fast_recovery", recovery_json(share));
	if (*share->refusal)
		row = json_value_set(row, "refusal", json_value_text(share->refusal));
	return row;
}

static json_t *multicast_json(const struct survive_multicast *multicast)
{
	json_t *json = json_pack("{s:I, s:I, s:I, s:I, s:b, s:b, s:f}", "hit",
				 (json_int_t)multicast->hit, "moved", (json_int_t)multicast->moved,
				 "blocks", (json_int_t)multicast->writes, "steps",
				 (json_int_t)multicast->steps, "loop_free", !multicast->loop,
				 "delivers", delivers(multicast), "plan_ms", multicast->plan_ms);

	if (*multicast->refusal)
		json = json_value_set(json, "refusal", json_value_text(multicast->refusal));
	return json;
}

static json_t *repair_json(const struct survive_repair *repair)
{
	json_t *row = json_pack(
	    "{s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:f, s:o}", "kind",
	    repair->is_switch ? "switch" : "cable", "entries", (json_int_t)repair->entries,
	    "switches", (json_int_t)repair->switches, "blocks", (json_int_t)repair->writes, "steps",
	    (json_int_t)repair->steps, "left_lids", (json_int_t)repair->left, "loop_free",
	    !repair->loop, "plan_ms", repair->plan_ms, "lost", json_value_text(repair->lost));

	if (*repair->refusal)
		row = json_value_set(row, "refusal", json_value_text(repair->refusal));
	if (repair->multicast.tried)
		row = json_value_set(row, "multicast", multicast_json(&repair->multicast));
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
		rows = json_value_append(rows, share_json(&view->shares[i], view->recovery));
	all = json_value_set(all, "shares_removed", rows);
	if (view->repairs->each)
		all = json_value_set(all, "repairs", repairs_json(view->repairs));
	if (view->repairs->groups.count)
		all = json_value_set(all, "groups", json_integer(view->repairs->groups.count));
	all = json_value_set(all, "engine", json_value_text(view->engine));
	return json_value_set(all, "intact", json_real(view->intact));
}
