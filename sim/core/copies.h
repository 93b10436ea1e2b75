/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast packets in switches. For the three kinds of copies see enum hd_sim_replication.
 *
 * Copies that leave together reserve their lane of all outputs at once; a reserved lane sends nothing
 * else. They do so when each output has credits or its credits are on their way back: so they leave
 * soon, whatever other switches do. Multicast goes before unicast; among multicast packets of a lane
 * that can reserve, the one that came first goes first.
 *
 * An output that waits idle for credits that another switch keeps can do harm: packets in
 * neighbouring switches could wait for each other. But without that, others could take the credits
 * of each output again and again. So when credits have come several times, but never for all
 * outputs, a packet insists: it reserves its lane for a limited time, in which packets of other lanes
 * leave by the outputs. If that was in vain, others go on, and the next time is twice as long.
 *
 * Copies in the central buffer wait in queues of the switch's port 0, one for each output and lane;
 * the buffer holds the packet once. A packet for which the central buffer has no room leaves from its
 * input's buffer.
 */
#ifndef COPIES_H
#define COPIES_H

#include "arbiter.h"

/* A multicast packet has come: sets `copies`. False: it has nowhere to go. */
bool copies_prepare(struct hd_sim *sim, uint32_t packet);

/* One more packet with the same content. HD_NONE: no memory. */
uint32_t copies_clone(struct hd_sim *sim, uint32_t packet);

/* The first packet of the queue, a multicast packet, asks its outputs, or takes that back. */
void copies_ask(struct hd_sim *sim, uint32_t queue);
void copies_withdraw(struct hd_sim *sim, uint32_t queue);

/* A copy leaves by an output. */
void copies_send(struct hd_sim *sim, uint32_t port, const struct arbiter_offer *offer);

/* Outputs of a node have credits again, or are reserved no longer: copies that wait to leave together
 * reserve theirs, if they can. */
void copies_reserve(struct hd_sim *sim, uint32_t node);

/* The queue has reserved its lane of all outputs of its first packet: the copies leave together, if
 * all outputs are free. False: credits are missing, so other lanes may use the outputs meanwhile. */
bool copies_send_together(struct hd_sim *sim, uint32_t queue);

/* The first packet of a queue is dropped: forgets its outputs, and tells when the last copy of it
 * has left. */
uint64_t copies_forget(struct hd_sim *sim, uint32_t packet);

/* A copy leaves the central buffer at that time. */
void copies_release(struct hd_sim *sim, uint32_t copies, uint64_t when);

/* Events. */
void copies_central(struct hd_sim *sim, uint32_t copies);
void copies_give_up(struct hd_sim *sim, uint32_t copies);

#endif
