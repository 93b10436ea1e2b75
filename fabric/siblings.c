/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/siblings.h>

#include <stdlib.h>
#include <string.h>

/* ---- which hosts ---- */

/* A host by the system image GUID of its adapter. */
struct member {
	uint64_t system;
	uint32_t host;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->system != b->system)
		return a->system < b->system ? -1 : 1;
	return a->host < b->host ? -1 : a->host > b->host;
}

static uint32_t node_of(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->port_node[fabric->host_port[host]];
}

static void join(uint32_t *sibling, uint32_t a, uint32_t b)
{
	sibling[a] = b;
	sibling[b] = a;
}

/* Two ports of one adapter. Returns how many pairs there are. first, count: [node_count], of the hosts of a node. */
static uint32_t join_ports(const struct hd_fabric *fabric, uint32_t *first, uint32_t *count,
			   uint32_t *sibling)
{
	uint32_t pairs = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		const uint32_t node = node_of(fabric, host);

		if (!count[node]++)
			first[node] = host;
	}
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		const uint32_t node = node_of(fabric, host);

		if (count[node] != 2 || first[node] == host || fabric->node_type[node] != HD_CA)
			continue;
		join(sibling, first[node], host);
		pairs++;
	}
	return pairs;
}

/* Whether a node is an adapter with one host. */
static bool may_share(const struct hd_fabric *fabric, const uint32_t *count, uint32_t node)
{
	return count[node] == 1 && fabric->node_type[node] == HD_CA;
}

/* Two adapters with one system image GUID, which may be the GUID of one of them. */
static uint32_t join_adapters(const struct hd_fabric *fabric, const uint32_t *first,
			      const uint32_t *count, struct member *members, uint32_t *sibling)
{
	uint32_t size = 0, pairs = 0;

	for (uint32_t node = fabric->switch_count; node < fabric->node_count; node++) {
		const uint64_t system = fabric->system_guid[node];

		if (!count[node] || !system || system == fabric->node_guid[node])
			continue;
		members[size++] = (struct member){system, first[node]};
		const uint32_t named = hd_fabric_find_node(fabric, system);
		if (named != HD_NONE && count[named] && fabric->system_guid[named] == system)
			members[size++] = (struct member){system, first[named]};
	}
	if (size)
		qsort(members, size, sizeof(*members), compare_members);
	for (uint32_t begin = 0, end; begin < size; begin = end) {
		uint32_t last = begin, different = 1;
		bool fit = may_share(fabric, count, node_of(fabric, members[begin].host));

		for (end = begin + 1; end < size && members[end].system == members[begin].system;
		     end++) {
			if (members[end].host == members[last].host)
				continue;
			last = end;
			different++;
			fit &= may_share(fabric, count, node_of(fabric, members[end].host));
		}
		if (different != 2 || !fit)
			continue;
		join(sibling, members[begin].host, members[last].host);
		pairs++;
	}
	return pairs;
}

int hd_siblings_find(const struct hd_fabric *fabric, struct hd_arena *arena, uint32_t **out)
{
	struct hd_arena scratch = {0};
	uint32_t *first = hd_arena_alloc(&scratch, fabric->node_count, sizeof(*first));
	uint32_t *count = hd_arena_alloc(&scratch, fabric->node_count, sizeof(*count));
	struct member *members =
	    hd_arena_alloc(&scratch, (size_t)fabric->node_count * 2, sizeof(*members));
	uint32_t *sibling = hd_arena_alloc(arena, fabric->host_count, sizeof(*sibling));
	int rc = hd_arena_check(&scratch) || !sibling ? -ENOMEM : 0;

	if (!rc) {
		memset(sibling, 0xFF, fabric->host_count * sizeof(*sibling));
		uint32_t pairs = join_ports(fabric, first, count, sibling);
		pairs += join_adapters(fabric, first, count, members, sibling);
		*out = pairs ? sibling : NULL;
	}
	hd_arena_release(&scratch);
	return rc;
}

int hd_siblings_lids(const struct hd_fabric *fabric, struct hd_arena *arena, uint16_t **out)
{
	uint32_t *sibling;
	int rc = hd_siblings_find(fabric, arena, &sibling);
	uint16_t *lids =
	    !rc && sibling ? hd_arena_alloc(arena, fabric->lid_count, sizeof(*lids)) : NULL;

	if (rc || (sibling && !lids))
		return -ENOMEM;
	for (uint32_t host = 0; sibling && host < fabric->host_count; host++) {
		if (sibling[host] == HD_NONE)
			continue;
		const uint32_t own = fabric->host_port[host];
		const uint32_t other = fabric->host_port[sibling[host]];
		const uint32_t most = hd_port_lid_count(fabric, other);

		for (uint32_t i = 0; i < hd_port_lid_count(fabric, own) && i < most; i++)
			lids[fabric->lid[own] + i] = (uint16_t)(fabric->lid[other] + i);
	}
	*out = lids;
	return 0;
}

/* ---- tables ---- */

static bool has_two_leaves(const struct hd_fabric *fabric)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		count += hd_has_hosts(fabric, sw);
	return count == 2;
}

/* The switches of a path. */
struct between {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t *mark; /* [switch_count] number of the path that passed it last */
	uint32_t path;
	bool two_leaves; /* there are no other switches with hosts */
};

/* Marks the switches of a path between its ends; a loop ends it. */
static void mark_path(struct between *between, uint32_t sw, uint32_t lid, uint32_t exit)
{
	const struct hd_fabric *fabric = between->fabric;

	between->path++;
	for (uint32_t hops = 0; sw != exit && hops < fabric->switch_count; hops++) {
		const uint32_t link =
		    hd_fabric_find_isl(fabric, sw, hd_routes_port(between->routes, sw, lid));

		if (link == HD_NONE)
			return;
		sw = fabric->isl_to[link];
		if (sw != exit)
			between->mark[sw] = between->path;
	}
}

/* Whether a path passes a switch that is marked. */
static bool meets_marked(const struct between *between, uint32_t sw, uint32_t lid, uint32_t exit)
{
	const struct hd_fabric *fabric = between->fabric;

	for (uint32_t hops = 0; sw != exit && hops < fabric->switch_count; hops++) {
		const uint32_t link =
		    hd_fabric_find_isl(fabric, sw, hd_routes_port(between->routes, sw, lid));

		if (link == HD_NONE)
			return false;
		sw = fabric->isl_to[link];
		if (sw != exit && between->mark[sw] == between->path)
			return true;
	}
	return false;
}

static bool is_joined(struct between *between, uint32_t host, uint32_t other)
{
	const struct hd_fabric *fabric = between->fabric;
	const uint32_t exit = fabric->host_switch[host], far = fabric->host_switch[other];
	const uint32_t lid = fabric->lid[fabric->host_port[host]];
	const uint32_t other_lid = fabric->lid[fabric->host_port[other]];
	bool joined = false;

	for (uint32_t sw = 0; !joined && sw < fabric->switch_count; sw++) {
		if (!hd_has_hosts(fabric, sw) || sw == exit || (sw == far && !between->two_leaves))
			continue;
		mark_path(between, sw, lid, exit);
		joined = meets_marked(between, sw == far ? exit : sw, other_lid, far);
	}
	return joined;
}

int hd_siblings_check(const struct hd_fabric *fabric, const struct hd_routes *routes,
		      struct hd_siblings_report *out)
{
	struct hd_arena arena = {0};
	struct between between = {
	    .fabric = fabric,
	    .routes = routes,
	    .two_leaves = has_two_leaves(fabric),
	    .mark = hd_arena_alloc(&arena, fabric->switch_count, sizeof(uint32_t))};
	struct hd_siblings_report report = {0};
	uint32_t *sibling = NULL;
	int rc = between.mark ? hd_siblings_find(fabric, &arena, &sibling) : -ENOMEM;

	for (uint32_t host = 0; !rc && sibling && host < fabric->host_count; host++) {
		if (sibling[host] == HD_NONE || sibling[host] < host)
			continue;
		report.nodes++;
		report.joined += is_joined(&between, host, sibling[host]);
	}
	hd_arena_release(&arena);
	if (!rc)
		*out = report;
	return rc;
}
