/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a source writes into the header of its packets, and what routers write that send them into another
 * subnet: LIDs, service level, lane. */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "core_state.h"

/* The router ports of all maps. Errors: -ENOMEM. */
int address_prepare(struct hd_sim *sim);

/* Sets the addresses, service level and lane of a message. False: it has no such destination. */
bool address_message(const struct hd_sim *sim, struct sim_message *message);

/*
 * Sets out, lane_out and the addresses of a packet of `message` that has come to a router. False:
 * the router drops it.
 */
bool address_relay(const struct hd_sim *sim, const struct sim_message *message,
		   struct sim_packet *packet);

#endif
