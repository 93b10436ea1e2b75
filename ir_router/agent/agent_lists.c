/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent_lists.h"

#include <router_update.h>
#include <string.h>

/* A plugin listens to lists once it has told the router its own. */
static bool wants_lists(const struct agent *agent, const struct agent_link *link)
{
	return agent_link_is_open(link) && agent->router->subnets[link->subnet].ready;
}

static void send_list(struct agent *agent, struct agent_link *to, uint8_t of)
{
	uint32_t first = 0;

	while (agent_link_is_open(to) &&
	       first < hd_router_lists_of(agent->router, of)->host_count &&
	       agent->router->subnets[of].ready) {
		struct hd_router_message message = {.type = HD_ROUTER_FOREIGN};
		uint32_t length;

		hd_router_session_stamp(&to->session, &message);
		length = hd_router_write_foreign(agent->router, of, &first, &message, agent->bytes,
						 HD_ROUTER_MESSAGE_MAX);
		agent_link_send_bytes(to, agent->bytes, length);
	}
}

void agent_lists_hand_over(struct agent *agent, uint8_t of)
{
	for (uint32_t s = 0; s < agent->link_count; s++)
		if (s != of && wants_lists(agent, &agent->links[s]))
			send_list(agent, &agent->links[s], of);
}

void agent_lists_send_all_to(struct agent *agent, struct agent_link *link)
{
	for (uint32_t s = 0; s < agent->link_count; s++)
		if (s != link->subnet)
			send_list(agent, link, (uint8_t)s);
}

/* The same entries, with the stamp of another session. */
static void send_copy(struct agent *agent, struct agent_link *to,
		      const struct hd_router_message *message)
{
	struct hd_router_message copy = *message;
	struct hd_router_writer writer;

	copy.hops++;
	hd_router_session_stamp(&to->session, &copy);
	hd_router_write_begin(&writer, agent->bytes, HD_ROUTER_MESSAGE_MAX, &copy);
	for (uint32_t i = 0; i < message->count; i++) {
		struct hd_router_host_entry entry;

		hd_router_host_at(message, i, &entry);
		hd_router_write_host(&writer, &entry);
	}
	agent_link_send_bytes(to, agent->bytes, hd_router_write_end(&writer));
}

void agent_lists_pass_on(struct agent *agent, const struct agent_link *from,
			 const struct hd_router_message *message)
{
	/* lists of attached subnets come from their own plugins */
	if (message->hops >= HD_ROUTER_HOPS_MAX ||
	    hd_router_subnet_of(agent->router, message->prefix) >= 0)
		return;
	for (uint32_t s = 0; s < agent->link_count; s++)
		if (s != from->subnet && wants_lists(agent, &agent->links[s]))
			send_copy(agent, &agent->links[s], message);
}

static void advertise_at(struct agent *agent, struct agent_link *link)
{
	uint32_t ports = hd_router_lists_of(agent->router, link->subnet)->port_count;

	for (uint32_t p = 0; p < ports && agent_link_is_open(link); p++) {
		struct hd_router_message message = {.type = HD_ROUTER_PREFIXES};
		uint32_t length;

		hd_router_session_stamp(&link->session, &message);
		length = hd_router_write_prefixes(agent->router, link->subnet, p, &message,
						  agent->bytes, HD_ROUTER_MESSAGE_MAX);
		agent_link_send_bytes(link, agent->bytes, length);
	}
}

void agent_lists_advertise(struct agent *agent)
{
	for (uint32_t s = 0; s < agent->link_count; s++)
		if (wants_lists(agent, &agent->links[s]))
			advertise_at(agent, &agent->links[s]);
}
