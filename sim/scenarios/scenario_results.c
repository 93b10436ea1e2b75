/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures of a point over its seeds, and whether they are what papers say. */
#include "scenario_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

/* The 97.5% quantile of Student's t; degrees of freedom: at least 1. */
static double scenario_interval_t(uint32_t freedom)
{
	static const double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
					   2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
					   2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
					   2.060,  2.056, 2.052, 2.048, 2.045, 2.042};

	/* the beginning of the expansion in 1 / freedom is good to 0.001 from there on */
	return freedom <= COUNT(quantiles) ? quantiles[freedom - 1]
					   : 1.95996 + 2.3722 / freedom + 2.82 / freedom / freedom;
}

/* The standard deviation of the largest of n draws from a standard normal distribution. */
static double deviation_of_extreme(uint32_t count)
{
	static const double exact[] = {1,     .8256, .7480, .7012, .6690,
				       .6449, .6260, .6107, .5978, .5868};

	/* beyond, a fit within 1%: exact are .5251 for 20, .4929 for 30, .4294 for 100 */
	return count <= COUNT(exact) ? exact[count - 1] : .5868 * pow(log(10) / log(count), .4525);
}

double scenario_interval_half(enum hd_statistic statistic, uint32_t count, double deviation)
{
	if (count < 2)
		return 0;
	double share =
	    statistic == HD_STATISTIC_MEAN ? 1 / sqrt(count) : deviation_of_extreme(count);
	return scenario_interval_t(count - 1) * deviation * share;
}

/* Item `index` is nearly always at the same place in all records. */
static const struct hd_record_item *item_of(const struct hd_record *record, uint32_t index,
					    const char *name)
{
	if (index < record->count && !strcmp(record->items[index].name, name))
		return &record->items[index];
	return hd_record_find(record, name);
}

static void results_add(struct hd_scenario_figure *figure, double value, double *squares)
{
	double before = value - figure->mean;

	figure->count++;
	figure->mean += before / figure->count;
	*squares += before * (value - figure->mean);
	figure->least = figure->count > 1 ? fmin(figure->least, value) : value;
	figure->greatest = figure->count > 1 ? fmax(figure->greatest, value) : value;
}

int hd_scenario_figures(const struct hd_scenario_runs *runs, struct hd_record *const *records,
			uint32_t point, struct hd_scenario_figure **figures, uint32_t *count,
			struct hd_error *err)
{
	struct hd_record *const *seeds = records + (size_t)point * runs->seed_count;
	const struct hd_record *first = NULL;

	for (uint32_t i = 0; i < runs->seed_count && !first; i++)
		first = seeds[i];
	struct hd_scenario_figure *rows = calloc((first ? first->count : 0) + 1u, sizeof(*rows));
	if (!rows)
		return hd_error_no_memory(err);
	*count = 0;
	for (uint32_t k = 0; first && k < first->count; k++) {
		const struct hd_record_item *like = &first->items[k];
		struct hd_scenario_figure *row = &rows[*count];
		double squares = 0;
		if (like->count != 1 || !strncmp(like->name, "series.", 7))
			continue;
		(*count)++;
		row->name = like->name;
		row->unit = like->unit;
		for (uint32_t i = 0; i < runs->seed_count; i++) {
			const struct hd_record_item *item =
			    seeds[i] ? item_of(seeds[i], k, like->name) : NULL;
			if (item && item->count == 1)
				results_add(row, item->values[0], &squares);
		}
		row->deviation = row->count > 1 ? sqrt(squares / (row->count - 1)) : 0;
	}
	*figures = rows;
	return 0;
}

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

/* The values that are as expected: between these bounds. */
static struct scenario_interval wanted(const struct scenario_expect *expect, double expected)
{
	double neutral = *expect->relative_to ? 1 : 0;
	double room = expect->tolerance * fabs(expected);
	enum hd_judge judge = expect->judge;

	if (judge == HD_JUDGE_SIGN) {
		judge = expected < neutral ? HD_JUDGE_BELOW : HD_JUDGE_ABOVE;
		expected = neutral;
	}
	if (judge == HD_JUDGE_BELOW)
		return (struct scenario_interval){-INFINITY, nextafter(expected, -INFINITY)};
	if (judge == HD_JUDGE_ABOVE)
		return (struct scenario_interval){nextafter(expected, INFINITY), INFINITY};
	return (struct scenario_interval){expected - room, expected + room};
}

static enum hd_verdict verdict_of(const struct scenario_runs *runs,
				  const struct scenario_expect *expect,
				  const struct hd_expectation *row)
{
	const struct scenario_interval fine = wanted(expect, row->expected);

	if (row->seeds == 1 && !runs->ready[0].run.exact)
		return HD_VERDICT_UNDECIDED;
	if (row->low >= fine.low && row->high <= fine.high)
		return HD_VERDICT_WITHIN;
	return row->high < fine.low || row->low > fine.high ? HD_VERDICT_OUTSIDE
							    : HD_VERDICT_UNDECIDED;
}

/* The figure of a seed, relative or scaled; false: it has none. */
static bool results_take(const struct scenario_runs *runs, struct hd_record *const *records,
			 const struct scenario_expect *expect, uint32_t point, uint32_t reference,
			 uint32_t seed, struct hd_expectation *row, double *value)
{
	double divisor;

	if (!value_of(runs, records, point, seed, expect->figure, value, &row->partial) ||
	    !value_of(runs, records, reference, seed, expect->figure, &divisor, &row->partial))
		return false;
	*value = *expect->relative_to ? *value / divisor : *value * expect->scale;
	return isfinite(*value);
}

static void results_measure(const struct scenario_runs *runs, struct hd_record *const *records,
			    const struct scenario_expect *expect, uint32_t point,
			    struct hd_expectation *row)
{
	uint32_t reference =
	    *expect->relative_to ? find_reference(runs, point, expect->relative_to) : point;
	struct hd_scenario_figure spread = {.count = 0};
	double squares = 0, value;

	for (uint32_t seed = 0; reference != UINT32_MAX && seed < runs->shown.seed_count; seed++)
		if (results_take(runs, records, expect, point, reference, seed, row, &value))
			results_add(&spread, value, &squares);
	row->seeds = spread.count;
	row->verdict = HD_VERDICT_OPEN;
	if (!row->seeds)
		return;
	row->least = spread.least;
	row->greatest = spread.greatest;
	row->measured = expect->statistic == HD_STATISTIC_LEAST	     ? row->least
			: expect->statistic == HD_STATISTIC_GREATEST ? row->greatest
								     : spread.mean;
	double deviation = row->seeds > 1 ? sqrt(squares / (row->seeds - 1)) : 0;
	double half = scenario_interval_half(expect->statistic, row->seeds, deviation);
	row->low = row->measured - half;
	row->high = row->measured + half;
	row->verdict = verdict_of(runs, expect, row);
}

/* The load at which the point is full; 0: not known. */
static double full_at(const struct scenario_runs *runs, struct hd_record *const *records,
		      uint32_t point)
{
	const struct hd_record *record = records[point * runs->shown.seed_count];
	const struct hd_record_item *item =
	    record ? hd_record_find(record, SCENARIO_LOAD_FULL) : NULL;

	return item && item->count == 1 ? item->values[0] : 0;
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
			if (!scenario_runs_match(expect, &shown->points[point]))
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
						       .tolerance = expect->tolerance,
						       .full = full_at(runs, records, point)};
			scenario_settings_number(value, &row->expected, NULL);
			results_measure(runs, records, expect, point, row);
		}
	}
	*out = rows;
	return 0;
}
