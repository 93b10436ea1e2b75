/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is counted while the simulation runs. */
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include "core_state.h"

/* Bytes of a message's payload have come. */
void figures_payload(struct hd_sim *sim, const struct hd_sim_message *message, uint32_t bytes);

#endif
