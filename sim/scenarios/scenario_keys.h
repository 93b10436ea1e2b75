/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which keys the sections of a scenario may have: hd_scenario_section(), hd_scenario_parse(). */
#ifndef SIM_SCENARIO_KEYS_H
#define SIM_SCENARIO_KEYS_H

#include "scenario_text.h"

/* Of [scenario]. */
extern const struct hd_option scenario_title_keys[];
extern const unsigned scenario_title_key_count;

#endif
