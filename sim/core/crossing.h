/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From subnet to subnet: the router ports to which sources send, and what routers do. */
#ifndef CROSSING_H
#define CROSSING_H

#include "core_state.h"

/* The router ports of all maps. Errors: -ENOMEM. */
int crossing_prepare(struct hd_sim *sim);

/* The LID in a subnet to which packets for an endpoint of another subnet go; 0: the map has none. */
uint16_t crossing_lid(const struct hd_sim *sim, uint32_t subnet, const struct sim_host *to);

/*
 * Sets out, lane_out and the addresses of a packet of `message` that has come to a router. False:
 * the router drops it.
 */
bool crossing_take(const struct hd_sim *sim, const struct sim_message *message,
		   struct sim_packet *packet);

#endif
