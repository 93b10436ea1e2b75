/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inputs of switches and routers: where a packet goes on, and the queues in which it waits. */
#ifndef INGRESS_H
#define INGRESS_H

#include "core_state.h"

/* A packet has come to a switch or router, and its header is decoded. */
void ingress_arrive(struct hd_sim *sim, uint32_t packet);

/* A queue has a new first packet, and the one before has left. */
void ingress_advance(struct hd_sim *sim, uint32_t queue);

/* Events. */
void ingress_ready(struct hd_sim *sim, uint32_t queue);
void ingress_lifetime(struct hd_sim *sim, uint32_t queue);

#endif
