/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets that cross subnets, followed through tables, maps and routers without a simulation.
 *
 * hd_walker_new() joins the fabrics to one: all switches, routers as switches, all hosts, with the place of each link.
 * hd_walk() follows one packet: a leg in the source's subnet to the router port that the map names, what the router
 * makes of it, and so on until it arrives or is lost; struct hd_journey then has all legs. hd_walk_all() walks all
 * pairs in several threads, counts how they end, and looks for credit loops in the joined fabric. The result does not
 * depend on the number of threads.
 */
#include <errno.h>
#include <heddle/fabric/builder.h>
#include <heddle/ir_router/interconnect.h>
#include <heddle/ir_router/journey.h>
#include <stdlib.h>

/* The joined fabric of an interconnect, and where the subnets' links are in it. */

struct joined {
	struct hd_fabric *fabric;
	uint32_t **link; /* [subnet][isl of its fabric] */
	uint32_t **node; /* [subnet][node] */
	uint32_t *to_router, *from_router; /* [router port] */
	struct hd_arena arena;
};

struct joining {
	const struct hd_interconnect *interconnect;
	struct hd_builder *builder;
	struct hd_error *err;
};

static const struct hd_fabric *fabric_of(const struct joining *joining, uint32_t subnet)
{
	return joining->interconnect->subnets[subnet].fabric;
}

/* A router is in several subnets: the first one adds it. */
static int add_nodes(struct joining *joining, uint32_t subnet)
{
	const struct hd_fabric *fabric = fabric_of(joining, subnet);
	int rc = 0;

	for (uint32_t node = 0; !rc && node < fabric->node_count; node++) {
		bool router = fabric->node_type[node] == HD_ROUTER;
		struct hd_node_spec spec = {
		    .type = router ? HD_SWITCH : (enum hd_node_type)fabric->node_type[node],
		    .guid = fabric->node_guid[node],
		    .system_guid = fabric->system_guid[node],
		    .vendor_id = fabric->vendor_id[node],
		    .device_id = fabric->device_id[node],
		    .port_count = hd_node_ports(fabric, node),
		    .name = fabric->node_name[node]};
		uint32_t handle = hd_builder_find(joining->builder, spec.guid);
		if (router && handle != HD_NONE)
			continue;
		rc = hd_builder_add_node(joining->builder, &spec, &handle, joining->err);
		for (uint32_t port = 1; !rc && !router && port <= spec.port_count; port++) {
			uint64_t guid = fabric->port_guid[hd_port_index(fabric, node, port)];
			if (guid)
				rc = hd_builder_set_port_guid(joining->builder, handle, port, guid,
							      joining->err);
		}
	}
	return rc;
}

static int add_cables(struct joining *joining, uint32_t subnet)
{
	const struct hd_fabric *fabric = fabric_of(joining, subnet);
	int rc = 0;

	for (uint32_t port = 0; !rc && port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		if (peer == HD_NONE || peer < port)
			continue;
		rc = hd_builder_link(
		    joining->builder,
		    hd_builder_find(joining->builder, fabric->node_guid[fabric->port_node[port]]),
		    hd_port_number(fabric, port),
		    hd_builder_find(joining->builder, fabric->node_guid[fabric->port_node[peer]]),
		    hd_port_number(fabric, peer), fabric->width[port],
		    (enum hd_speed)fabric->speed[port], joining->err);
	}
	return rc;
}

static int journey_build(struct joining *joining, struct hd_fabric **out)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < joining->interconnect->subnet_count; i++)
		rc = add_nodes(joining, i);
	for (uint32_t i = 0; !rc && i < joining->interconnect->subnet_count; i++)
		rc = add_cables(joining, i);
	if (rc)
		return rc;
	hd_builder_assign_lids(joining->builder, 0);
	rc = hd_builder_build(joining->builder, out, joining->err);
	if (rc != -ENOSPC)
		return rc;
	/* more hosts than LIDs: walks do not need them */
	struct hd_builder *without = hd_builder_new();
	if (!without)
		return hd_error_no_memory(joining->err);
	hd_builder_free(joining->builder);
	joining->builder = without;
	for (uint32_t i = 0; i < joining->interconnect->subnet_count; i++)
		if ((rc = add_nodes(joining, i)))
			return rc;
	for (uint32_t i = 0; i < joining->interconnect->subnet_count; i++)
		if ((rc = add_cables(joining, i)))
			return rc;
	return hd_builder_build(joining->builder, out, joining->err);
}

static int index_subnet(const struct hd_interconnect *interconnect, struct joined *joined,
			uint32_t subnet)
{
	const struct hd_fabric *fabric = interconnect->subnets[subnet].fabric;
	uint32_t *node = hd_arena_alloc(&joined->arena, fabric->node_count, sizeof(*node));
	uint32_t *link = hd_arena_alloc(&joined->arena, fabric->isl_count, sizeof(*link));

	if (!node || !link)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->node_count; i++)
		node[i] = hd_fabric_find_node(joined->fabric, fabric->node_guid[i]);
	for (uint32_t i = 0; i < fabric->isl_count; i++)
		link[i] = hd_fabric_find_isl(joined->fabric, node[hd_isl_from(fabric, i)],
					     fabric->isl_port[i]);
	joined->node[subnet] = node;
	joined->link[subnet] = link;
	return 0;
}

static int index_links(const struct hd_interconnect *interconnect, struct joined *joined)
{
	uint32_t subnets = interconnect->subnet_count, ports = interconnect->port_count;
	struct hd_arena *arena = &joined->arena;
	int rc = 0;

	joined->link = hd_arena_alloc(arena, subnets, sizeof(*joined->link));
	joined->node = hd_arena_alloc(arena, subnets, sizeof(*joined->node));
	joined->to_router = hd_arena_alloc(arena, ports, sizeof(uint32_t));
	joined->from_router = hd_arena_alloc(arena, ports, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t i = 0; !rc && i < subnets; i++)
		rc = index_subnet(interconnect, joined, i);
	for (uint32_t i = 0; !rc && i < ports; i++) {
		const struct hd_router_port *port = &interconnect->ports[i];
		joined->to_router[i] = hd_fabric_find_isl(
		    joined->fabric, joined->node[port->subnet][port->sw], port->sw_port);
		joined->from_router[i] = joined->fabric->isl_reverse[joined->to_router[i]];
	}
	return rc;
}

/* Errors: -ENOMEM, and those of a build. Released in any case. */
static int joined_make(const struct hd_interconnect *interconnect, struct joined *out,
		       struct hd_error *err)
{
	struct joining joining = {
	    .interconnect = interconnect, .builder = hd_builder_new(), .err = err};

	*out = (struct joined){.fabric = NULL};
	int rc = joining.builder ? journey_build(&joining, &out->fabric) : -ENOMEM;
	if (!rc)
		rc = index_links(interconnect, out);
	hd_builder_free(joining.builder);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}

struct hd_walker {
	const struct hd_interconnect *interconnect;
	struct hd_relay relay;
	struct joined joined;
	struct hd_arena arena;
	bool **usable; /* [subnet][port of its map] */
	uint32_t **map_port; /* [subnet][port of its map] index of the interconnect */
	/* of the current walk */
	struct hd_journey_leg *legs; /* [routers + 1] */
	uint32_t *switches; /* [all switches + routers] */
	uint32_t *links;
	bool *met; /* [router] */
};

const char *hd_journey_end_name(enum hd_journey_end end)
{
	static const char *const names[] = {
	    [HD_JOURNEY_ARRIVED] = "the packet arrives",
	    [HD_JOURNEY_NO_LINE] = "the map has no usable router port for the destination",
	    [HD_JOURNEY_NO_LID] = "an end of the path has no LID",
	    [HD_JOURNEY_NO_ROUTE] = "the last switch has no entry for the LID",
	    [HD_JOURNEY_DEAD_END] = "the entry of the last switch leads to a wrong port",
	    [HD_JOURNEY_LOOP] = "the entries lead back to a switch",
	    [HD_JOURNEY_DROPPED] = "the last router does not know the destination's subnet",
	    [HD_JOURNEY_ROUTER_LOOP] = "the packet comes to a router twice"};

	return names[end];
}

static int journey_allocate(struct hd_walker *walker)
{
	const struct hd_interconnect *interconnect = walker->interconnect;
	uint32_t subnets = interconnect->subnet_count, routers = interconnect->router_count;
	struct hd_arena *arena = &walker->arena;

	/* each switch once in a subnet, a subnet once between two routers */
	size_t hops = (size_t)(routers + 1) * (walker->joined.fabric->switch_count + 2);

	walker->usable = hd_arena_alloc(arena, subnets, sizeof(*walker->usable));
	walker->map_port = hd_arena_alloc(arena, subnets, sizeof(*walker->map_port));
	walker->legs = hd_arena_alloc(arena, routers + 2, sizeof(*walker->legs));
	walker->switches = hd_arena_alloc(arena, hops, sizeof(uint32_t));
	walker->links = hd_arena_alloc(arena, hops, sizeof(uint32_t));
	walker->met = hd_arena_alloc(arena, routers, sizeof(bool));
	int rc = hd_arena_check(arena);
	for (uint32_t subnet = 0; !rc && subnet < subnets; subnet++) {
		const struct hd_map *map = walker->interconnect->subnets[subnet].map;
		bool *usable = hd_arena_alloc(&walker->arena, map->port_count, sizeof(*usable));
		uint32_t *port = hd_arena_alloc(&walker->arena, map->port_count, sizeof(*port));

		if (!usable || !port)
			return -ENOMEM;
		for (uint32_t i = 0; i < map->port_count; i++) {
			port[i] = hd_interconnect_find_port(walker->interconnect, subnet,
							    map->port_guid[i]);
			usable[i] = port[i] != HD_NONE && walker->interconnect->ports[port[i]].lid;
		}
		walker->usable[subnet] = usable;
		walker->map_port[subnet] = port;
	}
	return rc;
}

int hd_walker_new(const struct hd_interconnect *interconnect, const struct hd_relay *relay,
		  struct hd_walker **out, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < interconnect->subnet_count; i++) {
		const struct hd_subnet *subnet = &interconnect->subnets[i];
		if (!subnet->routes)
			return hd_error_set(err, -EINVAL, "%s: no forwarding tables", subnet->name);
		if (!subnet->map)
			return hd_error_set(err, -EINVAL, "%s: no map", subnet->name);
		if (__builtin_popcount(hd_routes_lanes(subnet->fabric, subnet->routes)) > 1)
			return hd_error_set(
			    err, -EINVAL,
			    "%s: the tables use several virtual lanes; a packet keeps its service "
			    "level in all subnets, so only tables with one lane are safe across "
			    "them",
			    subnet->name);
	}
	if (rc)
		return rc;
	struct hd_walker *walker = calloc(1, sizeof(*walker));
	if (!walker)
		return hd_error_no_memory(err);
	walker->interconnect = interconnect;
	walker->relay = *relay;
	rc = joined_make(interconnect, &walker->joined, err);
	if (!rc && journey_allocate(walker))
		rc = hd_error_no_memory(err);
	if (rc)
		hd_walker_free(walker);
	else
		*out = walker;
	return rc;
}

void hd_walker_free(struct hd_walker *walker)
{
	if (!walker)
		return;
	struct joined *joined = &walker->joined;
	hd_fabric_free(joined->fabric);
	hd_arena_release(&joined->arena);
	hd_arena_release(&walker->arena);
	free(walker);
}

const struct hd_fabric *hd_walker_joined(const struct hd_walker *walker)
{
	return walker->joined.fabric;
}

uint32_t hd_walker_host(const struct hd_walker *walker, uint32_t subnet, uint32_t host)
{
	const struct hd_fabric *fabric = walker->interconnect->subnets[subnet].fabric;
	const struct hd_fabric *joined = walker->joined.fabric;
	uint32_t port = fabric->host_port[host];
	uint32_t node = walker->joined.node[subnet][fabric->port_node[port]];

	return hd_fabric_find_host(joined,
				   hd_port_index(joined, node, hd_port_number(fabric, port)));
}

/* What a part of a walk returns if the walk goes on. */
#define UNDER_WAY HD_JOURNEY_END_COUNT

/* Where a walk is. */
struct trip {
	struct hd_walker *walker;
	uint32_t to, destination; /* subnet, host */
	uint16_t lid; /* of the destination */
	uint32_t leg_count, switch_count, link_count;
};

static const struct hd_subnet *subnet_of(const struct trip *trip, uint32_t subnet)
{
	return &trip->walker->interconnect->subnets[subnet];
}

static bool was_met(const struct trip *trip, const struct hd_journey_leg *leg, uint32_t sw)
{
	for (uint32_t i = leg->first; i < trip->switch_count; i++)
		if (trip->walker->switches[i] == sw)
			return true;
	return false;
}

/*
 * Follows the entries for leg->dlid from switch `sw` to the switch that delivers the packet. The
 * port to which it delivers must own the LID.
 */
static enum hd_journey_end walk_leg(struct trip *trip, struct hd_journey_leg *leg, uint32_t sw)
{
	const struct hd_subnet *subnet = subnet_of(trip, leg->subnet);
	const struct hd_fabric *fabric = subnet->fabric;
	struct hd_walker *walker = trip->walker;
	uint32_t owner = leg->dlid < fabric->lid_count ? fabric->lid_owner[leg->dlid] : HD_NONE;

	for (;;) {
		bool again = was_met(trip, leg, sw);
		walker->switches[trip->switch_count++] = sw;
		leg->switches++;
		if (again)
			return HD_JOURNEY_LOOP;
		uint8_t out = hd_routes_port(subnet->routes, sw, leg->dlid);
		if (out == HD_NO_PORT)
			return HD_JOURNEY_NO_ROUTE;
		if (!out || out > hd_node_ports(fabric, sw))
			return HD_JOURNEY_DEAD_END;
		uint32_t peer = fabric->peer[hd_port_index(fabric, sw, out)];
		if (peer == HD_NONE)
			return HD_JOURNEY_DEAD_END;
		if (peer == owner)
			return UNDER_WAY;
		uint32_t link = hd_fabric_find_isl(fabric, sw, out);
		if (link == HD_NONE)
			return HD_JOURNEY_DEAD_END;
		walker->links[trip->link_count++] = walker->joined.link[leg->subnet][link];
		sw = fabric->isl_to[link];
	}
}

/* The router at the end of a leg sends the packet into the next subnet. */
static enum hd_journey_end relay(struct trip *trip, struct hd_journey_leg *leg, uint32_t *sw)
{
	struct hd_walker *walker = trip->walker;
	const struct hd_interconnect *interconnect = walker->interconnect;
	const struct hd_subnet *to = subnet_of(trip, trip->to);
	uint32_t router = interconnect->ports[leg->ingress].router;
	struct hd_relay_packet packet = {
	    .ingress = leg->ingress,
	    .slid = leg->slid,
	    .dlid = leg->dlid,
	    .destination = {to->prefix,
			    to->fabric->port_guid[to->fabric->host_port[trip->destination]]},
	    .subnet = trip->to,
	    .host = trip->destination,
	    .lid = trip->lid};
	struct hd_relay_choice choice;

	walker->links[trip->link_count++] = walker->joined.to_router[leg->ingress];
	if (walker->met[router])
		return HD_JOURNEY_ROUTER_LOOP;
	walker->met[router] = true;
	if (!walker->relay.choose(walker->relay.context, &packet, &choice))
		return HD_JOURNEY_DROPPED;
	const struct hd_router_port *egress = &interconnect->ports[choice.egress];
	if (!egress->lid || !choice.dlid)
		return HD_JOURNEY_NO_LID;
	walker->links[trip->link_count++] = walker->joined.from_router[choice.egress];
	*sw = egress->sw;
	*leg = (struct hd_journey_leg){.subnet = egress->subnet,
				       .slid = egress->lid,
				       .dlid = choice.dlid,
				       .first = trip->switch_count,
				       .ingress = HD_NONE,
				       .egress = choice.egress};
	return UNDER_WAY;
}

/* The DLID in the source's subnet: of the destination, or of the router port that the map names. */
static enum hd_journey_end address(const struct trip *trip, struct hd_journey_leg *leg)
{
	const struct hd_subnet *to = subnet_of(trip, trip->to);
	struct hd_gid gid = {to->prefix,
			     to->fabric->port_guid[to->fabric->host_port[trip->destination]]};
	struct hd_map_answer answer;

	leg->dlid = trip->lid;
	if (!leg->slid || !trip->lid)
		return HD_JOURNEY_NO_LID;
	if (leg->subnet == trip->to)
		return UNDER_WAY;
	if (!hd_map_resolve(subnet_of(trip, leg->subnet)->map, &gid,
			    trip->walker->usable[leg->subnet], &answer))
		return HD_JOURNEY_NO_LINE;
	uint32_t port = trip->walker->map_port[leg->subnet][answer.port];
	leg->dlid = trip->walker->interconnect->ports[port].lid;
	return UNDER_WAY;
}

/* The router port that owns a LID of the subnet; HD_NONE: another port owns it. */
static uint32_t router_port(const struct trip *trip, const struct hd_journey_leg *leg)
{
	const struct hd_interconnect *interconnect = trip->walker->interconnect;
	const struct hd_fabric *fabric = subnet_of(trip, leg->subnet)->fabric;
	uint32_t owner = fabric->lid_owner[leg->dlid];

	if (fabric->node_type[fabric->port_node[owner]] != HD_ROUTER)
		return HD_NONE;
	return hd_interconnect_find_port(interconnect, leg->subnet, fabric->port_guid[owner]);
}

static enum hd_journey_end journey_follow(struct trip *trip, struct hd_journey_leg leg, uint32_t sw)
{
	struct hd_walker *walker = trip->walker;
	enum hd_journey_end end = address(trip, &leg);

	while (end == UNDER_WAY) {
		end = walk_leg(trip, &leg, sw);
		if (end == UNDER_WAY)
			leg.ingress = router_port(trip, &leg);
		walker->legs[trip->leg_count++] = leg;
		if (end == UNDER_WAY)
			end = leg.ingress == HD_NONE ? HD_JOURNEY_ARRIVED : relay(trip, &leg, &sw);
	}
	return end;
}

void hd_walk(struct hd_walker *walker, uint32_t from, uint32_t source, uint32_t to,
	     uint32_t destination, struct hd_journey *journey)
{
	const struct hd_fabric *near = walker->interconnect->subnets[from].fabric;
	const struct hd_fabric *far = walker->interconnect->subnets[to].fabric;
	struct trip trip = {.walker = walker,
			    .to = to,
			    .destination = destination,
			    .lid = far->lid[far->host_port[destination]]};
	struct hd_journey_leg leg = {.subnet = from,
				     .slid = near->lid[near->host_port[source]],
				     .ingress = HD_NONE,
				     .egress = HD_NONE};

	journey->end = journey_follow(&trip, leg, near->host_switch[source]);
	for (uint32_t i = 0; i < trip.leg_count; i++)
		if (walker->legs[i].ingress != HD_NONE)
			walker->met[walker->interconnect->ports[walker->legs[i].ingress].router] =
			    false;
	journey->legs = walker->legs;
	journey->leg_count = trip.leg_count;
	journey->switches = walker->switches;
	journey->switch_count = trip.switch_count;
	journey->links = walker->links;
	journey->link_count = trip.link_count;
}

struct survey {
	struct hd_walker *walker;
	struct hd_journey_report *report;
	struct hd_dependencies graph;
	struct hd_arena arena;
};

static void count_arrival(struct survey *survey, const struct hd_journey *journey)
{
	struct hd_journey_report *report = survey->report;

	for (uint32_t i = 0; i < journey->link_count; i++) {
		report->flows[journey->links[i]]++;
		if (i)
			hd_dependencies_collect(&survey->graph, journey->links[i - 1],
						journey->links[i]);
	}
	if (journey->leg_count - 1 > report->max_routers)
		report->max_routers = journey->leg_count - 1;
	if (journey->switch_count > report->max_switches)
		report->max_switches = journey->switch_count;
}

static void visit(struct survey *survey, const struct hd_journey_fault *pair)
{
	struct hd_journey_report *report = survey->report;
	struct hd_journey journey;

	hd_walk(survey->walker, pair->from, pair->source, pair->to, pair->destination, &journey);
	report->pairs++;
	report->foreign += pair->from != pair->to;
	report->by_end[journey.end]++;
	if (journey.end == HD_JOURNEY_ARRIVED) {
		count_arrival(survey, &journey);
	} else if (report->fault_count < HD_JOURNEY_FAULTS) {
		report->faults[report->fault_count] = *pair;
		report->faults[report->fault_count++].end = journey.end;
	}
}

static bool is_adapter(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_CA;
}

static void visit_subnets(struct survey *survey, uint32_t from, uint32_t to)
{
	const struct hd_subnet *subnets = survey->walker->interconnect->subnets;
	const struct hd_fabric *near = subnets[from].fabric, *far = subnets[to].fabric;

	for (uint32_t source = 0; source < near->host_count; source++)
		for (uint32_t host = 0; is_adapter(near, source) && host < far->host_count; host++)
			if (is_adapter(far, host) && (from != to || source != host))
				visit(survey,
				      &(struct hd_journey_fault){from, source, to, host, 0});
}

static int find_cycle(struct survey *survey)
{
	struct hd_journey_report *report = survey->report;
	uint32_t links = survey->walker->joined.fabric->isl_count;

	report->cycle = calloc((size_t)links + 1, sizeof(*report->cycle));
	if (!report->cycle)
		return -ENOMEM;
	return hd_dependencies_find_cycle(&survey->graph, report->cycle, &report->cycle_length);
}

int hd_walk_all(struct hd_walker *walker, struct hd_journey_report *report, struct hd_error *err)
{
	struct survey survey = {.walker = walker, .report = report};
	uint32_t subnets = walker->interconnect->subnet_count;

	*report = (struct hd_journey_report){
	    .flows = calloc((size_t)walker->joined.fabric->isl_count + 1, sizeof(uint64_t))};
	int rc = report->flows
		     ? hd_dependencies_init(&survey.graph, walker->joined.fabric, &survey.arena)
		     : -ENOMEM;
	for (uint32_t from = 0; !rc && from < subnets; from++)
		for (uint32_t to = 0; to < subnets; to++)
			visit_subnets(&survey, from, to);
	if (!rc)
		rc = find_cycle(&survey);
	hd_arena_release(&survey.arena);
	if (!rc)
		return 0;
	hd_journey_report_release(report);
	return hd_error_no_memory(err);
}

void hd_journey_report_release(struct hd_journey_report *report)
{
	free(report->flows);
	free(report->cycle);
	report->flows = NULL;
	report->cycle = NULL;
}
