/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LID by LID the ports of all switches are a graph. A depth-first search from every switch gives each
 * the length of its longest path, or finds where packets get lost. In the order that the search gives
 * backwards, lanes pass from each switch to the next ones, and dependencies are collected. Where lanes depend on ports, a
 * switch has one link for a LID, and one graph of the channels of all lanes takes the place of those of the lanes.
 */
#include "check_maps.h"

#include <heddle/base/grow.h>
#include <heddle/fabric/certificate.h>
#include <heddle/fabric/dependencies.h>
#include <inttypes.h>
#include <stdlib.h>

#define LANES HD_CERTIFICATE_LANES
#define NONE HD_CERTIFICATE_NONE

enum { NEW, OPEN, DONE };

struct maker {
	const struct hd_certificate_request *request;
	const struct hd_fabric *fabric;
	struct hd_certificate *certificate;
	struct hd_arena arena;
	struct hd_error *err;
	uint32_t *link_of_port; /* [port_count] HD_NONE: it leads to no other switch */
	struct hd_dependencies graphs[LANES]; /* without memory until the lane has traffic */
	uint16_t *carries; /* [isl_count] lanes whose packets cross the link */
	struct check_maps maps; /* in place of `graphs` where lanes depend on ports */
	uint32_t
	    *step; /* [switch_count] with maps: the link that packets to the LID take, or no link */
	uint32_t *towards; /* [switch_count] the switch behind it */
	uint32_t row_room; /* of the certificate's distances, in rows */

	/* of the LID at hand */
	uint32_t lid, destination;
	uint8_t port; /* of the destination switch */
	bool to_adapter;
	uint32_t *hops; /* [isl_count] from isl_base[sw] on: the links of the switch's entry */
	uint32_t *hop_count; /* [switch_count] */
	uint64_t *hop_set; /* [switch_count * words] the same as sets for hd_dependencies */
	uint32_t *distance; /* [switch_count] */
	uint8_t *state; /* [switch_count] of the search */
	uint32_t *next; /* [switch_count] which of its links the search follows */
	uint32_t *stack; /* [switch_count] */
	uint32_t *order; /* [switch_count] each switch after all to which it leads */
	uint32_t ordered;
	uint16_t *passing; /* [switch_count] lanes */
	uint32_t words;
};

static int lost(struct maker *maker, uint32_t sw, const char *how)
{
	char label[HD_LABEL_SIZE];

	return hd_error_set(
	    maker->err, -EHOSTUNREACH, "at %s packets to LID %" PRIu32 " %s",
	    hd_port_label(maker->fabric, hd_port_index(maker->fabric, sw, 0), label, sizeof(label)),
	    maker->lid, how);
}

static int add_hop(struct maker *maker, uint32_t sw, uint32_t port)
{
	const struct hd_fabric *fabric = maker->fabric;
	bool exists = port <= hd_node_ports(fabric, sw);
	uint32_t link = exists ? maker->link_of_port[hd_port_index(fabric, sw, port)] : HD_NONE;

	if (sw == maker->destination)
		return port == maker->port ? 0 : lost(maker, sw, "leave for another port");
	if (link == HD_NONE && maker->request->after)
		return 0;
	if (link == HD_NONE)
		return lost(maker, sw, "leave by a port that leads to no other switch");
	uint32_t base = fabric->isl_base[sw], bit = link - base;
	maker->hops[base + maker->hop_count[sw]++] = link;
	maker->hop_set[(size_t)sw * maker->words + bit / 64] |= UINT64_C(1) << bit % 64;
	return 0;
}

static int add_hops(struct maker *maker, uint32_t sw, const struct hd_port_set *ports)
{
	HD_PORT_SET_FOREACH(port, ports) {
		int rc = add_hop(maker, sw, port);
		if (rc)
			return rc;
	}
	return 0;
}

/* Both entries of a mixture: packets may find none. */
static int load_mixture(struct maker *maker, uint32_t sw, bool groups)
{
	const struct hd_certificate_request *request = maker->request;
	struct hd_port_set ports = {{0}};
	uint8_t before = hd_routes_port(request->routes, sw, maker->lid);
	uint8_t after = hd_routes_port(request->after, sw, maker->lid);

	maker->distance[sw] = 0;
	if (before != HD_NO_PORT)
		hd_port_set_add(&ports, before);
	if (after != HD_NO_PORT)
		hd_port_set_add(&ports, after);
	if (groups && request->add_ports)
		request->add_ports(request->context, sw, maker->lid, &ports);
	return add_hops(maker, sw, &ports);
}

static int load_switch(struct maker *maker, uint32_t sw, bool groups)
{
	const struct hd_certificate_request *request = maker->request;
	struct hd_port_set ports = {{0}};
	uint8_t port = hd_routes_port(request->routes, sw, maker->lid);

	maker->hop_count[sw] = 0;
	maker->state[sw] = NEW;
	maker->passing[sw] = 0;
	maker->distance[sw] = sw == maker->destination && port != HD_NO_PORT ? 0 : NONE;
	memset(maker->hop_set + (size_t)sw * maker->words, 0, maker->words * sizeof(uint64_t));
	if (request->after)
		return load_mixture(maker, sw, groups);
	if (groups && request->add_ports)
		request->add_ports(request->context, sw, maker->lid, &ports);
	if (port == HD_NO_PORT)
		return hd_port_set_is_empty(&ports)
			   ? 0
			   : lost(maker, sw, "have a group but no port in the tables");
	hd_port_set_add(&ports, port);
	return add_hops(maker, sw, &ports);
}

static void reach(struct maker *maker, uint32_t sw, uint32_t *depth)
{
	if (maker->state[sw] == OPEN)
		return;
	maker->state[sw] = OPEN;
	maker->stack[(*depth)++] = sw;
}

/* Switches that no adapter's packet passes have management packets alone: groups do not count there. */
static int leave_idle_groups(struct maker *maker)
{
	const struct hd_fabric *fabric = maker->fabric;
	uint32_t depth = 0;
	int rc = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_has_adapters(fabric, sw))
			reach(maker, sw, &depth);
	while (depth) {
		uint32_t sw = maker->stack[--depth], base = fabric->isl_base[sw];
		for (uint32_t hop = 0; hop < maker->hop_count[sw]; hop++)
			reach(maker, fabric->isl_to[maker->hops[base + hop]], &depth);
	}
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++) {
		if (maker->state[sw] == NEW && maker->hop_count[sw] > 1)
			rc = load_switch(maker, sw, false);
		maker->state[sw] = NEW;
	}
	return rc;
}

/* All links of the switch were followed. */
static void finish(struct maker *maker, uint32_t sw)
{
	const uint32_t *hops = maker->hops + maker->fabric->isl_base[sw];

	for (uint32_t i = 0; i < maker->hop_count[sw]; i++) {
		uint32_t ahead = maker->distance[maker->fabric->isl_to[hops[i]]];
		if (maker->distance[sw] == NONE || maker->distance[sw] <= ahead)
			maker->distance[sw] = ahead + 1;
	}
	maker->state[sw] = DONE;
	maker->order[maker->ordered++] = sw;
}

/* Goes to the next switch of the one on top. */
static int step(struct maker *maker, uint32_t *depth)
{
	uint32_t sw = maker->stack[*depth - 1];

	if (maker->next[sw] == maker->hop_count[sw]) {
		finish(maker, sw);
		--*depth;
		return 0;
	}
	uint32_t hop = maker->hops[maker->fabric->isl_base[sw] + maker->next[sw]++];
	uint32_t to = maker->fabric->isl_to[hop];
	if (maker->state[to] == OPEN)
		return lost(maker, to, "can come back to this switch");
	if (!maker->hop_count[to] && maker->distance[to] == NONE)
		return lost(maker, to, "find no entry, but another switch leads here");
	if (maker->state[to] == NEW) {
		maker->state[to] = OPEN;
		maker->next[to] = 0;
		maker->stack[(*depth)++] = to;
	}
	return 0;
}

static int search(struct maker *maker)
{
	int rc = 0;

	maker->ordered = 0;
	for (uint32_t sw = 0; !rc && sw < maker->fabric->switch_count; sw++) {
		uint32_t depth = 1;
		if (maker->state[sw] != NEW)
			continue;
		maker->state[sw] = OPEN;
		maker->next[sw] = 0;
		maker->stack[0] = sw;
		while (!rc && depth)
			rc = step(maker, &depth);
	}
	return rc;
}

static int add_row(struct maker *maker, const struct hd_certificate *known)
{
	struct hd_certificate *certificate = maker->certificate;
	size_t size = maker->fabric->switch_count * sizeof(*certificate->distance);
	uint32_t *rows =
	    hd_grow(certificate->distance, known->row_count, 1, &maker->row_room, size);

	if (!rows)
		return hd_error_no_memory(maker->err);
	certificate->distance = rows;
	memcpy((char *)rows + certificate->row_count++ * size, maker->distance, size);
	return 0;
}

/* LIDs of one destination switch follow one another, mostly. `from` is its first row. */
static int keep_distances(struct maker *maker, uint32_t from)
{
	struct hd_certificate *certificate = maker->certificate;
	uint32_t row = from, switches = maker->fabric->switch_count;

	while (row < certificate->row_count &&
	       memcmp(certificate->distance + (size_t)row * switches, maker->distance,
		      switches * sizeof(*maker->distance)) != 0)
		row++;
	certificate->row_of_lid[maker->lid] = row;
	for (uint32_t sw = 0; sw < switches; sw++)
		certificate->unreached += maker->distance[sw] == NONE;
	return row < certificate->row_count ? 0 : add_row(maker, certificate);
}

static int open_lanes(struct maker *maker, uint16_t lanes)
{
	for (unsigned lane = 0; lane < LANES; lane++)
		if (lanes >> lane & 1 && !maker->graphs[lane].fabric &&
		    hd_dependencies_init(&maker->graphs[lane], maker->fabric, &maker->arena))
			return hd_error_no_memory(maker->err);
	return 0;
}

static void cross(struct maker *maker, uint32_t link, uint16_t lanes)
{
	uint32_t to = maker->fabric->isl_to[link];
	const uint64_t *ahead = maker->hop_set + (size_t)to * maker->words;

	maker->carries[link] |= lanes;
	maker->passing[to] |= lanes;
	for (unsigned left = lanes; left; left &= left - 1)
		hd_dependencies_collect_set(&maker->graphs[__builtin_ctz(left)], link, ahead);
}

static int collect(struct maker *maker)
{
	const struct hd_fabric *fabric = maker->fabric;
	uint16_t opened = 0;

	for (uint32_t i = maker->ordered; i-- > 0;) {
		uint32_t sw = maker->order[i], base = fabric->isl_base[sw];
		if (hd_has_adapters(fabric, sw) && maker->hop_count[sw])
			maker->passing[sw] |=
			    (uint16_t)(1u << hd_routes_vl(maker->request->routes, sw, maker->lid));
		if (maker->passing[sw] & ~opened) {
			opened |= maker->passing[sw];
			if (open_lanes(maker, opened))
				return -ENOMEM;
		}
		for (uint32_t hop = 0; hop < maker->hop_count[sw]; hop++)
			cross(maker, maker->hops[base + hop], maker->passing[sw]);
	}
	return 0;
}

/* The same where lanes depend on ports. */
static void collect_maps(struct maker *maker)
{
	const uint32_t switches = maker->fabric->switch_count;
	const struct check_tree tree = {.switch_count = switches,
					.destination = maker->destination,
					.to_host = true,
					.step = maker->step,
					.next = maker->towards,
					.order = maker->stack,
					.ordered = maker->ordered,
					.arrival = maker->state};

	for (uint32_t i = 0; i < switches; i++) {
		const uint32_t sw = maker->order[switches - 1 - i];
		const bool leaves = maker->hop_count[sw];
		maker->stack[i] = sw;
		maker->step[sw] =
		    leaves ? maker->hops[maker->fabric->isl_base[sw]] : HD_STEP_NO_ROUTE;
		maker->towards[sw] = leaves ? maker->fabric->isl_to[maker->step[sw]] : sw;
		maker->state[sw] = CHECK_ARRIVES;
	}
	check_maps_add(&maker->maps, &tree, maker->lid, false);
	for (uint32_t sw = 0; sw < switches; sw++)
		for (uint32_t left = maker->maps.levels[sw]; left && maker->hop_count[sw];
		     left &= left - 1)
			maker->carries[maker->step[sw]] |= maker->maps.on[sw][__builtin_ctz(left)];
}

static int rank_lanes(struct maker *maker)
{
	uint16_t used = 0;
	int rc = 0;

	if (maker->request->routes->maps)
		return certificate_rank_channels(maker->certificate, &maker->maps, maker->carries,
						 maker->err);
	for (uint32_t link = 0; link < maker->fabric->isl_count; link++)
		used |= maker->carries[link];
	for (unsigned lane = 0; !rc && lane < LANES; lane++)
		if (used >> lane & 1)
			rc = hd_certificate_rank(maker->certificate, &maker->graphs[lane],
						 maker->carries, lane, maker->err);
	return rc;
}

static void *take(struct maker *maker, size_t count, size_t size)
{
	return hd_arena_alloc(&maker->arena, count, size);
}

static int init(struct maker *maker)
{
	const struct hd_fabric *fabric = maker->fabric;
	uint32_t switches = fabric->switch_count;

	maker->words = 1;
	for (uint32_t sw = 0; sw < switches; sw++) {
		uint32_t words = (fabric->isl_base[sw + 1] - fabric->isl_base[sw] + 63) / 64;
		maker->words = words > maker->words ? words : maker->words;
	}
	maker->link_of_port = take(maker, fabric->port_count, sizeof(*maker->link_of_port));
	maker->carries = take(maker, fabric->isl_count, sizeof(*maker->carries));
	maker->hops = take(maker, fabric->isl_count, sizeof(*maker->hops));
	maker->hop_count = take(maker, switches, sizeof(*maker->hop_count));
	maker->hop_set = take(maker, (size_t)switches * maker->words, sizeof(*maker->hop_set));
	maker->distance = take(maker, switches, sizeof(*maker->distance));
	maker->state = take(maker, switches, sizeof(*maker->state));
	maker->next = take(maker, switches, sizeof(*maker->next));
	maker->stack = take(maker, switches, sizeof(*maker->stack));
	maker->order = take(maker, switches, sizeof(*maker->order));
	maker->passing = take(maker, switches, sizeof(*maker->passing));
	if (maker->request->routes->maps) {
		maker->step = take(maker, switches, sizeof(*maker->step));
		maker->towards = take(maker, switches, sizeof(*maker->towards));
		check_maps_init(&maker->maps, fabric, maker->request->routes, &maker->arena);
	}
	if (hd_arena_check(&maker->arena))
		return hd_error_no_memory(maker->err);
	memset(maker->link_of_port, 0xFF, fabric->port_count * sizeof(*maker->link_of_port));
	for (uint32_t sw = 0; sw < switches; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			maker->link_of_port[hd_port_index(fabric, sw, fabric->isl_port[link])] =
			    link;
	return 0;
}

static int add_lid(struct maker *maker, uint32_t *first_row)
{
	const struct hd_fabric *fabric = maker->fabric;
	uint32_t before = maker->destination;

	if (!hd_fabric_lid_destination(fabric, maker->lid, &maker->destination, &maker->port))
		return 0;
	if (maker->destination != before)
		*first_row = maker->certificate->row_count;
	maker->to_adapter = maker->port != 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		int rc = load_switch(maker, sw, true);
		if (rc)
			return rc;
	}
	int rc = maker->to_adapter && maker->request->add_ports ? leave_idle_groups(maker) : 0;
	if (!rc)
		rc = search(maker);
	if (!rc)
		rc = keep_distances(maker, *first_row);
	if (rc || !maker->to_adapter)
		return rc;
	if (!maker->request->routes->maps)
		return collect(maker);
	collect_maps(maker);
	return 0;
}

static int make(struct maker *maker)
{
	struct hd_certificate *certificate = maker->certificate;
	uint32_t first_row = 0;
	int rc = init(maker);

	if (rc)
		return rc;
	certificate->row_of_lid = malloc(maker->fabric->lid_count * sizeof(uint32_t));
	if (!certificate->row_of_lid)
		return hd_error_no_memory(maker->err);
	memset(certificate->row_of_lid, 0xFF, maker->fabric->lid_count * sizeof(uint32_t));
	maker->destination = HD_NONE;
	for (maker->lid = 0; !rc && maker->lid < maker->fabric->lid_count; maker->lid++) {
		rc = hd_go_on_check(&maker->request->go_on, maker->err);
		if (!rc)
			rc = add_lid(maker, &first_row);
	}
	return rc ? rc : rank_lanes(maker);
}

int hd_certificate_new(const struct hd_certificate_request *request, struct hd_certificate **out,
		       struct hd_error *err)
{
	const struct hd_fabric *fabric = request->fabric;
	struct maker maker = {.request = request, .fabric = fabric, .err = err};

	if (request->routes->switch_count != fabric->switch_count ||
	    request->routes->lid_count != fabric->lid_count)
		return hd_error_set(err, -EINVAL, "the tables do not have the fabric's shape");
	if ((request->after || request->add_ports) &&
	    hd_routes_refuse_maps(request->routes, "certificates of changes or plans", err))
		return -ENOTSUP;
	maker.certificate = calloc(1, sizeof(*maker.certificate));
	if (!maker.certificate)
		return hd_error_no_memory(err);
	maker.certificate->switch_count = fabric->switch_count;
	maker.certificate->lid_count = fabric->lid_count;
	maker.certificate->link_count = fabric->isl_count;
	int rc = make(&maker);
	hd_arena_release(&maker.arena);
	if (rc)
		hd_certificate_free(maker.certificate);
	else
		*out = maker.certificate;
	return rc;
}

void hd_certificate_free(struct hd_certificate *certificate)
{
	if (!certificate)
		return;
	for (unsigned lane = 0; lane < LANES; lane++)
		free(certificate->rank[lane]);
	free(certificate->distance);
	free(certificate->row_of_lid);
	free(certificate->above);
	free(certificate);
}
