/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flow goes hop by hop: all its parts that have made as many hops are moved together, and parts
 * that meet at a switch go on as one. So the cost is the number of links that the flow can take,
 * not the number of its paths. Loads are summed in one fixed order and then rounded to whole parts,
 * so that the figures are the same everywhere.
 */
#include "counting.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define PARTS (1u << 20)

/* ---- groups as lists of links ---- */

static size_t count_ports(const struct hd_spread *spread, uint32_t switches)
{
	size_t ports = 0;

	for (uint32_t sw = 0; sw < switches; sw++)
		for (uint32_t i = 0; i < spread->switches[sw].group_count; i++)
			ports += hd_port_set_count(&spread->switches[sw].groups[i].all);
	return ports;
}

/* Lists the links of those ports that lead to switches. Returns how many there are now. */
static uint32_t list_links(const struct adaptive_links *links, const struct paths *paths,
			   uint32_t sw, const struct hd_port_set *ports,
			   const struct hd_port_set *but, uint32_t count)
{
	const struct hd_fabric *fabric = paths->fabric;

	HD_PORT_SET_FOREACH(port, ports) {
		if (port > hd_node_ports(fabric, sw) || (but && hd_port_set_has(but, port)))
			continue;
		uint32_t link = paths->isl_of_port[hd_port_index(fabric, sw, (uint8_t)port)];
		if (link != HD_NONE)
			links->link[count++] = link;
	}
	return count;
}

int adaptive_links_init(struct adaptive_links *links, const struct hd_spread *spread,
			const struct paths *paths, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t count = 0, number = 0;

	*links = (struct adaptive_links){.spread = spread};
	links->switch_base = hd_arena_alloc(arena, fabric->switch_count, sizeof(uint32_t));
	if (!links->switch_base)
		return -ENOMEM;
	uint32_t groups = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		links->switch_base[sw] = groups;
		groups += links->spread->switches[sw].group_count;
	}

	links->base = hd_arena_alloc(arena, (size_t)groups + 1, sizeof(uint32_t));
	links->first = hd_arena_alloc(arena, groups, sizeof(uint32_t));
	links->link =
	    hd_arena_alloc(arena, count_ports(spread, fabric->switch_count), sizeof(uint32_t));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t i = 0; i < spread->switches[sw].group_count; i++, number++) {
			const struct hd_spread_group *group = &spread->switches[sw].groups[i];
			links->base[number] = count;
			count = list_links(links, paths, sw, &group->first, NULL, count);
			links->first[number] = count - links->base[number];
			count = list_links(links, paths, sw, &group->all, &group->first, count);
		}
	links->base[number] = count;
	return 0;
}

int adaptive_init(struct adaptive *adaptive, const struct adaptive_links *links,
		  struct counting *counting, uint32_t round_max, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = counting->paths->fabric;
	size_t switches = fabric->switch_count, places = switches * HD_SPREAD_TABLES;

	*adaptive = (struct adaptive){.links = links};
	adaptive->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(double));
	adaptive->part = hd_arena_alloc(arena, fabric->isl_count, sizeof(double));
	adaptive->touched = hd_arena_alloc(arena, fabric->isl_count, sizeof(uint32_t));
	adaptive->here = hd_arena_alloc(arena, places, sizeof(double));
	adaptive->there = hd_arena_alloc(arena, places, sizeof(double));
	adaptive->wave = hd_arena_alloc(arena, places, sizeof(uint32_t));
	adaptive->next = hd_arena_alloc(arena, places, sizeof(uint32_t));
	adaptive->leaving = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	adaptive->arriving = hd_arena_alloc(arena, switches, sizeof(uint32_t));
	adaptive->used = hd_arena_alloc(arena, fabric->isl_count, sizeof(bool));
	counting->adaptive = adaptive;
	/* A part of a flow can cross a link once in each table. */
	counting->parts = PARTS;
	while (counting->parts > 1 &&
	       (uint64_t)counting->parts * round_max * HD_SPREAD_TABLES > UINT32_MAX)
		counting->parts /= 2;
	return hd_arena_check(arena);
}

/* ---- where a flow goes ---- */

/* Links from a place to a LID. */
struct hops {
	const uint32_t *link;
	uint32_t first, all; /* how many are preferred, and how many there are */
	uint32_t own; /* storage for the only link of an entry without a group */
	bool arrives;
};

static void find_hops(const struct counting *counting, uint32_t place, struct hd_flow flow,
		      struct hops *hops)
{
	const struct paths *paths = counting->paths;
	const struct hd_fabric *fabric = paths->fabric;
	const struct adaptive_links *links = counting->adaptive->links;
	uint32_t sw = place / HD_SPREAD_TABLES, table = place % HD_SPREAD_TABLES;
	const struct hd_spread_switch *spread = &links->spread->switches[sw];
	uint32_t lid = fabric->lid[fabric->host_port[flow.destination]];
	uint32_t group = spread->group[table] ? spread->group[table][lid] : HD_SPREAD_NO_GROUP;

	*hops = (struct hops){.link = &hops->own};
	if (group != HD_SPREAD_NO_GROUP) {
		uint32_t number = links->switch_base[sw] + group;
		hops->link = links->link + links->base[number];
		hops->first = links->first[number];
		hops->all = links->base[number + 1] - links->base[number];
		if (!hops->first)
			hops->first = hops->all;
		return;
	}
	uint8_t port =
	    spread->port[table] ? spread->port[table][lid] : hd_routes_port(paths->routes, sw, lid);
	hops->arrives = sw == fabric->host_switch[flow.destination] &&
			port == fabric->host_switch_port[flow.destination];
	hops->own = port <= hd_node_ports(fabric, sw)
			? paths->isl_of_port[hd_port_index(fabric, sw, port)]
			: HD_NONE;
	hops->first = hops->all = hops->own != HD_NONE;
}

/* The place in which a packet is that comes by a link. */
static uint32_t place_after(const struct counting *counting, uint32_t link)
{
	const struct hd_fabric *fabric = counting->paths->fabric;
	const struct hd_spread *spread = counting->adaptive->links->spread;
	uint32_t sw = fabric->isl_to[link], port = fabric->isl_port[fabric->isl_reverse[link]];
	bool last = spread->tables > 1 && !hd_port_set_has(&spread->switches[sw].above, port);

	return sw * HD_SPREAD_TABLES + last;
}

static uint32_t place_of_source(const struct counting *counting, struct hd_flow flow)
{
	uint32_t last = counting->adaptive->links->spread->tables > 1;

	return counting->paths->fabric->host_switch[flow.source] * HD_SPREAD_TABLES + last;
}

/* Moves what is at a place by its hops. False: it does not arrive. */
static bool adaptive_move(const struct counting *counting, uint32_t place, struct hd_flow flow,
			  uint32_t *next_count)
{
	struct adaptive *adaptive = counting->adaptive;
	double amount = adaptive->here[place];
	struct hops hops;

	adaptive->here[place] = 0;
	find_hops(counting, place, flow, &hops);
	for (uint32_t i = 0; i < hops.first; i++) {
		uint32_t link = hops.link[i], to = place_after(counting, link);
		double part = amount / hops.first;
		if (adaptive->part[link] == 0)
			adaptive->touched[adaptive->touched_count++] = link;
		adaptive->part[link] += part;
		if (adaptive->there[to] == 0)
			adaptive->next[(*next_count)++] = to;
		adaptive->there[to] += part;
	}
	return hops.first || hops.arrives;
}

/* Finds the part of the flow on each link: part[] and touched[]. False: it is broken. */
static bool adaptive_follow(const struct counting *counting, struct hd_flow flow)
{
	struct adaptive *adaptive = counting->adaptive;
	uint32_t places = counting->paths->fabric->switch_count * HD_SPREAD_TABLES, count = 1;
	bool whole = true;

	adaptive->touched_count = 0;
	adaptive->wave[0] = place_of_source(counting, flow);
	adaptive->here[adaptive->wave[0]] = 1;
	for (uint32_t hop = 0; count && hop <= places; hop++) {
		uint32_t next_count = 0;
		for (uint32_t i = 0; i < count; i++)
			whole &= adaptive_move(counting, adaptive->wave[i], flow, &next_count);
		double *here = adaptive->here;
		uint32_t *wave = adaptive->wave;
		adaptive->here = adaptive->there;
		adaptive->there = here;
		adaptive->wave = adaptive->next;
		adaptive->next = wave;
		count = next_count;
	}
	for (uint32_t i = 0; i < count; i++)
		adaptive->here[adaptive->wave[i]] = 0;
	return whole && !count;
}

/* Forgets the flow at hand; adds it to the loads if it counts. */
static void adaptive_leave(struct adaptive *adaptive, bool counts)
{
	for (uint32_t i = 0; i < adaptive->touched_count; i++) {
		uint32_t link = adaptive->touched[i];
		if (counts)
			adaptive->load[link] += adaptive->part[link];
		adaptive->part[link] = 0;
	}
}

static uint32_t largest_load(const struct counting *counting, struct hd_flow flow)
{
	const struct adaptive *adaptive = counting->adaptive;
	uint32_t largest = counting->parts;

	adaptive_follow(counting, flow);
	for (uint32_t i = 0; i < adaptive->touched_count; i++)
		if (counting->load[adaptive->touched[i]] > largest)
			largest = counting->load[adaptive->touched[i]];
	adaptive_leave(counting->adaptive, false);
	return largest;
}

/* ---- the bound ---- */

/* Notes a flow between two switches. Which links its source may take counts once a round. */
static void note_flow(const struct counting *counting, struct hd_flow flow)
{
	struct adaptive *adaptive = counting->adaptive;
	const struct hd_fabric *fabric = counting->paths->fabric;
	struct hops hops;

	find_hops(counting, place_of_source(counting, flow), flow, &hops);
	for (uint32_t i = 0; i < hops.all; i++)
		adaptive->used[hops.link[i]] = true;
	adaptive->leaving[fabric->host_switch[flow.source]]++;
	adaptive->arriving[fabric->host_switch[flow.destination]]++;
}

static uint32_t count_used(const struct adaptive *adaptive, const struct hd_fabric *fabric,
			   uint32_t sw)
{
	uint32_t used = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		used += adaptive->used[link];
		adaptive->used[link] = false;
	}
	return used;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Hosts that send, or that receive, a flow. */
static uint32_t count_hosts(uint32_t *seen, const struct counting *counting, bool senders)
{
	uint32_t hosts = 0;

	for (uint32_t i = 0; i < counting->routes; i++) {
		struct hd_flow flow = counting->flows[i];
		uint32_t *place = &seen[senders ? flow.source : flow.destination];
		hosts += !*place;
		*place = 1;
	}
	for (uint32_t i = 0; i < counting->routes; i++)
		seen[senders ? counting->flows[i].source : counting->flows[i].destination] = 0;
	return hosts;
}

static uint64_t find_bound(const struct counting *counting)
{
	const struct hd_fabric *fabric = counting->paths->fabric;
	struct adaptive *adaptive = counting->adaptive;
	uint32_t within = 0, out = 0, in = 0;

	for (uint32_t i = 0; i < counting->routes; i++) {
		struct hd_flow flow = counting->flows[i];
		if (fabric->host_switch[flow.source] == fabric->host_switch[flow.destination])
			within++;
		else
			note_flow(counting, flow);
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t cables = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		if (adaptive->leaving[sw])
			out += smaller(adaptive->leaving[sw], count_used(adaptive, fabric, sw));
		in += smaller(adaptive->arriving[sw], cables);
		adaptive->leaving[sw] = adaptive->arriving[sw] = 0;
	}
	uint32_t bound = within + smaller(out, in);
	bound = smaller(bound, count_hosts(counting->sent, counting, true));
	return smaller(bound, count_hosts(counting->received, counting, false));
}

void adaptive_run(struct counting *counting, uint32_t count)
{
	struct adaptive *adaptive = counting->adaptive;

	counting->routes = 0;
	for (uint32_t i = 0; i < count; i++) {
		bool arrives = adaptive_follow(counting, counting->flows[i]);
		adaptive_leave(adaptive, arrives);
		if (arrives)
			counting->flows[counting->routes++] = counting->flows[i];
	}
	double *load = counting->adaptive->load;
	for (uint32_t link = 0; link < counting->paths->fabric->isl_count; link++) {
		counting->load[link] = (uint32_t)llround(load[link] * counting->parts);
		load[link] = 0;
	}
	for (uint32_t i = 0; i < counting->routes; i++)
		counting->congestion[i] = largest_load(counting, counting->flows[i]);
	adaptive->bound = find_bound(counting);
	counting_finish(counting, count);
}
