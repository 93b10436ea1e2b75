/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "compare_report.h"
#include "json_value.h"
#include "need.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 64 /* bytes; in tables: */
#define NAME_WIDTH 28
#define WORTH 0.01 /* of the first tables' bandwidth */

/* The end of a long name, because paths often differ only there; it begins with a character. */
static const char *end_of(const char *name, size_t most)
{
	const size_t length = strlen(name);
	const char *end = name + (length > most ? length - most : 0);

	while ((*end & 0xC0) == 0x80 && end > name)
		end++;
	return end;
}

static const char *side_name(const struct compare_side *side)
{
	return end_of(side->name, NAME_MOST);
}

static bool intact(const struct compare_side *side)
{
	return !ebb_broken_total(&side->broken);
}

static bool same(const struct compare_side *a, const struct compare_side *b)
{
	return (a->same_as ? a->same_as : a) == (b->same_as ? b->same_as : b);
}

/* The intact tables with the largest mean difference to the first; the first such; NULL: none. */
static const struct compare_side *find_best(const struct compare_view *view)
{
	const struct compare_side *best = NULL;

	for (unsigned i = 0; i < view->count; i++) {
		const struct compare_side *side = &view->sides[i];
		if (intact(side) && (!best || side->difference.mean > best->difference.mean))
			best = side;
	}
	return best;
}

static bool clear(const struct hd_difference *difference)
{
	return difference->mean > difference->half_width;
}

static double percent(const struct compare_view *view, double difference)
{
	return 100 * difference / view->sides[0].report->mean;
}

/* "12.3% more bandwidth than 'old' (99% confidence: 11.9% to 12.7%)", or less if `sign` is -1. */
static void print_amount(FILE *text, const struct compare_view *view,
			 const struct hd_difference *difference, int sign)
{
	double mean = sign * difference->mean, half = difference->half_width;

	fprintf(text, "%.1f%% %s", percent(view, mean), sign > 0 ? "more" : "less");
	if (sign > 0)
		fprintf(text, " bandwidth than '%s'", side_name(&view->sides[0]));
	if (half > 0)
		fprintf(text, " (99%% confidence: %.1f%% to %.1f%%)", percent(view, mean - half),
			percent(view, mean + half));
}

static bool ties(const struct compare_view *view, const struct compare_side *best,
		 const struct compare_side *side)
{
	if (side == best || !intact(side) || same(side, best))
		return false;
	struct hd_difference difference =
	    hd_difference_of(side->means, best->means, view->on->count);
	return !clear(&difference);
}

/* " 'b', 'c' are as good, ...", or nothing. */
static void print_ties(FILE *text, const struct compare_view *view, const struct compare_side *best)
{
	unsigned count = 0;

	for (unsigned i = 0; i < view->count; i++) {
		const struct compare_side *side = &view->sides[i];
		if (!side->same_as && ties(view, best, side))
			fprintf(text, "%s'%s'", count++ ? ", " : " ", side_name(side));
	}
	if (count)
		fprintf(text, " %s as good, as far as the patterns show.",
			count > 1 ? "are" : "is");
}

/* Of the other tables that are intact, the best; NULL: none differs from the first and is intact. */
static const struct compare_side *runner_up(const struct compare_view *view)
{
	const struct compare_side *next = NULL;

	for (unsigned i = 1; i < view->count; i++) {
		const struct compare_side *side = &view->sides[i];
		if (!same(side, &view->sides[0]) && intact(side) &&
		    (!next || side->difference.mean > next->difference.mean))
			next = side;
	}
	return next;
}

static bool all_same(const struct compare_view *view)
{
	for (unsigned i = 1; i < view->count; i++)
		if (!same(&view->sides[i], &view->sides[0]))
			return false;
	return true;
}

static void first_is_best(FILE *finding, FILE *advice, const struct compare_view *view)
{
	const struct compare_side *first = &view->sides[0], *next = runner_up(view);

	fprintf(advice, "Keep '%s'.", side_name(first));
	if (all_same(view)) {
		fprintf(finding, "%s are the same.",
			view->count == 2 ? "The two tables" : "All these tables");
	} else if (!next) {
		fprintf(finding, "Only '%s' loses no routes between hosts.", side_name(first));
	} else if (next->difference.mean < -next->difference.half_width) {
		fprintf(finding,
			"Nothing gives more bandwidth than '%s'. The next best, '%s', gives ",
			side_name(first), side_name(next));
		print_amount(finding, view, &next->difference, -1);
		fputc('.', finding);
	} else {
		fprintf(finding, "Nothing is clearly better than '%s'.", side_name(first));
		print_ties(finding, view, first);
	}
}

static enum compare_outcome judge(const struct compare_view *view, FILE *finding, FILE *advice)
{
	const struct compare_side *best = find_best(view), *first = &view->sides[0];

	if (!best) {
		fprintf(finding, "%s lose routes between hosts, so do not use them as they are.",
			view->count == 2 ? "Both tables" : "All tables");
		fputs("Find the faults with heddle check, then compare again.", advice);
		return COMPARE_REPAIR;
	}
	if (!intact(first)) {
		fprintf(finding, "'%s' loses %" PRIu64 " routes between hosts; '%s' loses none.",
			side_name(&view->sides[0]), ebb_broken_total(&view->sides[0].broken),
			side_name(best));
		print_ties(finding, view, best);
		fprintf(advice, "Change to '%s'. Run heddle check on its tables first.",
			side_name(best));
		return COMPARE_CHANGE;
	}
	if (!clear(&best->difference)) {
		first_is_best(finding, advice, view);
		return COMPARE_KEEP;
	}
	bool worth = best->difference.mean >= WORTH * view->sides[0].report->mean;
	fprintf(finding, "'%s' gives ", side_name(best));
	print_amount(finding, view, &best->difference, 1);
	fputc('.', finding);
	print_ties(finding, view, best);
	if (worth)
		fprintf(advice, "Change to '%s'. Run heddle check on its tables first.",
			side_name(best));
	else
		fprintf(advice, "So small a gain is hardly worth a change: keep '%s'.",
			side_name(&view->sides[0]));
	return best->difference.mean >= WORTH * first->report->mean ? COMPARE_CHANGE : COMPARE_KEEP;
}

void compare_verdict_make(const struct compare_view *view, struct compare_verdict *out)
{
	size_t finding_size, advice_size;
	struct compare_verdict verdict = {0};
	FILE *finding = need(open_memstream(&verdict.finding, &finding_size));
	FILE *advice = need(open_memstream(&verdict.advice, &advice_size));

	verdict.outcome = judge(view, finding, advice);
	need_close(finding);
	need_close(advice);
	*out = verdict;
}

void compare_verdict_release(struct compare_verdict *verdict)
{
	free(verdict->finding);
	free(verdict->advice);
	*verdict = (struct compare_verdict){0};
}

double compare_flows(const struct compare_side *side, uint32_t link)
{
	return (double)side->report->link_flows[link] / (double)side->report->rounds;
}

static void print_sides(const struct compare_view *view)
{
	const bool machines = view->on->ranks->adapters > 1;

	printf("\n%-28s %9s %9s %9s %9s %9s %9s%s\n", "tables", "bandwidth", "+- (99%)", "least",
	       "sum max", "sum avg", "broken", machines ? " by machine" : "");
	for (unsigned i = 0; i < view->count; i++) {
		const struct compare_side *side = &view->sides[i];
		const struct hd_congestion_report *report = side->report;
		if (side->same_as) {
			printf("%-28s the same tables as %s\n", end_of(side->name, NAME_WIDTH),
			       end_of(side->same_as->name, NAME_WIDTH));
			continue;
		}
		printf("%-28s %9.4f %9.4f %9.4f %9.4f %9.4f %9" PRIu64,
		       end_of(side->name, NAME_WIDTH), report->mean, report->half_width,
		       report->minimum, report->sum_max, report->sum_avg,
		       ebb_broken_total(&side->broken));
		if (machines)
			printf(" %10.4f", report->machine_mean);
		putchar('\n');
	}
}

void compare_print(const struct compare_view *view)
{
	char members[WORKLOAD_MEMBERS_TEXT], machines[WORKLOAD_MACHINES_TEXT];

	printf("fabric   %s: %" PRIu32 " hosts\n", view->fabric_path,
	       view->on->ranks->fabric->host_count);
	printf("pattern  %s, %" PRIu64 " patterns among %s, map %s, seed %" PRIu64 "%s\n",
	       view->workload->pattern_text, view->sides[0].report->patterns,
	       workload_members(view->on, members, sizeof(members)),
	       workload_map_name(view->workload), view->workload->seed,
	       workload_lids_remark(view->workload));
	if (workload_machines(view->on, machines, sizeof(machines)))
		printf("machines %s\n", machines);
	printf("shares   bandwidth is the mean of %s\n", workload_share_name(view->workload));
	print_sides(view);
	for (unsigned i = 0; i < view->count; i++) {
		const struct compare_side *side = &view->sides[i];
		if (side->same_as || !ebb_broken_total(&side->broken))
			continue;
		printf("\n%s:", side->name);
		ebb_print_broken(view->on->ranks->fabric, &side->broken, side->report);
	}
	unsigned others = 0;
	for (unsigned i = 1; i < view->count; i++)
		others += !view->sides[i].same_as;
	if (others) {
		printf("\n%-28s %9s %9s %9s %9s %9s\n", "against the first", "mean", "+- (99%)",
		       "better", "worse", "same");
		for (unsigned i = 1; i < view->count; i++) {
			const struct hd_difference *difference = &view->sides[i].difference;
			if (view->sides[i].same_as)
				continue;
			printf("%-28s %+9.4f %9.4f %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n",
			       end_of(view->sides[i].name, NAME_WIDTH), difference->mean,
			       difference->half_width, difference->better, difference->worse,
			       difference->same);
		}
	}
	char text[EBB_LINK_TEXT];
	for (unsigned i = 1; i < view->count; i++) {
		const struct compare_side *side = &view->sides[i];
		if (side->same_as || !side->worse_count)
			continue;
		printf("\nlinks that get worse with %s (flows a round)\n", side->name);
		for (uint32_t k = 0; k < side->worse_count; k++)
			printf("  %8.3f -> %8.3f  %s\n",
			       compare_flows(&view->sides[0], side->worse[k]),
			       compare_flows(side, side->worse[k]),
			       ebb_link_text(view->on->ranks->fabric, side->worse[k], text,
					     sizeof(text)));
	}
	struct compare_verdict verdict;
	compare_verdict_make(view, &verdict);
	printf("\n%s\n%s\n", verdict.finding, verdict.advice);
	compare_verdict_release(&verdict);
	char done[200];
	snprintf(done, sizeof(done), "%" PRIu64 " of %" PRIu64 " patterns of '%.80s'; %u not begun",
		 view->on->count, view->workload->count, side_name(&view->sides[view->count - 1]),
		 view->left_out);
	workload_print_partial(view->workload, done);
}

void compare_csv(const struct compare_view *view)
{
	struct csv csv = csv_begin(stdout, EBB_CSV_COLUMNS
				   ",difference,difference_half_width_99,better,worse,same");

	for (unsigned i = 0; i < view->count; i++) {
		const struct compare_side *side = &view->sides[i];
		ebb_csv_figures(&csv, side->name, side->report, &side->broken);
		for (unsigned column = 0; !i && column < 5; column++)
			csv_empty(&csv);
		if (i) {
			csv_real(&csv, side->difference.mean);
			csv_real(&csv, side->difference.half_width);
			csv_number(&csv, side->difference.better);
			csv_number(&csv, side->difference.worse);
			csv_number(&csv, side->difference.same);
		}
		csv_end_row(&csv);
	}
}

static json_t *side_json(const struct compare_view *view, const struct compare_side *side)
{
	const struct hd_difference *difference = &side->difference;
	json_t *all = ebb_figures_json(side->report);

	all = json_value_set(all, "tables", json_value_text(side->name));
	all = json_value_set(all, "broken_routes",
			     json_integer((json_int_t)ebb_broken_total(&side->broken)));
	if (side->same_as)
		all = json_value_set(all, "same_as", json_value_text(side->same_as->name));
	if (side == view->sides)
		return all;
	all = json_value_set(
	    all, "difference",
	    json_pack("{s:f, s:f, s:I, s:I, s:I}", "mean", difference->mean, "half_width_99",
		      difference->half_width, "better", (json_int_t)difference->better, "worse",
		      (json_int_t)difference->worse, "same", (json_int_t)difference->same));
	json_t *list = json_array();
	char text[EBB_LINK_TEXT];
	for (uint32_t k = 0; k < side->worse_count; k++) {
		uint32_t link = side->worse[k];
		list = json_value_append(
		    list, json_pack("{s:o, s:f, s:f}", "link",
				    json_value_text(ebb_link_text(view->on->ranks->fabric, link,
								  text, sizeof(text))),
				    "flows_first", compare_flows(&view->sides[0], link), "flows",
				    compare_flows(side, link)));
	}
	return json_value_set(all, "worse_links", list);
}

json_t *compare_json(const struct compare_view *view)
{
	json_t *all = ebb_workload_json(view->fabric_path, view->workload, view->on);
	json_t *sides = json_array();

	for (unsigned i = 0; i < view->count; i++)
		sides = json_value_append(sides, side_json(view, &view->sides[i]));
	all = json_value_set(all, "compared", sides);
	static const char *const outcomes[] = {
	    [COMPARE_KEEP] = "keep", [COMPARE_CHANGE] = "change", [COMPARE_REPAIR] = "repair"};
	struct compare_verdict verdict;
	compare_verdict_make(view, &verdict);
	json_t *value =
	    json_pack("{s:s, s:o, s:o}", "outcome", outcomes[verdict.outcome], "finding",
		      json_value_text(verdict.finding), "advice", json_value_text(verdict.advice));
	compare_verdict_release(&verdict);
	return json_value_set(all, "verdict", value);
}
