/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Certificates of plans: which order of links shows that no packets can wait for each other in a circle. `heddle
 * certify` and the plugin call it.
 *
 * Packets of each LID are followed as in proof.c, and their dependencies are written with the order. A certificate
 * can be checked without this code. Plans with private tables have states of packets, and a part of their own.
 */
#include <errno.h>
#include <heddle/ar_manager/certify.h>
#include <heddle/base/grow.h>
#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/dragonfly_plus.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- certify dfp ---- */

/*
 * A packet at a switch has one of four states: it came from below or from above, on lane 0 or on the raised one. A depth-
 * first search over switches and states, LID by LID, from all adapters, gives each pair the length of its longest path.
 */

/* Certificates of plans with private tables. */

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
static int certify_follow(struct certifying *certifying, size_t place, uint32_t state,
			  uint32_t link)
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
		int rc = certify_follow(certifying, place, state, link);
		if (rc)
			return rc;
	}
	certifying->search[place] = DONE;
	return 0;
}

/* ---- the certificate ---- */

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
	/* LIDs of one destination switch follow one another, mostly. */
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

static void *certify_take(struct certifying *certifying, size_t count, size_t size)
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
	certifying->plan_row = certify_take(certifying, switches, sizeof(uint32_t));
	certifying->link_of_port = certify_take(certifying, fabric->port_count, sizeof(uint32_t));
	certifying->carries = certify_take(certifying, fabric->isl_count, sizeof(uint16_t));
	certifying->search = certify_take(certifying, STATES * switches, 1);
	certifying->distance = certify_take(certifying, STATES * switches, sizeof(uint32_t));
	certifying->links = certify_take(certifying, STATES * switches * LANES * certifying->words,
					 sizeof(uint64_t));
	certificate->above = calloc(switches + 1, sizeof(*certificate->above));
	certificate->row_of_lid = malloc((fabric->lid_count + 1ul) * sizeof(uint32_t));
	if (hd_arena_check(&certifying->arena) || !certificate->above || !certificate->row_of_lid)
		return hd_error_no_memory(certifying->err);
	memset(certificate->row_of_lid, 0xFF, fabric->lid_count * sizeof(uint32_t));
	memset(certifying->link_of_port, 0xFF, fabric->port_count * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < switches; sw++)
		certifying->plan_row[sw] = hd_ar_plan_find(certifying->plan, fabric->node_guid[sw]);
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
		uint32_t out = hd_port_index(fabric, from, fabric->isl_port[link]);
		certifying->link_of_port[out] = link;
		if (arrival(certifying, 0, link) & ABOVE)
			hd_port_set_add(&certifying->certificate->above[to],
					hd_port_number(fabric, fabric->peer[out]));
	}
	return 0;
}

/* hd_ar_certify() for a plan of HD_AR_TABLES tables, which fits the tables. Errors: also -ENOTSUP the fabric is no
 * Dragonfly+. */
static int certify_dfp(const struct hd_fabric *fabric, const struct hd_routes *routes,
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
	int rc =
	    hd_dragonfly_plus_find(fabric, &certifying.arena, &certifying.shape, certifying.err);
	if (!rc)
		rc = init(&certifying);
	for (certifying.lid = 1; !rc && certifying.lid < fabric->lid_count; certifying.lid++) {
		rc = hd_go_on_check(go_on, certifying.err);
		if (!rc)
			rc = add_lid(&certifying);
	}
	for (unsigned lane = 0; !rc && lane < LANES; lane++)
		rc = hd_certificate_rank(certifying.certificate, &certifying.graphs[lane],
					 certifying.carries, lane, certifying.err);
	hd_arena_release(&certifying.arena);
	if (rc)
		hd_certificate_free(certifying.certificate);
	else
		*out = certifying.certificate;
	return rc;
}

/* ---- certify ---- */

struct planned {
	const struct hd_ar_plan *plan;
	uint32_t
	    *row; /* [switch_count] of the fabric: number in the plan, or HD_NONE; NULL: no plan */
};

static int find_rows(struct planned *planned, const struct hd_fabric *fabric, struct hd_error *err)
{
	if (!planned->plan)
		return 0;
	planned->row = malloc(((size_t)fabric->switch_count + 1) * sizeof(*planned->row));
	if (!planned->row)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		planned->row[sw] = hd_ar_plan_find(planned->plan, fabric->node_guid[sw]);
	return 0;
}

static void add_ports(const void *context, uint32_t sw, uint32_t lid, struct hd_port_set *ports)
{
	const struct planned *planned = context;
	uint32_t row = planned->row[sw];

	if (row == HD_NONE || lid >= planned->plan->lid_count)
		return;
	uint32_t number = hd_ar_plan_group(planned->plan, row, 0, lid);
	if (number == HD_AR_NO_GROUP)
		return;
	const struct hd_ar_group *group = &planned->plan->switches[row].groups[number];
	for (unsigned sub = 0; sub < HD_AR_SUB_GROUPS; sub++)
		hd_port_set_unite(ports, &group->ports[sub]);
}

int hd_ar_certify(const struct hd_fabric *fabric, const struct hd_routes *routes,
		  const struct hd_ar_plan *plan, const struct hd_go_on *go_on,
		  struct hd_certificate **out, struct hd_error *err)
{
	struct planned planned = {.plan = plan};
	struct hd_certificate_request request = {.fabric = fabric, .routes = routes};
	uint64_t wrong;

	if (plan && hd_routes_refuse_maps(routes, "certificates of plans", err))
		return -ENOTSUP;
	if (go_on)
		request.go_on = *go_on;
	int rc = plan ? hd_ar_plan_check(plan, fabric, routes, go_on, &wrong, err) : 0;

	if (plan && !rc && plan->table_count > 1)
		return certify_dfp(fabric, routes, plan, go_on, out, err);
	if (plan && !rc) {
		rc = find_rows(&planned, fabric, err);
		request.add_ports = add_ports;
		request.context = &planned;
	}
	if (!rc)
		rc = hd_certificate_new(&request, out, err);
	free(planned.row);
	return rc;
}

/* ---- changes ---- */

struct both {
	struct planned held, next;
};

static void add_either(const void *context, bool after, uint32_t sw, uint32_t lid,
		       struct hd_port_set *ports)
{
	const struct both *both = context;
	const struct planned *planned = after ? &both->next : &both->held;

	if (planned->plan)
		add_ports(planned, sw, lid, ports);
}

/* At a switch with groups the static ports are those of its forwarding table, and none is missing. */
static int check_static(const struct hd_fabric *fabric, const struct hd_routes *routes,
			const struct planned *planned, struct hd_error *err)
{
	uint32_t to;
	uint8_t last;

	for (uint32_t sw = 0; planned->plan && sw < fabric->switch_count; sw++) {
		const uint32_t row = planned->row[sw];
		if (row == HD_NONE || !planned->plan->switches[row].used)
			continue;
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
			const uint8_t port = lid < planned->plan->lid_count
						 ? planned->plan->switches[row].lid_port[0][lid]
						 : HD_NO_PORT;
			if (hd_fabric_lid_destination(fabric, lid, &to, &last) &&
			    port != hd_routes_port(routes, sw, lid))
				return hd_error_set(err, -EINVAL,
						    "switch 0x%016" PRIx64 ", LID %" PRIu32
						    ": the static port is not that of the tables",
						    fabric->node_guid[sw], lid);
		}
	}
	return 0;
}

int hd_ar_certify_change(const struct hd_ar_certify_change *request,
			 struct hd_certificate_change **out, struct hd_error *err)
{
	struct both both = {{.plan = request->held}, {.plan = request->next}};
	struct hd_certificate_change_request change = {.fabric = request->fabric,
						       .before = request->before,
						       .after = request->after,
						       .go_on = request->go_on};
	uint64_t wrong;

	if ((request->held && request->held->table_count > 1) ||
	    (request->next && request->next->table_count > 1))
		return hd_error_set(err, -ENOTSUP,
				    "changes of plans with private tables have no certificate");
	if (request->held || request->next) {
		change.add_ports = add_either;
		change.context = &both;
	}
	int rc = find_rows(&both.held, request->fabric, err);
	if (!rc)
		rc = find_rows(&both.next, request->fabric, err);
	if (!rc)
		rc = check_static(request->fabric, request->before, &both.held, err);
	if (!rc && request->next)
		rc = hd_ar_plan_check(request->next, request->fabric, request->after,
				      request->go_on, &wrong, err);
	if (!rc)
		rc = hd_certificate_change_new(&change, out, err);
	free(both.held.row);
	free(both.next.row);
	return rc;
}
