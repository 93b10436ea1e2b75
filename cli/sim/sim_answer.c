/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_answer.h"
#include "html.h"

#include <heddle/fabric.h>
#include <math.h>
#include <string.h>

#define EQUAL 0.01 /* differences below it decide nothing */
#define NAME_WIDTH 60

static const char *label_of(const struct sim_view *view, uint32_t point)
{
	return view->runs->points[point].label;
}

static double figure_of(const struct sim_view *view, uint32_t point, const char *name)
{
	const struct hd_scenario_figure *figure = sim_view_find(view, point, name);

	return figure && figure->count ? figure->mean : 0;
}

/* The runs of a point that were ended early have no time. */
static bool is_partial(const struct sim_view *view, uint32_t point)
{
	const struct sim_runs *job = view->job;
	uint32_t seeds = view->runs->seed_count;

	for (uint32_t run = point * seeds; run < (point + 1) * seeds; run++)
		if (!job->records[run] || job->records[run]->partial)
			return true;
	return false;
}

double sim_answer_time(const struct sim_view *view, uint32_t point)
{
	if (is_partial(view, point) || sim_view_deadlocked(view, point) ||
	    figure_of(view, point, "packets.in_flight") > 0)
		return 0;
	return figure_of(view, point, "run.time");
}

/* ---- the sentence ---- */

static uint32_t first_bad(const struct sim_view *view)
{
	for (uint32_t i = 0; i < view->runs->point_count; i++)
		if (sim_answer_time(view, i) <= 0)
			return i;
	return HD_NONE;
}

/* The fastest and the slowest; only if all have a time. */
struct extremes {
	uint32_t best, worst;
	double more; /* by which share the slowest takes longer */
};

static struct extremes find_extremes(const struct sim_view *view)
{
	struct extremes found = {0, 0, 0};

	for (uint32_t i = 1; i < view->runs->point_count; i++) {
		double time = sim_answer_time(view, i);
		found.best = time < sim_answer_time(view, found.best) ? i : found.best;
		found.worst = time > sim_answer_time(view, found.worst) ? i : found.worst;
	}
	found.more = sim_answer_time(view, found.worst) / sim_answer_time(view, found.best) - 1;
	return found;
}

const char *sim_answer_sentence(const struct sim_view *view, char *buffer, size_t size)
{
	uint32_t bad = first_bad(view);

	if (bad != HD_NONE) {
		snprintf(buffer, size,
			 sim_view_deadlocked(view, bad)
			     ? "Do not use '%s': its packets meet a deadlock."
			     : "There is no answer yet: the runs of '%s' are not complete.",
			 label_of(view, bad));
		return buffer;
	}
	const struct extremes found = find_extremes(view);
	if (view->runs->point_count == 1)
		snprintf(buffer, size, "One table has no rival: name more engines or tables.");
	else if (found.more < EQUAL)
		snprintf(buffer, size, "All are equally fast: they differ by %.1f%%.",
			 100 * found.more);
	else if (found.more < 1)
		snprintf(buffer, size, "'%s' is fastest; '%s' is slowest and takes %.1f%% longer.",
			 label_of(view, found.best), label_of(view, found.worst), 100 * found.more);
	else
		snprintf(buffer, size,
			 "'%s' is fastest; '%s' is slowest and takes %.1f times as long.",
			 label_of(view, found.best), label_of(view, found.worst), 1 + found.more);
	return buffer;
}

/* What adaptive routing changes for the tables that have it, which are the first and the last. "":
 * there is nothing to say. Returns buffer. */
static const char *adaptive_sentence(const struct sim_view *view, char *buffer, size_t size)
{
	uint32_t last = view->runs->point_count - 1;
	double before = sim_answer_time(view, 0), after = sim_answer_time(view, last);
	size_t length = strlen(label_of(view, 0));

	*buffer = '\0';
	if (!last || strncmp(label_of(view, last), label_of(view, 0), length) != 0 ||
	    strcmp(label_of(view, last) + length, SIM_ANSWER_ADAPTIVE) != 0 || before <= 0 ||
	    after <= 0)
		return buffer;
	double more = after / before - 1;
	if (fabs(more) < EQUAL)
		snprintf(buffer, size, "Adaptive routing changes the time of '%s' by %+.1f%%.",
			 label_of(view, 0), 100 * more);
	else
		snprintf(buffer, size, "With adaptive routing '%s' takes %.1f%% %s.",
			 label_of(view, 0), 100 * fabs(more), more < 0 ? "less time" : "longer");
	return buffer;
}

/* ---- JSON ---- */

static json_t *tables_json(const struct sim_view *view)
{
	json_t *list = json_array();
	double first = sim_answer_time(view, 0);

	for (uint32_t i = 0; i < view->runs->point_count; i++) {
		double time = sim_answer_time(view, i);
		list = json_value_append(
		    list, json_pack("{s:o, s:o, s:o}", "tables", json_value_text(label_of(view, i)),
				    "seconds", time > 0 ? json_real(time) : json_null(), "ratio",
				    time > 0 && first > 0 ? json_real(time / first) : json_null()));
	}
	return list;
}

json_t *sim_answer_json(const struct sim_view *view)
{
	bool known = first_bad(view) == HD_NONE && view->runs->point_count > 1;
	const struct extremes found = known ? find_extremes(view) : (struct extremes){0, 0, 0};
	char sentence[SIM_ANSWER_SENTENCE];

	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o}", "sentence",
	    json_value_text(sim_answer_sentence(view, sentence, sizeof(sentence))), "best",
	    known ? json_value_text(label_of(view, found.best)) : json_null(), "worst",
	    known ? json_value_text(label_of(view, found.worst)) : json_null(), "ratio",
	    known ? json_real(1 + found.more) : json_null(), "tables", tables_json(view));
}

/* ---- rows ---- */

struct row {
	char time[40], ratio[24], busiest[24], lost[24];
};

static void make_row(const struct sim_view *view, uint32_t point, struct row *row)
{
	double time = sim_answer_time(view, point), first = sim_answer_time(view, 0);
	char value[40];

	*row = (struct row){"not complete", "-", "-", "-"};
	if (sim_view_deadlocked(view, point))
		snprintf(row->time, sizeof(row->time), "never");
	if (time <= 0)
		return;
	snprintf(row->time, sizeof(row->time), "%s",
		 sim_view_value(time, "s", value, sizeof(value)));
	if (first > 0)
		snprintf(row->ratio, sizeof(row->ratio), "%.3f", time / first);
	snprintf(row->busiest, sizeof(row->busiest), "%.1f%%",
		 100 * figure_of(view, point, "links.most"));
	snprintf(row->lost, sizeof(row->lost), "%.0f", figure_of(view, point, "packets.dropped"));
}

static int name_width(const struct sim_view *view)
{
	int width = (int)strlen("tables");

	for (uint32_t i = 0; i < view->runs->point_count; i++) {
		int length = (int)strlen(label_of(view, i));
		width = length > width ? length : width;
	}
	return width < NAME_WIDTH ? width : NAME_WIDTH;
}

void sim_answer_print(const struct sim_view *view)
{
	char sentence[SIM_ANSWER_SENTENCE];
	int width = name_width(view);
	struct row row;

	printf("%s\n", sim_answer_sentence(view, sentence, sizeof(sentence)));
	if (*adaptive_sentence(view, sentence, sizeof(sentence)))
		printf("%s\n", sentence);
	putchar('\n');
	printf("%-*s %14s %14s %13s %13s\n", width, "tables", "time", "ratio to first",
	       "busiest link", "packets lost");
	for (uint32_t i = 0; i < view->runs->point_count; i++) {
		make_row(view, i, &row);
		printf("%-*s %14s %14s %13s %13s\n", width, label_of(view, i), row.time, row.ratio,
		       row.busiest, row.lost);
	}
	putchar('\n');
}

void sim_answer_html(const struct sim_view *view, FILE *page)
{
	char sentence[SIM_ANSWER_SENTENCE];
	struct row row;

	fprintf(page, "<div class=\"verdict%s\"><p>", first_bad(view) == HD_NONE ? "" : " worse");
	html_text(page, sim_answer_sentence(view, sentence, sizeof(sentence)));
	if (*adaptive_sentence(view, sentence, sizeof(sentence))) {
		fputs("</p><p>", page);
		html_text(page, sentence);
	}
	fputs("</p></div>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Time\">"
	      "<table class=\"points answer\"><caption>Time until all traffic has "
	      "arrived</caption><thead>"
	      "<tr><th scope=\"col\">tables</th><th scope=\"col\">time</th><th scope=\"col\">"
	      "ratio to first</th><th scope=\"col\">busiest link</th><th scope=\"col\">packets lost"
	      "</th></tr></thead><tbody>\n",
	      page);
	for (uint32_t i = 0; i < view->runs->point_count; i++) {
		make_row(view, i, &row);
		fputs("<tr><th scope=\"row\">", page);
		html_tables(page, label_of(view, i));
		fprintf(page, "</th><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", row.time,
			row.ratio, row.busiest, row.lost);
	}
	fputs("</tbody></table></div>\n", page);
}
