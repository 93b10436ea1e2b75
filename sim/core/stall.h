/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Deadlocks: cycles of buffers in which nothing can move any more. */
#ifndef STALL_H
#define STALL_H

#include "core_state.h"

/* Looks for a deadlock; true: sim->cycle has it. Without memory the run is over. */
bool stall_search(struct hd_sim *sim);

/* A packet has entered the network: SIM_SEARCH will come, if the settings ask for it. */
void stall_watch(struct hd_sim *sim);

/* SIM_SEARCH: looks, and asks for the next time. */
void stall_check(struct hd_sim *sim);

#endif
