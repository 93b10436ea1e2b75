/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What papers say, and whether it came out. */
#include "scenario_number.h"
#include "scenario_runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct hd_option scenario_expect_keys[] = {
    {.name = "figure", .summary = "name of a figure of the runs", .type = HD_OPTION_STRING},
    {.name = "value",
     .summary = "one for all points, or V | V | ..., one for each point; - for none",
     .type = HD_OPTION_STRING},
    {.name = "tolerance",
     .summary = "share of the value",
     .type = HD_OPTION_STRING,
     .fallback = "3%",
     .validate = scenario_number_check},
    {.name = "at",
     .summary = "LABEL | LABEL ...: only points that have all of these labels",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "relative_to",
     .summary = "a label: the figure is divided by that of the point with this label in place of "
		"its own",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "judge",
     .summary = "within the tolerance; on the same side of 1 (0 if not relative) as the value; "
		"below or above the value",
     .type = HD_OPTION_CHOICE,
     .fallback = "within",
     .choices = "within|sign|below|above"},
    {.name = "statistic",
     .summary = "of the seeds",
     .type = HD_OPTION_CHOICE,
     .fallback = "mean",
     .choices = "mean|least|greatest"},
    {.name = "unit", .summary = "of the value", .type = HD_OPTION_STRING, .fallback = ""},
    {.name = "scale",
     .summary = "by which the figure is multiplied to have that unit",
     .type = HD_OPTION_STRING,
     .fallback = "1",
     .validate = scenario_number_check},
    {.name = "source",
     .summary = "where the value is from",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "note",
     .summary = "a remark for the report",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};
const unsigned scenario_expect_key_count =
    sizeof(scenario_expect_keys) / sizeof(scenario_expect_keys[0]);

/* ---- reading ---- */

static bool has_label(const struct hd_scenario_point *point, const char *label)
{
	for (uint32_t i = 0; i < point->label_count; i++)
		if (!strcmp(point->labels[i], label))
			return true;
	return false;
}

static bool matches(const struct scenario_expect *expect, const struct hd_scenario_point *point)
{
	for (uint32_t i = 0; i < expect->at_count; i++)
		if (!has_label(point, expect->at[i]))
			return false;
	return true;
}

/* A label that no point has is a mistake. */
static int check_label(const struct scenario_runs *runs, const char *label, struct hd_error *err)
{
	for (uint32_t i = 0; i < runs->shown.point_count; i++)
		if (has_label(&runs->shown.points[i], label))
			return 0;
	return hd_error_set(err, -ENOENT, "no point has the label '%s'", label);
}

static int check_values(const struct scenario_runs *runs, const struct scenario_expect *expect,
			struct hd_error *err)
{
	uint32_t points = 0;
	double value;
	int rc = 0;

	for (uint32_t i = 0; i < runs->shown.point_count; i++)
		points += matches(expect, &runs->shown.points[i]);
	if (!points)
		return hd_error_set(err, -EINVAL, "no point has all of the labels");
	if (expect->value_count != 1 && expect->value_count != points)
		return hd_error_set(err, -EINVAL, "%u values for %u points", expect->value_count,
				    points);
	for (uint32_t i = 0; !rc && i < expect->value_count; i++)
		if (strcmp(expect->values[i], "-") != 0)
			rc = scenario_number(expect->values[i], &value, err);
	return rc;
}

static const char *copy(struct scenario_runs *runs, const struct hd_options *options,
			const char *key)
{
	return hd_arena_strdup(&runs->arena, hd_options_get(options, key)->text);
}

static int read_expect(struct scenario_runs *runs, const char *name,
		       const struct hd_options *options, struct scenario_expect *expect,
		       struct hd_error *err)
{
	const char *at = hd_options_get(options, "at")->text;
	int rc = 0;

	expect->name = hd_arena_strdup(&runs->arena, name);
	expect->figure = copy(runs, options, "figure");
	expect->source = copy(runs, options, "source");
	expect->note = copy(runs, options, "note");
	expect->unit = copy(runs, options, "unit");
	expect->relative_to = copy(runs, options, "relative_to");
	expect->judge = (enum hd_judge)hd_options_get(options, "judge")->number;
	expect->statistic = (enum hd_statistic)hd_options_get(options, "statistic")->number;
	scenario_number(hd_options_get(options, "tolerance")->text, &expect->tolerance, NULL);
	scenario_number(hd_options_get(options, "scale")->text, &expect->scale, NULL);
	expect->values = scenario_sweep_split(hd_options_get(options, "value")->text, &runs->arena,
					      &expect->value_count);
	if (*at)
		expect->at = scenario_sweep_split(at, &runs->arena, &expect->at_count);
	if (hd_arena_check(&runs->arena))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < expect->at_count; i++)
		rc = check_label(runs, expect->at[i], err);
	if (!rc && *expect->relative_to)
		rc = check_label(runs, expect->relative_to, err);
	return rc ? rc : check_values(runs, expect, err);
}

int scenario_expect_read(const struct hd_scenario *scenario, struct scenario_runs *runs,
			 struct hd_error *err)
{
	const struct scenario_section *section = NULL;
	int rc = 0;

	runs->expects = hd_arena_alloc(&runs->arena, scenario->count, sizeof(*runs->expects));
	if (!runs->expects)
		return hd_error_no_memory(err);
	while (!rc && (section = scenario_text_next(scenario, "expect", section)) != NULL) {
		struct hd_options *options = NULL;
		rc = scenario_text_options(scenario, section, scenario_expect_keys,
					   scenario_expect_key_count, &options, err);
		if (rc)
			return rc;
		rc = read_expect(runs, section->label, options,
				 &runs->expects[runs->expect_count++], err);
		if (rc)
			scenario_text_error_in(scenario, section, rc, err);
		hd_options_free(options);
	}
	return rc;
}

/* ---- judging ---- */

/* The point with the same labels but one, which is `label`; UINT32_MAX: none. */
static uint32_t find_reference(const struct scenario_runs *runs, uint32_t number, const char *label)
{
	const struct hd_scenario_point *point = &runs->shown.points[number];

	for (uint32_t i = 0; i < runs->shown.point_count; i++) {
		const struct hd_scenario_point *other = &runs->shown.points[i];
		uint32_t same = 0, wanted = 0;
		for (uint32_t k = 0; k < point->label_count; k++) {
			bool equal = !strcmp(point->labels[k], other->labels[k]);
			same += equal;
			wanted += !equal && !strcmp(other->labels[k], label);
		}
		if (wanted == 1 && same + 1 == point->label_count)
			return i;
	}
	return UINT32_MAX;
}

static bool deadlocked(const struct hd_record *record)
{
	const struct hd_record_item *item = hd_record_find(record, "run.deadlock");

	return item && item->values[0] > 0;
}

/* A figure of a run; false: the run has no such figure, or a deadlock has stopped the traffic. */
static bool value_of(const struct scenario_runs *runs, struct hd_record *const *records,
		     uint32_t point, uint32_t seed, const char *figure, double *value,
		     bool *partial)
{
	const struct hd_record *record = records[point * runs->shown.seed_count + seed];
	const struct hd_record_item *item = record ? hd_record_find(record, figure) : NULL;

	if (!item || item->count != 1 || deadlocked(record))
		return false;
	*value = item->values[0];
	*partial |= record->partial;
	return true;
}

static bool meets(const struct scenario_expect *expect, const struct hd_expectation *row)
{
	double neutral = *expect->relative_to ? 1 : 0;

	switch (expect->judge) {
	case HD_JUDGE_SIGN:
		return (row->measured < neutral) == (row->expected < neutral);
	case HD_JUDGE_BELOW:
		return row->measured < row->expected;
	case HD_JUDGE_ABOVE:
		return row->measured > row->expected;
	case HD_JUDGE_WITHIN:
		break;
	}
	return fabs(row->measured - row->expected) <= expect->tolerance * fabs(row->expected);
}

static void measure(const struct scenario_runs *runs, struct hd_record *const *records,
		    const struct scenario_expect *expect, uint32_t point,
		    struct hd_expectation *row)
{
	uint32_t reference =
	    *expect->relative_to ? find_reference(runs, point, expect->relative_to) : point;
	double sum = 0, value, divisor;

	for (uint32_t seed = 0; reference != UINT32_MAX && seed < runs->shown.seed_count; seed++) {
		if (!value_of(runs, records, point, seed, expect->figure, &value, &row->partial) ||
		    !value_of(runs, records, reference, seed, expect->figure, &divisor,
			      &row->partial))
			continue;
		value = *expect->relative_to ? value / divisor : value * expect->scale;
		if (!isfinite(value))
			continue;
		row->least = row->seeds ? fmin(row->least, value) : value;
		row->greatest = row->seeds ? fmax(row->greatest, value) : value;
		sum += value;
		row->seeds++;
	}
	row->verdict = HD_VERDICT_OPEN;
	if (!row->seeds)
		return;
	row->measured = expect->statistic == HD_STATISTIC_LEAST	     ? row->least
			: expect->statistic == HD_STATISTIC_GREATEST ? row->greatest
								     : sum / row->seeds;
	row->verdict = meets(expect, row) ? HD_VERDICT_WITHIN : HD_VERDICT_OUTSIDE;
}

int hd_scenario_judge(const struct hd_scenario_runs *shown, struct hd_record *const *records,
		      struct hd_expectation **out, uint32_t *count, struct hd_error *err)
{
	const struct scenario_runs *runs = scenario_runs_of(shown);
	struct hd_expectation *rows =
	    calloc((size_t)runs->expect_count * shown->point_count + 1, sizeof(*rows));

	if (!rows)
		return hd_error_no_memory(err);
	*count = 0;
	for (uint32_t i = 0; i < runs->expect_count; i++) {
		const struct scenario_expect *expect = &runs->expects[i];
		uint32_t matching = 0;
		for (uint32_t point = 0; point < shown->point_count; point++) {
			if (!matches(expect, &shown->points[point]))
				continue;
			const char *value = expect->values[expect->value_count > 1 ? matching : 0];
			matching++;
			if (!strcmp(value, "-"))
				continue;
			struct hd_expectation *row = &rows[(*count)++];
			*row = (struct hd_expectation){.name = expect->name,
						       .figure = expect->figure,
						       .source = expect->source,
						       .note = expect->note,
						       .unit = expect->unit,
						       .scale = expect->scale,
						       .point = shown->points[point].label,
						       .relative_to = expect->relative_to,
						       .statistic = expect->statistic,
						       .judge = expect->judge,
						       .tolerance = expect->tolerance};
			scenario_number(value, &row->expected, NULL);
			measure(runs, records, expect, point, row);
		}
	}
	*out = rows;
	return 0;
}
