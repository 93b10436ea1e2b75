/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The data of a builder, for the file that collects it and the file that builds from it. */
#ifndef FABRIC_BUILDER_STORE_H
#define FABRIC_BUILDER_STORE_H

#include <heddle/base/arena.h>
#include <heddle/base/lookup.h>
#include <heddle/fabric/builder.h>

struct place {
	const char *file; /* NULL: no place */
	unsigned line;
};

struct built_node {
	struct hd_node_spec spec; /* name in the builder's arena */
	uint32_t first_port; /* index of its port 0 in ports[] */
	struct place place;
};

struct built_port {
	uint32_t peer_node, peer_port; /* HD_NONE: uncabled */
	uint64_t guid;
	uint16_t lid;
	uint8_t lmc, width, speed;
	struct place place; /* where the input gives its cable or LID */
};

struct hd_builder {
	struct hd_arena arena;
	struct built_node *nodes;
	uint32_t node_count, node_room;
	struct built_port *ports;
	uint32_t port_count, port_room;
	struct hd_lookup by_guid; /* handles by node GUID */
	struct place place;
	int assign_lmc; /* -1: keep the LIDs that were set */
};

/* "file:line: " or "", to begin a message. Valid until the next call with `buffer`. */
const char *builder_place_text(struct place place, char *buffer, size_t size);

#define PLACE_SIZE 200

static inline struct built_port *builder_port(const struct hd_builder *builder, uint32_t node,
					      uint32_t port)
{
	return &builder->ports[builder->nodes[node].first_port + port];
}

#endif
