/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "variants.h"
#include <heddle/base/random.h>
#include <stdlib.h>

void variants_shuffle(uint32_t *items, uint32_t count, uint64_t *random)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t other = (uint32_t)hd_random_below(random, i), kept = items[i - 1];
		items[i - 1] = items[other];
		items[other] = kept;
	}
}

static uint32_t *shuffled_numbers(uint32_t count, uint64_t *random)
{
	uint32_t *items = calloc(count ? count : 1, sizeof(*items));

	for (uint32_t i = 0; items && i < count; i++)
		items[i] = i;
	if (items)
		variants_shuffle(items, count, random);
	return items;
}

static int add_node(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t node,
		    struct hd_error *err)
{
	struct hd_node_spec spec = {.type = fabric->node_type[node],
				    .guid = fabric->node_guid[node],
				    .system_guid = fabric->system_guid[node],
				    .vendor_id = fabric->vendor_id[node],
				    .device_id = fabric->device_id[node],
				    .port_count = hd_node_ports(fabric, node),
				    .name = fabric->node_name[node]};
	uint32_t handle;

	return hd_builder_add_node(builder, &spec, &handle, err);
}

/* LID and GUID of a port of a node that the builder has as `handle`. */
static int add_facts(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t port,
		     uint32_t handle, struct hd_error *err)
{
	uint32_t number = hd_port_number(fabric, port);
	int rc = 0;

	if (fabric->lid[port])
		rc = hd_builder_set_lid(builder, handle, number, fabric->lid[port],
					fabric->lmc[port], err);
	if (rc || !fabric->port_guid[port])
		return rc;
	return hd_builder_set_port_guid(builder, handle, number, fabric->port_guid[port], err);
}

static int add_port(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t port,
		    struct hd_error *err)
{
	uint32_t node = fabric->port_node[port], number = hd_port_number(fabric, port);
	uint32_t peer = fabric->peer[port];
	uint32_t handle = hd_builder_find(builder, fabric->node_guid[node]);
	int rc = add_facts(builder, fabric, port, handle, err);

	if (rc || peer == HD_NONE)
		return rc;
	return hd_builder_half_link(
	    builder, handle, number,
	    hd_builder_find(builder, fabric->node_guid[fabric->port_node[peer]]),
	    hd_port_number(fabric, peer), fabric->width[port], fabric->speed[port], err);
}

int variants_shuffled(const struct hd_fabric *fabric, uint64_t seed, struct hd_fabric **out,
		      struct hd_error *err)
{
	uint64_t random = seed;
	struct hd_builder *builder = hd_builder_new();
	uint32_t *nodes = shuffled_numbers(fabric->node_count, &random);
	uint32_t *ports = shuffled_numbers(fabric->port_count, &random);
	int rc = builder && nodes && ports ? 0 : hd_error_no_memory(err);

	for (uint32_t i = 0; i < fabric->node_count && !rc; i++)
		rc = add_node(builder, fabric, nodes[i], err);
	for (uint32_t i = 0; i < fabric->port_count && !rc; i++)
		rc = add_port(builder, fabric, ports[i], err);
	if (!rc)
		rc = hd_builder_build(builder, out, err);
	free(nodes);
	free(ports);
	hd_builder_free(builder);
	return rc;
}

int variants_without_link(const struct hd_fabric *fabric, uint32_t link, struct hd_fabric **out,
			  struct hd_error *err)
{
	struct hd_builder *builder = hd_builder_from(fabric);

	if (!builder)
		return hd_error_no_memory(err);
	hd_builder_unlink(builder, hd_isl_from(fabric, link), fabric->isl_port[link]);
	int rc = hd_builder_build(builder, out, err);
	hd_builder_free(builder);
	return rc;
}

/* Adds what is known of a port of a node that stays, and its cable if both ends stay. */
static int add_remaining(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t port,
			 const bool *lost, bool cable_lost, struct hd_error *err)
{
	uint32_t peer = fabric->peer[port], number = hd_port_number(fabric, port);
	uint32_t handle = hd_builder_find(builder, fabric->node_guid[fabric->port_node[port]]);
	int rc = add_facts(builder, fabric, port, handle, err);

	if (rc || peer == HD_NONE || peer > port || cable_lost || lost[fabric->port_node[peer]])
		return rc;
	return hd_builder_link(builder, handle, number,
			       hd_builder_find(builder, fabric->node_guid[fabric->port_node[peer]]),
			       hd_port_number(fabric, peer), fabric->width[port],
			       fabric->speed[port], err);
}

int variants_damaged(const struct hd_fabric *fabric, unsigned percent, uint64_t seed,
		     struct hd_fabric **out, struct hd_error *err)
{
	uint64_t random = seed;
	struct hd_builder *builder = hd_builder_new();
	bool *lost = calloc(fabric->node_count + 1u, sizeof(*lost));
	int rc = builder && lost ? 0 : hd_error_no_memory(err);

	for (uint32_t i = 0; i < fabric->node_count && !rc; i++) {
		lost[i] = hd_random_below(&random, 100) < percent;
		if (!lost[i])
			rc = add_node(builder, fabric, i, err);
	}
	for (uint32_t i = 0; i < fabric->port_count && !rc; i++) {
		bool cable_lost = hd_random_below(&random, 100) < percent;

		if (!lost[fabric->port_node[i]])
			rc = add_remaining(builder, fabric, i, lost, cable_lost, err);
	}
	if (!rc)
		rc = hd_builder_build(builder, out, err);
	free(lost);
	hd_builder_free(builder);
	return rc;
}

int variants_copy(const struct hd_fabric *fabric, struct hd_fabric **out, struct hd_error *err)
{
	struct hd_builder *builder = hd_builder_from(fabric);

	if (!builder)
		return hd_error_no_memory(err);
	int rc = hd_builder_build(builder, out, err);
	hd_builder_free(builder);
	return rc;
}
