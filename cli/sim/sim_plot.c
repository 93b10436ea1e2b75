/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "gnuplot.h"
#include "need.h"
#include "sim_series.h"
#include "sim_view.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define TITLE_SIZE 400
#define LOGARITHMIC 50 /* a sweep over numbers that differ more gets such an axis */

static const char *first_like(const struct sim_view *view, const char *beginning,
			      const char *ending)
{
	for (uint32_t i = 0; i < view->figure_count[0]; i++) {
		const char *name = view->figures[0][i].name;
		size_t length = strlen(name), tail = strlen(ending);
		if (!strncmp(name, beginning, strlen(beginning)) && length > tail &&
		    !strcmp(name + length - tail, ending))
			return name;
	}
	return NULL;
}

/* If not, all runs last as long as the scenario says. */
static bool time_differs(const struct sim_view *view)
{
	const struct hd_scenario_figure *first = sim_view_find(view, 0, "run.time");

	for (uint32_t i = 1; first && i < view->runs->point_count; i++) {
		const struct hd_scenario_figure *other = sim_view_find(view, i, "run.time");
		if (other && other->mean != first->mean)
			return true;
	}
	return first && first->greatest > first->least;
}

static const char *main_figure(const struct sim_view *view)
{
	const char *name = NULL;

	if (view->asked)
		return "run.time";
	if (view->expectation_count)
		return view->expectations[0].figure;
	name = first_like(view, "ebb.", ".mean");
	if (!name && !time_differs(view))
		name = first_like(view, "class.", ".throughput");
	return name ? name : "run.time";
}

struct plot {
	const struct sim_view *view;
	const char *figure;
	struct sim_series series;
	double factor; /* from the figure to the axis */
	struct gnuplot_line *lines; /* [2 * series.line_count] figures, then expectations */
	struct hd_arena arena;
};

/* What is expected of the figure's mean itself; other rows are relative, or of the seeds' extremes. */
static const struct hd_expectation *expected(const struct plot *plot, uint32_t point)
{
	for (uint32_t i = 0; i < plot->view->expectation_count; i++) {
		const struct hd_expectation *row = &plot->view->expectations[i];
		if (!strcmp(row->figure, plot->figure) &&
		    !strcmp(row->point, plot->view->runs->points[point].label) &&
		    row->judge == HD_JUDGE_WITHIN && row->statistic == HD_STATISTIC_MEAN &&
		    !*row->relative_to && row->verdict != HD_VERDICT_OPEN)
			return row;
	}
	return NULL;
}

static void add_point(struct gnuplot_line *line, double x, double y, double least, double greatest)
{
	line->points[line->count++] = (struct gnuplot_point){x, y, least, greatest};
}

static const char *expected_title(struct plot *plot, const char *name)
{
	char title[TITLE_SIZE];

	snprintf(title, sizeof(title), "%s%sexpected", name, *name ? ", " : "");
	return need(hd_arena_strdup(&plot->arena, title));
}

/* Leaves out lines without points. */
static uint32_t keep_filled(struct plot *plot)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < 2 * plot->series.line_count; i++)
		if (plot->lines[i].count)
			plot->lines[kept++] = plot->lines[i];
	return kept;
}

static bool logarithmic(const struct sim_series *series)
{
	return series->numeric && series->numbers[0] > 0 &&
	       series->numbers[series->label_count - 1] >= LOGARITHMIC * series->numbers[0];
}

static int draw(struct plot *plot, const char *path, struct hd_error *err)
{
	const struct sim_series *series = &plot->series;
	char x_title[TITLE_SIZE], y_title[TITLE_SIZE], words[TITLE_SIZE];
	const char *unit = "";

	/* The unit of the axis, by the largest value. */
	const char *of = NULL;
	double most = 0;
	for (uint32_t i = 0; i < plot->view->runs->point_count; i++) {
		const struct hd_scenario_figure *figure =
		    sim_view_find(plot->view, i, plot->figure);
		if (!figure || !figure->count)
			continue;
		most = fmax(most, fabs(figure->greatest));
		of = figure->unit;
	}
	if (of)
		plot->factor = 1 / sim_view_scale(most, of, &unit);
	if (!of)
		return hd_error_set(err, -ENOENT,
				    "no run has a figure '%s'; --csv and --json list them",
				    plot->figure);
	uint32_t count = plot->series.line_count;
	plot->lines = need_of(&plot->arena, 2 * (size_t)count, sizeof(*plot->lines));
	for (uint32_t i = 0; i < 2 * count; i++) {
		const struct sim_series_line *from = &plot->series.lines[i % count];
		plot->lines[i] = (struct gnuplot_line){
		    .name = *from->name ? from->name : "here",
		    .title = i < count ? NULL : expected_title(plot, from->name),
		    .points = need_of(&plot->arena, from->count, sizeof(struct gnuplot_point)),
		    .marks = i >= count};
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct sim_series_line *from = &plot->series.lines[i];
		struct gnuplot_line *line = &plot->lines[i];
		struct gnuplot_line *marks = &plot->lines[plot->series.line_count + i];
		double factor = plot->factor;
		for (uint32_t k = 0; k < from->count; k++) {
			uint32_t point = from->points[k];
			const struct hd_scenario_figure *figure =
			    sim_view_find(plot->view, point, plot->figure);
			const struct hd_expectation *row = expected(plot, point);
			uint32_t place = plot->series.place[point];
			double x = plot->series.numeric ? plot->series.numbers[place] : place;
			if (figure && figure->count)
				add_point(line, x, figure->mean * factor, figure->least * factor,
					  figure->greatest * factor);
			if (row)
				add_point(marks, x, row->expected / row->scale * factor, 0, 0);
		}
	}
	const char *x_unit = series->unit + strspn(series->unit, " -");
	snprintf(x_title, sizeof(x_title), "%s%s%s", series->title, *x_unit ? ", " : "", x_unit);
	snprintf(y_title, sizeof(y_title), "%s%s%s",
		 sim_words_figure(plot->figure, words, sizeof(words)), *unit ? ", " : "", unit);
	const struct gnuplot_chart chart = {.title = plot->view->title,
					    .x_title = x_title,
					    .y_title = y_title,
					    .names = series->labels,
					    .name_count = series->numeric ? 0 : series->label_count,
					    .logarithmic = logarithmic(series),
					    .lines = plot->lines,
					    .count = keep_filled(plot)};
	return gnuplot_draw(path, &chart, err);
}

int sim_plot_figure(const struct sim_view *view, const char *figure, const char *path,
		    struct hd_error *err)
{
	struct plot plot = {.view = view, .figure = figure ? figure : main_figure(view)};

	sim_series_make(view->runs, &plot.arena, &plot.series);
	int rc = draw(&plot, path, err);
	hd_arena_release(&plot.arena);
	return rc;
}

struct rows {
	const char **names;
	struct gnuplot_point *points[2]; /* with a tolerance, and without one */
	uint32_t counts[2], all;
};

static void add_row(struct rows *rows, const struct hd_expectation *row, struct hd_arena *arena)
{
	bool within = row->judge == HD_JUDGE_WITHIN;
	char name[TITLE_SIZE];
	uint32_t *count = &rows->counts[!within];

	if (row->verdict == HD_VERDICT_OPEN || row->expected == 0)
		return;
	double share = row->measured / row->expected;
	double one = row->least / row->expected, other = row->greatest / row->expected;
	rows->points[!within][(*count)++] =
	    (struct gnuplot_point){rows->all, share, fmin(one, other), fmax(one, other)};
	snprintf(name, sizeof(name), "%s%s%s", row->name, *row->point ? ", " : "", row->point);
	rows->names[rows->all++] = need(hd_arena_strdup(arena, name));
}

int sim_plot_expectations(const struct sim_view *view, const char *path, struct hd_error *err)
{
	struct hd_arena arena = {0};
	uint32_t count = view->expectation_count;
	struct rows rows = {.names = need_of(&arena, count, sizeof(char *))};

	for (unsigned i = 0; i < 2; i++)
		rows.points[i] = need_of(&arena, count, sizeof(struct gnuplot_point));
	for (uint32_t i = 0; i < count; i++)
		add_row(&rows, &view->expectations[i], &arena);
	static const char *const names[] = {"here / expected", "only its sign or side is expected"};
	struct gnuplot_line lines[2];
	struct gnuplot_chart chart = {.title = view->title,
				      .x_title = "",
				      .y_title = "here, divided by what was expected",
				      .names = rows.names,
				      .name_count = rows.all,
				      .rule = 1,
				      .lines = lines};
	for (unsigned i = 0; i < 2; i++)
		if (rows.counts[i])
			lines[chart.count++] = (struct gnuplot_line){names[i], NULL, rows.points[i],
								     rows.counts[i], true};
	int rc = chart.count ? gnuplot_draw(path, &chart, err) : 0;
	hd_arena_release(&arena);
	return rc;
}
