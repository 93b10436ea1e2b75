/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `heddle key make` prints. */
#ifndef CLI_KEY_REPORT_H
#define CLI_KEY_REPORT_H

#include "key_phases.h"

#include <jansson.h>

/* A line for each phase; with `verbose` the paths of all flows, too. */
void key_report_print(const struct key_phases *phases, bool verbose);

/* Bars: how many links carry 1, 2, 3 ... flows. */
void key_report_chart(const struct key_phases *phases);

/* All of it; NULL: no memory. */
json_t *key_report_json(const struct key_phases *phases);

#endif
