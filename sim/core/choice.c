/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_switches.h"

#include <string.h>

#define RAISED_LANE 1u

static const struct hd_ar_plan *plan_of(const struct hd_sim *sim, const struct sim_node *node)
{
	return sim->given[node->subnet].plan;
}

static void selection_add(const struct hd_sim *sim, const struct sim_node *node, uint32_t number,
			  struct hd_port_set *ports)
{
	if (choice_is_cabled(sim, node, number))
		hd_port_set_add(ports, number);
}

static void add_all(const struct hd_sim *sim, const struct sim_node *node,
		    const struct hd_port_set *group, struct hd_port_set *ports)
{
	HD_PORT_SET_FOREACH(number, group)
		selection_add(sim, node, number, ports);
}

/* The forwarding table that a switch with private ones takes. */
static uint32_t table_for(const struct hd_ar_plan *plan, const struct hd_ar_switch *sw,
			  uint32_t input, uint32_t lane)
{
	if (plan->table_count < HD_AR_TABLES || hd_port_set_has(&sw->above, input))
		return 0;
	return lane == RAISED_LANE ? 2 : 1;
}

static void allow_group(const struct hd_sim *sim, const struct sim_node *node,
			const struct sim_packet *packet, struct choice_ports *out)
{
	const struct hd_ar_plan *plan = plan_of(sim, node);
	const struct hd_ar_switch *sw = &plan->switches[node->index];
	uint32_t table = table_for(plan, sw, sim->ports[packet->at].number, packet->lane_in);
	uint32_t group = hd_ar_plan_group(plan, node->index, table, packet->dlid);

	if (group == HD_AR_NO_GROUP) {
		selection_add(sim, node,
			      plan->table_count > 1 ? sw->lid_port[table][packet->dlid]
						    : node->row[packet->dlid],
			      &out->ports);
		return;
	}
	add_all(sim, node, &sw->groups[group].ports[0], &out->ports);
	add_all(sim, node, &sw->groups[group].ports[1], &out->detours);
	out->turn = node->groups + group * HD_AR_SUB_GROUPS;
	if (plan->mode == HD_AR_BOUNDED)
		out->paused = &sim->paused[node->entries + table * plan->lid_count + packet->dlid];
}

void choice_allowed(const struct hd_sim *sim, const struct sim_packet *packet,
		    struct choice_ports *out)
{
	const struct sim_node *node = &sim->nodes[sim->ports[packet->at].node];
	const struct hd_ar_plan *plan = plan_of(sim, node);
	uint32_t routing = packet->flags >> SIM_ROUTING_SHIFT;

	memset(out, 0, sizeof(*out));
	out->turn = HD_NONE;
	if (packet->dlid >= node->row_length)
		return;
	if (routing == HD_SIM_ADAPTIVE && plan && packet->dlid < plan->lid_count)
		allow_group(sim, node, packet, out);
	else if (routing == HD_SIM_PATH_BITS) {
		/* The entries of all LIDs of the destination; back to where it came from only if all lead there. */
		const struct hd_fabric *fabric = sim->given[node->subnet].fabric;
		uint32_t owner = fabric->lid_owner[packet->dlid],
			 input = sim->ports[packet->at].number;
		uint32_t first = packet->dlid, count = 1, last = 0;

		if (owner != HD_NONE) {
			first = fabric->lid[owner];
			count = hd_port_lid_count(fabric, owner);
		}
		for (uint32_t i = 0; i < count && first + i < node->row_length; i++) {
			uint32_t number = node->row[first + i];
			if (number == last)
				continue;
			selection_add(sim, node, number, &out->ports);
			last = number;
		}
		hd_port_set_remove(&out->ports, input);
		if (hd_port_set_is_empty(&out->ports))
			selection_add(sim, node, node->row[packet->dlid], &out->ports);
	} else
		selection_add(sim, node, node->row[packet->dlid], &out->ports);
}

uint8_t choice_lane(const struct hd_sim *sim, const struct sim_packet *packet, uint32_t out)
{
	const struct sim_node *node = &sim->nodes[sim->ports[packet->at].node];
	const struct hd_ar_plan *plan = plan_of(sim, node);
	const struct hd_port_set *above;

	if (!plan || plan->table_count < HD_AR_TABLES || packet->lane_in)
		return packet->lane_in;
	above = &plan->switches[node->index].above;
	return hd_port_set_has(above, sim->ports[packet->at].number) &&
		       hd_port_set_has(above, sim->ports[out].number)
		   ? RAISED_LANE
		   : 0;
}
