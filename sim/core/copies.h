/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast packets in switches. Source of the three ways to copy them: see enum hd_sim_replication.
 *
 * Copies that leave together reserve their outputs: each output goes to the packet that came first,
 * and sends nothing else until all outputs of that packet are free and have credits. So the packet
 * that came first always gets all its outputs. Copies in the central buffer wait in queues of the
 * switch's port 0, one for each output and lane; the buffer holds the packet once. A packet for
 * which the central buffer has no room leaves from its input's buffer.
 */
#ifndef COPIES_H
#define COPIES_H

#include "arbiter.h"

/* A multicast packet has come: sets `copies`. False: it has nowhere to go. */
bool copies_prepare(struct hd_sim *sim, uint32_t packet);

/* The first packet of the queue, a multicast packet, asks its outputs, or takes that back. */
void copies_ask(struct hd_sim *sim, uint32_t queue);
void copies_withdraw(struct hd_sim *sim, uint32_t queue);

/* A copy leaves by an output. */
void copies_send(struct hd_sim *sim, uint32_t port, const struct arbiter_offer *offer);

/* All copies of a queue's first packet leave together, if they can. */
void copies_send_together(struct hd_sim *sim, uint32_t queue);

/* The first packet of a queue is dropped: forgets its outputs, and tells when the last copy of it
 * has left. */
uint64_t copies_forget(struct hd_sim *sim, uint32_t packet);

/* A copy leaves the central buffer at that time. */
void copies_release(struct hd_sim *sim, uint32_t copies, uint64_t when);

/* SIM_CENTRAL. */
void copies_central(struct hd_sim *sim, uint32_t copies);

#endif
