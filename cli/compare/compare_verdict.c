/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "compare_verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 64 /* bytes */
#define WORTH 0.01 /* of the first tables' bandwidth */

/* The end of a long name, because paths often differ only there; it begins with a character. */
static const char *short_name(const struct compare_side *side)
{
	size_t length = strlen(side->name);
	const char *name = side->name + (length > NAME_MOST ? length - NAME_MOST : 0);

	while ((*name & 0xC0) == 0x80 && name > side->name)
		name++;
	return name;
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
		fprintf(text, " bandwidth than '%s'", short_name(&view->sides[0]));
	if (half > 0)
		fprintf(text, " (99%% confidence: %.1f%% to %.1f%%)", percent(view, mean - half),
			percent(view, mean + half));
}

/* ---- other tables that are as good as the best ---- */

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
			fprintf(text, "%s'%s'", count++ ? ", " : " ", short_name(side));
	}
	if (count)
		fprintf(text, " %s as good, as far as the patterns show.",
			count > 1 ? "are" : "is");
}

/* ---- the cases ---- */

static void none_is_intact(FILE *finding, FILE *advice, const struct compare_view *view)
{
	fprintf(finding, "%s lose routes between hosts, so do not use them as they are.",
		view->count == 2 ? "Both tables" : "All tables");
	fputs("Find the faults with heddle check, then compare again.", advice);
}

static void first_is_broken(FILE *finding, FILE *advice, const struct compare_view *view,
			    const struct compare_side *best)
{
	fprintf(finding, "'%s' loses %" PRIu64 " routes between hosts; '%s' loses none.",
		short_name(&view->sides[0]), ebb_broken_total(&view->sides[0].broken),
		short_name(best));
	print_ties(finding, view, best);
	fprintf(advice, "Change to '%s'. Run heddle check on its tables first.", short_name(best));
}

static void best_is_better(FILE *finding, FILE *advice, const struct compare_view *view,
			   const struct compare_side *best)
{
	bool worth = best->difference.mean >= WORTH * view->sides[0].report->mean;

	fprintf(finding, "'%s' gives ", short_name(best));
	print_amount(finding, view, &best->difference, 1);
	fputc('.', finding);
	print_ties(finding, view, best);
	if (worth)
		fprintf(advice, "Change to '%s'. Run heddle check on its tables first.",
			short_name(best));
	else
		fprintf(advice, "So small a gain is hardly worth a change: keep '%s'.",
			short_name(&view->sides[0]));
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

	fprintf(advice, "Keep '%s'.", short_name(first));
	if (all_same(view)) {
		fprintf(finding, "%s are the same.",
			view->count == 2 ? "The two tables" : "All these tables");
	} else if (!next) {
		fprintf(finding, "Only '%s' loses no routes between hosts.", short_name(first));
	} else if (next->difference.mean < -next->difference.half_width) {
		fprintf(finding,
			"Nothing gives more bandwidth than '%s'. The next best, '%s', gives ",
			short_name(first), short_name(next));
		print_amount(finding, view, &next->difference, -1);
		fputc('.', finding);
	} else {
		fprintf(finding, "Nothing is clearly better than '%s'.", short_name(first));
		print_ties(finding, view, first);
	}
}

static enum compare_outcome judge(const struct compare_view *view, FILE *finding, FILE *advice)
{
	const struct compare_side *best = find_best(view), *first = &view->sides[0];

	if (!best) {
		none_is_intact(finding, advice, view);
		return COMPARE_REPAIR;
	}
	if (!intact(first)) {
		first_is_broken(finding, advice, view, best);
		return COMPARE_CHANGE;
	}
	if (!clear(&best->difference)) {
		first_is_best(finding, advice, view);
		return COMPARE_KEEP;
	}
	best_is_better(finding, advice, view, best);
	return best->difference.mean >= WORTH * first->report->mean ? COMPARE_CHANGE : COMPARE_KEEP;
}

int compare_verdict_make(const struct compare_view *view, struct compare_verdict *out)
{
	size_t finding_size, advice_size;
	struct compare_verdict verdict = {0};
	FILE *finding = open_memstream(&verdict.finding, &finding_size);
	FILE *advice = open_memstream(&verdict.advice, &advice_size);
	bool failed = !finding || !advice;

	if (!failed)
		verdict.outcome = judge(view, finding, advice);
	if (finding)
		failed = fclose(finding) || failed;
	if (advice)
		failed = fclose(advice) || failed;
	if (failed)
		compare_verdict_release(&verdict);
	*out = verdict;
	return failed ? -ENOMEM : 0;
}

void compare_verdict_release(struct compare_verdict *verdict)
{
	free(verdict->finding);
	free(verdict->advice);
	*verdict = (struct compare_verdict){0};
}
