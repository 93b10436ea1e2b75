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

/* Whether the tables in force use links that no stored entry uses, and more of these than the stored tables use ports that
 * lead nowhere now: else what they use is a way round a loss. */
static int find_growth(const struct growing *growing, bool *grown)
{
	const struct hd_fabric *fabric = growing->fabric;
	bool *stored = malloc(fabric->isl_count + 1), *used = malloc(fabric->isl_count + 1);
	uint32_t gained = 0;
	int rc = stored && used ? 0 : -ENOMEM;

	if (!rc && hd_routes_used_links(fabric, growing->stored, stored) < fabric->isl_count) {
		hd_routes_used_links(fabric, growing->routes, used);
		for (uint32_t link = 0; link < fabric->isl_count; link++)
			gained += used[link] && !stored[link];
	}
	*grown = gained && gained > hd_routes_missing_ports(fabric, growing->stored);
	free(stored);
	free(used);
	return rc;
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

	bool grown = many;
	int rc = many ? 0 : find_growth(&growing, &grown);

	*follows = NULL;
	if (rc || !grown)
		return rc;
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
