/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `heddle status` prints of the plugin's answer. */
#ifndef CLI_STATUS_SHOW_H
#define CLI_STATUS_SHOW_H

#include "nagios.h"

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

/* Whether the answer is one that this command understands: status_show_*() rely on that. */
bool status_show_understands(const json_t *answer);

/* The number of faults that it lists. */
json_int_t status_show_faults(const json_t *answer);

/* A line for each part, and the faults. `now` is Unix time. */
void status_show_text(const json_t *answer, time_t now);

/* One line. Critical: not the first engine of routing_engine routes; a warning: any other fault. */
enum nagios_status status_show_nagios(const json_t *answer);

#endif
