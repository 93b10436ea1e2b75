/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "csv.h"
#include "html.h"
#include "sim_view.h"

#include <heddle/fabric.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EQUAL 0.01 /* differences below it decide nothing */
#define NAME_WIDTH 60

static const char *table_name(const struct sim_view *view, uint32_t point)
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

/* Seconds until all of the traffic of a point had arrived; 0: it never did, or not yet. */
static double sim_answer_time(const struct sim_view *view, uint32_t point)
{
	if (is_partial(view, point) || sim_view_deadlocked(view, point) ||
	    figure_of(view, point, "packets.in_flight") > 0)
		return 0;
	return figure_of(view, point, "run.time");
}

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

/* Which tables are fastest, in one sentence. Returns buffer. */
static const char *sim_answer_sentence(const struct sim_view *view, char *buffer, size_t size)
{
	uint32_t bad = first_bad(view);

	if (bad != HD_NONE) {
		snprintf(buffer, size,
			 sim_view_deadlocked(view, bad)
			     ? "Do not use '%s': its packets meet a deadlock."
			     : "There is no answer yet: the runs of '%s' are not complete.",
			 table_name(view, bad));
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
			 table_name(view, found.best), table_name(view, found.worst),
			 100 * found.more);
	else
		snprintf(
		    buffer, size, "'%s' is fastest; '%s' is slowest and takes %.1f times as long.",
		    table_name(view, found.best), table_name(view, found.worst), 1 + found.more);
	return buffer;
}

/* What adaptive routing changes for the tables that have it, which are the first and the last. "":
 * there is nothing to say. Returns buffer. */
static const char *adaptive_sentence(const struct sim_view *view, char *buffer, size_t size)
{
	uint32_t last = view->runs->point_count - 1;
	double before = sim_answer_time(view, 0), after = sim_answer_time(view, last);
	size_t length = strlen(table_name(view, 0));

	*buffer = '\0';
	if (!last || strncmp(table_name(view, last), table_name(view, 0), length) != 0 ||
	    strcmp(table_name(view, last) + length, SIM_ANSWER_ADAPTIVE) != 0 || before <= 0 ||
	    after <= 0)
		return buffer;
	double more = after / before - 1;
	if (fabs(more) < EQUAL)
		snprintf(buffer, size, "Adaptive routing changes the time of '%s' by %+.1f%%.",
			 table_name(view, 0), 100 * more);
	else
		snprintf(buffer, size, "With adaptive routing '%s' takes %.1f%% %s.",
			 table_name(view, 0), 100 * fabs(more), more < 0 ? "less time" : "longer");
	return buffer;
}

static json_t *tables_json(const struct sim_view *view)
{
	json_t *list = json_array();
	double first = sim_answer_time(view, 0);

	for (uint32_t i = 0; i < view->runs->point_count; i++) {
		double time = sim_answer_time(view, i);
		list = json_value_append(
		    list,
		    json_pack("{s:o, s:o, s:o}", "tables", json_value_text(table_name(view, i)),
			      "seconds", time > 0 ? json_real(time) : json_null(), "ratio",
			      time > 0 && first > 0 ? json_real(time / first) : json_null()));
	}
	return list;
}

/* {"sentence", "best", "ratio", "tables": [...]}; "best" is the fastest of several, or null. */
static json_t *sim_answer_json(const struct sim_view *view)
{
	bool known = first_bad(view) == HD_NONE && view->runs->point_count > 1;
	const struct extremes found = known ? find_extremes(view) : (struct extremes){0, 0, 0};
	char sentence[SIM_ANSWER_SENTENCE];

	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o}", "sentence",
	    json_value_text(sim_answer_sentence(view, sentence, sizeof(sentence))), "best",
	    known ? json_value_text(table_name(view, found.best)) : json_null(), "worst",
	    known ? json_value_text(table_name(view, found.worst)) : json_null(), "ratio",
	    known ? json_real(1 + found.more) : json_null(), "tables", tables_json(view));
}

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

void sim_answer_print(const struct sim_view *view)
{
	char sentence[SIM_ANSWER_SENTENCE];
	int width = (int)strlen("tables");

	for (uint32_t i = 0; i < view->runs->point_count; i++) {
		int length = (int)strlen(table_name(view, i));
		width = length > width ? length : width;
	}
	width = width < NAME_WIDTH ? width : NAME_WIDTH;
	struct row row;

	printf("%s\n", sim_answer_sentence(view, sentence, sizeof(sentence)));
	if (*adaptive_sentence(view, sentence, sizeof(sentence)))
		printf("%s\n", sentence);
	putchar('\n');
	printf("%-*s %14s %14s %13s %13s\n", width, "tables", "time", "ratio to first",
	       "busiest link", "packets lost");
	for (uint32_t i = 0; i < view->runs->point_count; i++) {
		make_row(view, i, &row);
		printf("%-*s %14s %14s %13s %13s\n", width, table_name(view, i), row.time,
		       row.ratio, row.busiest, row.lost);
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
		html_tables(page, table_name(view, i));
		fprintf(page, "</th><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", row.time,
			row.ratio, row.busiest, row.lost);
	}
	fputs("</tbody></table></div>\n", page);
}

#define COLUMN 22
#define COLUMNS_AT_ONCE 4u
#define ITEMS_SHOWN 8u

static const char *label_of(const struct sim_view *view, uint32_t point)
{
	const char *label = view->runs->points[point].label;

	return *label ? label : "all";
}

static void print_value(const struct hd_scenario_figure *figure, uint32_t seeds)
{
	char value[40], deviation[40], cell[100];

	if (!figure || !figure->count) {
		printf(" %*s", COLUMN, "-");
		return;
	}
	snprintf(cell, sizeof(cell), "%s",
		 sim_view_value(figure->mean, figure->unit, value, sizeof(value)));
	if (seeds > 1 && figure->deviation > 0)
		snprintf(
		    cell, sizeof(cell), "%s ~%s", value,
		    sim_view_value(figure->deviation, figure->unit, deviation, sizeof(deviation)));
	printf(" %*s", COLUMN, cell);
}

/* The first point that has any figures names the rows. */
static uint32_t naming_point(const struct sim_view *view)
{
	for (uint32_t i = 0; i < view->runs->point_count; i++)
		if (view->figure_count[i])
			return i;
	return 0;
}

/* Flows and traffics can differ from point to point. */
static bool seen_before(const struct sim_view *view, uint32_t point, const char *name)
{
	for (uint32_t i = 0; i < point; i++)
		if (sim_view_find(view, i, name))
			return true;
	return false;
}

static void print_row(const struct sim_view *view, const char *name, uint32_t first, uint32_t end,
		      int width)
{
	printf("%-*s", width, name);
	for (uint32_t i = first; i < end; i++)
		print_value(sim_view_find(view, i, name), view->runs->seed_count);
	putchar('\n');
}

/* Figures "name@item": of many items only with --all. */
static bool is_many(const struct sim_view *view, uint32_t point, const char *name)
{
	const char *item = strchr(name, '@');
	uint32_t same = 0;

	for (uint32_t k = 0; item && k < view->figure_count[point]; k++)
		same += !strncmp(view->figures[point][k].name, name, (size_t)(item - name) + 1);
	return same > ITEMS_SHOWN;
}

static bool shown(const struct sim_view *view, uint32_t point, const char *name)
{
	return view->all || (!is_many(view, point, name) && strcmp(name, "run.events") != 0);
}

static int name_width(const struct sim_view *view)
{
	size_t width = 10;

	for (uint32_t point = 0; point < view->runs->point_count; point++)
		for (uint32_t k = 0; k < view->figure_count[point]; k++) {
			const struct hd_scenario_figure *figure = &view->figures[point][k];
			if (shown(view, point, figure->name) && strlen(figure->name) > width)
				width = strlen(figure->name);
		}
	return (int)width;
}

static void print_table(const struct sim_view *view, uint32_t first, uint32_t end)
{
	int width = name_width(view);

	printf("\n%-*s", width, "figure");
	for (uint32_t i = first; i < end; i++) {
		/* Of a path the end tells more than the beginning. */
		const char *label = label_of(view, i);
		size_t length = strlen(label), most = COLUMN - strlen("...");
		if (length <= COLUMN)
			printf(" %*s", COLUMN, label);
		else
			printf(" ...%s", label + length - most);
	}
	putchar('\n');
	for (uint32_t point = naming_point(view); point < view->runs->point_count; point++)
		for (uint32_t k = 0; k < view->figure_count[point]; k++) {
			const struct hd_scenario_figure *figure = &view->figures[point][k];
			if (shown(view, point, figure->name) &&
			    !seen_before(view, point, figure->name))
				print_row(view, figure->name, first, end, width);
		}
}

void sim_report_print(const struct sim_view *view)
{
	uint32_t points = view->runs->point_count;

	if (view->asked)
		printf("%s\n", view->title);
	if (view->asked)
		sim_answer_print(view);
	const struct hd_scenario_runs *runs = view->runs;
	char text[400];
	if (!view->asked && *runs->title)
		printf("%s\n", runs->title);
	printf("runs: %" PRIu32 " (points: %" PRIu32 ", seeds: %" PRIu32 ")", runs->count,
	       runs->point_count, runs->seed_count);
	if (view->job->kept)
		printf("; %" PRIu32 " of them kept from before", view->job->kept);
	putchar('\n');
	if (view->job->finished < runs->count)
		printf("PARTIAL: ended early; %" PRIu32 " of %" PRIu32
		       " runs are complete, and figures are those so far\n",
		       view->job->finished, runs->count);
	for (uint32_t i = 0; i < runs->point_count; i++)
		if (i == 0 || runs->point_count <= 2 * COLUMNS_AT_ONCE)
			printf("  %s: %s\n", label_of(view, i),
			       hd_scenario_describe(runs, i, text, sizeof(text)));
	for (uint32_t first = 0; first < points; first += COLUMNS_AT_ONCE)
		print_table(view, first,
			    first + COLUMNS_AT_ONCE < points ? first + COLUMNS_AT_ONCE : points);
	for (uint32_t i = 0; i < points; i++) {
		if (points <= 2 * COLUMNS_AT_ONCE) {
			const struct hd_fabric *fabric = hd_scenario_fabric(view->runs, i);
			uint32_t count = 0;
			struct sim_view_link *links = sim_view_hottest(view, i, &count);
			char name[600];
			if (count)
				printf("\nbusiest links, %s\n", label_of(view, i));
			for (uint32_t k = 0; k < count; k++)
				printf(
				    "  %5.1f%%  %s\n", 100 * links[k].share,
				    sim_view_link_name(fabric, links[k].link, name, sizeof(name)));
			free(links);
		}
		if (sim_view_deadlocked(view, i))
			printf(
			    "\nDEADLOCK, %s: packets wait for each other in a cycle of buffers\n",
			    label_of(view, i));
	}
	if (view->expectation_count) {
		putchar('\n');
		sim_report_expectations(view);
	}
}

#define INTERVAL_SIZE 60
#define INTERVAL_WIDTH 22

/* Which columns a table of expectations has. */
struct columns {
	int name;
	bool interval, full;
};

void sim_report_expectations(const struct sim_view *view)
{
	struct columns columns = {20, view->runs->seed_count > 1, false};

	for (uint32_t i = 0; i < view->expectation_count; i++) {
		const struct hd_expectation *row = &view->expectations[i];
		int length = (int)(strlen(row->name) + strlen(row->point) + 2);
		columns.name = length > columns.name ? length : columns.name;
		columns.full |= row->full > 0;
	}

	printf("%-*s %10s %10s ", columns.name, "figure", "expected", "here");
	if (columns.interval)
		printf("%*s ", INTERVAL_WIDTH, "95% interval");
	printf("%9s  %sverdict\n", "tolerance", columns.full ? "full at  " : "");
	for (uint32_t i = 0; i < view->expectation_count; i++) {
		/* Of `seeds` runs. */
		const struct hd_expectation *row = &view->expectations[i];
		char name[200], tolerance[24], expected[24], interval[INTERVAL_SIZE];
		bool open = row->verdict == HD_VERDICT_OPEN;
		snprintf(name, sizeof(name), "%s%s%s", row->name, *row->point ? ", " : "",
			 row->point);
		sim_view_tolerance(row, tolerance, sizeof(tolerance));
		printf("%-*s %10s", columns.name, name,
		       sim_view_expected(row, expected, sizeof(expected)));
		if (open)
			printf(" %10s ", "-");
		else
			printf(" %10.4g ", row->measured);
		if (columns.interval)
			printf("%*s ", INTERVAL_WIDTH,
			       sim_view_interval(row, interval, sizeof(interval)));
		printf("%9s  ", tolerance);
		if (columns.full) {
			if (row->full > 0)
				printf("%6.1f%%  ", 100 * row->full);
			else
				printf("%7s  ", "-");
		}
		printf("%s%s", sim_view_verdict(row->verdict), row->partial ? " (partial)" : "");
		if (!open && row->seeds < view->runs->seed_count)
			printf(" (%" PRIu32 " of %" PRIu32 " seeds)", row->seeds,
			       view->runs->seed_count);
		putchar('\n');
	}
}

void sim_report_csv(const struct sim_view *view, const char *experiment, struct csv *csv)
{
	for (uint32_t point = 0; point < view->runs->point_count; point++)
		for (uint32_t k = 0; k < view->figure_count[point]; k++) {
			const struct hd_scenario_figure *figure = &view->figures[point][k];
			csv_text(csv, experiment);
			csv_text(csv, view->runs->points[point].label);
			csv_text(csv, figure->name);
			csv_text(csv, figure->unit);
			csv_number(csv, figure->count);
			csv_real(csv, figure->mean);
			csv_real(csv, figure->least);
			csv_real(csv, figure->greatest);
			csv_real(csv, figure->deviation);
			csv_end_row(csv);
		}
}

static json_t *figure_json(const struct hd_scenario_figure *figure)
{
	return json_pack(
	    "{s:o, s:o, s:I, s:f, s:f, s:f, s:f}", "name", json_value_text(figure->name), "unit",
	    json_value_text(figure->unit), "runs", (json_int_t)figure->count, "mean", figure->mean,
	    "least", figure->least, "greatest", figure->greatest, "deviation", figure->deviation);
}

static json_t *point_json(const struct sim_view *view, uint32_t point)
{
	json_t *labels = json_array(), *figures = json_array();
	char text[400];

	for (uint32_t i = 0; i < view->runs->points[point].label_count; i++)
		labels =
		    json_value_append(labels, json_value_text(view->runs->points[point].labels[i]));
	for (uint32_t i = 0; i < view->figure_count[point]; i++)
		figures = json_value_append(figures, figure_json(&view->figures[point][i]));
	const struct hd_fabric *fabric = hd_scenario_fabric(view->runs, point);
	uint32_t count = 0;
	struct sim_view_link *links = sim_view_hottest(view, point, &count);
	json_t *list = json_array();
	char name[600];
	for (uint32_t i = 0; i < count; i++)
		list = json_value_append(
		    list, json_pack("{s:o, s:f}", "link",
				    json_value_text(sim_view_link_name(fabric, links[i].link, name,
								       sizeof(name))),
				    "utilisation", links[i].share));
	free(links);
	return json_pack(
	    "{s:o, s:o, s:b, s:o, s:o}", "labels", labels, "network",
	    json_value_text(hd_scenario_describe(view->runs, point, text, sizeof(text))),
	    "deadlock", sim_view_deadlocked(view, point), "figures", figures, "hottest_links",
	    list);
}

static json_t *expectation_json(const struct hd_expectation *row)
{
	static const char *const judges[] = {"within", "sign", "below", "above"};
	json_t *value = json_pack(
	    "{s:o, s:o, s:o, s:f, s:f, s:s, s:o, s:o}", "name", json_value_text(row->name),
	    "figure", json_value_text(row->figure), "point", json_value_text(row->point),
	    "expected", row->expected, "tolerance", row->tolerance, "judge", judges[row->judge],
	    "source", json_value_text(row->source), "verdict",
	    json_value_text(sim_view_verdict(row->verdict)));

	if (row->full > 0)
		value = json_value_set(value, "full", json_real(row->full));
	if (row->verdict == HD_VERDICT_OPEN)
		return value;
	value = json_value_set(value, "low", json_real(row->low));
	value = json_value_set(value, "high", json_real(row->high));
	value = json_value_set(value, "seeds", json_integer((json_int_t)row->seeds));
	value = json_value_set(value, "measured", json_real(row->measured));
	value = json_value_set(value, "least", json_real(row->least));
	return json_value_set(value, "greatest", json_real(row->greatest));
}

json_t *sim_report_json(const struct sim_view *view, const char *name)
{
	json_t *points = json_array(), *expectations = json_array(), *seeds = json_array();

	for (uint32_t i = 0; i < view->runs->seed_count; i++)
		seeds = json_value_append(seeds, json_integer((json_int_t)view->runs->seeds[i]));
	for (uint32_t i = 0; i < view->runs->point_count; i++)
		points = json_value_append(points, point_json(view, i));
	for (uint32_t i = 0; i < view->expectation_count; i++)
		expectations =
		    json_value_append(expectations, expectation_json(&view->expectations[i]));
	json_t *report =
	    json_pack("{s:o, s:o, s:o, s:I, s:I, s:b, s:o, s:o}", "scenario", json_value_text(name),
		      "title", json_value_text(view->title), "seeds", seeds, "runs",
		      (json_int_t)view->runs->count, "finished", (json_int_t)view->job->finished,
		      "partial", view->job->finished < view->runs->count, "points", points,
		      "expectations", expectations);
	return view->asked ? json_value_set(report, "answer", sim_answer_json(view)) : report;
}
