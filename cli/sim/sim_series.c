/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 400

static uint32_t point_count(const struct hd_scenario_runs *runs)
{
	return runs->point_count < SIM_SERIES_POINTS ? runs->point_count : SIM_SERIES_POINTS;
}

/* ---- the sweep ---- */

static uint32_t add_label(struct sim_series *series, const char *label)
{
	for (uint32_t i = 0; i < series->label_count; i++)
		if (!strcmp(series->labels[i], label))
			return i;
	series->labels[series->label_count] = label;
	return series->label_count++;
}

static void collect(const struct hd_scenario_runs *runs, uint32_t axis, struct sim_series *series)
{
	series->label_count = 0;
	for (uint32_t i = 0; i < point_count(runs); i++)
		series->place[i] = add_label(series, axis < runs->points[i].label_count
							 ? runs->points[i].labels[axis]
							 : "all");
}

/* Ascending numbers, all with the same unit. */
static bool find_numbers(struct sim_series *series)
{
	char *unit;

	for (uint32_t i = 0; i < series->label_count; i++) {
		series->numbers[i] = strtod(series->labels[i], &unit);
		if (unit == series->labels[i] || (i && strcmp(unit, series->unit) != 0) ||
		    (i && series->numbers[i] <= series->numbers[i - 1]))
			return false;
		series->unit = unit;
	}
	return series->label_count > 1;
}

/* Collects the labels of the sweep that is chosen. */
static uint32_t choose_axis(const struct hd_scenario_runs *runs, struct sim_series *series)
{
	uint32_t count = runs->points[0].label_count;

	for (uint32_t axis = count; axis-- > 0;) {
		collect(runs, axis, series);
		series->numeric = find_numbers(series);
		if (series->numeric)
			return axis;
	}
	series->unit = "";
	collect(runs, count ? count - 1 : 0, series);
	return count ? count - 1 : 0;
}

/* ---- the lines ---- */

static const char *line_name(const struct hd_scenario_point *point, uint32_t axis,
			     struct hd_arena *arena)
{
	char name[NAME_SIZE] = "";

	for (uint32_t i = 0; i < point->label_count; i++) {
		size_t used = strlen(name);
		if (i != axis)
			snprintf(name + used, sizeof(name) - used, "%s%s", used ? ", " : "",
				 point->labels[i]);
	}
	return hd_arena_strdup(arena, name);
}

static struct sim_series_line *find_line(struct sim_series *series, const char *name,
					 struct hd_arena *arena)
{
	for (uint32_t i = 0; i < series->line_count; i++)
		if (!strcmp(series->lines[i].name, name))
			return &series->lines[i];
	struct sim_series_line *line = &series->lines[series->line_count];
	line->name = name;
	line->points = hd_arena_alloc(arena, series->label_count, sizeof(*line->points));
	series->line_count += line->points != NULL;
	return line->points ? line : NULL;
}

static int make_lines(const struct hd_scenario_runs *runs, uint32_t axis, struct hd_arena *arena,
		      struct sim_series *series)
{
	for (uint32_t i = 0; i < point_count(runs); i++) {
		const char *name = line_name(&runs->points[i], axis, arena);
		struct sim_series_line *line = name ? find_line(series, name, arena) : NULL;
		if (!line)
			return -ENOMEM;
		if (line->count < series->label_count)
			line->points[line->count++] = i;
	}
	return 0;
}

int sim_series_make(const struct hd_scenario_runs *runs, struct hd_arena *arena,
		    struct sim_series *out)
{
	uint32_t points = point_count(runs);
	struct sim_series series = {
	    .title = "",
	    .unit = "",
	    .labels = hd_arena_alloc(arena, points, sizeof(char *)),
	    .numbers = hd_arena_alloc(arena, points, sizeof(double)),
	    .place = hd_arena_alloc(arena, points, sizeof(uint32_t)),
	    .lines = hd_arena_alloc(arena, points, sizeof(struct sim_series_line)),
	};

	if (hd_arena_check(arena))
		return -ENOMEM;
	uint32_t axis = choose_axis(runs, &series);
	if (axis < runs->sweep_count)
		series.title = runs->sweeps[axis];
	*out = series;
	return make_lines(runs, axis, arena, out);
}
