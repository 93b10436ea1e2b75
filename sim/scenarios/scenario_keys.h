/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which keys the sections of a scenario may have. */
#ifndef SIM_SCENARIO_KEYS_H
#define SIM_SCENARIO_KEYS_H

#include "scenario_text.h"

/* Of [scenario]. */
extern const struct hd_option scenario_title_keys[];
extern const unsigned scenario_title_key_count;

/*
 * Checks sections, keys and values that [quick] names: a run without it would not notice them. The
 * other sections may still be incomplete. Errors: with the place, -EINVAL, -ENOENT, -ERANGE;
 * -ENOMEM.
 */
int scenario_keys_check_quick(const struct hd_scenario *scenario, struct hd_error *err);

/* Refuses SECTION.KEY of which all points have the same value. Errors: -EINVAL. */
int scenario_keys_check_swept(const char *target, struct hd_error *err);

#endif
