/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stale.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include "writer_tables.h"

#include <errno.h>
#include <heddle/change/repair.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/changes.h>
#include <heddle/fabric/islands.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is left out ---- */

struct losses {
	struct hd_fabric_change *list; /* of `found`; malloc() */
	uint32_t count, cables, switches;
};

/* The port of a switch in another snapshot; HD_NONE: that has no such switch or port. */
static uint32_t same_port(const struct hd_fabric *from, uint32_t port, const struct hd_fabric *to)
{
	const uint32_t node = from->port_node[port];
	const uint32_t number = port - from->port_base[node];
	const uint32_t same = hd_fabric_find_node(to, from->node_guid[node]);

	return same < to->switch_count && number <= hd_node_ports(to, same)
		   ? hd_port_index(to, same, number)
		   : HD_NONE;
}

/* The index of a port; HD_NONE: `to` does not have the cable, or it is not between switches. */
static uint32_t find_cable(const struct hd_fabric *from, uint32_t port, const struct hd_fabric *to)
{
	const uint32_t near = same_port(from, port, to),
		       far = same_port(from, from->peer[port], to);

	return near != HD_NONE && far != HD_NONE && to->peer[near] == far ? near : HD_NONE;
}

/* Adapters that are not part of the switch itself. */
static bool has_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	for (uint32_t port = fabric->port_base[sw]; port < fabric->port_base[sw + 1]; port++) {
		const uint32_t peer = fabric->peer[port];
		if (peer != HD_NONE && !hd_is_switch(fabric, fabric->port_node[peer]) &&
		    !hd_fabric_is_aggregation(fabric, fabric->port_node[peer]))
			return true;
	}
	return false;
}

static bool has_node(const struct losses *losses, uint32_t node)
{
	for (uint32_t i = 0; i < losses->count; i++)
		if (!losses->list[i].cable && losses->list[i].index == node)
			return true;
	return false;
}

/* An aggregation node, whose switch is among the losses. */
static bool is_inside(const struct losses *losses, const struct hd_fabric *fabric, uint32_t node)
{
	if (!hd_fabric_is_aggregation(fabric, node))
		return false;
	for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1]; port++)
		if (fabric->peer[port] != HD_NONE &&
		    !has_node(losses, fabric->port_node[fabric->peer[port]]))
			return false;
	return true;
}

/* The node in `to`. HD_NONE: it is not there, may be a host, or is a switch with hosts. */
static uint32_t find_node(const struct hd_fabric *from, uint32_t node, const struct hd_fabric *to,
			  const struct losses *losses)
{
	const uint32_t same = hd_fabric_find_node(to, from->node_guid[node]);

	if (same == HD_NONE)
		return HD_NONE;
	if (same < to->switch_count)
		return has_hosts(to, same) ? HD_NONE : same;
	return is_inside(losses, to, same) ? same : HD_NONE;
}

/* Switches come before other nodes. */
static void keep_losses(const struct hd_fabric *begun, const struct hd_fabric *found,
			struct losses *losses)
{
	const uint32_t all = losses->count;

	losses->count = 0;
	for (uint32_t i = 0; i < all; i++) {
		struct hd_fabric_change change = losses->list[i];
		if (!change.lost)
			continue;
		change.index = change.cable ? find_cable(begun, change.index, found)
					    : find_node(begun, change.index, found, losses);
		if (change.index == HD_NONE)
			continue;
		losses->list[losses->count++] = change;
		losses->cables += change.cable;
		losses->switches += !change.cable && change.index < found->switch_count;
	}
}

/* What of `found` was lost between the two snapshots. */
static int find_losses(const struct hd_fabric *begun, const struct hd_fabric *now,
		       const struct hd_fabric *found, struct losses *losses, struct hd_error *err)
{
	int rc = hd_fabric_changes(begun, now, NULL, 0, &losses->count, err);

	if (rc)
		return rc;
	losses->list = malloc((losses->count + 1u) * sizeof(*losses->list));
	if (!losses->list)
		return hd_error_no_memory(err);
	rc = hd_fabric_changes(begun, now, losses->list, losses->count, &losses->count, err);
	if (!rc)
		keep_losses(begun, found, losses);
	return rc ? rc : losses->count ? 0 : -ENODATA;
}

/* ---- whether others are cut off ---- */

/* Switches that are joined are still joined without the losses. same[switch_count]: of an island with the losses, the one
 * of its first switch without them. */
static int check_joined(const struct hd_fabric *found, const struct losses *losses,
			struct hd_error *err)
{
	struct hd_arena arena = {0};
	struct hd_islands islands;
	uint32_t apart = 0;
	uint32_t *same = hd_arena_alloc(&arena, found->switch_count, sizeof(uint32_t));
	int rc = hd_islands_find(found, losses->list, losses->count, &arena, &islands);

	if (rc)
		hd_error_no_memory(err);
	for (uint32_t sw = 0; !rc && sw < found->switch_count; sw++)
		same[sw] = HD_NONE;
	for (uint32_t sw = 0; !rc && sw < found->switch_count; sw++) {
		uint32_t *first = &same[islands.before[sw]];
		if (islands.gone[sw])
			continue;
		if (*first == HD_NONE)
			*first = islands.after[sw];
		apart += *first != islands.after[sw];
	}
	hd_arena_release(&arena);
	if (apart)
		rc = hd_error_set(err, -ENETUNREACH, "%u switches would be cut off", apart);
	return rc;
}

/* ---- for the sweep ---- */

int stale_leave_out(const struct part_context *context, const struct hd_fabric *found,
		    struct stale_rest *out, struct hd_error *err)
{
	const struct routing *begun = context->begun;
	const struct routing *now = context->published;
	struct losses losses = {.list = NULL};
	struct hd_fabric *left;

	if (!begun || !now || begun->fabric == now->fabric)
		return -ENODATA;
	int rc = find_losses(begun->fabric, now->fabric, found, &losses, err);
	if (!rc)
		rc = check_joined(found, &losses, err);
	if (!rc)
		rc = hd_fabric_without(found, losses.list, losses.count, HD_NONE, &left, err);
	if (!rc)
		*out = (struct stale_rest){left, losses.cables, losses.switches};
	free(losses.list);
	return rc;
}

void stale_keep_tables(const struct part_context *context, const struct hd_fabric *routed)
{
	const struct routing *begun = context->begun;

	if (!begun || cl_qmap_count(&context->osm->subn.sw_guid_tbl) == routed->switch_count)
		return;
	MAP_FOREACH(osm_switch_t, sw, &context->osm->subn.sw_guid_tbl)
	{
		const uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
		if (hd_fabric_find_node(begun->fabric, guid) != HD_NONE &&
		    hd_fabric_find_node(routed, guid) == HD_NONE)
			writer_tables_keep(sw);
	}
}
