/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Collects nodes, ports and links from a reader or a generator. */
#include "fabric_inner.h"

#include <assert.h>
#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/plain.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places in files ---- */

const char *builder_place_text(struct place place, char *buffer, size_t size)
{
	buffer[0] = '\0';
	if (place.file && place.line)
		snprintf(buffer, size, "%s:%u: ", place.file, place.line);
	else if (place.file)
		snprintf(buffer, size, "%s: ", place.file);
	return buffer;
}

/* ---- nodes, ports and links ---- */

struct hd_builder *hd_builder_new(void)
{
	struct hd_builder *builder = calloc(1, sizeof(*builder));

	if (builder)
		builder->assign_lmc = -1;
	return builder;
}

void hd_builder_free(struct hd_builder *builder)
{
	if (!builder)
		return;
	hd_arena_release(&builder->arena);
	free(builder->nodes);
	free(builder->ports);
	hd_lookup_release(&builder->by_guid);
	free(builder);
}

void hd_builder_at(struct hd_builder *builder, const char *file, unsigned line)
{
	if (file && (!builder->place.file || strcmp(builder->place.file, file)))
		builder->place.file = hd_arena_strdup(&builder->arena, file);
	else if (!file)
		builder->place.file = NULL;
	builder->place.line = line;
}

struct guid_search {
	const struct hd_builder *builder;
	uint64_t guid;
};

static bool has_guid(const void *context, uint32_t handle)
{
	const struct guid_search *search = context;

	return search->builder->nodes[handle].spec.guid == search->guid;
}

uint32_t hd_builder_find(const struct hd_builder *builder, uint64_t guid)
{
	const struct guid_search search = {builder, guid};

	return hd_lookup_find(&builder->by_guid, hd_hash_number(guid), has_guid, &search);
}

/* Makes room for one more node with that many ports. */
static int reserve(struct hd_builder *builder, uint32_t ports)
{
	struct built_node *nodes =
	    hd_grow(builder->nodes, builder->node_count, 1, &builder->node_room, sizeof(*nodes));
	struct built_port *all =
	    hd_grow(builder->ports, builder->port_count, ports, &builder->port_room, sizeof(*all));

	builder->nodes = nodes ? nodes : builder->nodes;
	builder->ports = all ? all : builder->ports;
	return nodes && all ? 0 : -ENOMEM;
}

static int check_spec(const struct hd_builder *builder, const struct hd_node_spec *spec,
		      struct hd_error *err)
{
	char place[PLACE_SIZE], other[PLACE_SIZE];

	builder_place_text(builder->place, place, sizeof(place));
	if (!spec->guid)
		return hd_error_set(err, -EINVAL, "%snode '%s' has GUID 0", place,
				    spec->name ? spec->name : "");
	if (spec->port_count < 1 || spec->port_count > HD_PORTS_MAX)
		return hd_error_set(err, -EINVAL,
				    "%snode 0x%016" PRIx64 " has %u ports, expected 1..%d", place,
				    spec->guid, spec->port_count, HD_PORTS_MAX);
	uint32_t twin = hd_builder_find(builder, spec->guid);
	if (twin != HD_NONE)
		return hd_error_set(
		    err, -EEXIST,
		    "%sduplicate GUID 0x%016" PRIx64 " ('%s'): %sthis GUID "
		    "already belongs to '%s'",
		    place, spec->guid, spec->name ? spec->name : "",
		    builder_place_text(builder->nodes[twin].place, other, sizeof(other)),
		    builder->nodes[twin].spec.name);
	return 0;
}

/* All writers print names as they are. */
static const char *plain_name(struct hd_builder *builder, const char *name)
{
	char *plain = hd_plain_copy(name ? name : "");
	const char *kept = plain ? hd_arena_strdup(&builder->arena, plain) : NULL;

	free(plain);
	return kept;
}

int hd_builder_add_node(struct hd_builder *builder, const struct hd_node_spec *spec,
			uint32_t *handle, struct hd_error *err)
{
	int rc = check_spec(builder, spec, err);

	if (rc)
		return rc;
	const char *name = plain_name(builder, spec->name);
	if (!name || hd_arena_check(&builder->arena) || reserve(builder, spec->port_count + 1) ||
	    hd_lookup_add(&builder->by_guid, hd_hash_number(spec->guid), builder->node_count))
		return hd_error_no_memory(err);
	struct built_node *node = &builder->nodes[builder->node_count];
	*node = (struct built_node){
	    .spec = *spec, .first_port = builder->port_count, .place = builder->place};
	node->spec.name = name;
	for (uint32_t port = 0; port <= spec->port_count; port++)
		builder->ports[builder->port_count++] =
		    (struct built_port){.peer_node = HD_NONE, .peer_port = HD_NONE};
	*handle = builder->node_count++;
	return 0;
}

int hd_builder_set_name(struct hd_builder *builder, uint32_t node, const char *name)
{
	assert(node < builder->node_count);
	const char *copy = plain_name(builder, name);
	if (!copy)
		return -ENOMEM;
	builder->nodes[node].spec.name = copy;
	return 0;
}

static int check_port(const struct hd_builder *builder, uint32_t node, uint32_t port,
		      uint32_t lowest, struct hd_error *err)
{
	assert(node < builder->node_count);
	const struct built_node *owner = &builder->nodes[node];
	char place[PLACE_SIZE];
	if (port >= lowest && port <= owner->spec.port_count)
		return 0;
	return hd_error_set(err, -ERANGE,
			    "%sport %u of '%s' 0x%016" PRIx64 " is out of range, expected %u..%u",
			    builder_place_text(builder->place, place, sizeof(place)), port,
			    owner->spec.name, owner->spec.guid, lowest, owner->spec.port_count);
}

int hd_builder_set_lid(struct hd_builder *builder, uint32_t node, uint32_t port, uint32_t lid,
		       unsigned lmc, struct hd_error *err)
{
	int rc = check_port(builder, node, port, 0, err);

	if (rc)
		return rc;
	struct built_port *entry = builder_port(builder, node, port);
	const char *name = builder->nodes[node].spec.name;
	char place[PLACE_SIZE];
	builder_place_text(builder->place, place, sizeof(place));
	if (lmc > HD_LMC_MAX || lid < 1 || lid + (UINT64_C(1) << lmc) > HD_LID_LAST + 1u)
		return hd_error_set(err, -EINVAL,
				    "%sLID %u with LMC %u at '%s' port %u: expected LIDs 1..%d, "
				    "LMC 0..%d",
				    place, lid, lmc, name, port, HD_LID_LAST, HD_LMC_MAX);
	if (entry->lid && (entry->lid != lid || entry->lmc != lmc))
		return hd_error_set(err, -EEXIST,
				    "%s'%s' port %u: LID %u LMC %u contradicts LID %u LMC %u "
				    "before",
				    place, name, port, lid, lmc, entry->lid, entry->lmc);
	entry->lid = (uint16_t)lid;
	entry->lmc = (uint8_t)lmc;
	if (!entry->place.file)
		entry->place = builder->place;
	return 0;
}

int hd_builder_set_port_guid(struct hd_builder *builder, uint32_t node, uint32_t port,
			     uint64_t guid, struct hd_error *err)
{
	int rc = check_port(builder, node, port, 0, err);

	if (rc)
		return rc;
	struct built_port *entry = builder_port(builder, node, port);
	char place[PLACE_SIZE];
	if (entry->guid && entry->guid != guid)
		return hd_error_set(err, -EEXIST,
				    "%s'%s' port %u: port GUID 0x%016" PRIx64
				    " contradicts 0x%016" PRIx64 " before",
				    builder_place_text(builder->place, place, sizeof(place)),
				    builder->nodes[node].spec.name, port, guid, entry->guid);
	entry->guid = guid;
	return 0;
}

void hd_builder_clear_lids(struct hd_builder *builder)
{
	for (uint32_t port = 0; port < builder->port_count; port++)
		builder->ports[port].lid = builder->ports[port].lmc = 0;
}

void hd_builder_assign_lids(struct hd_builder *builder, unsigned lmc)
{
	assert(lmc <= HD_LMC_MAX);
	hd_builder_clear_lids(builder);
	builder->assign_lmc = (int)lmc;
}

int hd_builder_half_link(struct hd_builder *builder, uint32_t node, uint32_t port,
			 uint32_t peer_node, uint32_t peer_port, unsigned width,
			 enum hd_speed speed, struct hd_error *err)
{
	int rc = check_port(builder, node, port, 1, err);

	if (!rc)
		rc = check_port(builder, peer_node, peer_port, 1, err);
	if (rc)
		return rc;
	struct built_port *entry = builder_port(builder, node, port);
	const struct built_node *nodes = builder->nodes;
	char place[PLACE_SIZE], other[PLACE_SIZE];
	if (entry->peer_node != HD_NONE &&
	    (entry->peer_node != peer_node || entry->peer_port != peer_port))
		return hd_error_set(
		    err, -EEXIST,
		    "%s'%s'[%u] is cabled to '%s'[%u], but %sit is cabled to '%s'[%u]",
		    builder_place_text(builder->place, place, sizeof(place)), nodes[node].spec.name,
		    port, nodes[peer_node].spec.name, peer_port,
		    builder_place_text(entry->place, other, sizeof(other)),
		    nodes[entry->peer_node].spec.name, entry->peer_port);
	entry->peer_node = peer_node;
	entry->peer_port = peer_port;
	entry->place = builder->place;
	if (width)
		entry->width = (uint8_t)width;
	if (speed)
		entry->speed = (uint8_t)speed;
	return 0;
}

int hd_builder_link(struct hd_builder *builder, uint32_t node_a, uint32_t port_a, uint32_t node_b,
		    uint32_t port_b, unsigned width, enum hd_speed speed, struct hd_error *err)
{
	int rc = check_port(builder, node_a, port_a, 1, err);

	if (rc)
		return rc;
	struct built_port before = *builder_port(builder, node_a, port_a);
	rc = hd_builder_half_link(builder, node_a, port_a, node_b, port_b, width, speed, err);
	if (rc)
		return rc;
	rc = hd_builder_half_link(builder, node_b, port_b, node_a, port_a, width, speed, err);
	if (rc)
		*builder_port(builder, node_a, port_a) = before;
	return rc;
}

bool hd_builder_unlink(struct hd_builder *builder, uint32_t node, uint32_t port)
{
	struct built_port *entry = builder_port(builder, node, port);

	if (entry->peer_node == HD_NONE)
		return false;
	struct built_port *ends[2] = {entry,
				      builder_port(builder, entry->peer_node, entry->peer_port)};
	for (int i = 0; i < 2; i++) {
		ends[i]->peer_node = ends[i]->peer_port = HD_NONE;
		ends[i]->width = ends[i]->speed = 0;
	}
	return true;
}

/* Copies one node of a fabric; false if memory is short. */
static bool copy_node(struct hd_builder *builder, const struct hd_fabric *fabric, uint32_t node)
{
	struct hd_node_spec spec = {.type = (enum hd_node_type)fabric->node_type[node],
				    .guid = fabric->node_guid[node],
				    .system_guid = fabric->system_guid[node],
				    .vendor_id = fabric->vendor_id[node],
				    .device_id = fabric->device_id[node],
				    .port_count = hd_node_ports(fabric, node),
				    .name = fabric->node_name[node]};
	uint32_t handle;

	if (hd_builder_add_node(builder, &spec, &handle, NULL))
		return false;
	assert(handle == node);
	for (uint32_t port = 0; port <= spec.port_count; port++) {
		uint32_t index = hd_port_index(fabric, node, port), peer = fabric->peer[index];
		struct built_port *entry = builder_port(builder, node, port);
		entry->guid = fabric->port_guid[index];
		entry->lid = fabric->lid[index];
		entry->lmc = fabric->lmc[index];
		entry->width = fabric->width[index];
		entry->speed = fabric->speed[index];
		builder->nodes[node].spec.aside |= fabric->aside[index];
		if (peer != HD_NONE) {
			entry->peer_node = fabric->port_node[peer];
			entry->peer_port = hd_port_number(fabric, peer);
		}
	}
	return true;
}

struct hd_builder *hd_builder_from(const struct hd_fabric *fabric)
{
	struct hd_builder *builder = hd_builder_new();

	for (uint32_t node = 0; builder && node < fabric->node_count; node++) {
		if (!copy_node(builder, fabric, node)) {
			hd_builder_free(builder);
			return NULL;
		}
	}
	return builder;
}
