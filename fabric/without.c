/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric without what was lost. All arrays of a fabric are in canonical order, and leaving
 * something out keeps that order. So they are copied without it, and nothing is sorted. What a build
 * of the same nodes and cables would give is the same.
 */
#include "fabric_inner.h"

#include <errno.h>
#include <heddle/fabric/changes.h>
#include <stdlib.h>
#include <string.h>

struct removal {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	bool *gone; /* [node_count] */
	bool *cut; /* [port_count] the cable at the port is lost */
	uint32_t *queue; /* [node_count] */
	bool *seen; /* [node_count] */
};

static int allocate(struct removal *removal)
{
	const struct hd_fabric *fabric = removal->fabric;

	removal->gone = hd_arena_alloc(&removal->arena, fabric->node_count, sizeof(bool));
	removal->cut = hd_arena_alloc(&removal->arena, fabric->port_count, sizeof(bool));
	removal->queue = hd_arena_alloc(&removal->arena, fabric->node_count, sizeof(uint32_t));
	removal->seen = hd_arena_alloc(&removal->arena, fabric->node_count, sizeof(bool));
	return hd_arena_check(&removal->arena);
}

static void note_losses(struct removal *removal, const struct hd_fabric_change *losses,
			uint32_t count)
{
	const struct hd_fabric *fabric = removal->fabric;

	for (uint32_t i = 0; i < count; i++) {
		if (!losses[i].cable) {
			removal->gone[losses[i].index] = true;
			continue;
		}
		removal->cut[losses[i].index] = true;
		if (fabric->peer[losses[i].index] != HD_NONE)
			removal->cut[fabric->peer[losses[i].index]] = true;
	}
}

/* The port at the other end of a cable that is left, or HD_NONE. */
static uint32_t peer_left(const struct removal *removal, uint32_t port)
{
	uint32_t peer = removal->fabric->peer[port];

	return peer == HD_NONE || removal->cut[port] ||
		       removal->gone[removal->fabric->port_node[peer]]
		   ? HD_NONE
		   : peer;
}

/* What `own` does not see is gone. */
static void leave_out_unseen(struct removal *removal, uint32_t own)
{
	const struct hd_fabric *fabric = removal->fabric;
	bool *seen = removal->seen;
	uint32_t count = 0;

	if (!removal->gone[own]) {
		seen[own] = true;
		removal->queue[count++] = own;
	}
	for (uint32_t done = 0; done < count; done++) {
		uint32_t node = removal->queue[done];
		if (!hd_is_switch(fabric, node) && node != own)
			continue; /* adapters pass nothing on */
		for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1];
		     port++) {
			uint32_t peer = peer_left(removal, port);
			uint32_t next = peer == HD_NONE ? own : fabric->port_node[peer];
			if (seen[next])
				continue;
			seen[next] = true;
			removal->queue[count++] = next;
		}
	}
	for (uint32_t node = 0; node < fabric->node_count; node++)
		removal->gone[node] |= !seen[node];
}

/* ---- copies without what is gone ---- */

struct remainder {
	const struct removal *removal;
	const struct hd_fabric *from;
	struct hd_arena arena; /* the fabric's; moves into the holder at the end */
	struct fabric_holder *holder;
	uint32_t *node; /* [node_count of from] the same node, or HD_NONE */
	uint32_t *port; /* [port_count of from] the same port; undefined where the node is gone */
	uint32_t *link; /* [isl_count of from] the same link, or HD_NONE */
	uint32_t nodes, ports;
};

#define COPY_NODES(remainder, field)                                                               \
	copy_nodes(remainder, (remainder)->from->field, sizeof(*(remainder)->from->field))
#define COPY_PORTS(remainder, field)                                                               \
	copy_ports(remainder, (remainder)->from->field, sizeof(*(remainder)->from->field))

static int number_nodes(struct remainder *remainder, struct hd_arena *arena)
{
	const struct hd_fabric *from = remainder->from;

	remainder->node = hd_arena_alloc(arena, from->node_count, sizeof(*remainder->node));
	remainder->port = hd_arena_alloc(arena, from->port_count, sizeof(*remainder->port));
	remainder->link = hd_arena_alloc(arena, from->isl_count, sizeof(*remainder->link));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t node = 0; node < from->node_count; node++) {
		remainder->node[node] = HD_NONE;
		if (remainder->removal->gone[node])
			continue;
		remainder->node[node] = remainder->nodes++;
		for (uint32_t port = from->port_base[node]; port < from->port_base[node + 1];
		     port++)
			remainder->port[port] = remainder->ports++;
	}
	return 0;
}

/* The end of the nodes from `begin` on that are all left, or all gone. */
static uint32_t run_end(const struct remainder *remainder, uint32_t begin)
{
	const bool *gone = remainder->removal->gone;
	uint32_t end = begin;

	while (end < remainder->from->node_count && gone[end] == gone[begin])
		end++;
	return end;
}

static void *copy_nodes(struct remainder *remainder, const void *from, size_t size)
{
	char *to = hd_arena_alloc(&remainder->arena, remainder->nodes, size), *at = to;

	for (uint32_t begin = 0, end; to && begin < remainder->from->node_count; begin = end) {
		end = run_end(remainder, begin);
		if (remainder->removal->gone[begin])
			continue;
		memcpy(at, (const char *)from + begin * size, (end - begin) * size);
		at += (end - begin) * size;
	}
	return to;
}

static void *copy_ports(struct remainder *remainder, const void *from, size_t size)
{
	const uint32_t *base = remainder->from->port_base;
	char *to = hd_arena_alloc(&remainder->arena, remainder->ports, size), *at = to;

	for (uint32_t begin = 0, end; to && begin < remainder->from->node_count; begin = end) {
		end = run_end(remainder, begin);
		if (remainder->removal->gone[begin])
			continue;
		memcpy(at, (const char *)from + base[begin] * size,
		       (base[end] - base[begin]) * size);
		at += (base[end] - base[begin]) * size;
	}
	return to;
}

static int copy_names(struct remainder *remainder)
{
	const struct hd_fabric *from = remainder->from;
	const char **names = hd_arena_alloc(&remainder->arena, remainder->nodes, sizeof(*names));
	size_t bytes = 0;

	for (uint32_t node = 0; node < from->node_count; node++)
		if (remainder->node[node] != HD_NONE)
			bytes += strlen(from->node_name[node]) + 1;
	char *text = hd_arena_alloc(&remainder->arena, bytes, 1);
	if (hd_arena_check(&remainder->arena))
		return -ENOMEM;
	for (uint32_t node = 0; node < from->node_count; node++) {
		if (remainder->node[node] == HD_NONE)
			continue;
		names[remainder->node[node]] = text;
		text = stpcpy(text, from->node_name[node]) + 1;
	}
	remainder->holder->fabric.node_name = names;
	return 0;
}

static int copy_all_nodes(struct remainder *remainder)
{
	const struct hd_fabric *from = remainder->from;
	struct hd_fabric *fabric = &remainder->holder->fabric;
	uint32_t *base = hd_arena_alloc(&remainder->arena, remainder->nodes + 1u, sizeof(*base));

	fabric->node_guid = COPY_NODES(remainder, node_guid);
	fabric->system_guid = COPY_NODES(remainder, system_guid);
	fabric->vendor_id = COPY_NODES(remainder, vendor_id);
	fabric->device_id = COPY_NODES(remainder, device_id);
	fabric->node_type = COPY_NODES(remainder, node_type);
	fabric->port_base = base;
	fabric->node_count = remainder->nodes;
	fabric->port_count = remainder->ports;
	if (hd_arena_check(&remainder->arena))
		return -ENOMEM;
	for (uint32_t node = 0; node < from->node_count; node++)
		if (remainder->node[node] != HD_NONE) {
			base[remainder->node[node]] = remainder->port[from->port_base[node]];
			fabric->switch_count += hd_is_switch(from, node);
		}
	base[remainder->nodes] = remainder->ports;
	return copy_names(remainder);
}

static int copy_all_ports(struct remainder *remainder)
{
	const struct hd_fabric *from = remainder->from;
	struct hd_fabric *fabric = &remainder->holder->fabric;
	uint32_t *peer = hd_arena_alloc(&remainder->arena, remainder->ports, sizeof(*peer));
	uint32_t *node = COPY_PORTS(remainder, port_node);
	uint8_t *width = COPY_PORTS(remainder, width), *speed = COPY_PORTS(remainder, speed);

	fabric->port_node = node;
	fabric->peer = peer;
	fabric->width = width;
	fabric->speed = speed;
	fabric->port_guid = COPY_PORTS(remainder, port_guid);
	fabric->lid = COPY_PORTS(remainder, lid);
	fabric->lmc = COPY_PORTS(remainder, lmc);
	fabric->aside = COPY_PORTS(remainder, aside);
	if (hd_arena_check(&remainder->arena))
		return -ENOMEM;
	for (uint32_t old = 0; old < from->port_count; old++) {
		if (remainder->node[from->port_node[old]] == HD_NONE)
			continue;
		uint32_t port = remainder->port[old], far = peer_left(remainder->removal, old);
		node[port] = remainder->node[from->port_node[old]];
		peer[port] = far == HD_NONE ? HD_NONE : remainder->port[far];
		if (far == HD_NONE)
			width[port] = speed[port] = 0;
	}
	return 0;
}

/* Numbers the links that are left. Returns how many there are. */
static uint32_t number_links(struct remainder *remainder)
{
	const struct hd_fabric *from = remainder->from;
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < from->switch_count; sw++)
		for (uint32_t link = from->isl_base[sw]; link < from->isl_base[sw + 1]; link++) {
			uint32_t port = hd_port_index(from, sw, from->isl_port[link]);
			bool left = remainder->node[sw] != HD_NONE &&
				    peer_left(remainder->removal, port) != HD_NONE;
			remainder->link[link] = left ? count++ : HD_NONE;
		}
	return count;
}

static int copy_links(struct remainder *remainder)
{
	const struct hd_fabric *from = remainder->from;
	struct hd_fabric *fabric = &remainder->holder->fabric;
	struct hd_arena *arena = &remainder->arena;
	uint32_t count = number_links(remainder);
	uint32_t *base = hd_arena_alloc(arena, fabric->switch_count + 1u, sizeof(*base));
	uint32_t *to = hd_arena_alloc(arena, count, sizeof(*to));
	uint32_t *reverse = hd_arena_alloc(arena, count, sizeof(*reverse));
	uint8_t *port = hd_arena_alloc(arena, count, sizeof(*port));

	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < from->switch_count; sw++)
		for (uint32_t old = from->isl_base[sw]; old < from->isl_base[sw + 1]; old++) {
			uint32_t link = remainder->link[old];
			if (link == HD_NONE)
				continue;
			base[remainder->node[sw] + 1]++;
			to[link] = remainder->node[from->isl_to[old]];
			port[link] = from->isl_port[old];
			reverse[link] = remainder->link[from->isl_reverse[old]];
		}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		base[sw + 1] += base[sw];
	fabric->isl_count = count;
	fabric->isl_base = base;
	fabric->isl_to = to;
	fabric->isl_port = port;
	fabric->isl_reverse = reverse;
	return 0;
}

static bool is_owned(const struct remainder *remainder, uint32_t lid)
{
	uint32_t owner = remainder->from->lid_owner[lid];

	return owner != HD_NONE && remainder->node[remainder->from->port_node[owner]] != HD_NONE;
}

static int copy_lids(struct remainder *remainder)
{
	const struct hd_fabric *from = remainder->from;
	uint32_t count = from->lid_count;

	while (count > 1 && !is_owned(remainder, count - 1))
		count--;
	uint32_t *owner = hd_arena_alloc(&remainder->arena, count, sizeof(*owner));
	if (!owner)
		return -ENOMEM;
	for (uint32_t lid = 0; lid < count; lid++)
		owner[lid] =
		    is_owned(remainder, lid) ? remainder->port[from->lid_owner[lid]] : HD_NONE;
	remainder->holder->fabric.lid_count = count;
	remainder->holder->fabric.lid_owner = owner;
	return 0;
}

static int copy_guids(struct remainder *remainder)
{
	const struct fabric_holder *from = (const struct fabric_holder *)remainder->from;
	struct fabric_holder *holder = remainder->holder;
	uint64_t *sorted = hd_arena_alloc(&remainder->arena, from->guid_count, sizeof(*sorted));
	uint32_t *owner = hd_arena_alloc(&remainder->arena, from->guid_count, sizeof(*owner));

	if (hd_arena_check(&remainder->arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < from->guid_count; i++) {
		uint32_t port = from->guid_port[i];
		if (remainder->node[from->fabric.port_node[port]] == HD_NONE)
			continue;
		sorted[holder->guid_count] = from->guid_sorted[i];
		owner[holder->guid_count++] = remainder->port[port];
	}
	holder->guid_sorted = sorted;
	holder->guid_port = owner;
	return 0;
}

static int copy_rest(struct removal *removal, struct hd_fabric **out, struct hd_error *err)
{
	struct remainder remainder = {.removal = removal, .from = removal->fabric};

	remainder.holder = hd_arena_alloc(&remainder.arena, 1, sizeof(*remainder.holder));
	int rc = !remainder.holder || number_nodes(&remainder, &removal->arena) ||
			 copy_all_nodes(&remainder) || copy_all_ports(&remainder) ||
			 adapters_list(&remainder.holder->fabric, &remainder.arena) ||
			 copy_links(&remainder) || copy_lids(&remainder) || copy_guids(&remainder)
		     ? hd_error_no_memory(err)
		     : 0;

	if (!rc && !remainder.holder->fabric.switch_count)
		rc = hd_error_set(err, -EINVAL, "the fabric has no switch");
	if (rc) {
		hd_arena_release(&remainder.arena);
		return rc;
	}
	remainder.holder->arena = remainder.arena;
	*out = &remainder.holder->fabric;
	return 0;
}

int hd_fabric_without(const struct hd_fabric *fabric, const struct hd_fabric_change *losses,
		      uint32_t count, uint32_t own, struct hd_fabric **out, struct hd_error *err)
{
	struct removal removal = {.fabric = fabric};
	int rc = allocate(&removal) ? hd_error_no_memory(err) : 0;

	if (!rc) {
		note_losses(&removal, losses, count);
		if (own != HD_NONE)
			leave_out_unseen(&removal, own);
		rc = copy_rest(&removal, out, err);
	}
	hd_arena_release(&removal.arena);
	return rc;
}
