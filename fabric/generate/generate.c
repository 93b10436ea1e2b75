/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registry of generators, and what is done to fabrics that they made. */
#include "generate_internal.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/generate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the registry ---- */

/* The registry of generators. */

static const struct hd_generator *const generators[] = {
    &generate_xgft,	 &generate_kary_ntree, &generate_rlft,	       &generate_torus,
    &generate_mesh,	 &generate_hypercube,  &generate_hyperx,       &generate_slim_fly,
    &generate_dragonfly, &generate_jellyfish,  &generate_irregular,    &generate_dragonfly_plus,
    &generate_directors, &generate_rail_tree,  &generate_interconnect,
};

const struct hd_generator *const *hd_generators(unsigned *count)
{
	*count = sizeof(generators) / sizeof(generators[0]);
	return generators;
}

const struct hd_generator *hd_generator_find(const char *name)
{
	for (size_t i = 0; i < sizeof(generators) / sizeof(generators[0]); i++)
		if (!strcmp(generators[i]->name, name))
			return generators[i];
	return NULL;
}

/* ---- aggregation nodes ---- */

/* An aggregation node inside every switch, on a port of its own after the others. */

#define AGGREGATION_GUID UINT64_C(0x300000)
#define GUID_STEP 16u
#define NAME_SIZE 80

static int add_node(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t node,
		    struct hd_error *err)
{
	bool is_switch = hd_is_switch(fabric, node);
	struct hd_node_spec spec = {.type = (enum hd_node_type)fabric->node_type[node],
				    .guid = fabric->node_guid[node],
				    .system_guid = fabric->system_guid[node],
				    .vendor_id = fabric->vendor_id[node],
				    .device_id = fabric->device_id[node],
				    .port_count = hd_node_ports(fabric, node) + is_switch,
				    .name = fabric->node_name[node]};
	uint32_t handle;

	if (spec.port_count > HD_PORTS_MAX)
		return hd_error_set(err, -EINVAL,
				    "no port of '%s' is left for an aggregation node, at most %d "
				    "can be",
				    spec.name, HD_PORTS_MAX);
	int rc = hd_builder_add_node(builder, &spec, &handle, err);
	for (uint32_t port = is_switch ? 0 : 1; !rc && port < spec.port_count + !is_switch; port++)
		rc = hd_builder_set_port_guid(
		    builder, node, port, fabric->port_guid[hd_port_index(fabric, node, port)], err);
	return rc;
}

static int add_cables(struct hd_builder *builder, const struct hd_fabric *fabric,
		      struct hd_error *err)
{
	int rc = 0;

	for (uint32_t port = 0; !rc && port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		if (peer != HD_NONE && port < peer)
			rc = hd_builder_link(builder, fabric->port_node[port],
					     hd_port_number(fabric, port), fabric->port_node[peer],
					     hd_port_number(fabric, peer), fabric->width[port],
					     (enum hd_speed)fabric->speed[port], err);
	}
	return rc;
}

static int add_aggregation(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t sw,
			   struct hd_error *err)
{
	char name[NAME_SIZE];
	struct hd_node_spec spec = {.type = HD_CA,
				    .guid = AGGREGATION_GUID + GUID_STEP * sw,
				    .system_guid = fabric->system_guid[sw],
				    .vendor_id = HD_VENDOR_MELLANOX,
				    .device_id = HD_DEVICE_AGGREGATION,
				    .port_count = 1,
				    .name = name};
	uint32_t handle;

	snprintf(name, sizeof(name), "A_%s", fabric->node_name[sw]);
	int rc = hd_builder_add_node(builder, &spec, &handle, err);
	if (!rc)
		rc = hd_builder_set_port_guid(builder, handle, 1, spec.guid + 1, err);
	if (!rc)
		rc = hd_builder_link(builder, sw, hd_node_ports(fabric, sw) + 1, handle, 1, 4,
				     HD_SPEED_EDR, err);
	return rc;
}

int hd_fabric_add_aggregation(const struct hd_fabric *fabric, struct hd_fabric **out,
			      struct hd_error *err)
{
	struct hd_builder *builder = hd_builder_new();
	int rc = builder ? 0 : hd_error_no_memory(err);

	for (uint32_t node = 0; !rc && node < fabric->node_count; node++)
		rc = add_node(builder, fabric, node, err);
	if (!rc)
		rc = add_cables(builder, fabric, err);
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++)
		rc = add_aggregation(builder, fabric, sw, err);
	if (!rc) {
		hd_builder_assign_lids(builder, hd_fabric_largest_lmc(fabric));
		rc = hd_builder_build(builder, out, err);
	}
	hd_builder_free(builder);
	return rc;
}

/* ---- cables that are missing ---- */

/* Degraded fabrics: a share of the inter-switch cables is removed at random. */

/* Lists every cable once, as the link that leaves the switch of lower index. */
static uint32_t list_cables(const struct hd_fabric *fabric, uint32_t *cables)
{
	uint32_t count = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (link < fabric->isl_reverse[link])
			cables[count++] = link;
	return count;
}

static void unlink_some(struct hd_builder *builder, const struct hd_fabric *fabric,
			uint32_t *cables, double percent, uint64_t seed)
{
	uint32_t count = list_cables(fabric, cables);
	uint32_t removed = (uint32_t)lround(count * percent / 100);

	for (uint32_t i = 0; i < removed; i++) {
		uint32_t chosen = i + (uint32_t)hd_random_below(&seed, count - i);
		uint32_t link = cables[chosen];
		cables[chosen] = cables[i];
		uint32_t far = fabric->isl_reverse[link];
		hd_builder_unlink(builder, fabric->isl_to[far], fabric->isl_port[link]);
	}
}

int hd_fabric_remove_links(const struct hd_fabric *fabric, double percent, uint64_t seed,
			   struct hd_fabric **out, struct hd_error *err)
{
	if (!(percent >= 0 && percent <= 100))
		return hd_error_set(
		    err, -EINVAL, "share of links to remove: %g percent, expected 0..100", percent);
	struct hd_builder *builder = hd_builder_from(fabric);
	uint32_t *cables = malloc((fabric->isl_count / 2 + 1) * sizeof(*cables));
	int rc = builder && cables ? 0 : hd_error_no_memory(err);
	if (!rc) {
		unlink_some(builder, fabric, cables, percent, seed);
		rc = hd_builder_build(builder, out, err);
	}
	free(cables);
	hd_builder_free(builder);
	return rc;
}
