/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys that are made again: for a new fabric, for keys that broke, for a manager that is back. */
#ifndef KEYD_REKEY_H
#define KEYD_REKEY_H

#include "keyd_op.h"

/*
 * Makes and sends the keys again that should be in the switches; all: also those that are. One line
 * in the log says for all jobs together what came of it: `cause` begins it.
 */
void keyd_rekey(struct keyd *keyd, bool all, const char *cause);

/* What the connection to the managers calls: a key fell back to the routes without keys. Those that
 * do so within a moment are made again together. */
void keyd_rekey_broken(void *context, const struct hd_channel_broken *broken);

/* Tries again, from time to time, what could not be put into the switches. */
int keyd_rekey_start(struct keyd *keyd, struct hd_error *err);

#endif
