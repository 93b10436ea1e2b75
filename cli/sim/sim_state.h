/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file that keeps finished runs. Each process has one of its own: FILE, FILE.1, FILE.2 ... */
#ifndef CLI_SIM_STATE_H
#define CLI_SIM_STATE_H

#include "processes.h"

#include <heddle/sim/scenario.h>

struct sim_state {
	FILE *stream; /* NULL: nothing is kept */
	char *path;
};

/*
 * Reads what all processes have kept into `records`, and goes on with the file of this process. A
 * NULL path keeps nothing. All processes must call it. Errors: -ESTALE the file is of another
 * scenario or other seeds, -EBUSY another
 * process writes it, -EINVAL, the errno of open and read, -ENOMEM.
 */
int sim_state_open(struct sim_state *state, const char *path, const struct processes *processes,
		   const struct hd_scenario_runs *runs, struct hd_record **records,
		   struct hd_error *err);

/* Adds a finished run. Errors: the errno of the write. One thread at a time. */
int sim_state_add(struct sim_state *state, const struct hd_record *record, uint32_t run,
		  struct hd_error *err);
void sim_state_close(struct sim_state *state);

/* Takes records of a text, which end where it does or where one is cut off: *length bytes of whole
 * records. A run that `records` has already is left alone. */
int sim_state_take(const struct hd_text *text, const struct hd_scenario_runs *runs,
		   struct hd_record **records, size_t *length, struct hd_error *err);

#endif
