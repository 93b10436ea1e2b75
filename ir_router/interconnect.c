/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several subnets and the routers between them, as one read-only object.
 *
 * hd_interconnect_new() is called with the fabrics of all subnets and their maps. It checks that prefixes differ,
 * finds the routers by their node GUIDs, lists the ports of each router by subnet and the ports of each subnet by
 * router, and measures how many routers lie between any two subnets. The others look up in it: the relay, journeys,
 * ISFR plans and the simulator. Subnets keep the order of the caller; ports are ordered by subnet, router and number.
 */
#include <heddle/ir_router/interconnect.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A node of a subnet, to find the nodes of several. */
struct member {
	uint64_t guid;
	uint32_t subnet, node;
};

struct joining {
	struct hd_interconnect *interconnect;
	struct member *members; /* all nodes by GUID, then subnet */
	uint32_t member_count;
	struct hd_error *err;
};

static int compare_subnets(const void *a, const void *b)
{
	uint64_t x = ((const struct hd_subnet *)a)->prefix;
	uint64_t y = ((const struct hd_subnet *)b)->prefix;

	return x < y ? -1 : x > y;
}

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return (int)a->subnet - (int)b->subnet;
}

static int check_subnets(const struct hd_interconnect *interconnect, struct hd_error *err)
{
	const struct hd_subnet *subnets = interconnect->subnets;

	for (uint32_t i = 0; i < interconnect->subnet_count; i++) {
		int rc = hd_prefix_check(subnets[i].prefix, err);
		if (rc)
			return hd_error_prefix(err, rc, "%s", subnets[i].name);
		if (i && subnets[i].prefix == subnets[i - 1].prefix)
			return hd_error_set(
			    err, -EINVAL, "%s and %s: both have the subnet prefix 0x%016" PRIx64,
			    subnets[i - 1].name, subnets[i].name, subnets[i].prefix);
	}
	return 0;
}

static const struct hd_fabric *fabric_of(const struct joining *joining, const struct member *member)
{
	return joining->interconnect->subnets[member->subnet].fabric;
}

static bool is_router(const struct joining *joining, const struct member *member)
{
	return fabric_of(joining, member)->node_type[member->node] == HD_ROUTER;
}

static int list_members(struct joining *joining)
{
	const struct hd_interconnect *interconnect = joining->interconnect;
	uint32_t count = 0;

	for (uint32_t i = 0; i < interconnect->subnet_count; i++)
		count += interconnect->subnets[i].fabric->node_count;
	joining->members = malloc(((size_t)count + 1) * sizeof(*joining->members));
	if (!joining->members)
		return -ENOMEM;
	for (uint32_t i = 0; i < interconnect->subnet_count; i++)
		for (uint32_t node = 0; node < interconnect->subnets[i].fabric->node_count; node++)
			joining->members[joining->member_count++] = (struct member){
			    interconnect->subnets[i].fabric->node_guid[node], i, node};
	qsort(joining->members, count, sizeof(*joining->members), compare_members);
	return 0;
}

static int check_members(const struct joining *joining)
{
	const struct hd_subnet *subnets = joining->interconnect->subnets;

	for (uint32_t i = 1; i < joining->member_count; i++) {
		const struct member *a = &joining->members[i - 1], *b = &joining->members[i];
		if (a->guid == b->guid && !(is_router(joining, a) && is_router(joining, b)))
			return hd_error_set(joining->err, -EINVAL,
					    "%s and %s: both have a node with GUID 0x%016" PRIx64
					    " that is no router",
					    subnets[a->subnet].name, subnets[b->subnet].name,
					    a->guid);
	}
	return 0;
}

/* Appends the ports of a router node that are cabled to switches of its subnet. */
static void add_ports(struct joining *joining, const struct member *member, uint32_t router)
{
	struct hd_interconnect *interconnect = joining->interconnect;
	const struct hd_fabric *fabric = fabric_of(joining, member);
	uint32_t place = 0;

	for (uint32_t number = 1; number <= hd_node_ports(fabric, member->node); number++) {
		uint32_t port = hd_port_index(fabric, member->node, number);
		uint32_t peer = fabric->peer[port];
		if (peer == HD_NONE || !hd_is_switch(fabric, fabric->port_node[peer]))
			continue;
		interconnect->ports[interconnect->port_count++] =
		    (struct hd_router_port){.router = router,
					    .subnet = member->subnet,
					    .port = port,
					    .number = number,
					    .place = place++,
					    .guid = fabric->port_guid[port],
					    .lid = fabric->lid[port],
					    .sw = fabric->port_node[peer],
					    .sw_port = (uint8_t)hd_port_number(fabric, peer)};
	}
}

static int check_ports(const struct joining *joining, uint32_t first)
{
	const struct hd_interconnect *interconnect = joining->interconnect;
	const struct hd_router_port *ports = interconnect->ports;

	for (uint32_t i = first; i < interconnect->port_count; i++)
		for (uint32_t earlier = first; earlier < i; earlier++)
			if (ports[earlier].number == ports[i].number)
				return hd_error_set(
				    joining->err, -EINVAL,
				    "%s and %s: port %u of router 0x%016" PRIx64
				    " is cabled in both",
				    interconnect->subnets[ports[earlier].subnet].name,
				    interconnect->subnets[ports[i].subnet].name, ports[i].number,
				    interconnect->router_guid[ports[i].router]);
	return 0;
}

static void count_room(const struct joining *joining, uint32_t *routers, uint32_t *ports)
{
	*routers = *ports = 0;
	for (uint32_t i = 0; i < joining->member_count; i++) {
		const struct member *member = &joining->members[i];
		if (!is_router(joining, member))
			continue;
		*routers += !i || joining->members[i - 1].guid != member->guid;
		*ports += hd_node_ports(fabric_of(joining, member), member->node);
	}
}

static int list_routers(struct joining *joining)
{
	struct hd_interconnect *interconnect = joining->interconnect;
	uint32_t first = 0;

	for (uint32_t i = 0; i < joining->member_count; i++) {
		const struct member *member = &joining->members[i];
		uint32_t router = interconnect->router_count;
		if (!is_router(joining, member))
			continue;
		if (!i || joining->members[i - 1].guid != member->guid) {
			interconnect->router_count++;
			interconnect->router_guid[router] = member->guid;
			interconnect->router_name[router] =
			    fabric_of(joining, member)->node_name[member->node];
			first = interconnect->port_count;
		} else {
			router--;
		}
		add_ports(joining, member, router);
		int rc = check_ports(joining, first);
		if (rc)
			return rc;
	}
	return 0;
}

static void index_ports(struct hd_interconnect *interconnect)
{
	uint32_t *base = interconnect->first_port, subnets = interconnect->subnet_count;

	for (uint32_t i = 0; i < interconnect->port_count; i++)
		base[interconnect->ports[i].router * subnets + interconnect->ports[i].subnet + 1]++;
	for (uint32_t i = 0; i < interconnect->router_count * subnets; i++)
		base[i + 1] += base[i];
}

/* By place, then router, for each subnet. The ports are by router and place already. */
static void order_ports(struct hd_interconnect *interconnect)
{
	uint32_t count = 0;

	for (uint32_t subnet = 0; subnet < interconnect->subnet_count; subnet++) {
		uint32_t before;
		interconnect->ordered_base[subnet] = count;
		for (uint32_t place = 0, more = 1; more; place++) {
			before = count;
			for (uint32_t router = 0; router < interconnect->router_count; router++) {
				uint32_t first;
				if (place <
				    hd_interconnect_ports(interconnect, router, subnet, &first))
					interconnect->ordered[count++] = first + place;
			}
			more = count > before;
		}
	}
	interconnect->ordered_base[interconnect->subnet_count] = count;
}

/* Whether a router has ports in both subnets. */
static bool are_joined(const struct hd_interconnect *interconnect, uint32_t a, uint32_t b)
{
	uint32_t first;

	for (uint32_t router = 0; router < interconnect->router_count; router++)
		if (hd_interconnect_ports(interconnect, router, a, &first) &&
		    hd_interconnect_ports(interconnect, router, b, &first))
			return true;
	return false;
}

/* Breadth-first from each subnet; `distance` itself tells which subnets were met. */
static void interconnect_measure(struct hd_interconnect *interconnect)
{
	uint32_t count = interconnect->subnet_count;

	memset(interconnect->distance, 0xFF, (size_t)count * count * sizeof(uint32_t));
	for (uint32_t from = 0; from < count; from++) {
		uint32_t *distance = interconnect->distance + (size_t)from * count;
		distance[from] = 0;
		for (uint32_t hops = 0; hops < count; hops++)
			for (uint32_t a = 0; a < count; a++)
				for (uint32_t b = 0; distance[a] == hops && b < count; b++)
					if (distance[b] == HD_NONE &&
					    are_joined(interconnect, a, b))
						distance[b] = hops + 1;
	}
}

static int interconnect_join(struct joining *joining)
{
	int rc = list_members(joining);

	if (!rc)
		rc = check_members(joining);
	if (!rc) {
		struct hd_interconnect *interconnect = joining->interconnect;
		struct hd_arena *arena = &interconnect->arena;
		uint32_t routers, ports, subnets = interconnect->subnet_count;

		count_room(joining, &routers, &ports);
		interconnect->router_guid = hd_arena_alloc(arena, routers, sizeof(uint64_t));
		interconnect->router_name = hd_arena_alloc(arena, routers, sizeof(char *));
		interconnect->ports = hd_arena_alloc(arena, ports, sizeof(*interconnect->ports));
		interconnect->ordered = hd_arena_alloc(arena, ports, sizeof(uint32_t));
		interconnect->first_port =
		    hd_arena_alloc(arena, (size_t)routers * subnets + 1, sizeof(uint32_t));
		interconnect->ordered_base = hd_arena_alloc(arena, subnets + 1, sizeof(uint32_t));
		interconnect->distance = hd_arena_alloc(arena, subnets, subnets * sizeof(uint32_t));
		rc = hd_arena_check(arena);
	}
	if (!rc)
		rc = list_routers(joining);
	if (rc)
		return rc == -ENOMEM ? hd_error_no_memory(joining->err) : rc;
	index_ports(joining->interconnect);
	order_ports(joining->interconnect);
	interconnect_measure(joining->interconnect);
	return 0;
}

int hd_interconnect_new(const struct hd_subnet *subnets, uint32_t count,
			struct hd_interconnect **out, struct hd_error *err)
{
	struct hd_interconnect *interconnect = calloc(1, sizeof(*interconnect));
	struct joining joining = {.interconnect = interconnect, .err = err};

	if (!interconnect)
		return hd_error_no_memory(err);
	interconnect->subnet_count = count;
	interconnect->subnets =
	    hd_arena_alloc(&interconnect->arena, count, sizeof(*interconnect->subnets));
	int rc = interconnect->subnets ? 0 : hd_error_no_memory(err);
	if (!rc) {
		memcpy(interconnect->subnets, subnets, count * sizeof(*subnets));
		qsort(interconnect->subnets, count, sizeof(*subnets), compare_subnets);
		rc = check_subnets(interconnect, err);
	}
	if (!rc)
		rc = interconnect_join(&joining);
	free(joining.members);
	if (rc)
		hd_interconnect_free(interconnect);
	else
		*out = interconnect;
	return rc;
}

void hd_interconnect_free(struct hd_interconnect *interconnect)
{
	if (!interconnect)
		return;
	hd_arena_release(&interconnect->arena);
	free(interconnect);
}

uint32_t hd_interconnect_find_subnet(const struct hd_interconnect *interconnect, uint64_t prefix)
{
	uint32_t low = 0, high = interconnect->subnet_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (interconnect->subnets[middle].prefix < prefix)
			low = middle + 1;
		else
			high = middle;
	}
	return low < interconnect->subnet_count && interconnect->subnets[low].prefix == prefix
		   ? low
		   : HD_NONE;
}

uint32_t hd_interconnect_find_port(const struct hd_interconnect *interconnect, uint32_t subnet,
				   uint64_t guid)
{
	for (uint32_t i = interconnect->ordered_base[subnet];
	     i < interconnect->ordered_base[subnet + 1]; i++)
		if (interconnect->ports[interconnect->ordered[i]].guid == guid)
			return interconnect->ordered[i];
	return HD_NONE;
}

bool hd_interconnect_leads(const struct hd_interconnect *interconnect, uint32_t port, uint32_t to)
{
	const struct hd_router_port *from = &interconnect->ports[port];
	uint32_t count = interconnect->subnet_count, first;
	uint32_t here = interconnect->distance[(size_t)from->subnet * count + to];

	for (uint32_t subnet = 0; subnet < count; subnet++) {
		uint32_t there = interconnect->distance[(size_t)subnet * count + to];
		if (there < here && here != HD_NONE &&
		    hd_interconnect_ports(interconnect, from->router, subnet, &first))
			return true;
	}
	return false;
}
