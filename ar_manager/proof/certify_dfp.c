/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet at a switch has one of four states: it came from below or from above, on lane 0 or on the raised one. A depth-
 * first search over switches and states, LID by LID, from all adapters, gives each pair the length of its longest path.
 */
#include "certify_dfp.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/dragonfly_plus.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LANES 2u
#define NONE HD_CERTIFICATE_NONE

/* Bit 0: on the raised lane; bit 1: from above. The order of the rows of a LID. */
enum { RAISED = 1, ABOVE = 2, STATES = 4 };
enum { NEW, OPEN, DONE };

static const uint32_t table_of[STATES] = {1, 2, 0, 0};

struct certifying {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_ar_plan *plan;
	struct hd_certificate *certificate;
	struct hd_arena arena;
	struct hd_error *err;
	struct hd_dragonfly_plus shape;
	uint32_t *plan_row; /* [switch_count] HD_NONE: not in the plan */
	uint32_t *link_of_port; /* [port_count] HD_NONE: to no other switch */
	struct hd_dependencies graphs[LANES];
	uint16_t *carries; /* [isl_count] */
	uint32_t words, row_room;

	/* of the LID at hand; places are state * switch_count + switch */
	uint32_t lid, destination;
	uint8_t port;
	uint8_t *search; /* [STATES * switch_count] */
	uint32_t *distance; /* [STATES * switch_count] */
	uint64_t *
	    links; /* [STATES * switch_count * LANES * words] that packets take next, by their lane */
};

static int lost(struct certifying *certifying, uint32_t sw, const char *how)
{
	char label[HD_LABEL_SIZE];

	return hd_error_set(certifying->err, -EHOSTUNREACH, "at %s packets to LID %" PRIu32 " %s",
			    hd_port_label(certifying->fabric,
					  hd_port_index(certifying->fabric, sw, 0), label,
					  sizeof(label)),
			    certifying->lid, how);
}

static struct hd_port_set ports_of(const struct certifying *certifying, uint32_t sw, uint32_t state)
{
	uint32_t row = certifying->plan_row[sw], table = table_of[state], lid = certifying->lid;
	uint8_t port = hd_routes_port(certifying->routes, sw, lid);
	struct hd_port_set ports = {{0}};

	if (row != HD_NONE && lid < certifying->plan->lid_count) {
		const struct hd_ar_switch *held = &certifying->plan->switches[row];
		uint32_t group = hd_ar_plan_group(certifying->plan, row, table, lid);
		port = held->lid_port[table][lid];
		for (unsigned sub = 0; group != HD_AR_NO_GROUP && sub < HD_AR_SUB_GROUPS; sub++)
			hd_port_set_unite(&ports, &held->groups[group].ports[sub]);
	}
	if (port != HD_NO_PORT)
		hd_port_set_add(&ports, port);
	return ports;
}

/* The state in which a packet arrives that left in `state` by a link: as in proof_dfp.c. */
static uint32_t arrival(const struct certifying *certifying, uint32_t state, uint32_t link)
{
	const struct hd_fabric *fabric = certifying->fabric;
	uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
	bool climbs = !certifying->shape.is_spine[from] && certifying->shape.is_spine[to];
	uint32_t raised = (state & RAISED) | (climbs && state & ABOVE);

	return raised | (climbs ? 0 : ABOVE);
}

static uint64_t *links_of(const struct certifying *certifying, size_t place, unsigned lane)
{
	return certifying->links + (place * LANES + lane) * certifying->words;
}

static int visit(struct certifying *certifying, uint32_t sw, uint32_t state);

/* Packets at a place go on by a link. */
static int follow(struct certifying *certifying, size_t place, uint32_t state, uint32_t link)
{
	const struct hd_fabric *fabric = certifying->fabric;
	uint32_t to = fabric->isl_to[link], then = arrival(certifying, state, link);
	size_t next = (size_t)then * fabric->switch_count + to;
	unsigned lane = then & RAISED;
	uint32_t bit = link - fabric->isl_base[hd_isl_from(fabric, link)];
	int rc = certifying->search[next] == NEW ? visit(certifying, to, then) : 0;

	if (rc)
		return rc;
	if (certifying->search[next] == OPEN)
		return lost(certifying, to, "can come back to this switch");
	if (certifying->distance[place] <= certifying->distance[next])
		certifying->distance[place] = certifying->distance[next] + 1;
	links_of(certifying, place, lane)[bit / 64] |= UINT64_C(1) << bit % 64;
	certifying->carries[link] |= (uint16_t)(1u << lane);
	hd_dependencies_collect_set(&certifying->graphs[lane], link,
				    links_of(certifying, next, lane));
	return 0;
}

static int visit(struct certifying *certifying, uint32_t sw, uint32_t state)
{
	const struct hd_fabric *fabric = certifying->fabric;
	size_t place = (size_t)state * fabric->switch_count + sw;
	struct hd_port_set ports = ports_of(certifying, sw, state);

	if (hd_port_set_is_empty(&ports))
		return lost(certifying, sw, "find no entry");
	certifying->search[place] = OPEN;
	certifying->distance[place] = 0;
	memset(links_of(certifying, place, 0), 0, LANES * certifying->words * sizeof(uint64_t));
	HD_PORT_SET_FOREACH(port, &ports) {
		uint32_t link = port <= hd_node_ports(fabric, sw)
				    ? certifying->link_of_port[hd_port_index(fabric, sw, port)]
				    : HD_NONE;
		if (sw == certifying->destination && port == certifying->port)
			continue;
		if (sw == certifying->destination || link == HD_NONE)
			return lost(certifying, sw, "leave for another port");
		int rc = follow(certifying, place, state, link);
		if (rc)
			return rc;
	}
	certifying->search[place] = DONE;
	return 0;
}

/* ---- the certificate ---- */

/* LIDs of one destination switch follow one another, mostly. */
static int keep_distances(struct certifying *certifying)
{
	struct hd_certificate *certificate = certifying->certificate;
	size_t size = STATES * certifying->fabric->switch_count * sizeof(uint32_t);
	uint32_t last = certificate->row_count / STATES;
	uint32_t *blocks;

	if (!last ||
	    memcmp((char *)certificate->distance + (last - 1) * size, certifying->distance, size)) {
		blocks = hd_grow(certificate->distance, last, 1, &certifying->row_room, size);
		if (!blocks)
			return hd_error_no_memory(certifying->err);
		certificate->distance = blocks;
		memcpy((char *)blocks + last++ * size, certifying->distance, size);
		certificate->row_count = last * STATES;
	}
	certificate->row_of_lid[certifying->lid] = (last - 1) * STATES;
	return 0;
}

static int add_lid(struct certifying *certifying)
{
	const struct hd_fabric *fabric = certifying->fabric;
	uint32_t switches = fabric->switch_count;

	if (!hd_fabric_lid_destination(fabric, certifying->lid, &certifying->destination,
				       &certifying->port) ||
	    !certifying->port)
		return 0;
	memset(certifying->search, NEW, STATES * (size_t)switches);
	memset(certifying->distance, 0xFF, STATES * switches * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < switches; sw++) {
		if (!hd_has_adapters(fabric, sw) || certifying->search[sw] == DONE)
			continue;
		struct hd_port_set ports = ports_of(certifying, sw, 0);
		int rc = hd_port_set_is_empty(&ports) ? 0 : visit(certifying, sw, 0);
		if (rc)
			return rc;
		certifying->certificate->unreached += hd_port_set_is_empty(&ports);
	}
	for (size_t place = 0; place < (size_t)STATES * switches; place++)
		if (certifying->distance[place] != NONE && certifying->distance[place] >= switches)
			return hd_error_set(certifying->err, -ENOTSUP,
					    "the fabric is too small: a path is longer than there "
					    "are switches");
	return keep_distances(certifying);
}

static void find_above(struct certifying *certifying)
{
	const struct hd_fabric *fabric = certifying->fabric;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		uint32_t out = hd_port_index(fabric, from, fabric->isl_port[link]);
		certifying->link_of_port[out] = link;
		if (arrival(certifying, 0, link) & ABOVE)
			hd_port_set_add(&certifying->certificate->above[to],
					hd_port_number(fabric, fabric->peer[out]));
	}
}

static void *take(struct certifying *certifying, size_t count, size_t size)
{
	return hd_arena_alloc(&certifying->arena, count, size);
}

static int init(struct certifying *certifying)
{
	const struct hd_fabric *fabric = certifying->fabric;
	struct hd_certificate *certificate = certifying->certificate;
	size_t switches = fabric->switch_count;

	for (unsigned lane = 0; lane < LANES; lane++)
		hd_dependencies_init(&certifying->graphs[lane], fabric, &certifying->arena);
	certifying->words = certifying->graphs[0].words;
	certifying->plan_row = take(certifying, switches, sizeof(uint32_t));
	certifying->link_of_port = take(certifying, fabric->port_count, sizeof(uint32_t));
	certifying->carries = take(certifying, fabric->isl_count, sizeof(uint16_t));
	certifying->search = take(certifying, STATES * switches, 1);
	certifying->distance = take(certifying, STATES * switches, sizeof(uint32_t));
	certifying->links =
	    take(certifying, STATES * switches * LANES * certifying->words, sizeof(uint64_t));
	certificate->above = calloc(switches + 1, sizeof(*certificate->above));
	certificate->row_of_lid = malloc((fabric->lid_count + 1ul) * sizeof(uint32_t));
	if (hd_arena_check(&certifying->arena) || !certificate->above || !certificate->row_of_lid)
		return hd_error_no_memory(certifying->err);
	memset(certificate->row_of_lid, 0xFF, fabric->lid_count * sizeof(uint32_t));
	memset(certifying->link_of_port, 0xFF, fabric->port_count * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < switches; sw++)
		certifying->plan_row[sw] = hd_ar_plan_find(certifying->plan, fabric->node_guid[sw]);
	find_above(certifying);
	return 0;
}

static int make(struct certifying *certifying, const struct hd_go_on *go_on)
{
	const struct hd_fabric *fabric = certifying->fabric;
	int rc =
	    hd_dragonfly_plus_find(fabric, &certifying->arena, &certifying->shape, certifying->err);

	if (!rc)
		rc = init(certifying);
	for (certifying->lid = 1; !rc && certifying->lid < fabric->lid_count; certifying->lid++) {
		rc = hd_go_on_check(go_on, certifying->err);
		if (!rc)
			rc = add_lid(certifying);
	}
	for (unsigned lane = 0; !rc && lane < LANES; lane++)
		rc = hd_certificate_rank(certifying->certificate, &certifying->graphs[lane],
					 certifying->carries, lane, certifying->err);
	return rc;
}

int certify_dfp(const struct hd_fabric *fabric, const struct hd_routes *routes,
		const struct hd_ar_plan *plan, const struct hd_go_on *go_on,
		struct hd_certificate **out, struct hd_error *err)
{
	struct certifying certifying = {
	    .fabric = fabric, .routes = routes, .plan = plan, .err = err};

	certifying.certificate = calloc(1, sizeof(*certifying.certificate));
	if (!certifying.certificate)
		return hd_error_no_memory(err);
	certifying.certificate->switch_count = fabric->switch_count;
	certifying.certificate->lid_count = fabric->lid_count;
	certifying.certificate->link_count = fabric->isl_count;
	int rc = make(&certifying, go_on);
	hd_arena_release(&certifying.arena);
	if (rc)
		hd_certificate_free(certifying.certificate);
	else
		*out = certifying.certificate;
	return rc;
}
