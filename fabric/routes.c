/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "routes_carry.h"

#include <assert.h>
#include <heddle/fabric/tree_labels.h>
#include <stdlib.h>

struct hd_routes *hd_routes_new_unset(const struct hd_fabric *fabric)
{
	struct hd_routes *routes = calloc(1, sizeof(*routes));

	if (!routes)
		return NULL;
	routes->switch_count = fabric->switch_count;
	routes->lid_count = fabric->lid_count;
	routes->stride = (fabric->lid_count + HD_LFT_BLOCK - 1) / HD_LFT_BLOCK * HD_LFT_BLOCK;
	size_t bytes = (size_t)routes->switch_count * routes->stride;
	routes->lft = aligned_alloc(HD_LFT_BLOCK, bytes ? bytes : HD_LFT_BLOCK);
	if (!routes->lft) {
		free(routes);
		return NULL;
	}
	return routes;
}

struct hd_routes *hd_routes_new(const struct hd_fabric *fabric)
{
	struct hd_routes *routes = hd_routes_new_unset(fabric);

	if (routes)
		memset(routes->lft, HD_NO_PORT, (size_t)routes->switch_count * routes->stride);
	return routes;
}

static void *copy_array(const void *array, size_t bytes)
{
	void *copy = aligned_alloc(HD_LFT_BLOCK, (bytes / HD_LFT_BLOCK + 1) * HD_LFT_BLOCK);

	return copy ? memcpy(copy, array, bytes) : NULL;
}

struct hd_routes *hd_routes_copy(const struct hd_routes *routes)
{
	const size_t bytes = (size_t)routes->switch_count * routes->stride;
	struct hd_routes *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *routes;
	copy->labels = hd_tree_labels_hold(routes->labels);
	copy->lft = copy_array(routes->lft, bytes);
	copy->sl = routes->sl ? copy_array(routes->sl, bytes) : NULL;
	copy->rank = routes->rank
			 ? copy_array(routes->rank, routes->switch_count * sizeof(*copy->rank))
			 : NULL;
	if (copy->lft && !copy->sl == !routes->sl && !copy->rank == !routes->rank)
		return copy;
	hd_routes_free(copy);
	return NULL;
}

void hd_routes_free(struct hd_routes *routes)
{
	if (!routes)
		return;
	free(routes->lft);
	free(routes->sl);
	free(routes->rank);
	hd_tree_labels_release(routes->labels);
	free(routes);
}

uint16_t hd_routes_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t lanes = 0;

	if (!routes->sl)
		return (uint16_t)(1u << (routes->sl2vl[0] & 15));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		bool sends = hd_has_adapters(fabric, sw);
		for (uint32_t lid = 1; sends && lid < fabric->lid_count; lid++) {
			uint32_t owner = fabric->lid_owner[lid];
			if (owner != HD_NONE && !hd_is_switch(fabric, fabric->port_node[owner]))
				lanes |= 1u << (hd_routes_vl(routes, sw, lid) & 15);
		}
	}
	return (uint16_t)lanes;
}

static uint32_t lanes_to(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 uint32_t port)
{
	uint32_t lanes = 0, first = fabric->lid[port];

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (fabric->host_base[sw] == fabric->host_base[sw + 1])
			continue;
		for (uint32_t lid = first; lid < first + hd_port_lid_count(fabric, port); lid++)
			lanes |= 1u << (hd_routes_vl(routes, sw, lid) & 15);
	}
	return lanes;
}

uint16_t hd_routes_router_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t lanes = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		if (fabric->node_type[fabric->port_node[port]] == HD_ROUTER)
			lanes |= lanes_to(fabric, routes, port);
	}
	return (uint16_t)lanes;
}

/* For each LID of `fabric`: the LID under which `from` knew the same (port GUID, offset), or 0. */
static void match_lids(const struct hd_fabric *from, const struct hd_fabric *fabric,
		       uint16_t *match)
{
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		uint32_t owner = fabric->lid_owner[lid];
		if (owner == HD_NONE)
			continue;
		uint64_t guid = fabric->port_guid[owner];
		uint32_t old = hd_fabric_find_port(
		    from, guid ? guid : fabric->node_guid[fabric->port_node[owner]]);
		uint32_t offset = lid - fabric->lid[owner];
		if (old != HD_NONE && from->lid[old] && offset < 1u << from->lmc[old])
			match[lid] = (uint16_t)(from->lid[old] + offset);
	}
}

int hd_routes_rebase(const struct hd_fabric *from_fabric, const struct hd_routes *from,
		     const struct hd_fabric *fabric, struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	struct routes_origin origin;
	bool ready = routes_origin_init(&origin, fabric->switch_count, fabric->lid_count) && routes;

	if (ready) {
		match_lids(from_fabric, fabric, origin.column);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			origin.row[sw] = hd_fabric_find_node(from_fabric, fabric->node_guid[sw]);
		ready = !routes_carry(from, &origin, routes);
	}
	routes_origin_release(&origin);
	if (!ready) {
		hd_routes_free(routes);
		return hd_error_no_memory(err);
	}
	*out = routes;
	return 0;
}

static bool same_shape(const struct hd_routes *a, const struct hd_routes *b)
{
	return a->switch_count == b->switch_count && a->lid_count == b->lid_count;
}

uint64_t hd_routes_count_changes(const struct hd_routes *a, const struct hd_routes *b)
{
	assert(same_shape(a, b));
	uint64_t changes = 0;
	for (uint32_t sw = 0; sw < a->switch_count; sw++) {
		const uint8_t *left = hd_routes_row(a, sw), *right = hd_routes_row(b, sw);
		for (uint32_t lid = 0; lid < a->lid_count; lid++)
			changes += left[lid] != right[lid];
	}
	return changes;
}

uint64_t hd_routes_count_missing(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint64_t missing = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(routes, sw), *end = row + fabric->lid_count;
		for (const uint8_t *at = row; (at = memchr(at, HD_NO_PORT, (size_t)(end - at)));
		     at++)
			missing += fabric->lid_owner[at - row] != HD_NONE;
	}
	return missing;
}

bool hd_routes_equal(const struct hd_routes *a, const struct hd_routes *b)
{
	if (!same_shape(a, b) || !a->sl != !b->sl || memcmp(a->sl2vl, b->sl2vl, sizeof(a->sl2vl)))
		return false;
	size_t bytes = (size_t)a->switch_count * a->stride;
	return !memcmp(a->lft, b->lft, bytes) && (!a->sl || !memcmp(a->sl, b->sl, bytes));
}
