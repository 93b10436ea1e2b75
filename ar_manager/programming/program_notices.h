/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a switch needs before it may send notices of lost ports: pFRNConfig, the key of managers if the site has one, and
 * its neighbours. One MAD after the other. A switch that refuses one has no notices, and
 * nothing else changes for it.
 */
#ifndef AR_MANAGER_PROGRAM_NOTICES_H
#define AR_MANAGER_PROGRAM_NOTICES_H

#include "program_state.h"

/* Whether the switch has to be told before its tables are set. */
bool program_notices_are_due(const struct hd_ar_program *program, struct program_switch *sw);

/* Begins to tell it: its stage is PROGRAM_NOTICES, with a MAD under way. Errors: those of the sender. */
int program_notices_begin(struct hd_ar_program *program, struct program_switch *sw);

/* Takes the answer to a MAD of this stage, and sends the next one. When none is under way afterwards, the switch is told,
 * or refuses. Errors: those of the sender; -ECANCELED. */
int program_notices_answer(struct hd_ar_program *program, struct program_switch *sw,
			   const struct hd_ar_answer *answer);

/* Nothing is known of the switch any more. */
void program_notices_forget(struct program_notices *notices);

/* The neighbours of all switches. */
void program_neighbours_free(struct hd_ar_program *program);

#endif
