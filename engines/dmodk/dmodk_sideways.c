/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dmodk_sideways.h"
#include "dmodk_choice.h"

#include <heddle/fabric/tree_labels.h>
#include <stdlib.h>
#include <string.h>

/* One leaf, and the leaf at the other end. */
struct sideways {
	const struct hd_fabric *fabric;
	const struct hd_tree_labels *labels; /* NULL: none */
	uint32_t leaf, far;
	uint8_t ports[HD_TREE_FANOUT]; /* of the leaf: those that may lead sideways */
	uint32_t port_count;
};

static int compare_guid(const void *key, const void *item)
{
	uint64_t guid = *(const uint64_t *)key, other = ((const struct hd_tree_label *)item)->guid;

	return guid < other ? -1 : guid > other;
}

static const struct hd_tree_label *label_of(const struct sideways *sideways, uint32_t sw)
{
	const struct hd_tree_labels *labels = sideways->labels;

	return labels ? bsearch(&sideways->fabric->node_guid[sw], labels->items, labels->count,
				sizeof(*labels->items), compare_guid)
		      : NULL;
}

static bool leads_to_far(const struct sideways *sideways, uint8_t port)
{
	uint32_t link = hd_fabric_find_isl(sideways->fabric, sideways->leaf, port);

	return link != HD_NONE && sideways->fabric->isl_to[link] == sideways->far;
}

/* Ports that have no place in the tree, and those that lead to the other leaf now. */
static void list_ports(struct sideways *sideways)
{
	const struct hd_tree_label *label = label_of(sideways, sideways->leaf);

	sideways->port_count = 0;
	for (uint32_t port = 1; port <= hd_node_ports(sideways->fabric, sideways->leaf); port++) {
		bool is_free = label && !memchr(label->up_port, (int)port, HD_TREE_FANOUT) &&
			       !memchr(label->down_port, (int)port, HD_TREE_FANOUT);
		if (is_free || leads_to_far(sideways, (uint8_t)port))
			sideways->ports[sideways->port_count++] = (uint8_t)port;
	}
}

/* The number of a host on its leaf, which stays if other hosts go. */
static uint32_t slot_of(const struct sideways *sideways, uint32_t host)
{
	const struct hd_tree_label *label = label_of(sideways, sideways->far);
	uint8_t port = sideways->fabric->host_switch_port[host];
	const uint8_t *slot = label ? memchr(label->down_port, port, HD_TREE_FANOUT) : NULL;

	return slot ? (uint32_t)(slot - label->down_port)
		    : host - sideways->fabric->host_base[sideways->far];
}

static bool can_cross(const void *context, uint32_t number)
{
	const struct sideways *sideways = context;

	return leads_to_far(sideways, sideways->ports[number]);
}

static void cross(const struct sideways *sideways, struct hd_routes *routes, uint32_t host)
{
	const struct hd_fabric *fabric = sideways->fabric;
	uint32_t port = fabric->host_port[host], slot = slot_of(sideways, host);

	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++) {
		const struct dmodk_order order = {.count = sideways->port_count,
						  .first = (slot + offset) % sideways->port_count,
						  .key = slot + offset};
		uint32_t chosen = dmodk_choose(&order, can_cross, sideways);
		if (chosen < order.count)
			hd_routes_row(routes, sideways->leaf)[fabric->lid[port] + offset] =
			    sideways->ports[chosen];
	}
}

void dmodk_sideways_use(const struct hd_fabric *fabric, const struct hd_tree_pruned *pruned,
			struct hd_routes *routes)
{
	struct sideways sideways = {.fabric = fabric, .labels = routes->labels};

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		sideways.leaf = hd_isl_from(fabric, link);
		sideways.far = fabric->isl_to[link];
		if (pruned->level[sideways.leaf] || pruned->level[sideways.far])
			continue;
		list_ports(&sideways);
		for (uint32_t host = fabric->host_base[sideways.far];
		     sideways.port_count && host < fabric->host_base[sideways.far + 1]; host++)
			cross(&sideways, routes, host);
	}
}
