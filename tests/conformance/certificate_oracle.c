/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "certificate_oracle.h"

#include <heddle/ar_manager.h>
#include <stdlib.h>
#include <string.h>

struct packet {
	uint32_t lid, to, steps;
	uint8_t port;
	unsigned lane;
	const struct certificate_world *world;
	bool counts;
	bool *busy; /* [switch_count] packets of adapters to the LID pass the switch */
};

static bool plan_has(const struct hd_ar_plan *plan, uint32_t sw, uint32_t lid, uint32_t port)
{
	uint32_t group = plan ? hd_ar_plan_group(plan, sw, 0, lid) : HD_AR_NO_GROUP;

	return group != HD_AR_NO_GROUP &&
	       hd_port_set_has(&plan->switches[sw].groups[group].ports[0], port);
}

/* Whether the group of an entry has the port in this state. */
static bool state_has(const struct certificate_world *whole, unsigned state, uint32_t sw,
		      uint32_t lid, uint32_t port)
{
	bool before = plan_has(whole->held, sw, lid, port),
	     after = plan_has(whole->plan, sw, lid, port);

	return state == HD_CERTIFICATE_BEFORE  ? before
	       : state == HD_CERTIFICATE_AFTER ? after
					       : before && after;
}

/* Whether any of both entries of a mixture has it. */
static bool mixture_has(const struct certificate_world *world, uint32_t sw, uint32_t lid,
			uint32_t port, bool groups)
{
	size_t at = (size_t)sw * world->fabric->lid_count + lid;

	if (port == HD_NO_PORT || hd_routes_port(world->other, sw, lid) == port)
		return port != HD_NO_PORT;
	return groups && world->whole &&
	       (state_has(world->whole, world->is[at], sw, lid, port) ||
		state_has(world->whole, world->becomes[at], sw, lid, port));
}

static bool may_leave(const struct certificate_world *world, uint32_t sw, uint32_t lid,
		      uint32_t port, bool groups)
{
	if (hd_routes_port(world->routes, sw, lid) == port)
		return port != HD_NO_PORT;
	if (world->other)
		return mixture_has(world, sw, lid, port, groups);
	uint32_t group = world->plan ? hd_ar_plan_group(world->plan, sw, 0, lid) : HD_AR_NO_GROUP;
	return groups && group != HD_AR_NO_GROUP &&
	       hd_port_set_has(&world->plan->switches[sw].groups[group].ports[0], port);
}

static uint32_t distance_of(const struct packet *packet, uint32_t sw)
{
	const struct hd_certificate *certificate = packet->world->certificate;

	uint32_t distance = certificate->distance[(size_t)certificate->row_of_lid[packet->lid] *
						      certificate->switch_count +
						  sw];
	return distance < certificate->switch_count ? distance : certificate->switch_count;
}

static bool follow(const struct packet *packet, uint32_t sw, uint32_t before);

/* A cable from a port of a switch to itself is no link. */
static bool leads_to_switch(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	if (port > hd_node_ports(fabric, sw))
		return false;
	uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];
	return peer != HD_NONE && fabric->port_node[peer] < fabric->switch_count;
}

static bool leave(const struct packet *packet, uint32_t sw, uint32_t before, uint32_t port)
{
	const struct hd_fabric *fabric = packet->world->fabric;
	uint32_t link = port && port <= hd_node_ports(fabric, sw)
			    ? hd_fabric_find_isl(fabric, sw, port)
			    : HD_NONE;

	if (sw == packet->to)
		return port == packet->port;
	if (link == HD_NONE && packet->world->other && !leads_to_switch(fabric, sw, port))
		return true;
	if (link == HD_NONE || distance_of(packet, fabric->isl_to[link]) >= distance_of(packet, sw))
		return false;
	if (packet->counts) {
		const uint32_t *rank = packet->world->certificate->rank[packet->lane];
		if (!rank || rank[link] == HD_CERTIFICATE_NONE ||
		    (before != HD_NONE && rank[link] <= rank[before]))
			return false;
	}
	return follow(packet, fabric->isl_to[link], link);
}

/* Every path that the packet can take from here. Distances fall, so the walk ends. */
static bool follow(const struct packet *packet, uint32_t sw, uint32_t before)
{
	uint32_t ports = hd_node_ports(packet->world->fabric, sw);
	uint8_t entry = hd_routes_port(packet->world->routes, sw, packet->lid);
	bool left = false;

	if (!packet->world->other && (entry == HD_NO_PORT || entry > ports))
		return false;
	packet->busy[sw] |= packet->counts;
	for (uint32_t port = 0; port <= ports; port++)
		if (may_leave(packet->world, sw, packet->lid, port,
			      packet->busy[sw] || !packet->port)) {
			left = true;
			if (!leave(packet, sw, before, port))
				return false;
		}
	return left || packet->world->other;
}

static bool has_port(const struct certificate_world *world, uint32_t sw, uint32_t lid)
{
	for (uint32_t port = 0; port < HD_NO_PORT; port++)
		if (may_leave(world, sw, lid, port, true))
			return true;
	return false;
}

/* Packets from the switches with adapters, or from all others. */
static bool sources_proved(struct packet *packet, bool adapters)
{
	const struct certificate_world *world = packet->world;

	for (uint32_t sw = 0; sw < world->fabric->switch_count; sw++) {
		packet->counts = packet->port && hd_has_adapters(world->fabric, sw);
		packet->lane = hd_routes_vl(world->routes, sw, packet->lid);
		if (packet->counts != adapters)
			continue;
		if (has_port(world, sw, packet->lid)
			? !follow(packet, sw, HD_NONE)
			: !world->other && distance_of(packet, sw) < world->fabric->switch_count)
			return false;
	}
	return true;
}

/* Packets to one LID from every switch. */
static bool lid_proved(const struct certificate_world *world, uint32_t lid, uint64_t *unreached)
{
	bool busy[UINT8_MAX] = {false};
	struct packet packet = {.world = world, .lid = lid, .busy = busy};

	if (!hd_fabric_lid_destination(world->fabric, lid, &packet.to, &packet.port))
		return true;
	for (uint32_t sw = 0; sw < world->fabric->switch_count; sw++)
		*unreached += hd_routes_port(world->routes, sw, lid) == HD_NO_PORT;
	return sources_proved(&packet, true) && sources_proved(&packet, false);
}

/* Whether the plan belongs to the tables: its static ports are theirs. */
static bool plan_fits(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      const struct hd_ar_plan *plan)
{
	uint32_t to;
	uint8_t port;

	for (uint32_t sw = 0; plan && sw < plan->switch_count; sw++)
		for (uint32_t lid = 1; lid < plan->lid_count; lid++) {
			uint8_t static_port = plan->switches[sw].lid_port[0][lid];
			uint8_t table = hd_routes_port(routes, sw, lid);
			bool missing = static_port == HD_NO_PORT && table != HD_NO_PORT &&
				       plan->switches[sw].used &&
				       hd_fabric_lid_destination(fabric, lid, &to, &port);
			if (missing || (static_port != HD_NO_PORT && static_port != table))
				return false;
		}
	return true;
}

/* ---- the oracle of private tables ---- */

static bool may_leave_private(const struct certificate_world *world, uint32_t sw, uint32_t table,
			      uint32_t lid, uint32_t port)
{
	const struct hd_ar_switch *row = &world->plan->switches[sw];
	uint32_t group = hd_ar_plan_group(world->plan, sw, table, lid);

	if (row->lid_port[table][lid] == port)
		return port != HD_NO_PORT;
	return group != HD_AR_NO_GROUP && (hd_port_set_has(&row->groups[group].ports[0], port) ||
					   hd_port_set_has(&row->groups[group].ports[1], port));
}

/* Of packets from below, from below on lane 1, from above, from above on lane 1. */
static uint32_t private_distance(const struct packet *packet, uint32_t sw, uint32_t state)
{
	const struct hd_certificate *certificate = packet->world->certificate;
	uint32_t row = certificate->row_of_lid[packet->lid] + state;

	uint32_t distance = certificate->distance[(size_t)row * certificate->switch_count + sw];

	return distance < certificate->switch_count ? distance : certificate->switch_count;
}

static bool follow_private(const struct packet *packet, uint32_t sw, uint32_t state,
			   uint32_t before);

static bool leave_private(const struct packet *packet, uint32_t sw, uint32_t state, uint32_t before,
			  uint32_t port)
{
	const struct hd_certificate *certificate = packet->world->certificate;
	const struct hd_fabric *fabric = packet->world->fabric;
	uint32_t link = port ? hd_fabric_find_isl(fabric, sw, port) : HD_NONE;

	if (sw == packet->to)
		return port == packet->port;
	if (link == HD_NONE)
		return false;
	uint32_t to = fabric->isl_to[link], peer = fabric->peer[hd_port_index(fabric, sw, port)];
	bool above = hd_port_set_has(&certificate->above[to], hd_port_number(fabric, peer));
	uint32_t lane = state % 2 || (state >= 2 && !above) ? 1 : 0, then = lane + (above ? 2 : 0);
	const uint32_t *rank = certificate->rank[lane];
	if (!rank || rank[link] == HD_CERTIFICATE_NONE ||
	    (before != HD_NONE && lane == state % 2 && rank[link] <= rank[before]))
		return false;
	return private_distance(packet, to, then) < private_distance(packet, sw, state) &&
	       follow_private(packet, to, then, link);
}

/* Every path that the packet can take from here. */
static bool follow_private(const struct packet *packet, uint32_t sw, uint32_t state,
			   uint32_t before)
{
	static const uint32_t table_of[] = {1, 2, 0, 0};
	bool left = false;

	for (uint32_t port = 0; port <= hd_node_ports(packet->world->fabric, sw); port++)
		if (may_leave_private(packet->world, sw, table_of[state], packet->lid, port)) {
			left = true;
			if (!leave_private(packet, sw, state, before, port))
				return false;
		}
	return left;
}

/* Cables from one switch to another are all from above, or none. */
static bool cables_agree(const struct certificate_world *world)
{
	const struct hd_fabric *fabric = world->fabric;
	const struct hd_port_set *above = world->certificate->above;

	for (uint32_t a = 0; a < fabric->isl_count; a++)
		for (uint32_t b = 0; b < a; b++) {
			uint32_t from = hd_isl_from(fabric, a), to = fabric->isl_to[a];
			if (hd_isl_from(fabric, b) == from && fabric->isl_to[b] == to &&
			    hd_port_set_has(&above[from], fabric->isl_port[a]) !=
				hd_port_set_has(&above[from], fabric->isl_port[b]))
				return false;
		}
	return true;
}

/* Whether the private tables have an entry where the forwarding tables have one, and nowhere else. */
static bool private_fits(const struct certificate_world *world)
{
	uint32_t to;
	uint8_t last;

	for (uint32_t sw = 0; sw < world->plan->switch_count; sw++)
		for (uint32_t lid = 1; lid < world->plan->lid_count; lid++)
			for (uint32_t table = 0; table < world->plan->table_count; table++) {
				const bool held =
				    world->plan->switches[sw].lid_port[table][lid] != HD_NO_PORT;
				const bool entry =
				    hd_routes_port(world->routes, sw, lid) != HD_NO_PORT;
				if ((held && !entry) ||
				    (entry && !held &&
				     hd_fabric_lid_destination(world->fabric, lid, &to, &last)))
					return false;
			}
	return true;
}

static bool private_proved(const struct certificate_world *world)
{
	const struct hd_fabric *fabric = world->fabric;
	struct packet packet = {.world = world};
	uint64_t unreached = 0;

	for (packet.lid = 1; packet.lid < fabric->lid_count; packet.lid++) {
		if (!hd_fabric_lid_destination(fabric, packet.lid, &packet.to, &packet.port) ||
		    !packet.port)
			continue;
		if (world->certificate->row_of_lid[packet.lid] + 4 > world->certificate->row_count)
			return false;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			bool any = false;
			for (uint32_t port = 0; port < HD_NO_PORT; port++)
				any |= may_leave_private(world, sw, 1, packet.lid, port);
			if (!hd_has_adapters(fabric, sw))
				continue;
			unreached += !any;
			if (any && !follow_private(&packet, sw, 0, HD_NONE))
				return false;
		}
	}
	return unreached == world->certificate->unreached && cables_agree(world) &&
	       private_fits(world);
}

/* Whether each port of a group leads to its LID, or to a switch that has an entry. */
static bool groups_lead_on(const struct certificate_world *world)
{
	const struct hd_fabric *fabric = world->fabric;
	uint32_t to;
	uint8_t last;

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			for (uint32_t port = 0; port <= hd_node_ports(fabric, sw); port++) {
				if (!plan_has(world->plan, sw, lid, port) ||
				    !hd_fabric_lid_destination(fabric, lid, &to, &last) ||
				    (to == sw && last == port))
					continue;
				const uint32_t link = hd_fabric_find_isl(fabric, sw, port);
				if (link == HD_NONE ||
				    hd_routes_port(world->routes, fabric->isl_to[link], lid) ==
					HD_NO_PORT)
					return false;
			}
	return true;
}

bool certificate_oracle(const struct certificate_world *world)
{
	uint64_t unreached = 0;

	if (world->plan && world->plan->table_count > 1)
		return private_proved(world);

	if (!plan_fits(world->fabric, world->routes, world->plan))
		return false;
	if (world->plan && !world->change && !world->other && !groups_lead_on(world))
		return false;
	for (uint32_t lid = 1; lid < world->fabric->lid_count; lid++)
		if (!lid_proved(world, lid, &unreached))
			return false;
	return world->other || unreached == world->certificate->unreached;
}

/* ---- the oracle of changes ---- */

static bool with_groups(const struct certificate_world *world)
{
	return world->plan || world->held;
}

/* What the entries of a step become. False: an entry is there twice. */
static bool take_entries(const struct certificate_world *world, uint32_t step,
			 struct certificate_world *mixture)
{
	const struct hd_certificate_change *change = world->change;
	uint32_t lids = world->fabric->lid_count;

	for (uint32_t i = change->step_base[step]; i < change->step_base[step + 1]; i++) {
		const struct hd_certificate_entry *entry = &change->entries[i];
		uint32_t sw = entry->sw, lid = entry->lid;
		for (uint32_t j = change->step_base[step]; j < i && with_groups(world); j++)
			if (change->entries[j].sw == sw && change->entries[j].lid == lid)
				return false;
		hd_routes_row(mixture->other, sw)[lid] = hd_routes_port(
		    with_groups(world) && entry->becomes == HD_CERTIFICATE_NARROW ? world->before
										  : world->routes,
		    sw, lid);
		mixture->becomes[(size_t)sw * lids + lid] = (uint8_t)entry->becomes;
	}
	return true;
}

static bool step_proved(const struct certificate_world *world, uint32_t step, struct hd_routes *now,
			uint8_t *is, uint8_t *becomes)
{
	struct certificate_world mixture = {.fabric = world->fabric,
					    .routes = now,
					    .certificate = world->change->mixture[step],
					    .other = hd_routes_copy(now),
					    .whole = with_groups(world) ? world : NULL,
					    .is = is,
					    .becomes = becomes};
	bool right = take_entries(world, step, &mixture) && certificate_oracle(&mixture);

	memcpy(is, becomes, (size_t)now->switch_count * now->lid_count);
	for (uint32_t sw = 0; sw < now->switch_count; sw++)
		memcpy(hd_routes_row(now, sw), hd_routes_row(mixture.other, sw), now->lid_count);
	hd_routes_free(mixture.other);
	return right;
}

static bool same_entry(const struct certificate_world *world, const struct hd_routes *now,
		       unsigned is, uint32_t sw, uint32_t lid)
{
	if (hd_routes_port(now, sw, lid) != hd_routes_port(world->routes, sw, lid))
		return false;
	for (uint32_t port = 0; with_groups(world) && port < HD_NO_PORT; port++)
		if (is != HD_CERTIFICATE_AFTER &&
		    plan_has(world->held, sw, lid, port) != plan_has(world->plan, sw, lid, port))
			return false;
	return !with_groups(world) || is == HD_CERTIFICATE_AFTER ||
	       hd_routes_port(world->before, sw, lid) == hd_routes_port(world->routes, sw, lid);
}

static bool same_entries(const struct certificate_world *world, const struct hd_routes *now,
			 const uint8_t *is)
{
	uint32_t to;
	uint8_t port;

	for (uint32_t sw = 0; sw < now->switch_count; sw++)
		for (uint32_t lid = 1; lid < now->lid_count; lid++)
			if (hd_fabric_lid_destination(world->fabric, lid, &to, &port) &&
			    !same_entry(world, now, is[(size_t)sw * now->lid_count + lid], sw, lid))
				return false;
	return true;
}

bool certificate_oracle_change(const struct certificate_world *world)
{
	struct hd_routes *now = hd_routes_copy(world->routes);
	size_t entries = (size_t)now->switch_count * now->lid_count;
	uint8_t *is = calloc(2, entries);
	bool right =
	    is && certificate_oracle(world) && plan_fits(world->fabric, world->before, world->held);

	for (uint32_t sw = 0; sw < now->switch_count; sw++)
		memcpy(hd_routes_row(now, sw), hd_routes_row(world->before, sw), now->lid_count);
	for (uint32_t step = 0; right && step < world->change->step_count; step++)
		right = step_proved(world, step, now, is, is + entries);
	right = right && same_entries(world, now, is);
	free(is);
	hd_routes_free(now);
	return right;
}
