/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of ibnetdiscover --cache (libibnetdisc, version 1), which are not text. Numbers are
 * little-endian, but for those in attributes, which are as on the wire.
 *
 *   header  magic 4, version 4, nodes 4, ports 4, GUID of the first node 8, hops 4
 *   node    LID 2, LMC 1, enhanced port 0 1, SwitchInfo 64, GUID 8, type 1, ports 1, NodeInfo 64,
 *           description 64, number of keys 1, then as many keys: port GUID 8, port 1
 *   port    GUID 8, port 1, outside port 1, LID 2, LMC 1, PortInfo 64, GUID of its node 8,
 *           whether it is cabled 1, key of the port at the other end 9
 *
 * The ports of a switch share a GUID. FDR10 is not in the file, so such links are QDR.
 */
#include "fabric_inner.h"
#include "topology_reader.h"

#include <errno.h>
#include <heddle/base/lookup.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ATTRIBUTE_LENGTH 64
#define NODE_LENGTH 207
#define KEY_LENGTH 9
#define PORT_LENGTH 95
#define HAS_EXTENDED_SPEEDS 0x4000u /* in CapabilityMask */

static const unsigned char magic[8] = {0x2b, 0x83, 0xe7, 0x8f, 1, 0, 0, 0};

struct cached_port {
	uint64_t guid, node_guid, far_guid;
	uint32_t node; /* handle */
	const unsigned char *info;
	uint32_t lid;
	uint8_t number, lmc, far_number;
	bool cabled;
};

struct cache {
	struct topology_reader *reader;
	const unsigned char *at, *end;
	struct cached_port *ports;
	uint32_t node_count, port_count;
	struct hd_lookup by_guid; /* ports by their GUID: one of each switch */
	const unsigned char **own_info; /* [node_count] PortInfo of a switch's port 0 */
};

/* ---- numbers ---- */

static uint64_t little(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static uint64_t big(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static const unsigned char *take(struct cache *cache, size_t bytes)
{
	const unsigned char *at = cache->at;

	if ((size_t)(cache->end - at) < bytes)
		return NULL;
	cache->at += bytes;
	return at;
}

static int cut(const struct cache *cache, const char *what, uint32_t index, uint32_t count)
{
	return hd_error_set(cache->reader->err, -EINVAL,
			    "%s: the file ends in %s %" PRIu32 " of %" PRIu32
			    " (was the file cut off?)",
			    cache->reader->lines.name, what, index + 1, count);
}

/* ---- nodes ---- */

static const char *copy_name(const unsigned char *description, char name[HD_NAME_SIZE])
{
	struct hd_cursor text = {(const char *)description, (const char *)description};

	while (text.end < text.at + ATTRIBUTE_LENGTH && *text.end)
		text.end++;
	hd_cursor_trim(&text);
	return hd_cursor_quote(&text, name, HD_NAME_SIZE);
}

static bool type_of(unsigned code, enum hd_node_type *type)
{
	*type = code == 1 ? HD_CA : code == 2 ? HD_SWITCH : HD_ROUTER;
	return code >= 1 && code <= 3;
}

static int add_node(struct cache *cache, const unsigned char *at)
{
	struct topology_reader *reader = cache->reader;
	const unsigned char *info = at + 78;
	char name[HD_NAME_SIZE];
	struct hd_node_spec spec = {.guid = little(at + 68, 8),
				    .port_count = at[77],
				    .system_guid = big(info + 4, 8),
				    .device_id = (uint16_t)big(info + 30, 2),
				    .vendor_id = (uint32_t)big(info + 37, 3),
				    .name = copy_name(at + 142, name)};
	uint32_t handle;

	if (!type_of(at[76], &spec.type))
		return hd_error_set(reader->err, -EINVAL,
				    "%s: node 0x%016" PRIx64 " has type %u, expected 1, 2 or 3",
				    reader->lines.name, spec.guid, at[76]);
	return hd_builder_add_node(reader->builder, &spec, &handle, reader->err);
}

static int read_nodes(struct cache *cache)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < cache->node_count; i++) {
		const unsigned char *node = take(cache, NODE_LENGTH);
		if (!node || !take(cache, (size_t)node[NODE_LENGTH - 1] * KEY_LENGTH))
			return cut(cache, "node", i, cache->node_count);
		rc = add_node(cache, node);
		cache->reader->understood++;
	}
	return rc;
}

/* ---- ports ---- */

static int keep_port(struct cache *cache, const unsigned char *at, struct cached_port *port)
{
	const struct topology_reader *reader = cache->reader;

	*port = (struct cached_port){.guid = little(at, 8),
				     .number = at[8],
				     .lid = (uint32_t)little(at + 10, 2),
				     .lmc = at[12],
				     .info = at + 13,
				     .node_guid = little(at + 77, 8),
				     .cabled = at[85],
				     .far_guid = little(at + 86, 8),
				     .far_number = at[94]};
	port->node = hd_builder_find(reader->builder, port->node_guid);
	if (port->node == HD_NONE)
		return hd_error_set(reader->err, -EINVAL,
				    "%s: port %u of node 0x%016" PRIx64
				    ": the file does not have this node",
				    reader->lines.name, port->number, port->node_guid);
	return 0;
}

struct wanted {
	const struct cache *cache;
	uint64_t guid;
};

static bool same_guid(const void *context, uint32_t index)
{
	const struct wanted *wanted = context;

	return wanted->cache->ports[index].guid == wanted->guid;
}

static uint32_t find_port(const struct cache *cache, uint64_t guid)
{
	const struct wanted wanted = {cache, guid};

	return hd_lookup_find(&cache->by_guid, hd_hash_number(guid), same_guid, &wanted);
}

static int read_ports_of(struct cache *cache)
{
	for (uint32_t i = 0; i < cache->port_count; i++) {
		struct cached_port *port = &cache->ports[i];
		const unsigned char *at = take(cache, PORT_LENGTH);
		if (!at)
			return cut(cache, "port", i, cache->port_count);
		int rc = keep_port(cache, at, port);
		if (rc)
			return rc;
		if (!port->number)
			cache->own_info[port->node] = port->info;
		if (find_port(cache, port->guid) == HD_NONE &&
		    hd_lookup_add(&cache->by_guid, hd_hash_number(port->guid), i))
			return hd_error_no_memory(cache->reader->err);
	}
	if (cache->at == cache->end)
		return 0;
	return hd_error_set(cache->reader->err, -EINVAL,
			    "%s: the file goes on after its last port, by %td bytes",
			    cache->reader->lines.name, cache->end - cache->at);
}

/* ---- into the builder ---- */

/* Switches say at port 0 whether they have extended speeds. */
static enum hd_speed speed_of(const struct cache *cache, const struct cached_port *port)
{
	const unsigned char *own =
	    cache->own_info[port->node] ? cache->own_info[port->node] : port->info;
	unsigned extended = big(own + 20, 4) & HAS_EXTENDED_SPEEDS ? port->info[62] >> 4 : 0;

	return hd_link_speed(port->info[35] >> 4, extended);
}

/* A LID that an adapter's port kept when its cable went down may be another's by now. */
static int add_addresses(struct cache *cache, const struct cached_port *port)
{
	struct topology_reader *reader = cache->reader;
	bool of_switch = reader->builder->nodes[port->node].spec.type == HD_SWITCH;
	int rc = 0;

	if (!of_switch && !port->number)
		return hd_error_set(reader->err, -EINVAL,
				    "%s: adapter 0x%016" PRIx64 " has a port 0", reader->lines.name,
				    port->node_guid);
	if (port->lmc > HD_LMC_INFINIBAND)
		return hd_error_set(reader->err, -EINVAL,
				    "%s: port %u of node 0x%016" PRIx64
				    " has LMC %u, expected 0..%d",
				    reader->lines.name, port->number, port->node_guid, port->lmc,
				    HD_LMC_INFINIBAND);
	if (of_switch && port->number)
		return 0;
	if (of_switch || port->cabled)
		rc =
		    topology_reader_set_lid(reader, port->node, port->number, port->lid, port->lmc);
	return rc ? rc
		  : hd_builder_set_port_guid(reader->builder, port->node, port->number, port->guid,
					     reader->err);
}

static int add_cable(struct cache *cache, const struct cached_port *port)
{
	struct topology_reader *reader = cache->reader;
	uint32_t far = find_port(cache, port->far_guid);

	if (far == HD_NONE)
		return hd_error_set(
		    reader->err, -EINVAL,
		    "%s: port %u of node 0x%016" PRIx64 " is cabled to port 0x%016" PRIx64
		    ", which the file does not have",
		    reader->lines.name, port->number, port->node_guid, port->far_guid);
	return hd_builder_half_link(
	    reader->builder, port->node, port->number, cache->ports[far].node, port->far_number,
	    hd_link_width(port->info[31]), speed_of(cache, port), reader->err);
}

static int build(struct cache *cache)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < cache->port_count; i++) {
		const struct cached_port *port = &cache->ports[i];
		rc = add_addresses(cache, port);
		if (!rc && port->cabled)
			rc = add_cable(cache, port);
	}
	return rc;
}

/* ---- the file ---- */

static bool matches(struct hd_cursor start)
{
	return start.end - start.at >= (ptrdiff_t)sizeof(magic) &&
	       !memcmp(start.at, magic, sizeof(magic));
}

/* The counts are those of the file, so memory is taken only for what it has room for. */
static int read_all(struct cache *cache)
{
	const unsigned char *header = take(cache, 28);

	if (!header)
		return cut(cache, "byte", 0, 28);
	cache->node_count = (uint32_t)little(header + 8, 4);
	cache->port_count = (uint32_t)little(header + 12, 4);
	int rc = read_nodes(cache);
	if (rc)
		return rc;
	uint32_t whole = (uint32_t)((size_t)(cache->end - cache->at) / PORT_LENGTH);
	if (cache->port_count > whole)
		return cut(cache, "port", whole, cache->port_count);
	cache->ports = calloc(cache->port_count + 1u, sizeof(*cache->ports));
	cache->own_info = calloc(cache->node_count + 1u, sizeof(*cache->own_info));
	if (!cache->ports || !cache->own_info)
		return hd_error_no_memory(cache->reader->err);
	rc = read_ports_of(cache);
	return rc ? rc : build(cache);
}

static int read_topology(struct topology_reader *reader)
{
	struct cache cache = {.reader = reader,
			      .at = (const unsigned char *)reader->lines.at,
			      .end = (const unsigned char *)reader->lines.end};

	hd_builder_at(reader->builder, reader->lines.name, 0);
	int rc = read_all(&cache);
	if (rc && reader->err && !strstr(reader->err->text, reader->lines.name))
		hd_error_prefix(reader->err, rc, "%s", reader->lines.name);
	hd_lookup_release(&cache.by_guid);
	free(cache.own_info);
	free(cache.ports);
	return rc;
}

const struct topology_dialect read_cache = {
    .name = "a file of ibnetdiscover --cache",
    .matches = matches,
    .read = read_topology,
};
