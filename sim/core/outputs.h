/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Outputs: the credits that they have, the inputs that ask for them, and packets that leave by them. */
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include "core_state.h"

/* An output has a packet to send: it chooses when it is free. */
void outputs_wake(struct hd_sim *sim, uint32_t port);

/* SIM_FREE will come when the output is free. */
void outputs_watch(struct hd_sim *sim, uint32_t port);

/* Bytes of a lane of an output that may be sent now. */
int64_t outputs_credits(struct hd_sim *sim, struct sim_lane *lane);

/* Wakes the output when `bytes` can be sent on that lane. True: that will be so soon, whatever others
 * do, because the bytes are on their way back. False: other packets still hold them. */
bool outputs_await(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t bytes);

/* `bytes` of the buffer of an input's lane are free from `when` on. Nothing for a central buffer. */
void outputs_return(struct hd_sim *sim, uint32_t input, uint32_t lane, uint64_t when,
		    uint32_t bytes);

/* An input asks for a lane of an output. */
void outputs_mark(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t input);

/* It does so no longer, unless another of its queues does. */
void outputs_forget(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t input);

/* The first packet of a queue, which has one output, asks for it, or takes that back. */
void outputs_ask(struct hd_sim *sim, uint32_t queue);
void outputs_withdraw(struct hd_sim *sim, uint32_t queue);

/* A free output has something to send, but may not: or no longer so. */
void outputs_note_blocked(struct hd_sim *sim, uint32_t port, bool blocked);

/* The input whose packet an output sends next on a lane, and its queue. One asks for the lane. */
uint32_t outputs_next(const struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t *queue);

/* When a packet may leave by an output, at the earliest: an output that is faster than the input may
 * not start so soon that it runs dry. */
uint64_t outputs_ready_time(const struct hd_sim *sim, const struct sim_packet *packet,
			    uint32_t out);

/* A packet leaves by a port on its lane_out; no buffer is touched. Returns when its last byte
 * leaves. */
uint64_t outputs_depart(struct hd_sim *sim, uint32_t port, uint32_t packet);

#endif
