/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "load_picture.h"
#include "html.h"
#include "need.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The loads of a small tree: its switches in rows by level, and lines between them. */

#define SPAN 1000.0 /* the width in the units of the lines */
#define ROW 150.0 /* from level to level, in pixels */
#define EDGE 14.0 /* above and below the switches */
#define THIN 0.6
#define THICK 1.8

struct line {
	uint32_t from, to; /* switches, from < to */
	double flows; /* of the busiest link */
};

struct drawing {
	const struct load_picture *picture;
	const struct hd_congestion_report *report;
	uint32_t *place, *width; /* of each switch in its row; of each row */
	struct line *lines;
	uint32_t line_count, levels;
};

static double x_of(const struct drawing *drawing, uint32_t sw)
{
	return SPAN * (drawing->place[sw] + 0.5) / drawing->width[drawing->picture->level[sw]];
}

static double y_of(const struct drawing *drawing, uint32_t sw)
{
	return EDGE + ROW * (drawing->levels - 1 - drawing->picture->level[sw]);
}

static int by_switches(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_flows(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->flows != y->flows)
		return x->flows < y->flows ? -1 : 1;
	return by_switches(a, b);
}

static void draw_line(FILE *page, const struct drawing *drawing, const struct line *line)
{
	const char *const *names = drawing->picture->fabric->node_name;
	double hottest = drawing->picture->hottest;
	double share = hottest > 0 ? line->flows / hottest : 0;

	fprintf(page, "<path class=\"h%u\" stroke-width=\"%.1f\" d=\"M%.1f %gL%.1f %g\"><title>",
		html_heat(line->flows, hottest), THIN + (THICK - THIN) * share,
		x_of(drawing, line->from), y_of(drawing, line->from), x_of(drawing, line->to),
		y_of(drawing, line->to));
	html_short(page, names[line->from]);
	fputs(" - ", page);
	html_short(page, names[line->to]);
	fprintf(page, ": %.3f</title></path>\n", line->flows);
}

/* load_picture_draw() for a fabric of which `drawn` is true. */
static void load_lines_draw(FILE *page, const struct load_picture *picture,
			    const struct hd_congestion_report *report, const char *id, char letter)
{
	struct hd_arena arena = {0};
	uint32_t switches = picture->fabric->switch_count;
	struct drawing drawing = {.picture = picture, .report = report};

	drawing.place = need_of(&arena, switches, sizeof(uint32_t));
	drawing.width = need_of(&arena, switches, sizeof(uint32_t));
	drawing.lines = need_of(&arena, picture->fabric->isl_count, sizeof(*drawing.lines));
	const struct switch_groups *groups = &drawing.picture->groups;
	drawing.levels = groups->levels;
	/* Groups are in the order of names, so that pods stand together. */
	for (uint32_t group = 0; group < groups->count; group++)
		for (uint32_t sw = 0; sw < drawing.picture->fabric->switch_count; sw++)
			if (groups->of[sw] == group)
				drawing.place[sw] = drawing.width[drawing.picture->level[sw]]++;
	/* One line for each pair of switches; the busiest last, so that it is on top. */
	const struct hd_fabric *fabric = drawing.picture->fabric;
	struct line *lines = drawing.lines;
	uint32_t kept = 0;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		lines[link] = (struct line){from < to ? from : to, from < to ? to : from,
					    (double)drawing.report->link_flows[link] /
						(double)drawing.report->rounds};
	}
	qsort(lines, fabric->isl_count, sizeof(*lines), by_switches);
	for (uint32_t i = 0; i < fabric->isl_count; i++) {
		if (kept && !by_switches(&lines[kept - 1], &lines[i]))
			lines[kept - 1].flows = fmax(lines[kept - 1].flows, lines[i].flows);
		else
			lines[kept++] = lines[i];
	}
	qsort(lines, kept, sizeof(*lines), by_flows);
	drawing.line_count = kept;
	double height = 2 * EDGE + ROW * (drawing.levels - 1);
	const struct line *busiest = &drawing.lines[drawing.line_count - 1];
	fprintf(page,
		"<svg class=\"links\" id=\"%s\" height=\"%g\" role=\"img\" "
		"aria-labelledby=\"%s-title\" aria-describedby=\"%s-desc\">\n"
		"<title id=\"%s-title\">Loads of the links of tables %c</title>"
		"<desc id=\"%s-desc\">%" PRIu32 " levels of switches, %" PRIu32
		" pairs with cables. The largest load is %.3f flows a round.</desc>\n"
		"<svg width=\"100%%\" height=\"%g\" viewBox=\"0 0 %g %g\" "
		"preserveAspectRatio=\"none\">\n",
		id, height, id, id, id, letter, id, drawing.levels, drawing.line_count,
		busiest->flows, height, SPAN, height);
	for (uint32_t i = 0; i < drawing.line_count; i++)
		draw_line(page, &drawing, &drawing.lines[i]);
	fputs("</svg>\n", page);
	/* The width is in percent of the row, so that switches never touch. */
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		double room = 100.0 / drawing.width[drawing.picture->level[sw]];
		double width = fmin(2.4, room * 0.7);
		fprintf(
		    page,
		    "<rect x=\"%.2f%%\" y=\"%g\" width=\"%.2f%%\" height=\"10\" rx=\"2\"><title>",
		    x_of(&drawing, sw) / SPAN * 100 - width / 2, y_of(&drawing, sw) - 5, width);
		html_short(page, fabric->node_name[sw]);
		fputs("</title></rect>\n", page);
	}
	fputs("</svg>\n", page);
	hd_arena_release(&arena);
}

#define DRAWN_SWITCHES 48u
#define DRAWN_PAIRS 320u /* of one picture */
#define PAIRS_MOST 1600u /* of all pictures */
#define CELLS_MOST 6000u /* of all pictures */
#define GROUPS_MOST 40u
#define GROUPS_LEAST 12u
#define NUMBERED 20u /* with more groups only each fifth has a number */

/* A small tree: no cable joins two switches of one level. */
static bool is_small_tree(const struct hd_fabric *fabric, const uint32_t *level, uint32_t levels,
			  uint32_t pictures)
{
	uint32_t pairs = fabric->isl_count / 2;

	if (levels < 2 || fabric->switch_count > DRAWN_SWITCHES || pairs > DRAWN_PAIRS ||
	    pairs > PAIRS_MOST / pictures)
		return false;
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (level[hd_isl_from(fabric, link)] == level[fabric->isl_to[link]])
			return false;
	return true;
}

static uint32_t groups_for(uint32_t pictures)
{
	uint32_t groups = GROUPS_MOST;

	while (groups > GROUPS_LEAST && groups * groups > CELLS_MOST / pictures)
		groups--;
	return groups;
}

void load_picture_prepare(const struct hd_fabric *fabric, uint32_t pictures, double hottest,
			  struct hd_arena *arena, struct load_picture *out)
{
	uint32_t levels = 0;

	*out = (struct load_picture){.fabric = fabric, .hottest = hottest};
	out->level = switch_groups_levels(fabric, arena, &levels);
	switch_groups_make(fabric, groups_for(pictures), arena, &out->groups);
	out->drawn = is_small_tree(fabric, out->level, levels, pictures);
}

#define EMPTY (-1.0)

struct matrix {
	const struct load_picture *picture;
	const struct hd_congestion_report *report;
	uint32_t size;
	double *load; /* [size * size], by row; EMPTY: no link */
	double largest;
};

/* One path for each colour; neighbours in a row that have it share a box. */
static void draw_cells(FILE *page, const struct matrix *matrix, unsigned heat)
{
	bool begun = false;

	for (uint32_t row = 0; row < matrix->size; row++) {
		const double *load = &matrix->load[row * matrix->size];
		for (uint32_t i = 0, end; i < matrix->size; i = end) {
			for (end = i; end < matrix->size && load[end] > EMPTY &&
				      html_heat(load[end], matrix->picture->hottest) == heat;)
				end++;
			if (end > i)
				fprintf(page,
					"%sM%" PRIu32 " %" PRIu32 "h%" PRIu32 "v1H%" PRIu32 "z",
					begun ? "" : "<path d=\"", i, row, end - i, i);
			begun = begun || end > i;
			end += end == i;
		}
	}
	if (begun)
		fprintf(page, "\" class=\"h%u\"/>\n", heat);
}

static void draw_number(FILE *page, double place, uint32_t group)
{
	fprintf(page,
		"<text x=\"%.2f%%\" y=\"-5\" text-anchor=\"middle\">%" PRIu32 "</text>"
		"<text x=\"-5\" y=\"%.2f%%\" dy=\"4\" text-anchor=\"end\">%" PRIu32 "</text>\n",
		place, group, place, group);
}

/* Lines between the levels, and their numbers below. */
static void draw_levels(FILE *page, const struct matrix *matrix)
{
	const struct switch_groups *groups = &matrix->picture->groups;
	double unit = 100.0 / matrix->size;

	fputs("<text x=\"-8\" y=\"100%\" dy=\"17\" text-anchor=\"end\">level</text>\n", page);
	for (uint32_t i = 0, end; i < groups->count; i = end) {
		uint32_t level = groups->groups[i].level;
		for (end = i; end < groups->count && groups->groups[end].level == level;)
			end++;
		fprintf(page,
			"<text x=\"%.2f%%\" y=\"100%%\" dy=\"17\" text-anchor=\"middle\">%" PRIu32
			"</text>\n",
			unit * (i + end) / 2, level);
		if (i)
			fprintf(page,
				"<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/>"
				"<line y1=\"%.2f%%\" y2=\"%.2f%%\" x1=\"0\" x2=\"100%%\"/>\n",
				unit * i, unit * i, unit * i, unit * i);
	}
}

void load_picture_draw(FILE *page, const struct load_picture *picture,
		       const struct hd_congestion_report *report, const char *id, char letter)
{
	struct matrix matrix = {
	    .picture = picture, .report = report, .size = picture->groups.count};

	if (picture->drawn) {
		load_lines_draw(page, picture, report, id, letter);
		return;
	}
	matrix.load = need(calloc((size_t)matrix.size * matrix.size, sizeof(*matrix.load)));
	/* A row is where links come from, a column where they go to. */
	const struct hd_fabric *fabric = matrix.picture->fabric;
	const uint32_t *of = matrix.picture->groups.of;
	for (uint32_t cell = 0; cell < matrix.size * matrix.size; cell++)
		matrix.load[cell] = EMPTY;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t row = of[hd_isl_from(fabric, link)], column = of[fabric->isl_to[link]];
		double *cell = &matrix.load[row * matrix.size + column];
		double flows =
		    (double)matrix.report->link_flows[link] / (double)matrix.report->rounds;
		*cell = flows > *cell ? flows : *cell;
		matrix.largest = flows > matrix.largest ? flows : matrix.largest;
	}
	fprintf(page,
		"<svg class=\"matrix\" id=\"%s\" role=\"img\" aria-labelledby=\"%s-title\" "
		"aria-describedby=\"%s-desc\">\n<title id=\"%s-title\">Loads of the links of "
		"tables %c, group by group</title><desc id=\"%s-desc\">%" PRIu32
		" rows and columns. The largest load is %.3f flows a round.</desc>\n"
		"<svg width=\"100%%\" height=\"100%%\" viewBox=\"0 0 %" PRIu32 " %" PRIu32
		"\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">\n",
		id, id, id, id, letter, id, matrix.size, matrix.largest, matrix.size, matrix.size);
	for (unsigned heat = 0; heat <= HTML_HEATS; heat++)
		draw_cells(page, &matrix, heat);
	fputs("</svg>\n", page);
	const struct switch_groups *groups = &matrix.picture->groups;
	double unit = 100.0 / matrix.size;
	fputs("<rect class=\"frame\" width=\"100%\" height=\"100%\"/>\n"
	      "<text x=\"-8\" y=\"-22\">from the group of the row to that of the column</text>\n",
	      page);
	for (uint32_t i = 0; i < groups->count; i++) {
		if (matrix.size <= NUMBERED || (i + 1) % 5 == 0 || i == 0)
			draw_number(page, unit * (i + 0.5), i + 1);
	}
	draw_levels(page, &matrix);
	fputs("</svg>\n", page);
	free(matrix.load);
}

void load_picture_explain(FILE *page, const struct load_picture *picture)
{
	if (picture->drawn) {
		fputs("<p>Each row is a level of the tree; the leaves are at the bottom. A line is "
		      "a pair of switches with cables, in the colour of its busiest link.</p>\n",
		      page);
		return;
	}
	fputs(
	    "<p>Rows and columns are groups of switches. A box stands for all links from the group "
	    "of its row to the group of its column, in the colour of the busiest of them. Where "
	    "there is no box, no cable joins the groups.</p>\n<details><summary>Which switches "
	    "are in which group</summary>\n<div class=\"wide\"><table id=\"groups\">"
	    "<caption>Groups of switches; level 0 has the hosts</caption><thead><tr>"
	    "<th scope=\"col\">group</th><th scope=\"col\">level</th><th scope=\"col\">switches"
	    "</th><th scope=\"col\" class=\"name\">names</th></tr></thead><tbody>\n",
	    page);
	for (uint32_t i = 0; i < picture->groups.count; i++) {
		const struct switch_group *group = &picture->groups.groups[i];
		const char *const *names = picture->fabric->node_name;
		fprintf(page,
			"<tr><th scope=\"row\">%" PRIu32 "</th><td>%" PRIu32 "</td><td>%" PRIu32
			"</td><td class=\"name\">",
			i + 1, group->level, group->switches);
		html_name(page, names[group->first]);
		if (group->switches > 1) {
			fputs(" to ", page);
			html_name(page, names[group->last]);
		}
		fputs("</td></tr>\n", page);
	}
	fputs("</tbody></table></div></details>\n", page);
}
