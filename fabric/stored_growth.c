/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How stored tables grow with a fabric. hd_stored_tables_add() asks once all rows and columns are there. A stored entry
 * whose path is whole, and that is not in force, was moved by an engine on purpose: it follows. One whose path has lost
 * something stays, to go back to. Where much has moved, the tables in force were made afresh, and all entries follow.
 */
#include "fabric_inner.h"

#include <errno.h>
#include <stdlib.h>

/* Stored tables in the shape of a fabric, and the tables in force there. */
struct growing {
	const struct hd_fabric *fabric;
	const struct hd_routes *stored, *routes;
	uint32_t *link_of; /* [switch_count * 256] by port, HD_NONE: it leads to no switch */
};

/* Marks the ports that a row has, until `wanted` of those in among[] are found. Returns how many are left. Most switches use
 * all of their links for few LIDs. */
static uint32_t mark_ports(const uint8_t *row, uint32_t lids, const bool among[256],
			   uint32_t wanted, bool used[256])
{
	for (uint32_t lid = 0; wanted && lid < lids; lid++) {
		wanted -= among[row[lid]] && !used[row[lid]];
		used[row[lid]] = true;
	}
	return wanted;
}

/* Links of a switch that the tables in force use, and no stored entry does. */
static uint32_t count_gained(const struct growing *growing, uint32_t sw)
{
	const struct hd_fabric *fabric = growing->fabric;
	const uint32_t begin = fabric->isl_base[sw], end = fabric->isl_base[sw + 1];
	bool links[256] = {false}, stored[256] = {false}, used[256] = {false};
	uint32_t gained = 0;

	for (uint32_t link = begin; link < end; link++)
		links[fabric->isl_port[link]] = true;
	const uint32_t left = mark_ports(hd_routes_row(growing->stored, sw), fabric->lid_count,
					 links, end - begin, stored);
	if (!left)
		return 0;
	for (uint32_t port = 0; port < 256; port++)
		links[port] &= !stored[port];
	mark_ports(hd_routes_row(growing->routes, sw), fabric->lid_count, links, left, used);
	for (uint32_t port = 0; port < 256; port++)
		gained += links[port] && used[port];
	return gained;
}

/* Ports of a switch that stored entries use, and that lead nowhere now. */
static uint32_t count_missing(const struct growing *growing, uint32_t sw)
{
	const struct hd_fabric *fabric = growing->fabric;
	bool none[256] = {false}, stored[256] = {false};
	uint32_t missing = 0;

	mark_ports(hd_routes_row(growing->stored, sw), fabric->lid_count, none, 1, stored);
	for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++)
		missing += stored[port] && fabric->peer[hd_port_index(fabric, sw, port)] == HD_NONE;
	return missing;
}

/* Whether the tables in force use links that no stored entry uses, and more of these than the stored tables use ports that
 * lead nowhere now: else what they use is a way round a loss. */
static bool has_grown(const struct growing *growing)
{
	uint32_t gained = 0, missing = 0;

	for (uint32_t sw = 0; sw < growing->fabric->switch_count; sw++)
		gained += count_gained(growing, sw);
	for (uint32_t sw = 0; gained && sw < growing->fabric->switch_count; sw++)
		missing += count_missing(growing, sw);
	return gained > missing;
}

/* Whether nothing is missing from a stored path. */
static bool is_whole(const struct growing *growing, uint32_t sw, uint32_t lid)
{
	const struct hd_fabric *fabric = growing->fabric;
	uint32_t exit;
	uint8_t out;

	if (!hd_fabric_lid_destination(fabric, lid, &exit, &out))
		return false;
	for (uint32_t hops = 0; hops < fabric->switch_count; hops++) {
		const uint8_t port = hd_routes_row(growing->stored, sw)[lid];

		if (sw == exit)
			return port == out;
		const uint32_t link = growing->link_of[sw * 256u + port];
		if (link == HD_NONE)
			return false;
		sw = fabric->isl_to[link];
	}
	return false;
}

static void list_links(const struct growing *growing)
{
	const struct hd_fabric *fabric = growing->fabric;

	memset(growing->link_of, 0xFF, fabric->switch_count * 256u * sizeof(*growing->link_of));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			growing->link_of[sw * 256u + fabric->isl_port[link]] = link;
}

#define AFRESH 8u /* if one whole path in so many has moved, the tables in force were made afresh */

/* Marks the entries that follow. All are judged by the stored tables as they are. */
static void mark_followers(const struct growing *growing, uint8_t *follows)
{
	const uint32_t lids = growing->fabric->lid_count;
	uint64_t differing = 0, known = 0;

	for (uint32_t sw = 0; sw < growing->fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(growing->stored, sw);
		const uint8_t *own = hd_routes_row(growing->routes, sw);

		for (uint32_t lid = 1; lid < lids; lid++) {
			const bool differs = row[lid] != own[lid] && own[lid] != HD_NO_PORT &&
					     row[lid] != HD_NO_PORT && is_whole(growing, sw, lid);

			follows[(size_t)sw * lids + lid] = differs;
			differing += differs;
			known += row[lid] != HD_NO_PORT && own[lid] != HD_NO_PORT;
		}
	}
	for (uint32_t sw = 0; differing * AFRESH > known && sw < growing->fabric->switch_count;
	     sw++)
		for (uint32_t lid = 1; lid < lids; lid++)
			follows[(size_t)sw * lids + lid] =
			    hd_routes_row(growing->routes, sw)[lid] != HD_NO_PORT;
}

int stored_growth_find(const struct hd_fabric *fabric, const struct hd_routes *stored,
		       const struct hd_routes *routes, bool many, uint8_t **follows)
{
	struct growing growing = {.fabric = fabric, .stored = stored, .routes = routes};

	*follows = NULL;
	if (!many && !has_grown(&growing))
		return 0;
	growing.link_of = malloc(fabric->switch_count * 256u * sizeof(*growing.link_of));
	*follows = malloc((size_t)fabric->switch_count * fabric->lid_count);
	if (!growing.link_of || !*follows) {
		free(growing.link_of);
		free(*follows);
		*follows = NULL;
		return -ENOMEM;
	}
	list_links(&growing);
	mark_followers(&growing, *follows);
	free(growing.link_of);
	return 0;
}
