/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of the outputs that it may take a packet takes: see enum hd_sim_selection.
 *
 * Packets may also choose again while they wait: see enum hd_sim_choice. A packet that is first in
 * its queue changes its output when that has no credits for it, and another one that it may take
 * has. Packets of deterministic or multicast traffic and those of Bounded entries keep theirs. Each
 * change is to an output with credits, so a packet changes at most once until others take these
 * credits.
 */
#ifndef SELECTION_H
#define SELECTION_H

#include "core_state.h"

/* Sets out and lane_out of a packet that has come to a switch. False: the tables lead nowhere. */
bool selection_take(struct hd_sim *sim, struct sim_packet *packet);

/* Whether a packet may choose its output again. */
bool selection_may_change(const struct hd_sim *sim, const struct sim_packet *packet);

/* An output of a switch has no credits for a packet, or has new ones: all that wait in the switch
 * choose again. O(inputs * lanes). */
void selection_again(struct hd_sim *sim, uint32_t node);

#endif
