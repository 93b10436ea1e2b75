/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_spanning.h"
#include "oracle_tree.h"

#include <stdlib.h>

bool oracle_spanning_parents(const struct hd_fabric *fabric, uint32_t root, uint32_t *parent)
{
	bool *is_root = calloc(fabric->switch_count, sizeof(*is_root));
	uint32_t *rank = calloc(fabric->switch_count, sizeof(*rank));

	if (is_root && rank) {
		is_root[root] = true;
		oracle_tree_ranks(fabric, is_root, rank);
	}
	for (uint32_t sw = 0; is_root && rank && sw < fabric->switch_count; sw++) {
		parent[sw] = HD_NONE;
		for (uint32_t link = fabric->isl_base[sw + 1]; link-- > fabric->isl_base[sw];)
			if (rank[sw] && rank[fabric->isl_to[link]] == rank[sw] - 1)
				parent[sw] = link;
	}
	bool done = is_root && rank;
	free(is_root);
	free(rank);
	return done;
}

/* The link by which `sw` sends to switch `to`: down if that is below, else to its parent. HD_NONE
 * if the two are in different components. */
static uint32_t next_link(const struct hd_fabric *fabric, const uint32_t *parent, uint32_t sw,
			  uint32_t to)
{
	uint32_t top_of_sw = sw, top_of_to = to;

	for (uint32_t at = to; parent[at] != HD_NONE; at = fabric->isl_to[parent[at]])
		if (fabric->isl_to[parent[at]] == sw)
			return fabric->isl_reverse[parent[at]];
	while (parent[top_of_sw] != HD_NONE)
		top_of_sw = fabric->isl_to[parent[top_of_sw]];
	while (parent[top_of_to] != HD_NONE)
		top_of_to = fabric->isl_to[parent[top_of_to]];
	return top_of_sw == top_of_to ? parent[sw] : HD_NONE;
}

static void fill(const struct hd_fabric *fabric, const uint32_t *parent, struct hd_routes *routes)
{
	uint32_t destination, link;
	uint8_t port;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
			if (!hd_fabric_lid_destination(fabric, lid, &destination, &port))
				continue;
			link = sw == destination ? HD_NONE
						 : next_link(fabric, parent, sw, destination);
			if (sw == destination)
				hd_routes_row(routes, sw)[lid] = port;
			else if (link != HD_NONE)
				hd_routes_row(routes, sw)[lid] = fabric->isl_port[link];
		}
}

struct hd_routes *oracle_spanning_route(const struct hd_fabric *fabric, uint32_t root)
{
	uint32_t *parent = calloc(fabric->switch_count, sizeof(*parent));
	struct hd_routes *routes = hd_routes_new(fabric);

	if (!routes || !parent || !oracle_spanning_parents(fabric, root, parent)) {
		hd_routes_free(routes);
		routes = NULL;
	} else {
		fill(fabric, parent, routes);
	}
	free(parent);
	return routes;
}

uint32_t oracle_spanning_cables(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t cables = 0, destination;
	uint8_t port;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
		uint8_t there = fabric->isl_port[link];
		uint8_t back = fabric->isl_port[fabric->isl_reverse[link]];
		bool used = false;
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			if (hd_fabric_lid_destination(fabric, lid, &destination, &port))
				used |= (near != destination &&
					 hd_routes_port(routes, near, lid) == there) ||
					(far != destination &&
					 hd_routes_port(routes, far, lid) == back);
		cables += used && link < fabric->isl_reverse[link];
	}
	return cables;
}
