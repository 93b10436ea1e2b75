/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pictures of a scenario's figures in files of their own, drawn by gnuplot. */
#ifndef CLI_SIM_PLOT_H
#define CLI_SIM_PLOT_H

#include "sim_view.h"

/*
 * Draws a figure against the sweeps, with what [expect] says about it. `figure` NULL: the figure of
 * the first [expect]; without one, the time if the traffic decides on it, or else throughput. Errors:
 * -ENOENT no run has the figure; those of gnuplot_draw(); -ENOMEM.
 */
int sim_plot_figure(const struct sim_view *view, const char *figure, const char *path,
		    struct hd_error *err);

/* Draws all expectations: each figure divided by its expected value. Does nothing if there are none.
 * Errors: as before. */
int sim_plot_expectations(const struct sim_view *view, const char *path, struct hd_error *err);

#endif
