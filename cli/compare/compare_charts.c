/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "chart.h"
#include "compare_report.h"
#include "need.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define SIDES_MOST 26 /* letters */
#define WINDOW_LEAST 0.004
#define CURVE_POINTS 160u
#define FIGURES_SIZE 160
#define SHOWN_ROUTES 0.999 /* of all routes; the rest is beyond the end of the axis */
#define CONGESTION_LEAST 6u /* the shortest axis */
#define CONGESTION_MOST 64u

struct plot {
	struct chart chart;
	struct chart_line lines[SIDES_MOST];
	char figures[SIDES_MOST][FIGURES_SIZE];
	struct chart_point *points; /* [count * most] */
	uint32_t most; /* points of a line */
};

static void begin(struct plot *plot, const struct chart *chart, uint32_t most)
{
	plot->chart = *chart;
	plot->chart.lines = plot->lines;
	plot->most = most;
	plot->points = need(calloc((size_t)chart->count * most, sizeof(*plot->points)));
	for (uint32_t i = 0; i < chart->count; i++)
		plot->lines[i] = (struct chart_line){.points = plot->points + (size_t)i * most,
						     .figures = plot->figures[i]};
}

static void end(FILE *page, struct plot *plot)
{
	if (!(plot->chart.y_end > 0))
		plot->chart.y_end = 1;
	chart_draw(page, &plot->chart);
	free(plot->points);
}

/* A point that continues a level piece of the line takes the place of the one before. */
static void add(struct plot *plot, uint32_t line, double x, double y)
{
	struct chart_point *points = plot->points + (size_t)line * plot->most;
	uint32_t count = plot->lines[line].count;

	if (count > 1 && points[count - 1].y == y && points[count - 2].y == y)
		count--;
	points[count] = (struct chart_point){x, y};
	plot->lines[line].count = count + 1;
	plot->chart.y_end = y > plot->chart.y_end ? y : plot->chart.y_end;
}

/*
 * The half width of the window over which patterns are smoothed: Silverman's rule for a triangular
 * window. Means of patterns are multiples of a fraction, so bars of any fixed width look like
 * a comb.
 */
static double window_of(const struct hd_congestion_report *report)
{
	return fmax(WINDOW_LEAST, 2.5 * report->deviation / pow((double)report->patterns, 0.2));
}

static double value_of(uint32_t bin)
{
	return bin == HD_PATTERN_BINS ? 1 : (bin + 0.5) / HD_PATTERN_BINS;
}

/* Patterns for each 1 of bandwidth around x. What a window has beyond 1 is folded back. */
static double density(const struct hd_congestion_report *report, double window, double x)
{
	double sum = 0;

	for (uint32_t bin = 0; bin <= HD_PATTERN_BINS; bin++) {
		double near = 1 - fabs(x - value_of(bin)) / window;
		double folded = 1 - fabs(2 - x - value_of(bin)) / window;
		if (report->bins[bin])
			sum += (double)report->bins[bin] * (fmax(0, near) + fmax(0, folded));
	}
	return sum / window / (double)report->patterns;
}

static void patterns_line(struct plot *plot, uint32_t line,
			  const struct hd_congestion_report *report)
{
	double window = window_of(report), first = plot->chart.x_first, end = plot->chart.x_end;

	for (uint32_t i = 0; i < plot->most; i++) {
		double x = first + (end - first) * i / (plot->most - 1);
		add(plot, line, x, 100 * density(report, window, x) / HD_PATTERN_BINS);
	}
	plot->lines[line].mark = report->mean;
	snprintf(plot->figures[line], FIGURES_SIZE, "mean %.4f, worst pattern %.4f", report->mean,
		 report->minimum);
}

void compare_charts_patterns(FILE *page, const struct compare_side *const *sides, unsigned count)
{
	struct plot plot = {.most = 0};
	struct chart chart = {.id = "patterns",
			      .title = "Patterns by their bandwidth",
			      .x_title = "bandwidth of a pattern",
			      .y_title = "patterns, for each 0.001 of bandwidth, smoothed",
			      .x_unit = "",
			      .y_unit = "%",
			      .marks = true,
			      .filled = true,
			      .count = count};

	/* The axis of all sides, with room for their windows. */
	chart.x_first = 1;
	chart.x_end = 0;
	for (unsigned i = 0; i < chart.count; i++) {
		double window = window_of(sides[i]->report);
		for (uint32_t bin = 0; bin <= HD_PATTERN_BINS; bin++) {
			if (!sides[i]->report->bins[bin])
				continue;
			chart.x_first = fmin(chart.x_first, value_of(bin) - window);
			chart.x_end = fmax(chart.x_end, value_of(bin) + window);
		}
	}
	chart.x_first = fmax(0, floor(chart.x_first * 100) / 100);
	chart.x_end = fmin(1, ceil(chart.x_end * 100) / 100);
	begin(&plot, &chart, CURVE_POINTS);
	for (uint32_t i = 0; i < count; i++)
		patterns_line(&plot, i, sides[i]->report);
	end(page, &plot);
}

/* The smallest congestion that SHOWN_ROUTES of the routes do not exceed. */
static uint32_t common_congestion(const struct hd_congestion_report *report)
{
	uint64_t routes = 0;
	uint32_t pi = 0;

	while (pi + 1 < report->histogram_size &&
	       (double)routes < SHOWN_ROUTES * (double)report->routes)
		routes += report->histogram[++pi];
	return pi;
}

void compare_charts_congestion(FILE *page, const struct compare_side *const *sides, unsigned count)
{
	struct plot plot = {.most = 0};
	uint32_t last = CONGESTION_LEAST;
	char y_title[80] = "routes";

	for (unsigned i = 0; i < count; i++) {
		uint32_t common = common_congestion(sides[i]->report);
		last = common > last ? common : last;
	}
	uint32_t width = (last + CONGESTION_MOST - 1) / CONGESTION_MOST;
	uint32_t bars = (last + width - 1) / width;
	if (width > 1)
		snprintf(y_title, sizeof(y_title), "routes, for each %" PRIu32 " of congestion",
			 width);
	const struct chart chart = {.id = "pi",
				    .title = "Routes by their congestion",
				    .x_title = "congestion: most flows on a link of the route",
				    .y_title = y_title,
				    .x_unit = "",
				    .y_unit = "%",
				    .x_first = 0.5,
				    .x_end = bars * width + 0.5,
				    .filled = true,
				    .count = count};
	begin(&plot, &chart, 2 * bars + 3);
	for (uint32_t i = 0; i < count; i++) {
		const struct hd_congestion_report *report = sides[i]->report;
		add(&plot, i, 0.5, 0);
		for (uint32_t bar = 1; bar <= last; bar += width) {
			uint64_t routes = 0;
			for (uint32_t pi = bar; pi < bar + width && pi < report->histogram_size;
			     pi++)
				routes += report->histogram[pi];
			double share = 100.0 * (double)routes / (double)report->routes;
			add(&plot, i, bar - 0.5, share);
			add(&plot, i, bar + width - 0.5, share);
		}
		snprintf(plot.figures[i], FIGURES_SIZE,
			 "%.1f%% of the routes share no link, 99.9%% have a congestion of at most "
			 "%" PRIu32,
			 report->histogram_size > 1
			     ? 100.0 * (double)report->histogram[1] / (double)report->routes
			     : 0,
			 common_congestion(report));
	}
	end(page, &plot);
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

void compare_charts_loads(FILE *page, const struct compare_side *const *sides, unsigned count,
			  uint32_t links)
{
	struct plot plot = {.most = 0};
	const struct chart chart = {.id = "loads",
				    .title = "Loads of the links, the largest first",
				    .x_title = "links between switches, the most loaded first",
				    .y_title = "load: flows a round",
				    .x_unit = "%",
				    .y_unit = "",
				    .x_first = 0,
				    .x_end = 100,
				    .count = count};
	double *loads = need(calloc(links, sizeof(*loads)));

	begin(&plot, &chart, 2 * CURVE_POINTS);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t link = 0; link < links; link++)
			loads[link] = compare_flows(sides[i], link);
		uint32_t points = links < CURVE_POINTS ? links : CURVE_POINTS, idle = 0;
		qsort(loads, links, sizeof(*loads), descending);
		for (uint32_t k = 0; k < points; k++) {
			uint32_t link = (uint32_t)((uint64_t)k * links / points);
			double load = loads[link];
			add(&plot, i, 100.0 * link / links, load);
			uint32_t next = (uint32_t)((uint64_t)(k + 1) * links / points);
			add(&plot, i, 100.0 * next / links,
			    points == links ? load : loads[next - 1]);
		}
		while (idle < links && !(loads[links - 1 - idle] > 0))
			idle++;
		snprintf(plot.figures[i], FIGURES_SIZE,
			 "largest load %.3f flows a round, median %.3f, %" PRIu32 " of %" PRIu32
			 " links without flows",
			 loads[0], loads[links / 2], idle, links);
	}
	end(page, &plot);
	free(loads);
}
