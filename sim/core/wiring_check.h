/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the tables of a network fit its fabrics. */
#ifndef WIRING_CHECK_H
#define WIRING_CHECK_H

#include "core_state.h"

/* Errors: -EINVAL with the subnet and what is wrong. */
int wiring_check(const struct hd_sim *sim, struct hd_error *err);

#endif
