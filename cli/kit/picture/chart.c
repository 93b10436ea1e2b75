/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "chart.h"
#include "html.h"

#include <math.h>

#define HEIGHT 220.0 /* of the plot, in pixels */
#define SPAN 1000.0 /* the width of the plot in the units of its lines */
#define HEAD 26.0 /* above the plot: the title of the y axis */
#define MARK_ROW 16.0
#define MARK_ROWS 5u
#define MARK_WIDTH 5.0 /* of a letter, in percent of a narrow plot */
#define FOOT 44.0 /* below the plot: numbers and the title of the x axis */
#define COLOURS 8u
#define DASHES 4u

char chart_letter(uint32_t line)
{
	return (char)('A' + line % 26);
}

void chart_swatch(FILE *page, uint32_t line)
{
	fprintf(page,
		"<svg class=\"swatch\" width=\"26\" height=\"10\" aria-hidden=\"true\"><line "
		"class=\"s%u d%u\" x1=\"0\" "
		"x2=\"26\" y1=\"5\" y2=\"5\"/></svg><b>%c</b>",
		line % COLOURS, line % DASHES, chart_letter(line));
}

double chart_step(double span, unsigned most)
{
	double power = pow(10, floor(log10(span / most)));

	for (unsigned i = 0; i < 3; i++) {
		static const double factors[] = {1, 2, 5};
		double step = factors[i] * power;
		if (span / step <= most * (1 + 1e-9))
			return step;
	}
	return 10 * power;
}

static int decimals(double step)
{
	double digits = ceil(-log10(step) - 1e-9);

	return digits > 0 ? (int)digits : 0;
}

static double x_share(const struct chart *chart, double x)
{
	return (x - chart->x_first) / (chart->x_end - chart->x_first);
}

struct marks {
	double row_end[MARK_ROWS]; /* in percent */
	uint32_t rows;
};

/* The first row in which the letter touches no other; letters come from left to right. */
static uint32_t mark_row(struct marks *marks, double percent)
{
	uint32_t row = 0;

	while (row < MARK_ROWS - 1 && row < marks->rows && percent < marks->row_end[row])
		row++;
	marks->row_end[row] = percent + MARK_WIDTH;
	marks->rows = row + 1 > marks->rows ? row + 1 : marks->rows;
	return row;
}

/* The line with the next mark after `last` from left to right, or count. */
static uint32_t next_mark(const struct chart *chart, uint32_t last)
{
	const struct chart_line *lines = chart->lines;
	uint32_t next = chart->count;

	for (uint32_t i = 0; i < chart->count; i++) {
		bool after = last == chart->count || lines[i].mark > lines[last].mark ||
			     (lines[i].mark == lines[last].mark && i > last);
		if (i != last && after &&
		    (next == chart->count || lines[i].mark < lines[next].mark))
			next = i;
	}
	return next;
}

enum mark_part { MARK_ROOM, MARK_LINES, MARK_LETTERS };

/* Draws a part of the marks, and returns how many rows of letters there are. */
static uint32_t marks(FILE *page, const struct chart *chart, double top, enum mark_part part)
{
	struct marks placed = {.rows = 0};

	if (!chart->marks)
		return 0;
	for (uint32_t line = next_mark(chart, chart->count); line < chart->count;
	     line = next_mark(chart, line)) {
		double percent = 100 * x_share(chart, chart->lines[line].mark);
		double y = top - 4 - mark_row(&placed, percent) * MARK_ROW;
		if (part == MARK_LINES) {
			fprintf(
			    page,
			    "<line class=\"mark s%u d%u\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%g\" "
			    "y2=\"%g\"/>\n",
			    line % COLOURS, line % DASHES, percent, percent, y + 3, top + HEIGHT);
		} else if (part == MARK_LETTERS) {
			fprintf(page,
				"<text class=\"mark t%u\" x=\"%.2f%%\" y=\"%g\" "
				"text-anchor=\"middle\">%c"
				"</text>\n",
				line % COLOURS, percent, y, chart_letter(line));
		}
	}
	return placed.rows;
}

static void draw_x_axis(FILE *page, const struct chart *chart, double top)
{
	double step = chart_step(chart->x_end - chart->x_first, 6);

	for (double i = ceil(chart->x_first / step - 1e-9) + 0.0;
	     i * step <= chart->x_end + step * 1e-6; i++) {
		double percent = 100 * x_share(chart, i * step);
		fprintf(page,
			"<line class=\"axis\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%g\" y2=\"%g\"/>"
			"<text x=\"%.2f%%\" y=\"%g\" text-anchor=\"middle\">%.*f%s</text>\n",
			percent, percent, top + HEIGHT, top + HEIGHT + 5, percent,
			top + HEIGHT + 19, decimals(step), i * step + 0.0, chart->x_unit);
	}
	fprintf(page,
		"<line class=\"axis\" x1=\"0\" x2=\"100%%\" y1=\"%g\" y2=\"%g\"/>"
		"<text x=\"50%%\" y=\"%g\" text-anchor=\"middle\">%s</text>\n",
		top + HEIGHT, top + HEIGHT, top + HEIGHT + 38, chart->x_title);
}

static void draw_fill(FILE *page, const struct chart *chart, uint32_t number)
{
	const struct chart_line *line = &chart->lines[number];

	if (!line->count)
		return;
	fprintf(page, "<path class=\"t%u\" style=\"stroke:none;fill-opacity:.13\" d=\"M%.4g %g",
		number % COLOURS, SPAN * x_share(chart, line->points[0].x), HEIGHT);
	for (uint32_t i = 0; i < line->count; i++)
		fprintf(page, "L%.4g %.4g", SPAN * x_share(chart, line->points[i].x),
			HEIGHT * (1 - line->points[i].y / chart->y_end));
	fprintf(page, "L%.4g %gz\"/>\n", SPAN * x_share(chart, line->points[line->count - 1].x),
		HEIGHT);
}

void chart_draw(FILE *page, const struct chart *chart)
{
	double top = HEAD + MARK_ROW * marks(page, chart, 0, MARK_ROOM);

	fprintf(page,
		"<svg class=\"plot\" id=\"%s\" height=\"%g\" role=\"img\" "
		"aria-labelledby=\"%s-title\" aria-describedby=\"%s-desc\">\n",
		chart->id, top + HEIGHT + FOOT, chart->id, chart->id);
	fprintf(page, "<title id=\"%s-title\">%s</title><desc id=\"%s-desc\">Axes: %s; %s.",
		chart->id, chart->title, chart->id, chart->x_title, chart->y_title);
	for (uint32_t i = 0; i < chart->count; i++) {
		fprintf(page, " %c: ", chart_letter(i));
		html_text(page, chart->lines[i].figures);
		fputc('.', page);
	}
	fputs("</desc>\n", page);
	double step = chart_step(chart->y_end, 5);
	fprintf(page, "<text x=\"-54\" y=\"13\">%s</text>\n", chart->y_title);
	for (unsigned i = 0; i * step <= chart->y_end * (1 + 1e-9); i++) {
		double y = top + HEIGHT * (1 - i * step / chart->y_end);
		fprintf(page,
			"<line class=\"scale\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text x=\"-8\" y=\"%.1f\" text-anchor=\"end\">%.*f%s</text>\n",
			y, y, y + 4, decimals(step), i * step, chart->y_unit);
	}
	fprintf(page,
		"<svg x=\"0\" y=\"%g\" width=\"100%%\" height=\"%g\" viewBox=\"0 0 %g %g\" "
		"preserveAspectRatio=\"none\">\n",
		top, HEIGHT, SPAN, HEIGHT);
	for (uint32_t i = 0; chart->filled && i < chart->count; i++)
		draw_fill(page, chart, i);
	for (uint32_t i = 0; i < chart->count; i++) {
		const struct chart_line *line = &chart->lines[i];
		fprintf(page, "<path class=\"s%u d%u\" d=\"", i % COLOURS, i % DASHES);
		for (uint32_t k = 0; k < line->count; k++)
			fprintf(page, "%c%.4g %.4g", k ? 'L' : 'M',
				SPAN * x_share(chart, line->points[k].x),
				HEIGHT * (1 - line->points[k].y / chart->y_end));
		fputs("\"/>\n", page);
	}
	fputs("</svg>\n", page);
	draw_x_axis(page, chart, top);
	marks(page, chart, top, MARK_LINES);
	/* over the lines of other marks */
	marks(page, chart, top, MARK_LETTERS);
	fputs("</svg>\n", page);
}
