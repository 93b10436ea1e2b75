/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sections [model] and [run]: the settings of the simulator, by their names; and numbers in any section. */
#ifndef SIM_SCENARIO_SETTINGS_H
#define SIM_SCENARIO_SETTINGS_H

#include "scenario_text.h"

#include <heddle/sim/settings.h>

extern const struct hd_option scenario_model_keys[], scenario_run_keys[];
extern const unsigned scenario_model_key_count, scenario_run_key_count;

struct scenario_run {
	struct hd_sim_settings settings; /* without class_count, flow_count and seed */
	bool exact; /* nothing is drawn: one seed decides */
	uint64_t duration; /* ps; HD_SIM_NEVER: until the traffic ends */
};

/* Errors: with the place, those of the tables, and of hd_sim_settings_check(). */
int scenario_settings_read(const struct hd_scenario *scenario, struct scenario_run *out,
			   struct hd_error *err);

/* The seeds of [run]: `seeds` is their number, or the list "3, 5, 9". *seeds is malloc'ed. */
int scenario_settings_seeds(const struct hd_scenario *scenario, uint64_t first, bool first_given,
			    uint64_t **seeds, uint32_t *count, struct hd_error *err);

/* ---- numbers as papers print them: 0.5, 2/3, 50% ---- */

/* A plain number, a fraction such as 2/3, or percent. Errors: -EINVAL. */
int scenario_settings_number(const char *text, double *out, struct hd_error *err);

/* For the member `validate` of struct hd_option. */
int scenario_settings_number_check(const char *text, struct hd_error *err);

#endif
