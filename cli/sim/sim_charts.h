/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The charts of a scenario's part of a page. */
#ifndef CLI_SIM_CHARTS_H
#define CLI_SIM_CHARTS_H

#include "sim_view.h"

#define SIM_CHARTS_LINES 8u /* of a chart, at most */

/* All of them: -ENOMEM; ids begin with `id`. */

/* Throughput and latency against the last sweep whose labels are numbers, if there is one. */
int sim_charts_sweeps(const struct sim_view *view, const char *id, FILE *page);

/* Utilisation of the links, the largest first. */
int sim_charts_links(const struct sim_view *view, const char *id, FILE *page);

/* The flows' throughput over time, for each point that has it. */
int sim_charts_series(const struct sim_view *view, const char *id, FILE *page);

#endif
