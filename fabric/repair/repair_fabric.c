/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric without what was lost. */
#include <heddle/fabric/repair.h>

#include <errno.h>
#include <heddle/fabric/builder.h>
#include <stdlib.h>
#include <string.h>

struct removal {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	bool *gone; /* [node_count] */
	bool *cut; /* [port_count] the cable at the port is lost */
	uint32_t *queue; /* [node_count] */
	uint32_t *handle; /* [node_count] in the builder */
};

static int allocate(struct removal *removal)
{
	const struct hd_fabric *fabric = removal->fabric;

	removal->gone = hd_arena_alloc(&removal->arena, fabric->node_count, sizeof(bool));
	removal->cut = hd_arena_alloc(&removal->arena, fabric->port_count, sizeof(bool));
	removal->queue = hd_arena_alloc(&removal->arena, fabric->node_count, sizeof(uint32_t));
	removal->handle = hd_arena_alloc(&removal->arena, fabric->node_count, sizeof(uint32_t));
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
	bool *seen = (bool *)removal->handle; /* not used yet */
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

static int add_node(struct removal *removal, struct hd_builder *builder, uint32_t node,
		    struct hd_error *err)
{
	const struct hd_fabric *fabric = removal->fabric;
	const struct hd_node_spec spec = {.type = fabric->node_type[node],
					  .guid = fabric->node_guid[node],
					  .system_guid = fabric->system_guid[node],
					  .vendor_id = fabric->vendor_id[node],
					  .device_id = fabric->device_id[node],
					  .port_count = hd_node_ports(fabric, node),
					  .name = fabric->node_name[node]};
	int rc = hd_builder_add_node(builder, &spec, &removal->handle[node], err);

	for (uint32_t port = fabric->port_base[node]; !rc && port < fabric->port_base[node + 1];
	     port++) {
		uint32_t number = hd_port_number(fabric, port), handle = removal->handle[node];
		if (fabric->aside[port])
			hd_builder_set_aside(builder, handle, true);
		if (fabric->lid[port])
			rc = hd_builder_set_lid(builder, handle, number, fabric->lid[port],
						fabric->lmc[port], err);
		if (!rc && fabric->port_guid[port])
			rc = hd_builder_set_port_guid(builder, handle, number,
						      fabric->port_guid[port], err);
	}
	return rc;
}

static int add_cable(struct removal *removal, struct hd_builder *builder, uint32_t port,
		     struct hd_error *err)
{
	const struct hd_fabric *fabric = removal->fabric;
	uint32_t peer = peer_left(removal, port), node = fabric->port_node[port];

	if (removal->gone[node] || peer == HD_NONE || peer < port)
		return 0;
	return hd_builder_link(builder, removal->handle[node], hd_port_number(fabric, port),
			       removal->handle[fabric->port_node[peer]],
			       hd_port_number(fabric, peer), fabric->width[port],
			       fabric->speed[port], err);
}

static int build(struct removal *removal, struct hd_fabric **out, struct hd_error *err)
{
	const struct hd_fabric *fabric = removal->fabric;
	struct hd_builder *builder = hd_builder_new();
	int rc = builder ? 0 : hd_error_no_memory(err);

	for (uint32_t node = 0; !rc && node < fabric->node_count; node++)
		if (!removal->gone[node])
			rc = add_node(removal, builder, node, err);
	for (uint32_t port = 0; !rc && port < fabric->port_count; port++)
		rc = add_cable(removal, builder, port, err);
	if (!rc)
		rc = hd_builder_build(builder, out, err);
	hd_builder_free(builder);
	return rc;
}

int hd_repair_fabric(const struct hd_fabric *fabric, const struct hd_fabric_change *losses,
		     uint32_t count, uint32_t own, struct hd_fabric **out, struct hd_error *err)
{
	struct removal removal = {.fabric = fabric};
	int rc = allocate(&removal) ? hd_error_no_memory(err) : 0;

	if (!rc) {
		note_losses(&removal, losses, count);
		if (own != HD_NONE)
			leave_out_unseen(&removal, own);
		rc = build(&removal, out, err);
	}
	hd_arena_release(&removal.arena);
	return rc;
}
