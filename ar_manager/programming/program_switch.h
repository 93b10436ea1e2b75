/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The operation of one switch that is programmed: the MADs that are under way to it, and what follows their answers. */
#ifndef AR_MANAGER_PROGRAM_SWITCH_H
#define AR_MANAGER_PROGRAM_SWITCH_H

#include "program_state.h"

/* Begins the operation of the program for a switch, which is complete when its stage is IDLE. */
void program_switch_begin(struct hd_ar_program *program, struct program_switch *sw);

/* Goes on with an answer. */
void program_switch_answer(struct hd_ar_program *program, struct program_switch *sw, uint32_t slot,
			   const struct hd_ar_answer *answer);

/* Forgets what the switch can do and what it holds. */
void program_switch_forget(struct program_switch *sw);

#endif
