/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Outputs: which packet they send next, and the credits that they need for it. */
#ifndef EGRESS_H
#define EGRESS_H

#include "core_state.h"

/* An output has a packet to send: it chooses when it is free. */
void egress_wake(struct hd_sim *sim, uint32_t port);

/* SIM_FREE will come when the output is free. */
void egress_watch(struct hd_sim *sim, uint32_t port);

/* An input asks for a lane of an output. */
void egress_mark(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t input);

/* It does so no longer, unless another of its queues does. */
void egress_forget(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t input);

/* The first packet of a queue asks its output, or takes that back. */
void egress_ask(struct hd_sim *sim, uint32_t queue);
void egress_withdraw(struct hd_sim *sim, uint32_t queue);

/* An output that could send chooses and sends. */
void egress_choose(struct hd_sim *sim, uint32_t port);

/* A packet leaves by a port on its lane_out; no buffer is touched. Returns when its last byte
 * leaves. */
uint64_t egress_depart(struct hd_sim *sim, uint32_t port, uint32_t packet);

/* Bytes of a lane of an output that may be sent now. */
int64_t egress_credits(struct hd_sim *sim, struct sim_lane *lane);

/* Bytes of the packet that an output would send next on a lane for which an input asks. */
uint32_t egress_next_bytes(const struct hd_sim *sim, uint32_t port, uint32_t lane);

/* `bytes` of the buffer of an input's lane are free from `when` on. Nothing for a central buffer. */
void egress_return(struct hd_sim *sim, uint32_t input, uint32_t lane, uint64_t when,
		   uint32_t bytes);

/* Wakes the output when `bytes` can be sent on that lane. True: that will be so soon, whatever others
 * do, because the bytes are on their way back. False: other packets still hold them. */
bool egress_await(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t bytes);

/* Events. */
void egress_credit(struct hd_sim *sim, uint32_t lane_index);
void egress_free(struct hd_sim *sim, uint32_t port);

#endif
