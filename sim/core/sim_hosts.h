/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What hosts do: they make packets, and take them. */
#ifndef SIM_HOSTS_H
#define SIM_HOSTS_H

#include "core_state.h"

/* ---- multicast groups ---- */

/* Multicast groups: who is a member, and what each member has got of a message. */

/* Finds the members: the hosts that the entries name. Errors: -ENOMEM. */
int groups_of_hosts_prepare(struct hd_sim *sim);

/* The group with that MLID in a subnet, or NULL. O(log groups). */
struct sim_group *groups_of_hosts_find(const struct hd_sim *sim, uint32_t subnet, uint32_t mlid);

/* Whether an endpoint is a member. O(log members). */
bool groups_of_hosts_has(const struct sim_group *group, uint32_t endpoint);

/* Prepares the counters of a multicast message. Errors: -ENOMEM. */
int groups_of_hosts_begin(struct hd_sim *sim, struct sim_message *message);

/* A member got a packet. The number of packets that it has now; 0: it is no member. */
uint32_t groups_of_hosts_count(struct hd_sim *sim, const struct sim_message *message,
			       uint32_t endpoint);

/* Gives the counters back. */
void groups_of_hosts_end(struct hd_sim *sim, const struct sim_message *message);

/* The ports of a switch by which a packet of a group leaves that came by the input `input` (its
 * number); empty: none. O(log entries). */
struct hd_port_set groups_of_hosts_ports(const struct hd_sim *sim, uint32_t node, uint32_t mlid,
					 uint32_t input);

/* ---- addresses ---- */

/* What a source writes into the header of its packets, and what routers write when they pass them
 * on to another subnet: LIDs, service level, lane. */

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

/* ---- sources ---- */

/* Hosts: messages that wait there, cut into packets. */

/* Bytes of the next packet of a lane, which has one. */
uint32_t source_bytes(const struct hd_sim *sim, uint32_t port, uint32_t lane);

/* Sends it. */
void source_send(struct hd_sim *sim, uint32_t port, uint32_t lane);

/* The last byte of a packet has left. */
void source_sent(struct hd_sim *sim, uint32_t port);

/* Whether source, size, class and flow of a message exist. */
bool source_fits(const struct hd_sim *sim, const struct hd_sim_message *message);

/* ---- sinks ---- */

/* Where packets end: at hosts, or dropped. */

/* The last byte of a packet has come to a host. */
void sink_arrive(struct hd_sim *sim, uint32_t packet);

/* A packet that is in no queue any more is dropped; *reason counts it. Its bytes go back to the
 * sender when its last byte has come. */
void sink_drop(struct hd_sim *sim, uint32_t packet, uint64_t *reason);

/* A message from a host to itself. */
void sink_self(struct hd_sim *sim, uint32_t message);

#endif
