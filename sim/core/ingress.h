/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inputs of switches and routers: where a packet goes on, and the queues in which it waits. */
#ifndef INGRESS_H
#define INGRESS_H

#include "core_state.h"

/* A packet has come to a switch or router, and its header is decoded. */
void ingress_arrive(struct hd_sim *sim, uint32_t packet);

/* When a packet may leave by an output, at the earliest: an output that is faster than the input may
 * not start so soon that it runs dry. */
uint64_t ingress_ready_time(const struct hd_sim *sim, const struct sim_packet *packet,
			    uint32_t out);

/* Puts a packet, whose output is known, at the end of a queue. */
void ingress_enqueue(struct hd_sim *sim, uint32_t queue, uint32_t packet);

/* A queue has a new first packet, and the one before has left. */
void ingress_advance(struct hd_sim *sim, uint32_t queue);

/* Events. */
void ingress_ready(struct hd_sim *sim, uint32_t queue);
void ingress_lifetime(struct hd_sim *sim, uint32_t queue);

#endif
