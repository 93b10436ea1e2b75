/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Starts everything, runs until a signal ends it, and stops everything. */
#ifndef KEYD_RUN_H
#define KEYD_RUN_H

#include "keyd_config.h"

/* Runs the daemon. config_path is read again at SIGHUP. Errors: what could not be started. */
int keyd_run(struct keyd_config *config, const char *config_path, const struct hd_log *log,
	     struct hd_error *err);

#endif
