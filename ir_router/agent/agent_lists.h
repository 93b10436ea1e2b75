/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the agent tells one plugin about the subnets of the others. */
#ifndef AGENT_LISTS_H
#define AGENT_LISTS_H

#include "agent.h"

/* Hands the list of hosts of a subnet over to the plugins of all others that are ready. */
void agent_lists_hand_over(struct agent *agent, uint8_t of);

/* Hands the lists of all other subnets over to one plugin. */
void agent_lists_send_all_to(struct agent *agent, struct agent_link *link);

/* Passes a list on that a plugin has from another router, one hop further. */
void agent_lists_pass_on(struct agent *agent, const struct agent_link *from,
			 const struct hd_router_message *message);

/* Advertises at each port what it leads to. */
void agent_lists_advertise(struct agent *agent);

#endif
