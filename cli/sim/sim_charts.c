/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_charts.h"
#include "chart.h"
#include "html.h"
#include "sim_series.h"
#include "sim_words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CURVE_POINTS 200u
#define FIGURES_SIZE 100
#define POINTS_MOST 16u /* points whose series get a chart */

/* A chart that is being put together. */
struct plot {
	struct chart chart;
	struct chart_line lines[SIM_CHARTS_LINES];
	struct chart_point *points[SIM_CHARTS_LINES];
	char figures[SIM_CHARTS_LINES][FIGURES_SIZE];
	char name[SIM_CHARTS_LINES][128];
	double most;
};

static struct chart_point *add_line(struct plot *plot, uint32_t count, const char *name)
{
	uint32_t i = plot->chart.count;
	struct chart_point *points = calloc((size_t)count + 1, sizeof(*points));

	if (!points)
		return NULL;
	plot->points[i] = points;
	snprintf(plot->name[i], sizeof(plot->name[i]), "%s", name);
	plot->lines[i] = (struct chart_line){points, 0, 0, plot->figures[i]};
	plot->chart.count++;
	return points;
}

static void add_point(struct plot *plot, double x, double y)
{
	uint32_t i = plot->chart.count - 1;

	plot->points[i][plot->lines[i].count++] = (struct chart_point){x, y};
	plot->most = y > plot->most ? y : plot->most;
}

static void describe(struct plot *plot)
{
	for (uint32_t i = 0; i < plot->chart.count; i++) {
		const struct chart_line *line = &plot->lines[i];
		double last = line->count ? line->points[line->count - 1].y : 0, most = 0;
		for (uint32_t k = 0; k < line->count; k++)
			most = fmax(most, line->points[k].y);
		snprintf(plot->figures[i], FIGURES_SIZE, "largest %.4g, last %.4g", most, last);
	}
}

static void draw(struct plot *plot, FILE *page)
{
	bool empty = plot->chart.count == 0 || !(plot->most > 0);

	describe(plot);
	plot->chart.lines = plot->lines;
	plot->chart.y_end = plot->most * 1.05;
	if (!empty && plot->chart.x_end > plot->chart.x_first) {
		fputs("<figure><figcaption>", page);
		html_text(page, plot->chart.title);
		fputs("</figcaption>\n<ul class=\"key\">", page);
		for (uint32_t i = 0; i < plot->chart.count; i++) {
			fputs("<li>", page);
			chart_swatch(page, i);
			fputc(' ', page);
			html_tables(page, plot->name[i]);
			fputs("</li>", page);
		}
		fputs("</ul>\n", page);
		chart_draw(page, &plot->chart);
		fputs("</figure>\n", page);
	}
	for (uint32_t i = 0; i < plot->chart.count; i++)
		free(plot->points[i]);
}

/* ---- against a sweep ---- */

static int add_figure(struct plot *plot, const struct sim_view *view,
		      const struct sim_series *series, const char *figure, double scale)
{
	for (uint32_t i = 0; i < series->line_count && i < SIM_CHARTS_LINES; i++) {
		const struct sim_series_line *line = &series->lines[i];
		if (!add_line(plot, line->count, *line->name ? line->name : "all"))
			return -ENOMEM;
		for (uint32_t k = 0; k < line->count; k++) {
			const struct hd_scenario_figure *value =
			    sim_view_find(view, line->points[k], figure);
			if (value)
				add_point(plot, series->numbers[series->place[line->points[k]]],
					  value->mean * scale);
		}
	}
	return 0;
}

static int chart_figure(const struct sim_view *view, const struct sim_series *series,
			const char *id, const char *figure, const char *unit, double scale,
			FILE *page)
{
	char words[200], y_title[240];
	struct plot plot = {.most = 0};

	sim_words_figure(figure, words, sizeof(words));
	snprintf(y_title, sizeof(y_title), "%s, %s", words, unit);
	plot.chart = (struct chart){.id = id,
				    .title = words,
				    .x_title = series->title,
				    .y_title = y_title,
				    .x_unit = series->unit,
				    .y_unit = "",
				    .x_first = series->numbers[0],
				    .x_end = series->numbers[series->label_count - 1]};
	int rc = add_figure(&plot, view, series, figure, scale);
	draw(&plot, page);
	return rc;
}

static bool ends_in(const char *text, const char *ending)
{
	size_t length = strlen(text), tail = strlen(ending);

	return length > tail && !strcmp(text + length - tail, ending);
}

static int chart_all(const struct sim_view *view, const struct sim_series *series, const char *id,
		     FILE *page)
{
	static const struct {
		const char *ending, *unit;
		double scale;
	} kinds[] = {{".throughput", "Gb/s", 1e-9},
		     {".latency.mean", "us", 1e6},
		     {".latency.p99", "us", 1e6}};
	char chart_id[64];
	uint32_t number = 0;
	int rc = 0;

	for (uint32_t i = 0; i < view->figure_count[0]; i++) {
		const char *name = view->figures[0][i].name;
		for (unsigned k = 0; !rc && k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			if (strncmp(name, "class.", 6) != 0 || !ends_in(name, kinds[k].ending))
				continue;
			snprintf(chart_id, sizeof(chart_id), "%s-sweep%u", id, number++);
			rc = chart_figure(view, series, chart_id, name, kinds[k].unit,
					  kinds[k].scale, page);
		}
	}
	return rc;
}

int sim_charts_sweeps(const struct sim_view *view, const char *id, FILE *page)
{
	struct hd_arena arena = {0};
	struct sim_series series;
	int rc = sim_series_make(view->runs, &arena, &series);

	if (!rc && series.numeric)
		rc = chart_all(view, &series, id, page);
	hd_arena_release(&arena);
	return rc;
}

/* ---- links ---- */

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

static const struct hd_record_item *list_of(const struct sim_view *view, uint32_t point,
					    const char *name)
{
	const struct hd_record *record = view->job->records[point * view->runs->seed_count];

	return record ? hd_record_find(record, name) : NULL;
}

static int add_curve(struct plot *plot, const struct hd_record_item *item, const char *name)
{
	uint32_t count = item->count < CURVE_POINTS ? item->count : CURVE_POINTS;
	double *shares = malloc(item->count * sizeof(*shares));

	if (!shares || !add_line(plot, count + 1, name)) {
		free(shares);
		return -ENOMEM;
	}
	memcpy(shares, item->values, item->count * sizeof(*shares));
	qsort(shares, item->count, sizeof(*shares), descending);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t link = (uint32_t)((uint64_t)i * item->count / count);
		add_point(plot, 100.0 * link / item->count, 100 * shares[link]);
	}
	add_point(plot, 100, 100 * shares[item->count - 1]);
	free(shares);
	return 0;
}

int sim_charts_links(const struct sim_view *view, const char *id, FILE *page)
{
	struct plot plot = {.most = 0};
	char chart_id[64];
	int rc = 0;

	snprintf(chart_id, sizeof(chart_id), "%s-loads", id);
	plot.chart = (struct chart){.id = chart_id,
				    .title = "Utilisation of the links, the largest first",
				    .x_title = "links between switches, the busiest first",
				    .y_title = "utilisation",
				    .x_unit = "%",
				    .y_unit = "%",
				    .x_end = 100};
	for (uint32_t i = 0;
	     !rc && i < view->runs->point_count && plot.chart.count < SIM_CHARTS_LINES; i++) {
		const struct hd_record_item *item = list_of(view, i, "links.0");
		const char *label = view->runs->points[i].label;
		if (item && item->count)
			rc = add_curve(&plot, item, *label ? label : "all");
	}
	draw(&plot, page);
	return rc;
}

/* ---- over time ---- */

static int chart_series(const struct sim_view *view, const char *id, uint32_t point, FILE *page)
{
	const struct hd_record *record = view->job->records[point * view->runs->seed_count];
	const struct hd_record_item *bin = list_of(view, point, "series.bin");
	const char *label = view->runs->points[point].label;
	struct plot plot = {.most = 0};
	char chart_id[64], title[400];

	snprintf(chart_id, sizeof(chart_id), "%s-time%u", id, point);
	snprintf(title, sizeof(title), "Throughput over time%s%s", *label ? ": " : "", label);
	plot.chart = (struct chart){.id = chart_id,
				    .title = title,
				    .x_title = "time, us",
				    .y_title = "share of a host's cable",
				    .x_unit = "",
				    .y_unit = ""};
	for (uint32_t i = 0; i < record->count && plot.chart.count < SIM_CHARTS_LINES; i++) {
		const struct hd_record_item *item = &record->items[i];
		if (strncmp(item->name, "series.", 7) != 0 || item == bin || !item->count)
			continue;
		if (!add_line(&plot, item->count, item->name + 7))
			return -ENOMEM;
		for (uint32_t k = 0; k < item->count; k++)
			add_point(&plot, 1e6 * bin->values[0] * (k + 0.5), item->values[k]);
		plot.chart.x_end = fmax(plot.chart.x_end, 1e6 * bin->values[0] * item->count);
	}
	draw(&plot, page);
	return 0;
}

int sim_charts_series(const struct sim_view *view, const char *id, FILE *page)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < view->runs->point_count && i < POINTS_MOST; i++)
		if (list_of(view, i, "series.bin"))
			rc = chart_series(view, id, i, page);
	return rc;
}
