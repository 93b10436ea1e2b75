/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "chart.h"
#include "html.h"
#include "load_picture.h"
#include "need.h"
#include "sim_series.h"
#include "sim_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The charts of a scenario's part of a page. */

#define SIM_CHARTS_LINES 8u /* of a chart, at most */

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

static void add_line(struct plot *plot, uint32_t count, const char *name)
{
	uint32_t i = plot->chart.count;
	struct chart_point *points = need(calloc((size_t)count + 1, sizeof(*points)));

	plot->points[i] = points;
	snprintf(plot->name[i], sizeof(plot->name[i]), "%s", name);
	plot->lines[i] = (struct chart_line){points, 0, 0, plot->figures[i]};
	plot->chart.count++;
}

static void add_point(struct plot *plot, double x, double y)
{
	uint32_t i = plot->chart.count - 1;

	plot->points[i][plot->lines[i].count++] = (struct chart_point){x, y};
	plot->most = y > plot->most ? y : plot->most;
}

static void draw(struct plot *plot, FILE *page)
{
	bool empty = plot->chart.count == 0 || !(plot->most > 0);

	for (uint32_t i = 0; i < plot->chart.count; i++) {
		const struct chart_line *line = &plot->lines[i];
		double last = line->count ? line->points[line->count - 1].y : 0, most = 0;
		for (uint32_t k = 0; k < line->count; k++)
			most = fmax(most, line->points[k].y);
		snprintf(plot->figures[i], FIGURES_SIZE, "largest %.4g, last %.4g", most, last);
	}
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

static void chart_figure(const struct sim_view *view, const struct sim_series *series,
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
	for (uint32_t i = 0; i < series->line_count && i < SIM_CHARTS_LINES; i++) {
		const struct sim_series_line *line = &series->lines[i];
		add_line(&plot, line->count, *line->name ? line->name : "all");
		for (uint32_t k = 0; k < line->count; k++) {
			const struct hd_scenario_figure *value =
			    sim_view_find(view, line->points[k], figure);
			if (value)
				add_point(&plot, series->numbers[series->place[line->points[k]]],
					  value->mean * scale);
		}
	}
	draw(&plot, page);
}

static bool ends_in(const char *text, const char *ending)
{
	size_t length = strlen(text), tail = strlen(ending);

	return length > tail && !strcmp(text + length - tail, ending);
}

static void chart_all(const struct sim_view *view, const struct sim_series *series, const char *id,
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

	for (uint32_t i = 0; i < view->figure_count[0]; i++) {
		const char *name = view->figures[0][i].name;
		for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			if (strncmp(name, "class.", 6) != 0 || !ends_in(name, kinds[k].ending))
				continue;
			snprintf(chart_id, sizeof(chart_id), "%s-sweep%u", id, number++);
			chart_figure(view, series, chart_id, name, kinds[k].unit, kinds[k].scale,
				     page);
		}
	}
}

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

/* Utilisation of the links, the largest first. */
static void sim_charts_links(const struct sim_view *view, const char *id, FILE *page)
{
	struct plot plot = {.most = 0};
	char chart_id[64];

	snprintf(chart_id, sizeof(chart_id), "%s-loads", id);
	plot.chart = (struct chart){.id = chart_id,
				    .title = "Utilisation of the links, the largest first",
				    .x_title = "links between switches, the busiest first",
				    .y_title = "utilisation",
				    .x_unit = "%",
				    .y_unit = "%",
				    .x_end = 100};
	for (uint32_t i = 0; i < view->runs->point_count && plot.chart.count < SIM_CHARTS_LINES;
	     i++) {
		const struct hd_record_item *item = list_of(view, i, "links.0");
		const char *label = view->runs->points[i].label;
		if (item && item->count) {
			const char *name = *label ? label : "all";
			uint32_t count = item->count < CURVE_POINTS ? item->count : CURVE_POINTS;
			double *shares = need(malloc(item->count * sizeof(*shares)));
			add_line(&plot, count + 1, name);
			memcpy(shares, item->values, item->count * sizeof(*shares));
			qsort(shares, item->count, sizeof(*shares), descending);
			for (uint32_t k = 0; k < count; k++) {
				uint32_t link = (uint32_t)((uint64_t)k * item->count / count);
				add_point(&plot, 100.0 * link / item->count, 100 * shares[link]);
			}
			add_point(&plot, 100, 100 * shares[item->count - 1]);
			free(shares);
		}
	}
	draw(&plot, page);
}

static void chart_series(const struct sim_view *view, const char *id, uint32_t point, FILE *page)
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
		add_line(&plot, item->count, item->name + 7);
		for (uint32_t k = 0; k < item->count; k++)
			add_point(&plot, 1e6 * bin->values[0] * (k + 0.5), item->values[k]);
		plot.chart.x_end = fmax(plot.chart.x_end, 1e6 * bin->values[0] * item->count);
	}
	draw(&plot, page);
}

#define PICTURES_MOST 4u
#define SHARE_ONE 1000000.0 /* utilisation in units of which a picture can count */

static const char *label_of(const struct sim_view *view, uint32_t point)
{
	const char *label = view->runs->points[point].label;

	return *label ? label : "all";
}

static void head(const struct sim_view *view, FILE *page)
{
	const struct hd_scenario_runs *runs = view->runs;
	char text[400];

	if (*runs->summary) {
		fputs("<p>", page);
		html_text(page, runs->summary);
		fputs("</p>\n", page);
	}
	fprintf(page,
		"<p class=\"note\">Runs: %" PRIu32 " (points: %" PRIu32 ", seeds: %" PRIu32 ").",
		runs->count, runs->point_count, runs->seed_count);
	if (*runs->source) {
		fputs(" Source: ", page);
		html_text(page, runs->source);
		fputc('.', page);
	}
	fputs("</p>\n", page);
	if (view->job->finished < runs->count)
		fprintf(page,
			"<div class=\"verdict worse\"><p>Partial: ended early, %" PRIu32
			" of %" PRIu32 " runs are complete.</p></div>\n",
			view->job->finished, runs->count);
	fputs("<ul>", page);
	for (uint32_t i = 0; i < runs->point_count && i < 16; i++) {
		fputs("<li>", page);
		html_tables(page, label_of(view, i));
		fputs(": ", page);
		html_text(page, hd_scenario_describe(runs, i, text, sizeof(text)));
		if (sim_view_deadlocked(view, i))
			fputs(" <b class=\"worse\">Deadlock</b>", page);
		fputs("</li>\n", page);
	}
	fputs("</ul>\n", page);
}

static void cell(const struct sim_view *view, const struct hd_scenario_figure *figure, FILE *page)
{
	char value[40];

	if (!figure || !figure->count) {
		fputs("<td>&#8211;</td>", page);
		return;
	}
	fprintf(page, "<td>%s", sim_view_value(figure->mean, figure->unit, value, sizeof(value)));
	if (view->runs->seed_count > 1 && figure->deviation > 0)
		fprintf(page, " <span>&#177; %s</span>",
			sim_view_value(figure->deviation, figure->unit, value, sizeof(value)));
	fputs("</td>", page);
}

/* A row for each point: figures of all points would not fit beside each other. */
static void table(const struct sim_view *view, FILE *page, const char *class, const char *id)
{
	char name[160];

	fprintf(page,
		"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Figures\">"
		"<table class=\"points\" id=\"%s-%s\"><caption>%s",
		id, class, view->asked ? "All messages" : "Messages of ");
	if (!view->asked)
		html_name(page, class);
	fputs("</caption><thead><tr>", page);
	/* What the rows are: the sweeps, or "tables" of a question. */
	const struct hd_scenario_runs *runs = view->runs;
	fputs("<th scope=\"col\">", page);
	for (uint32_t i = 0; i < runs->sweep_count; i++) {
		fputs(i ? ", " : "", page);
		html_text(page, runs->sweeps[i]);
	}
	fputs(runs->sweep_count ? "</th>" : "runs</th>", page);
	for (unsigned k = 0; k < SIM_WORDS_ENDINGS; k++)
		fprintf(page, "<th scope=\"col\">%s</th>", sim_words_endings[k].words);
	fputs("</tr></thead><tbody>\n", page);
	for (uint32_t i = 0; i < view->runs->point_count; i++) {
		fputs("<tr><th scope=\"row\">", page);
		html_tables(page, label_of(view, i));
		fputs("</th>", page);
		for (unsigned k = 0; k < SIM_WORDS_ENDINGS; k++) {
			snprintf(name, sizeof(name), "class.%s.%s", class,
				 sim_words_endings[k].ending);
			cell(view, sim_view_find(view, i, name), page);
		}
		fputs("</tr>\n", page);
	}
	fputs("</tbody></table></div>\n", page);
}

/* The cells of a row that is not open: the figure, its spread over the seeds, and the difference. */
static void measured(const struct sim_view *view, const struct hd_expectation *row, FILE *page)
{
	char interval[60];

	fprintf(page, "</td><td>%.4g", row->measured);
	if (row->seeds > 1)
		fprintf(page, " (%s)", sim_view_interval(row, interval, sizeof(interval)));
	if (row->seeds < view->runs->seed_count)
		fprintf(page, ", %" PRIu32 " of %" PRIu32 " seeds", row->seeds,
			view->runs->seed_count);
	fputs("</td>", page);
}

/* The load at which the links are full. */
static void full(const struct hd_expectation *row, FILE *page)
{
	if (row->full > 0)
		fprintf(page, "<td>%.1f%%</td>", 100 * row->full);
	else
		fputs("<td></td>", page);
}

static void sim_html_expectations(const struct sim_view *view, FILE *page)
{
	char text[40];

	if (!view->expectation_count)
		return;
	fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Expectations\">"
	      "<table class=\"points expectations\"><caption>What was expected, and these "
	      "runs with their interval of 95% confidence</caption><thead>"
	      "<tr><th scope=\"col\">figure</th><th scope=\"col\">expected</th><th scope=\"col\">"
	      "here</th><th scope=\"col\">full at</th><th scope=\"col\">tolerance</th>"
	      "<th scope=\"col\">verdict</th></tr></thead><tbody>\n",
	      page);
	for (uint32_t i = 0; i < view->expectation_count; i++) {
		const struct hd_expectation *row = &view->expectations[i];
		fputs("<tr><th scope=\"row\">", page);
		html_text(page, row->name);
		if (*row->point) {
			fputs(", ", page);
			html_text(page, row->point);
		}
		if (*row->note) {
			fputs("<br/><span class=\"note\">", page);
			html_text(page, row->note);
			fputs("</span>", page);
		}
		fputs("</th><td>", page);
		html_text(page, sim_view_expected(row, text, sizeof(text)));
		fputc(' ', page);
		html_text(page, row->unit);
		if (row->verdict == HD_VERDICT_OPEN)
			fputs("</td><td>&#8211;</td>", page);
		else
			measured(view, row, page);
		full(row, page);
		fprintf(page, "<td>%s</td>", sim_view_tolerance(row, text, sizeof(text)));
		fprintf(page, "<td class=\"%s\">%s</td></tr>\n",
			row->verdict == HD_VERDICT_WITHIN      ? "better"
			: row->verdict == HD_VERDICT_UNDECIDED ? ""
							       : "worse",
			sim_view_verdict(row->verdict));
	}
	fputs("</tbody></table></div>\n", page);
}

static const struct hd_record_item *links_of(const struct sim_view *view, uint32_t point)
{
	const struct hd_record *record = view->job->records[point * view->runs->seed_count];
	const struct hd_record_item *item = record ? hd_record_find(record, "links.0") : NULL;

	return item && item->count == hd_scenario_fabric(view->runs, point)->isl_count ? item
										       : NULL;
}

static void pictures(const struct sim_view *view, const char *id, const char *heading, FILE *page)
{
	const struct hd_fabric *fabric = hd_scenario_fabric(view->runs, 0);
	uint32_t drawn = 0, end = view->runs->point_count;
	struct hd_arena arena = {0};
	struct load_picture prepared;
	double hottest = 0;

	for (uint32_t i = 0; i < end; i++)
		for (uint32_t k = 0; links_of(view, i) && k < links_of(view, i)->count; k++)
			hottest = fmax(hottest, links_of(view, i)->values[k]);
	if (!(hottest > 0))
		return;
	load_picture_prepare(fabric, PICTURES_MOST, hottest, &arena, &prepared);
	fprintf(page, "<%s>Where the load is</%s>\n", heading, heading);
	load_picture_explain(page, &prepared);
	html_heat_key(page, hottest, "of a link's time");
	fputs("<div class=\"maps\">\n", page);
	for (uint32_t i = 0; i < end && drawn < PICTURES_MOST; i++)
		if (links_of(view, i) &&
		    hd_scenario_fabric(view->runs, i)->isl_count == fabric->isl_count) {
			/* The picture counts flows a round; a round is a millionth of the time. */
			const struct hd_record_item *item = links_of(view, i);
			uint64_t *flows = need(calloc((size_t)item->count + 1, sizeof(*flows)));
			char picture_id[64];
			for (uint32_t j = 0; j < item->count; j++)
				flows[j] = (uint64_t)(item->values[j] * SHARE_ONE);
			const struct hd_congestion_report report = {.rounds = (uint64_t)SHARE_ONE,
								    .link_count = item->count,
								    .link_flows = flows};
			snprintf(picture_id, sizeof(picture_id), "%s-map%" PRIu32, id, i);
			fputs("<figure><figcaption>", page);
			html_tables(page, label_of(view, i));
			fputs("</figcaption>\n", page);
			load_picture_draw(page, &prepared, &report, picture_id, chart_letter(i));
			fputs("</figure>\n", page);
			free(flows);
			drawn++;
		}
	fputs("</div>\n", page);
	hd_arena_release(&arena);
}

void sim_html_section(const struct sim_view *view, const char *id, const char *heading, FILE *page)
{
	if (view->asked)
		sim_answer_html(view, page);
	head(view, page);
	sim_html_expectations(view, page);
	if (!view->figure_count[0])
		return;
	char class[128];
	for (uint32_t i = 0; i < view->figure_count[0]; i++) {
		const char *name = view->figures[0][i].name;
		const char *end = strstr(name, ".sent");
		if (strncmp(name, "class.", 6) != 0 || !end || end[5])
			continue;
		snprintf(class, sizeof(class), "%.*s", (int)(end - name) - 6, name + 6);
		table(view, page, class, id);
	}
	/* Throughput and latency against the last sweep whose labels are numbers, if there is one. */
	struct hd_arena arena = {0};
	struct sim_series series;
	sim_series_make(view->runs, &arena, &series);
	if (series.numeric)
		chart_all(view, &series, id, page);
	hd_arena_release(&arena);
	/* The flows' throughput over time, for each point that has it. */
	for (uint32_t i = 0; i < view->runs->point_count && i < POINTS_MOST; i++)
		if (list_of(view, i, "series.bin"))
			chart_series(view, id, i, page);
	sim_charts_links(view, id, page);
	pictures(view, id, heading, page);
	fputs("<details><summary>All figures</summary><div class=\"wide\" tabindex=\"0\" "
	      "role=\"region\" aria-label=\"All figures\"><table class=\"points\"><caption>All "
	      "figures; below "
	      "each, its name in scenarios, --csv and --json</caption>"
	      "<thead><tr><th scope=\"col\">figure</th>",
	      page);
	for (uint32_t i = 0; i < view->runs->point_count && i < 16; i++) {
		fputs("<th scope=\"col\">", page);
		html_tables(page, label_of(view, i));
		fputs("</th>", page);
	}
	fputs("</tr></thead><tbody>\n", page);
	for (uint32_t k = 0; k < view->figure_count[0]; k++) {
		const char *name = view->figures[0][k].name;
		if (strchr(name, '@'))
			continue;
		/* In words, and by the name that scenarios and spreadsheets use. */
		char words[200];
		fputs("<tr><th scope=\"row\">", page);
		html_name(page, sim_words_figure(name, words, sizeof(words)));
		fputs("<br/><span class=\"note\">", page);
		html_tables(page, name);
		fputs("</span></th>", page);
		for (uint32_t i = 0; i < view->runs->point_count && i < 16; i++)
			cell(view, sim_view_find(view, i, name), page);
		fputs("</tr>\n", page);
	}
	fputs("</tbody></table></div></details>\n", page);
}
