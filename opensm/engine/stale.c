/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stale.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/change/repair.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/changes.h>
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

struct joining {
	const struct hd_fabric *found;
	struct hd_arena arena;
	bool *cut; /* [port_count] the cable is left out */
	bool *gone; /* [switch_count] left out */
	uint32_t *with,
	    *without; /* [switch_count] a switch of the same group, or the switch itself */
	uint32_t *same; /* [switch_count] of a group of `with`: its group of `without` */
};

static int prepare(struct joining *joining, const struct losses *losses)
{
	const struct hd_fabric *found = joining->found;
	struct hd_arena *arena = &joining->arena;

	joining->cut = hd_arena_alloc(arena, found->port_count, sizeof(bool));
	joining->gone = hd_arena_alloc(arena, found->switch_count, sizeof(bool));
	joining->with = hd_arena_alloc(arena, found->switch_count, sizeof(uint32_t));
	joining->without = hd_arena_alloc(arena, found->switch_count, sizeof(uint32_t));
	joining->same = hd_arena_alloc(arena, found->switch_count, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < found->switch_count; sw++) {
		joining->with[sw] = joining->without[sw] = sw;
		joining->same[sw] = HD_NONE;
	}
	for (uint32_t i = 0; i < losses->count; i++) {
		const uint32_t index = losses->list[i].index;
		if (losses->list[i].cable)
			joining->cut[index] = joining->cut[found->peer[index]] = true;
		else if (index < found->switch_count)
			joining->gone[index] = true;
	}
	return 0;
}

static uint32_t group_of(uint32_t *group, uint32_t sw)
{
	while (group[sw] != sw)
		sw = group[sw] = group[group[sw]];
	return sw;
}

static void join(uint32_t *group, uint32_t near, uint32_t far)
{
	group[group_of(group, near)] = group_of(group, far);
}

static void join_all(struct joining *joining)
{
	const struct hd_fabric *found = joining->found;

	for (uint32_t sw = 0; sw < found->switch_count; sw++)
		for (uint32_t link = found->isl_base[sw]; link < found->isl_base[sw + 1]; link++) {
			const uint32_t far = found->isl_to[link];
			join(joining->with, sw, far);
			if (!joining->gone[sw] && !joining->gone[far] &&
			    !joining->cut[hd_port_index(found, sw, found->isl_port[link])])
				join(joining->without, sw, far);
		}
}

/* Switches that are joined are still joined without the losses. */
static int check_joined(const struct hd_fabric *found, const struct losses *losses,
			struct hd_error *err)
{
	struct joining joining = {.found = found};
	uint32_t apart = 0;
	int rc = prepare(&joining, losses) ? hd_error_no_memory(err) : 0;

	if (!rc)
		join_all(&joining);
	for (uint32_t sw = 0; !rc && sw < found->switch_count; sw++) {
		uint32_t *same = &joining.same[group_of(joining.with, sw)];
		if (joining.gone[sw])
			continue;
		if (*same == HD_NONE)
			*same = group_of(joining.without, sw);
		apart += *same != group_of(joining.without, sw);
	}
	hd_arena_release(&joining.arena);
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
		if (sw->new_lft && hd_fabric_find_node(begun->fabric, guid) != HD_NONE &&
		    hd_fabric_find_node(routed, guid) == HD_NONE)
			memcpy(sw->new_lft, sw->lft, sw->lft_size);
	}
}
