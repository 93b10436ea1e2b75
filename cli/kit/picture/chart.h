/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Charts of a page: lines over one pair of labelled axes. A chart is as wide as the page, whatever
 * that is: its texts keep their size, because positions along the x axis are in percent.
 */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct chart_point {
	double x, y;
};

struct chart_line {
	const struct chart_point *points; /* [count], x ascends */
	uint32_t count;
	double mark; /* an x to mark with the line's letter, if the chart has marks */
	const char *figures; /* for those who cannot see the line: "mean 0.71" */
};

struct chart {
	const char *id; /* a word of its own in the page */
	const char *title; /* the picture in a few words */
	const char *x_title, *y_title;
	const char *x_unit, *y_unit; /* behind each number: "%" */
	double x_first, x_end, y_end; /* the y axis begins at 0 */
	bool marks, filled;
	const struct chart_line *lines; /* [count]; line i has letter i and colour i */
	uint32_t count;
};

/* The size of what is drawn and described depends on the points alone. */
void chart_draw(FILE *page, const struct chart *chart);

/* The letter that names line i everywhere in a page: 'A' ... */
char chart_letter(uint32_t line);

/* A short piece of line i and its letter, to stand before a name. */
void chart_swatch(FILE *page, uint32_t line);

/* 1, 2 or 5 times a power of ten: the smallest with at most `most` steps in the span (> 0). */
double chart_step(double span, unsigned most);

#endif
