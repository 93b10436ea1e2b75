/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The jobs of the last run, from the database. */
#ifndef KEYD_STATE_H
#define KEYD_STATE_H

#include "keyd.h"

/* Errors: those of keyd_store_load(); -EINVAL a row is damaged. */
int keyd_state_load(struct keyd *keyd, struct hd_error *err);

#endif
