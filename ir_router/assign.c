/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of ISSR and ISFR, and the assignment of router ports that both use. */
#include <errno.h>
#include <heddle/ir_router/assign.h>
#include <string.h>

struct assigning {
	const struct hd_assign_request *request;
	struct hd_map_builder *builder;
	struct hd_arena arena;
	uint32_t *load; /* [port_count] destinations */
	/* The routers, in the order of their first ports, and the ports of each in order. */
	uint32_t router_count;
	uint32_t *router; /* [port_count] number of the port's router */
	uint32_t *place; /* [port_count] of the port on its router */
	uint32_t *router_base; /* [router_count + 1] */
	uint32_t *router_ports; /* [port_count] */
	/* Ports by load, then by number: a heap for groups that all ports lead to. */
	uint32_t *heap;
	uint32_t *heap_place; /* [port_count] place of the port in the heap */
	struct hd_assign_report report;
};

static bool before(const struct assigning *assigning, uint32_t a, uint32_t b)
{
	if (assigning->load[a] != assigning->load[b])
		return assigning->load[a] < assigning->load[b];
	return a < b;
}

static void swap(struct assigning *assigning, uint32_t a, uint32_t b)
{
	uint32_t port = assigning->heap[a];

	assigning->heap[a] = assigning->heap[b];
	assigning->heap[b] = port;
	assigning->heap_place[assigning->heap[a]] = a;
	assigning->heap_place[assigning->heap[b]] = b;
}

static void add_load(struct assigning *assigning, uint32_t port)
{
	uint32_t at = assigning->heap_place[port], count = assigning->request->port_count;

	assigning->load[port]++;
	while (2 * at + 1 < count) {
		uint32_t child = 2 * at + 1;
		if (child + 1 < count &&
		    before(assigning, assigning->heap[child + 1], assigning->heap[child]))
			child++;
		if (!before(assigning, assigning->heap[child], assigning->heap[at]))
			return;
		swap(assigning, at, child);
		at = child;
	}
}

static bool leads(const struct assigning *assigning, uint32_t group, uint32_t port)
{
	const struct hd_assign_request *request = assigning->request;

	return !request->leads || request->leads[(size_t)group * request->port_count + port];
}

static uint32_t least_loaded(const struct assigning *assigning, uint32_t group)
{
	uint32_t best = HD_NONE;

	if (leads(assigning, group, assigning->heap[0]))
		return assigning->heap[0];
	for (uint32_t port = 0; port < assigning->request->port_count; port++)
		if (leads(assigning, group, port) &&
		    (best == HD_NONE || before(assigning, port, best)))
			best = port;
	return best;
}

static bool is_taken(const uint32_t *taken, unsigned count, uint32_t port)
{
	for (unsigned i = 0; i < count; i++)
		if (taken[i] == port)
			return true;
	return false;
}

/* A port of the router that leads to the group and is not taken yet, from the place on; else
 * HD_NONE. */
static uint32_t port_of(const struct assigning *assigning, uint32_t router, uint32_t place,
			uint32_t group, const uint32_t *taken, unsigned count)
{
	uint32_t base = assigning->router_base[router];
	uint32_t ports = assigning->router_base[router + 1] - base;

	for (uint32_t i = 0; i < ports; i++) {
		uint32_t port = assigning->router_ports[base + (place + i) % ports];
		if (leads(assigning, group, port) && !is_taken(taken, count, port))
			return port;
	}
	return HD_NONE;
}

/*
 * Routers in a circle, beginning behind the one of the preferred port. `turn` is different for the
 * destinations of one router, so that all other routers get equally many of them.
 */
static unsigned add_backups(const struct assigning *assigning, uint32_t group, uint32_t turn,
			    uint32_t *taken)
{
	uint32_t routers = assigning->router_count, own = assigning->router[taken[0]];
	unsigned wanted = assigning->request->backups + 1, count = 1;

	wanted = wanted > HD_MAP_PORTS_MAX ? HD_MAP_PORTS_MAX : wanted;
	for (uint32_t step = 0; step + 1 < routers && count < wanted; step++) {
		uint32_t router = (own + 1 + (turn + step) % (routers - 1)) % routers;
		uint32_t port =
		    port_of(assigning, router, assigning->place[taken[0]], group, taken, count);
		if (port != HD_NONE)
			taken[count++] = port;
	}
	while (count < wanted) {
		uint32_t port = HD_NONE;
		for (uint32_t step = 0; step < routers && port == HD_NONE; step++)
			port = port_of(assigning, (own + step) % routers,
				       assigning->place[taken[0]] + 1, group, taken, count);
		if (port == HD_NONE)
			break;
		taken[count++] = port;
	}
	return count;
}

static int add_line(struct assigning *assigning, const struct hd_gid *gid, unsigned length,
		    const uint32_t *taken, unsigned count, struct hd_error *err)
{
	uint64_t guids[HD_MAP_PORTS_MAX];

	for (unsigned i = 0; i < count; i++)
		guids[i] = assigning->request->ports[taken[i]].guid;
	return hd_map_builder_add(assigning->builder, gid, length, guids, count, 0, err);
}

/* The line that the destination has in the previous map, or NULL. */
static const struct hd_map_line *kept_line(const struct assigning *assigning,
					   const struct hd_assign_destination *destination)
{
	const struct hd_assign_request *request = assigning->request;
	const struct hd_map *previous = request->previous;
	struct hd_map_answer answer;

	if (!previous || !hd_map_resolve(previous, &destination->gid, NULL, &answer) ||
	    previous->lines[answer.line].length != HD_MAP_GID)
		return NULL;
	if (destination->wanted != HD_NONE &&
	    request->ports[destination->wanted].guid != answer.port_guid)
		return NULL;
	return &previous->lines[answer.line];
}

static uint32_t number_of(const struct hd_assign_request *request, uint64_t guid)
{
	for (uint32_t port = 0; port < request->port_count; port++)
		if (request->ports[port].guid == guid)
			return port;
	return HD_NONE;
}

/* Number of ports of the port's router. */
static uint32_t ports_beside(const struct assigning *assigning, uint32_t port)
{
	const uint32_t *base = &assigning->router_base[assigning->router[port]];

	return base[1] - base[0];
}

static int give_port(struct assigning *assigning, const struct hd_assign_destination *destination,
		     uint32_t port, struct hd_error *err)
{
	uint32_t taken[HD_MAP_PORTS_MAX] = {port};

	if (port == HD_NONE) {
		assigning->report.unreachable++;
		return 0;
	}
	uint32_t turn =
	    assigning->load[port] * ports_beside(assigning, port) + assigning->place[port];
	unsigned count = add_backups(assigning, destination->group, turn, taken);
	add_load(assigning, port);
	assigning->report.destinations++;
	return add_line(assigning, &destination->gid, HD_MAP_GID, taken, count, err);
}

/* Kept lines and wanted ports come first, because the others must even out their loads. */
static int add_fixed(struct assigning *assigning, bool *done, struct hd_error *err)
{
	const struct hd_assign_request *request = assigning->request;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < request->destination_count; i++) {
		const struct hd_assign_destination *destination = &request->destinations[i];
		const struct hd_map_line *line = kept_line(assigning, destination);
		done[i] = line || destination->wanted != HD_NONE;
		if (line) {
			const struct hd_map *previous = assigning->request->previous;
			uint64_t guids[HD_MAP_PORTS_MAX];

			for (unsigned j = 0; j < line->port_count; j++)
				guids[j] = previous->port_guid[previous->choices[line->first + j]];
			uint32_t port = number_of(assigning->request, guids[0]);
			if (port != HD_NONE)
				add_load(assigning, port);
			assigning->report.kept++;
			assigning->report.destinations++;
			rc = hd_map_builder_add(assigning->builder, &line->gid, HD_MAP_GID, guids,
						line->port_count, 0, err);
		} else if (done[i])
			rc = give_port(assigning, destination, destination->wanted, err);
	}
	return rc;
}

static int assign_allocate(struct assigning *assigning)
{
	uint32_t ports = assigning->request->port_count;
	uint32_t **lists[] = {&assigning->load,	       &assigning->router,	 &assigning->place,
			      &assigning->router_base, &assigning->router_ports, &assigning->heap,
			      &assigning->heap_place};

	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		*lists[i] = hd_arena_alloc(&assigning->arena, (size_t)ports + 1, sizeof(uint32_t));
	return hd_arena_check(&assigning->arena);
}

static void number_routers(struct assigning *assigning)
{
	const struct hd_assign_request *request = assigning->request;

	for (uint32_t port = 0; port < request->port_count; port++) {
		uint32_t other = 0;
		while (other < port && request->ports[other].router != request->ports[port].router)
			other++;
		assigning->router[port] =
		    other < port ? assigning->router[other] : assigning->router_count++;
	}
	for (uint32_t router = 0, count = 0; router < assigning->router_count; router++) {
		assigning->router_base[router] = count;
		for (uint32_t port = 0; port < request->port_count; port++) {
			if (assigning->router[port] != router)
				continue;
			assigning->place[port] = count - assigning->router_base[router];
			assigning->router_ports[count++] = port;
		}
		assigning->router_base[router + 1] = count;
	}
}

static int assign_run(struct assigning *assigning, struct hd_map **out, struct hd_error *err)
{
	if (!assigning->request->port_count)
		return hd_error_set(err, -ENOENT, "the subnet has no router port");
	if (!assigning->builder || assign_allocate(assigning))
		return hd_error_no_memory(err);
	number_routers(assigning);
	for (uint32_t port = 0; port < assigning->request->port_count; port++)
		assigning->heap[port] = assigning->heap_place[port] = port;
	const struct hd_assign_request *request = assigning->request;
	bool *done = hd_arena_alloc(&assigning->arena, request->destination_count, sizeof(*done));
	int rc = done ? add_fixed(assigning, done, err) : hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < request->destination_count; i++) {
		const struct hd_assign_destination *destination = &request->destinations[i];
		if (!done[i])
			rc = give_port(assigning, destination,
				       least_loaded(assigning, destination->group), err);
	}
	for (uint32_t port = 0; !rc && request->defaults && port < request->port_count; port++)
		rc = add_line(assigning, NULL, HD_MAP_DEFAULT, &port, 1, err);

	if (!rc)
		rc = hd_map_builder_build(assigning->builder, NULL, out, err);
	struct hd_assign_report *report = &assigning->report;
	report->fewest = UINT32_MAX;
	for (uint32_t port = 0; port < assigning->request->port_count; port++) {
		uint32_t load = assigning->load[port];
		report->ports += load > 0;
		report->fewest = load < report->fewest ? load : report->fewest;
		report->most = load > report->most ? load : report->most;
	}
	return rc;
}

int hd_assign(const struct hd_assign_request *request, struct hd_map **out,
	      struct hd_assign_report *report, struct hd_error *err)
{
	struct assigning assigning = {.request = request, .builder = hd_map_builder_new()};
	int rc = assign_run(&assigning, out, err);

	hd_map_builder_free(assigning.builder);
	hd_arena_release(&assigning.arena);
	if (!rc && report)
		*report = assigning.report;
	return rc;
}

/* What the assignments of ISSR and ISFR share: the lists of ports and of destinations of a subnet. */

struct destinations_abroad {
	const struct hd_interconnect *interconnect;
	uint32_t subnet; /* whose map it is */
	struct hd_assign_port *ports;
	bool *leads;
	struct hd_assign_destination *list;
	uint32_t *host; /* [count] index of the destination in the fabric of its subnet */
	uint32_t count;
	struct hd_arena arena;
};

static bool is_destination(const struct hd_fabric *fabric, uint32_t host)
{
	uint32_t port = fabric->host_port[host];

	return fabric->port_guid[port] && fabric->node_type[fabric->port_node[port]] == HD_CA;
}

static void list_hosts(struct destinations_abroad *abroad, uint32_t subnet)
{
	const struct hd_subnet *other = &abroad->interconnect->subnets[subnet];

	for (uint32_t host = 0; host < other->fabric->host_count; host++) {
		if (!is_destination(other->fabric, host))
			continue;
		struct hd_gid gid = {other->prefix,
				     other->fabric->port_guid[other->fabric->host_port[host]]};
		abroad->host[abroad->count] = host;
		abroad->list[abroad->count++] =
		    (struct hd_assign_destination){.gid = gid, .group = subnet, .wanted = HD_NONE};
	}
}

static void list_ports(struct destinations_abroad *abroad)
{
	const struct hd_interconnect *interconnect = abroad->interconnect;
	const uint32_t *base = &interconnect->ordered_base[abroad->subnet];
	uint32_t count = base[1] - base[0];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = interconnect->ordered[base[0] + i];
		const struct hd_router_port *port = &interconnect->ports[number];
		abroad->ports[i] =
		    (struct hd_assign_port){port->guid, interconnect->router_guid[port->router]};
		for (uint32_t to = 0; to < interconnect->subnet_count; to++)
			abroad->leads[(size_t)to * count + i] =
			    hd_interconnect_leads(interconnect, number, to);
	}
}

/* Lists all ports of channel adapters of other subnets, each without a wanted port; the group is
 * the subnet. Released in any case. Errors: -ENOMEM. */
static int destinations_abroad_list(struct destinations_abroad *abroad,
				    const struct hd_interconnect *interconnect, uint32_t subnet)
{
	uint32_t hosts = 0;
	uint32_t ports =
	    interconnect->ordered_base[subnet + 1] - interconnect->ordered_base[subnet];

	*abroad = (struct destinations_abroad){.interconnect = interconnect, .subnet = subnet};
	for (uint32_t i = 0; i < interconnect->subnet_count; i++)
		hosts += interconnect->subnets[i].fabric->host_count;
	abroad->ports = hd_arena_alloc(&abroad->arena, ports, sizeof(*abroad->ports));
	abroad->leads = hd_arena_alloc(&abroad->arena, (size_t)interconnect->subnet_count * ports,
				       sizeof(bool));
	abroad->list = hd_arena_alloc(&abroad->arena, hosts, sizeof(*abroad->list));
	abroad->host = hd_arena_alloc(&abroad->arena, hosts, sizeof(*abroad->host));
	if (hd_arena_check(&abroad->arena))
		return -ENOMEM;
	list_ports(abroad);
	for (uint32_t other = 0; other < interconnect->subnet_count; other++)
		if (other != subnet)
			list_hosts(abroad, other);
	return 0;
}

/* The request for these lists. Valid as long as both. */
static struct hd_assign_request
destinations_abroad_request(const struct destinations_abroad *abroad,
			    const struct hd_map_options *options)
{
	const uint32_t *base = &abroad->interconnect->ordered_base[abroad->subnet];

	return (struct hd_assign_request){.ports = abroad->ports,
					  .port_count = base[1] - base[0],
					  .leads = abroad->leads,
					  .destinations = abroad->list,
					  .destination_count = abroad->count,
					  .backups = options ? options->backups : HD_ASSIGN_BACKUPS,
					  .defaults = !options || !options->no_defaults,
					  .previous = options ? options->previous : NULL};
}

int hd_issr_map(const struct hd_interconnect *interconnect, uint32_t subnet,
		const struct hd_map_options *options, struct hd_map **out,
		struct hd_assign_report *report, struct hd_error *err)
{
	struct destinations_abroad abroad;
	int rc = destinations_abroad_list(&abroad, interconnect, subnet);

	if (!rc) {
		struct hd_assign_request request = destinations_abroad_request(&abroad, options);
		rc = hd_assign(&request, out, report, err);
		if (rc)
			rc = hd_error_prefix(err, rc, "%s", interconnect->subnets[subnet].name);
	} else {
		rc = hd_error_no_memory(err);
	}
	hd_arena_release(&abroad.arena);
	return rc;
}

/* The router port of each prefix: the first one that leads there, another one for each prefix. */
static int add_prefixes(const struct hd_interconnect *interconnect, uint32_t subnet,
			struct hd_map_builder *builder, struct hd_error *err)
{
	const uint32_t *base = &interconnect->ordered_base[subnet];
	uint32_t ports = base[1] - base[0], next = 0;
	int rc = 0;

	for (uint32_t to = 0; !rc && to < interconnect->subnet_count; to++) {
		struct hd_gid gid = {interconnect->subnets[to].prefix, 0};
		uint32_t tries = 0;
		while (tries < ports &&
		       !hd_interconnect_leads(interconnect,
					      interconnect->ordered[base[0] + next % ports], to)) {
			next++;
			tries++;
		}
		if (to == subnet || tries == ports)
			continue;
		uint32_t port = interconnect->ordered[base[0] + next++ % ports];
		rc = hd_map_builder_add(builder, &gid, 64, &interconnect->ports[port].guid, 1, 0,
					err);
	}
	return rc;
}

int hd_prefix_map(const struct hd_interconnect *interconnect, uint32_t subnet, struct hd_map **out,
		  struct hd_error *err)
{
	struct hd_map_builder *builder = hd_map_builder_new();
	int rc =
	    builder ? add_prefixes(interconnect, subnet, builder, err) : hd_error_no_memory(err);

	if (!rc)
		rc = hd_map_builder_build(builder, NULL, out, err);
	hd_map_builder_free(builder);
	return rc;
}

/* Why the subnet, or the host in it, has no path by ISFR; *number becomes D. */
static enum hd_isfr_reason find_number(const struct hd_isfr_subnet *subnet, uint32_t host,
				       uint32_t *number)
{
	if (subnet->reason)
		return subnet->reason;
	if (subnet->number[host] == HD_NONE)
		return HD_ISFR_NO_PLACE;
	*number = subnet->base + subnet->number[host];
	return HD_ISFR_USED;
}

/* The cable by which host number D is reached from the top of the subnet, as an index. */
static uint32_t cable_of(const struct hd_isfr_subnet *subnet, uint32_t number)
{
	uint32_t cable = number / subnet->groups % subnet->cables;

	return number % subnet->groups * subnet->cables + cable;
}

uint32_t hd_isfr_egress(const struct hd_isfr_plan *plan, uint32_t router, uint32_t subnet,
			uint32_t host)
{
	const struct hd_isfr_subnet *to = &plan->subnets[subnet];
	uint32_t routers = plan->interconnect->router_count, number;

	if (find_number(to, host, &number))
		return HD_NONE;
	uint32_t group = number % to->groups, parallel = number / to->groups % to->cables / routers;
	return to->port[group * to->cables + parallel * routers + router];
}

enum hd_isfr_reason hd_isfr_path(const struct hd_isfr_plan *plan, uint32_t from, uint32_t subnet,
				 uint32_t host, struct hd_isfr_path *path)
{
	const struct hd_isfr_subnet *source = &plan->subnets[from];
	uint32_t number;
	enum hd_isfr_reason reason = find_number(&plan->subnets[subnet], host, &number);

	if (!reason)
		reason = source->reason;
	if (reason)
		return reason;
	path->ingress = source->port[cable_of(source, number)];
	if (path->ingress == HD_NONE)
		return HD_ISFR_NO_CABLE;
	path->egress =
	    hd_isfr_egress(plan, plan->interconnect->ports[path->ingress].router, subnet, host);
	if (path->egress == HD_NONE)
		return HD_ISFR_NO_CABLE;
	path->top = plan->interconnect->ports[path->egress].sw;
	return HD_ISFR_USED;
}

int hd_isfr_map(const struct hd_isfr_plan *plan, uint32_t subnet,
		const struct hd_map_options *options, struct hd_map **out,
		struct hd_isfr_report *report, struct hd_error *err)
{
	struct destinations_abroad abroad;
	struct hd_isfr_report counts = {.by_reason = {0}};
	int rc = destinations_abroad_list(&abroad, plan->interconnect, subnet);
	uint32_t *number =
	    hd_arena_alloc(&abroad.arena, plan->interconnect->port_count, sizeof(*number));

	if (!rc && number) {
		/* Sets the wanted ports. A port's number in the request is its place in the subnet's order. */
		const struct hd_interconnect *interconnect = plan->interconnect;
		const uint32_t *base = &interconnect->ordered_base[abroad.subnet];

		for (uint32_t i = base[0]; i < base[1]; i++)
			number[interconnect->ordered[i]] = i - base[0];
		for (uint32_t i = 0; i < abroad.count; i++) {
			struct hd_isfr_path path;
			enum hd_isfr_reason reason = hd_isfr_path(
			    plan, abroad.subnet, abroad.list[i].group, abroad.host[i], &path);
			counts.by_reason[reason]++;
			if (!reason)
				abroad.list[i].wanted = number[path.ingress];
		}
		struct hd_assign_request request = destinations_abroad_request(&abroad, options);
		rc = hd_assign(&request, out, &counts.assigned, err);
		if (rc)
			rc = hd_error_prefix(err, rc, "%s",
					     plan->interconnect->subnets[subnet].name);
	} else {
		rc = hd_error_no_memory(err);
	}
	hd_arena_release(&abroad.arena);
	if (!rc && report)
		*report = counts;
	return rc;
}
