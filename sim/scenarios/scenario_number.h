/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers as papers print them: 0.5, 2/3, 50%. */
#ifndef SIM_SCENARIO_NUMBER_H
#define SIM_SCENARIO_NUMBER_H

#include <heddle/base/error.h>

/* A plain number, a fraction such as 2/3, or percent. Errors: -EINVAL. */
int scenario_number(const char *text, double *out, struct hd_error *err);

/* For the member `validate` of struct hd_option. */
int scenario_number_check(const char *text, struct hd_error *err);

#endif
