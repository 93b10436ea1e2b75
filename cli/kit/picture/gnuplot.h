/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pictures drawn by gnuplot. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include "arguments.h"

#include <heddle/analysis.h>
#include <stdio.h>

/* For drawing_make(). */
extern const struct drawing_program gnuplot_program;

/* Takes the path of a picture, a const char *. Refuses other endings than .svg and .png. */
arguments_take_fn gnuplot_take_path;

/*
 * Draws a histogram of the patterns' mean bandwidths into the file `path`; `share` says what they
 * are the mean of. Errors: those of drawing_make().
 */
int gnuplot_histogram(const char *path, const char *title, const char *share,
		      const struct hd_congestion_report *report, struct hd_error *err);

/* ---- charts ---- */

struct gnuplot_point {
	double x, y;
	double least, greatest; /* of y; equal: nothing is drawn */
};

struct gnuplot_line {
	const char *name;
	const char *title; /* in the key; NULL: the name */
	struct gnuplot_point *points; /* [count] */
	uint32_t count;
	bool
	    marks; /* crosses, as for values from elsewhere; they stand on the line of the same name */
};

/* Lines over numbers, or bars over names. */
struct gnuplot_chart {
	const char *title, *x_title, *y_title;
	const char *const *names; /* [name_count] x is 0, 1, 2 ...: bars with these names */
	uint32_t name_count; /* 0: x is a number */
	bool logarithmic; /* the x axis */
	double rule; /* where a level line is drawn; 0: nowhere */
	const struct gnuplot_line *lines; /* [count] */
	uint32_t count;
};

/* Draws a chart into the file `path`, .svg or .png. Errors: those of drawing_make(). */
int gnuplot_draw(const char *path, const struct gnuplot_chart *chart, struct hd_error *err);

/* Whether gnuplot is installed, to be asked before long work. Errors: -ENOPKG. */
int gnuplot_check(struct hd_error *err);

#endif
