/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The model of the simulator in the plainest way: at every time at which anything happens, look at
 * every output of the network. For deterministic routing in one subnet, without lifetimes,
 * multicast and tables of VL arbitration.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <heddle/sim.h>

struct reference_message {
	uint64_t created, injected, done; /* ps; the last two are results */
	uint32_t source, destination, bytes; /* hosts */
	uint8_t lane;
};

/* Fills in the results of all messages, which are by ascending time. Returns the hops; in case of a
 * deadlock, messages that do not arrive have done = HD_SIM_NEVER. */
uint64_t reference_run(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       const struct hd_sim_settings *settings, struct reference_message *messages,
		       uint32_t count);

#endif
