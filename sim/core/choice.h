/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The output that a packet takes at a switch or router. */
#ifndef CHOICE_H
#define CHOICE_H

#include "sim_state.h"

/* Sets out and lane_out of a packet that has come to a node, and in a router the addresses. False:
 * the tables lead it nowhere. */
bool choice_unicast(struct hd_sim *sim, uint32_t node, struct sim_packet *packet);

#endif
