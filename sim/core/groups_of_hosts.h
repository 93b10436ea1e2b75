/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast groups: who is a member, and what each member has got of a message. */
#ifndef GROUPS_OF_HOSTS_H
#define GROUPS_OF_HOSTS_H

#include "core_state.h"

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

#endif
