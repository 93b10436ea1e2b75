/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pictures drawn by gnuplot. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include "arguments.h"

#include <heddle/analysis.h>

/* Takes the path of a picture, a const char *. Refuses other endings than .svg and .png. */
arguments_take_fn gnuplot_take_path;

/*
 * Draws a histogram of the patterns' mean bandwidths into the file `path`; `share` says what they
 * are the mean of. Errors: those of drawing_make().
 */
int gnuplot_histogram(const char *path, const char *title, const char *share,
		      const struct hd_congestion_report *report, struct hd_error *err);

#endif
