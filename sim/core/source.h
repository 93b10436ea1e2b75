/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts: messages that wait there, cut into packets. */
#ifndef SOURCE_H
#define SOURCE_H

#include "core_state.h"

/* Bytes of the next packet of a lane, which has one. */
uint32_t source_bytes(const struct hd_sim *sim, uint32_t port, uint32_t lane);

/* Sends it. */
void source_send(struct hd_sim *sim, uint32_t port, uint32_t lane);

/* The last byte of a packet has left. */
void source_sent(struct hd_sim *sim, uint32_t port);

/* Whether source, size, class and flow of a message exist. */
bool source_fits(const struct hd_sim *sim, const struct hd_sim_message *message);

#endif
