/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The jobs of the last run, from the database. A job with a damaged row is set aside: it is not
 * loaded, its rows stay in tables of their own, and the log says so once.
 */
#ifndef KEYD_STATE_H
#define KEYD_STATE_H

#include "keyd.h"

/* Errors: those of keyd_store_load() and keyd_store_set_aside(); -ENOMEM. */
int keyd_state_load(struct keyd *keyd, struct hd_error *err);

#endif
