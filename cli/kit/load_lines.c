/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "load_lines.h"
#include "html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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

static void place_switches(struct drawing *drawing)
{
	const struct switch_groups *groups = &drawing->picture->groups;

	drawing->levels = groups->levels;
	/* Groups are in the order of names, so that pods stand together. */
	for (uint32_t group = 0; group < groups->count; group++)
		for (uint32_t sw = 0; sw < drawing->picture->fabric->switch_count; sw++)
			if (groups->of[sw] == group)
				drawing->place[sw] = drawing->width[drawing->picture->level[sw]]++;
}

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

/* One line for each pair of switches; the busiest last, so that it is on top. */
static void find_lines(struct drawing *drawing)
{
	const struct hd_fabric *fabric = drawing->picture->fabric;
	struct line *lines = drawing->lines;
	uint32_t kept = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		lines[link] = (struct line){from < to ? from : to, from < to ? to : from,
					    (double)drawing->report->link_flows[link] /
						(double)drawing->report->rounds};
	}
	qsort(lines, fabric->isl_count, sizeof(*lines), by_switches);
	for (uint32_t i = 0; i < fabric->isl_count; i++) {
		if (kept && !by_switches(&lines[kept - 1], &lines[i]))
			lines[kept - 1].flows = fmax(lines[kept - 1].flows, lines[i].flows);
		else
			lines[kept++] = lines[i];
	}
	qsort(lines, kept, sizeof(*lines), by_flows);
	drawing->line_count = kept;
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

/* The width is in percent of the row, so that switches never touch. */
static void draw_switches(FILE *page, const struct drawing *drawing)
{
	const struct hd_fabric *fabric = drawing->picture->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		double room = 100.0 / drawing->width[drawing->picture->level[sw]];
		double width = fmin(2.4, room * 0.7);
		fprintf(
		    page,
		    "<rect x=\"%.2f%%\" y=\"%g\" width=\"%.2f%%\" height=\"10\" rx=\"2\"><title>",
		    x_of(drawing, sw) / SPAN * 100 - width / 2, y_of(drawing, sw) - 5, width);
		html_short(page, fabric->node_name[sw]);
		fputs("</title></rect>\n", page);
	}
}

static void draw(FILE *page, const struct drawing *drawing, const char *id, char letter)
{
	double height = 2 * EDGE + ROW * (drawing->levels - 1);
	const struct line *busiest = &drawing->lines[drawing->line_count - 1];

	fprintf(page,
		"<svg class=\"links\" id=\"%s\" height=\"%g\" role=\"img\" "
		"aria-labelledby=\"%s-title\" aria-describedby=\"%s-desc\">\n"
		"<title id=\"%s-title\">Loads of the links of tables %c</title>"
		"<desc id=\"%s-desc\">%" PRIu32 " levels of switches, %" PRIu32
		" pairs with cables. The largest load is %.3f flows a round.</desc>\n"
		"<svg width=\"100%%\" height=\"%g\" viewBox=\"0 0 %g %g\" "
		"preserveAspectRatio=\"none\">\n",
		id, height, id, id, id, letter, id, drawing->levels, drawing->line_count,
		busiest->flows, height, SPAN, height);
	for (uint32_t i = 0; i < drawing->line_count; i++)
		draw_line(page, drawing, &drawing->lines[i]);
	fputs("</svg>\n", page);
	draw_switches(page, drawing);
	fputs("</svg>\n", page);
}

int load_lines_draw(FILE *page, const struct load_picture *picture,
		    const struct hd_congestion_report *report, const char *id, char letter)
{
	struct hd_arena arena = {0};
	uint32_t switches = picture->fabric->switch_count;
	struct drawing drawing = {.picture = picture, .report = report};

	drawing.place = hd_arena_alloc(&arena, switches, sizeof(uint32_t));
	drawing.width = hd_arena_alloc(&arena, switches, sizeof(uint32_t));
	drawing.lines = hd_arena_alloc(&arena, picture->fabric->isl_count, sizeof(*drawing.lines));
	int rc = hd_arena_check(&arena);
	if (!rc) {
		place_switches(&drawing);
		find_lines(&drawing);
		draw(page, &drawing, id, letter);
	}
	hd_arena_release(&arena);
	return rc;
}
