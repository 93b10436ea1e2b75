/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LID by LID: which switches packets reach, by which ingress ports, and by which egress ports they
 * leave. The pairs of ports are collected for all LIDs.
 */
#include <heddle/ar_manager/fairness.h>

#include <errno.h>
#include <heddle/base/arena.h>
#include <stdlib.h>

struct fairness_holder {
	struct hd_ar_fairness fairness; /* first: its address is its holder's */
	struct hd_arena arena;
};

struct walk {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_ar_plan *plan; /* NULL: the tables alone */
	struct hd_arena arena;
	uint32_t *link_of_port; /* [port_count] HD_NONE: it leads to no other switch */
	struct hd_port_set *in; /* [switch_count] ingress ports of packets to the LID at hand */
	bool *reached; /* [switch_count] */
	uint32_t *stack; /* [switch_count] */
	struct hd_port_set *ingress; /* [port_count] by egress port, of all LIDs */
};

static int walk_init(struct walk *walk)
{
	const struct hd_fabric *fabric = walk->fabric;
	uint32_t switches = fabric->switch_count, ports = fabric->port_count;

	walk->link_of_port = hd_arena_alloc(&walk->arena, ports, sizeof(*walk->link_of_port));
	walk->in = hd_arena_alloc(&walk->arena, switches, sizeof(*walk->in));
	walk->reached = hd_arena_alloc(&walk->arena, switches, sizeof(*walk->reached));
	walk->stack = hd_arena_alloc(&walk->arena, switches, sizeof(*walk->stack));
	walk->ingress = hd_arena_alloc(&walk->arena, ports, sizeof(*walk->ingress));
	if (hd_arena_check(&walk->arena))
		return -ENOMEM;
	for (uint32_t port = 0; port < ports; port++)
		walk->link_of_port[port] = HD_NONE;
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		walk->link_of_port[hd_port_index(fabric, hd_isl_from(fabric, link),
						 fabric->isl_port[link])] = link;
	return 0;
}

/* The ports by which a switch sends packets to a LID. */
static struct hd_port_set egress(const struct walk *walk, uint32_t sw, uint32_t lid)
{
	struct hd_port_set ports = {{0}};
	uint8_t port = hd_routes_port(walk->routes, sw, lid);
	uint32_t group = walk->plan ? hd_ar_plan_group(walk->plan, sw, 0, lid) : HD_AR_NO_GROUP;

	if (group != HD_AR_NO_GROUP)
		ports = walk->plan->switches[sw].groups[group].ports[0];
	if (port != HD_NO_PORT && port != 0 && port <= hd_node_ports(walk->fabric, sw))
		hd_port_set_add(&ports, port);
	return ports;
}

/* Hosts send; a host sends nothing to itself. */
static uint32_t fairness_start(struct walk *walk, uint32_t lid)
{
	const struct hd_fabric *fabric = walk->fabric;
	uint32_t own = hd_fabric_find_host(fabric, fabric->lid_owner[lid]), count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		walk->in[sw] = (struct hd_port_set){{0}};
		for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1];
		     host++)
			if (host != own)
				hd_port_set_add(&walk->in[sw], fabric->host_switch_port[host]);
		walk->reached[sw] = !hd_port_set_is_empty(&walk->in[sw]);
		if (walk->reached[sw])
			walk->stack[count++] = sw;
	}
	return count;
}

static void fairness_collect(struct walk *walk, uint32_t lid)
{
	const struct hd_fabric *fabric = walk->fabric;

	/* All switches that packets reach, and the ingress ports there. */
	uint32_t count = fairness_start(walk, lid);
	while (count) {
		uint32_t sw = walk->stack[--count];
		struct hd_port_set ports = egress(walk, sw, lid);
		HD_PORT_SET_FOREACH(port, &ports) {
			uint32_t link = port > hd_node_ports(fabric, sw)
					    ? HD_NONE
					    : walk->link_of_port[hd_port_index(fabric, sw, port)];
			if (link == HD_NONE)
				continue;
			uint32_t to = fabric->isl_to[link];
			hd_port_set_add(&walk->in[to], fabric->isl_port[fabric->isl_reverse[link]]);
			if (!walk->reached[to])
				walk->stack[count++] = to;
			walk->reached[to] = true;
		}
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (!walk->reached[sw])
			continue;
		struct hd_port_set ports = egress(walk, sw, lid);
		HD_PORT_SET_FOREACH(port, &ports)
			if (port <= hd_node_ports(fabric, sw))
				hd_port_set_unite(&walk->ingress[hd_port_index(fabric, sw, port)],
						  &walk->in[sw]);
	}
}

static void walk_all(struct walk *walk)
{
	for (uint32_t lid = 1; lid < walk->fabric->lid_count; lid++) {
		uint32_t sw;
		uint8_t port;
		if (hd_fabric_lid_destination(walk->fabric, lid, &sw, &port) && port)
			fairness_collect(walk, lid);
	}
}

/* ---- the report ---- */

struct report {
	const struct hd_fabric *fabric;
	uint32_t *level;
	const struct walk *deterministic, *adaptive;
};

static enum hd_ar_direction direction(const struct report *report, uint32_t sw, uint32_t port)
{
	const struct hd_fabric *fabric = report->fabric;
	uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];
	uint32_t node = peer == HD_NONE ? HD_NONE : fabric->port_node[peer];

	if (!hd_is_switch(fabric, node) || report->level[node] < report->level[sw])
		return HD_AR_DOWN;
	return report->level[node] > report->level[sw] ? HD_AR_UP : HD_AR_SIDEWAYS;
}

static bool leads_to_host(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];

	return peer != HD_NONE && !hd_is_switch(fabric, fabric->port_node[peer]);
}

static struct hd_ar_ingress fairness_count(const struct report *report, const struct walk *walk,
					   uint32_t sw, uint32_t egress_port)
{
	const struct hd_port_set *ports =
	    &walk->ingress[hd_port_index(report->fabric, sw, egress_port)];
	struct hd_ar_ingress ingress = {0};

	HD_PORT_SET_FOREACH(port, ports) {
		if (port == egress_port)
			continue;
		enum hd_ar_direction from = direction(report, sw, port);
		ingress.above += from == HD_AR_UP;
		ingress.below += from == HD_AR_DOWN;
		ingress.beside += from == HD_AR_SIDEWAYS;
		ingress.local += leads_to_host(report->fabric, sw, port);
	}
	return ingress;
}

static uint32_t remote(const struct hd_ar_ingress *ingress)
{
	return hd_ar_ingress_total(ingress) - ingress->local;
}

static void fill_port(const struct report *report, uint32_t sw, uint8_t port,
		      struct hd_ar_fairness_port *out)
{
	uint32_t hosts = report->fabric->host_base[sw + 1] - report->fabric->host_base[sw];

	*out = (struct hd_ar_fairness_port){
	    .sw = sw,
	    .port = port,
	    .direction = direction(report, sw, port),
	    .to_host = leads_to_host(report->fabric, sw, port),
	    .deterministic = fairness_count(report, report->deterministic, sw, port),
	    .adaptive = fairness_count(report, report->adaptive, sw, port)};
	uint32_t before = remote(&out->deterministic), after = remote(&out->adaptive);
	out->parking_lot =
	    before && out->deterministic.local && report->fabric->host_count - hosts > before;
	out->reverse_parking_lot = out->adaptive.local && after > 1 && after > before;
}

static int make_report(const struct walk *deterministic, const struct walk *adaptive,
		       struct hd_ar_fairness **out, struct hd_error *err)
{
	const struct hd_fabric *fabric = deterministic->fabric;
	struct fairness_holder *holder = calloc(1, sizeof(*holder));
	struct report report = {
	    .fabric = fabric, .deterministic = deterministic, .adaptive = adaptive};

	if (!holder)
		return hd_error_no_memory(err);
	struct hd_ar_fairness_port *ports =
	    hd_arena_alloc(&holder->arena, fabric->port_count, sizeof(*ports));
	report.level = hd_arena_alloc(&holder->arena, fabric->switch_count, sizeof(*report.level));
	int rc = hd_arena_check(&holder->arena) ? hd_error_no_memory(err)
						: hd_fabric_levels(fabric, report.level, err);
	if (rc) {
		hd_ar_fairness_free(&holder->fairness);
		return rc;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++) {
			uint32_t index = hd_port_index(fabric, sw, port);
			if (!hd_port_set_is_empty(&deterministic->ingress[index]) ||
			    !hd_port_set_is_empty(&adaptive->ingress[index]))
				fill_port(&report, sw, (uint8_t)port,
					  &ports[holder->fairness.port_count++]);
		}
	holder->fairness.ports = ports;
	holder->fairness.level = report.level;
	*out = &holder->fairness;
	return 0;
}

void hd_ar_fairness_free(struct hd_ar_fairness *fairness)
{
	struct fairness_holder *holder = (struct fairness_holder *)fairness;

	if (!holder)
		return;
	hd_arena_release(&holder->arena);
	free(holder);
}

static int check_shapes(const struct hd_fabric *fabric, const struct hd_routes *routes,
			const struct hd_ar_plan *plan, struct hd_error *err)
{
	if (routes->switch_count != fabric->switch_count || routes->lid_count != fabric->lid_count)
		return hd_error_set(err, -EINVAL, "the tables are not of this fabric");
	if (!plan)
		return 0;
	if (plan->switch_count != fabric->switch_count || plan->lid_count != fabric->lid_count)
		return hd_error_set(err, -EINVAL, "the plan is not of this fabric");
	if (plan->table_count > 1)
		return hd_error_set(err, -EINVAL, "a plan with private tables is not supported");
	return 0;
}

int hd_ar_fairness_new(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       const struct hd_ar_plan *plan, struct hd_ar_fairness **out,
		       struct hd_error *err)
{
	struct walk deterministic = {.fabric = fabric, .routes = routes};
	struct walk adaptive = {.fabric = fabric, .routes = routes, .plan = plan};
	int rc = check_shapes(fabric, routes, plan, err);

	if (!rc && (walk_init(&deterministic) || walk_init(&adaptive)))
		rc = hd_error_no_memory(err);
	if (!rc) {
		walk_all(&deterministic);
		walk_all(&adaptive);
		rc = make_report(&deterministic, &adaptive, out, err);
	}
	hd_arena_release(&adaptive.arena);
	hd_arena_release(&deterministic.arena);
	return rc;
}
