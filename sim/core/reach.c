/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the tables bring the packets of a message to where it goes. */
#include "sim_hosts.h"
#include "sim_switches.h"

#include <errno.h>
#include <string.h>

/*
 * Of all paths at once: what is known of each input and lane at which packets can come, sim->known, as a number. Each
 * message has two numbers of its own, which are larger than those of all before: nothing is to be cleared between them.
 */
enum { OPEN, DONE, STATES };

struct reach {
	const struct hd_sim *sim;
	const struct sim_message *message;
	uint32_t *known, first; /* sim->known; the number of OPEN, that of DONE follows */
	struct hd_error *err;
	hd_sim_visit visit; /* NULL: nobody wants to know */
	void *context;
};

static const char *name_of(const struct hd_sim *sim, const struct sim_packet *packet)
{
	const struct sim_origin *at = &sim->origins[packet->at];
	const struct hd_fabric *fabric = sim->given[at->subnet].fabric;

	return fabric->node_name[fabric->port_node[at->port]];
}

static int reach_fail(const struct reach *reach, const struct sim_packet *packet, const char *what)
{
	return hd_error_set(reach->err, -EHOSTUNREACH, "'%s', LID %u: %s",
			    name_of(reach->sim, packet), packet->dlid, what);
}

static void move_on(const struct hd_sim *sim, struct sim_packet *packet, uint32_t out, uint8_t lane)
{
	packet->at = sim->ports[out].peer;
	packet->lane_in = lane;
}

static void reach_tell(const struct reach *reach, uint32_t out)
{
	const struct sim_origin *origin = &reach->sim->origins[out];

	if (reach->visit)
		reach->visit(reach->context, origin->subnet, origin->port);
}

static bool has_arrived(const struct reach *reach, const struct sim_packet *packet)
{
	const struct sim_port *at = &reach->sim->ports[packet->at];

	return at->kind == SIM_HOST &&
	       reach->sim->nodes[at->node].index == reach->message->what.destination;
}

/* Why a switch has no output for a packet. */
static const char *reason(const struct hd_sim *sim, const struct sim_packet *packet)
{
	const struct sim_node *node = &sim->nodes[sim->ports[packet->at].node];

	if (packet->dlid >= node->row_length || node->row[packet->dlid] == HD_NO_PORT)
		return "no entry in the forwarding table";
	if (!node->row[packet->dlid])
		return "the entry leads to the switch itself";
	if (node->row[packet->dlid] >= node->ports)
		return "the entry leads to a port that the switch does not have";
	return "the entry leads to a port without a cable";
}

/* One switch or router further. */
static int one_hop(const struct reach *reach, struct sim_packet *packet)
{
	const struct hd_sim *sim = reach->sim;
	struct choice_ports allowed;
	uint32_t out;

	if (sim->ports[packet->at].kind == SIM_HOST)
		return reach_fail(reach, packet, "the entries lead to a wrong host");
	if (sim->ports[packet->at].kind == SIM_ROUTER) {
		if (!address_relay(sim, reach->message, packet))
			return reach_fail(reach, packet,
					  "the router does not know where to send it");
		reach_tell(reach, packet->out);
		move_on(sim, packet, packet->out, packet->lane_out);
		return 0;
	}
	choice_allowed(sim, packet, &allowed);
	if (hd_port_set_is_empty(&allowed.ports))
		return reach_fail(reach, packet, reason(sim, packet));
	out = sim->nodes[sim->ports[packet->at].node].first_port +
	      hd_port_set_next(&allowed.ports, 0);
	reach_tell(reach, out);
	move_on(sim, packet, out, choice_lane(sim, packet, out));
	return 0;
}

static int follow_one(const struct reach *reach, struct sim_packet packet)
{
	uint32_t hops = 0;
	int rc = 0;

	while (!rc && !has_arrived(reach, &packet)) {
		if (hops++ > reach->sim->node_count)
			return reach_fail(reach, &packet, "the entries form a loop");
		rc = one_hop(reach, &packet);
	}
	return rc;
}

static int follow_all(const struct reach *reach, struct sim_packet packet);

static int follow_ports(const struct reach *reach, const struct sim_packet *packet,
			const struct hd_port_set *ports)
{
	const struct hd_sim *sim = reach->sim;
	uint32_t first = sim->nodes[sim->ports[packet->at].node].first_port;
	int rc = 0;

	HD_PORT_SET_FOREACH(number, ports) {
		struct sim_packet next = *packet;
		move_on(sim, &next, first + number, choice_lane(sim, packet, first + number));
		rc = follow_all(reach, next);
		if (rc)
			break;
	}
	return rc;
}

/* Path bits may lead around in a circle for a while: their packets do not stay there. */
static int follow_all(const struct reach *reach, struct sim_packet packet)
{
	const struct hd_sim *sim = reach->sim;
	uint32_t *known = &reach->known[packet.at * sim->lanes + packet.lane_in];
	struct choice_ports allowed;
	int rc;

	if (has_arrived(reach, &packet) || *known == reach->first + DONE)
		return 0;
	if (*known == reach->first + OPEN)
		return packet.flags >> SIM_ROUTING_SHIFT >= HD_SIM_PATH_BITS
			   ? 0
			   : reach_fail(reach, &packet, "the entries form a loop");
	*known = reach->first + OPEN;
	if (sim->ports[packet.at].kind != SIM_SWITCH) {
		rc = one_hop(reach, &packet);
		if (!rc)
			rc = follow_all(reach, packet);
	} else {
		choice_allowed(sim, &packet, &allowed);
		if (hd_port_set_is_empty(&allowed.ports) && hd_port_set_is_empty(&allowed.detours))
			return reach_fail(reach, &packet, reason(sim, &packet));
		rc = follow_ports(reach, &packet, &allowed.ports);
		if (!rc)
			rc = follow_ports(reach, &packet, &allowed.detours);
	}
	*known = reach->first + DONE;
	return rc;
}

static int follow_tree(const struct reach *reach, struct sim_packet packet, uint32_t *members)
{
	const struct hd_sim *sim = reach->sim;
	const struct sim_port *at = &sim->ports[packet.at];
	const struct sim_group *group = groups_of_hosts_find(
	    sim, sim->hosts[reach->message->what.source].subnet, reach->message->what.mlid);
	struct hd_port_set ports;
	int rc = 0;

	if (at->kind == SIM_HOST) {
		*members += groups_of_hosts_has(group, sim->nodes[at->node].index);
		return 0;
	}
	if (at->kind == SIM_ROUTER)
		return reach_fail(reach, &packet, "the entries lead to a router");
	if (reach->known[at->node] == reach->first + DONE)
		return reach_fail(reach, &packet, "the entries form a loop");
	reach->known[at->node] = reach->first + DONE;
	ports = groups_of_hosts_ports(sim, at->node, packet.dlid, at->number);
	if (hd_port_set_is_empty(&ports))
		return reach_fail(reach, &packet, "no entry in the multicast forwarding table");
	HD_PORT_SET_FOREACH(number, &ports) {
		struct sim_packet next = packet;
		move_on(sim, &next, sim->nodes[at->node].first_port + number, packet.lane_in);
		rc = follow_tree(reach, next, members);
		if (rc)
			break;
	}
	return rc;
}

static int follow_multicast(const struct reach *reach, struct sim_packet packet)
{
	const struct hd_sim *sim = reach->sim;
	uint32_t source = reach->message->what.source, members = 0;
	const struct sim_group *group =
	    groups_of_hosts_find(sim, sim->hosts[source].subnet, reach->message->what.mlid);
	uint32_t expected = group->member_count - groups_of_hosts_has(group, source);
	int rc = follow_tree(reach, packet, &members);

	if (rc || members == expected)
		return rc;
	return hd_error_set(reach->err, -EHOSTUNREACH,
			    "group 0x%x: the entries lead to %u of its %u other members",
			    group->mlid, members, expected);
}

/* The first packet of a message where its host sends it; *made is the message. Errors: those of
 * hd_sim_check_message(). */
static int reach_begin(const struct hd_sim *sim, const struct hd_sim_message *message,
		       struct sim_message *made, struct sim_packet *packet, struct hd_error *err)
{
	*made = (struct sim_message){.what = *message};
	if (!source_fits(sim, message))
		return hd_error_set(err, -EINVAL,
				    "a message has a source, size, class or flow that the "
				    "simulation does not have");
	if (!address_message(sim, made))
		return hd_error_set(err, -EHOSTUNREACH,
				    "endpoint %u has no LID or lane for messages to endpoint %u",
				    message->source, message->destination);
	*packet = (struct sim_packet){.at = sim->ports[sim->hosts[message->source].port].peer,
				      .out = HD_NONE,
				      .copies = HD_NONE,
				      .dlid = made->dlid,
				      .slid = made->slid,
				      .lane_in = made->lane,
				      .lane_out = made->lane,
				      .sl = made->sl,
				      .flags = (uint8_t)(message->routing << SIM_ROUTING_SHIFT)};
	return 0;
}

int hd_sim_check_message(struct hd_sim *sim, const struct hd_sim_message *message,
			 struct hd_error *err)
{
	struct sim_message made;
	struct sim_packet packet;
	struct reach reach = {.sim = sim, .message = &made, .known = sim->known, .err = err};
	int rc = reach_begin(sim, message, &made, &packet, err);

	if (rc || message->source == message->destination)
		return rc;
	if (message->routing == HD_SIM_DETERMINISTIC && message->destination != HD_NONE)
		return follow_one(&reach, packet);
	sim->known_last += STATES;
	if (sim->known_last > UINT32_MAX - STATES) {
		memset(sim->known, 0, (size_t)sim->port_count * sim->lanes * sizeof(*sim->known));
		sim->known_last = STATES;
	}
	reach.first = sim->known_last;
	return message->destination == HD_NONE ? follow_multicast(&reach, packet)
					       : follow_all(&reach, packet);
}

int hd_sim_follow(const struct hd_sim *sim, const struct hd_sim_message *message,
		  hd_sim_visit visit, void *context, struct hd_error *err)
{
	struct sim_message made;
	struct sim_packet packet;
	struct reach reach = {
	    .sim = sim, .message = &made, .err = err, .visit = visit, .context = context};
	int rc = reach_begin(sim, message, &made, &packet, err);

	if (rc || message->source == message->destination)
		return rc;
	if (message->routing != HD_SIM_DETERMINISTIC || message->destination == HD_NONE)
		return hd_error_set(err, -EINVAL, "such a message has more than one path");
	reach_tell(&reach, sim->hosts[message->source].port);
	return follow_one(&reach, packet);
}
