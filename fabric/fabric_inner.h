/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of this room share among themselves. */
#ifndef FABRIC_FABRIC_INNER_H
#define FABRIC_FABRIC_INNER_H

#include <heddle/base/arena.h>
#include <heddle/base/lookup.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

/* ---- a fabric ---- */

/* What belongs to a struct hd_fabric: its memory and the index of port GUIDs. */

struct fabric_holder {
	struct hd_fabric fabric; /* first: a fabric's address is its holder's */
	struct hd_arena arena; /* holds the holder too */
	const uint64_t *guid_sorted;
	const uint32_t *guid_port;
	uint32_t guid_count;
};

/* ---- adapters ---- */

/* Listing what is cabled to the switches: hosts, and adapters that are set aside. */

/*
 * Fills host_* and aside_* of a fabric that has its nodes and ports; fabric->aside says which ports
 * are set aside. Memory from the arena. Errors: -ENOMEM. Cost: O(ports of the switches).
 */
int adapters_list(struct hd_fabric *fabric, struct hd_arena *arena);

/* ---- a builder ---- */

/* The data of a builder, for the file that collects it and the file that builds from it. */

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

/* ---- tables ---- */

/* Copies tables into the shape of another fabric. */

/* Where the rows and columns of new tables come from. */
struct routes_origin {
	uint32_t *row; /* [rows] a row of the old tables, HD_NONE: none */
	uint16_t *column; /* [columns] a column of the old tables, 0: none */
};

/* Arrays without origins. False: no memory. Release in both cases. */
bool routes_origin_init(struct routes_origin *origin, uint32_t rows, uint32_t columns);

void routes_origin_release(struct routes_origin *origin);

/* Copies entries, service levels and ranks of `from` into `to`, whose entries are all HD_NO_PORT,
 * and holds its labels. Leaves names of engine and options. Errors: -ENOMEM. O(entries). */
int routes_carry(const struct hd_routes *from, const struct routes_origin *origin,
		 struct hd_routes *to);

/*
 * The growth of stored tables, which have the shape of the fabric here: if the tables in force use links that no stored
 * entry uses, and more than are missing now, or if `many` LIDs are new, the fabric has grown. Then each stored entry whose path is whole follows the one in force, which an engine
 * has moved for a reason other than a loss. (*follows)[switch_count * lid_count] is 1 for entries that differ and follow; to
 * be freed; NULL where nothing has grown. Errors: -ENOMEM. Cost: O(switches * LIDs).
 */
int stored_growth_find(const struct hd_fabric *fabric, const struct hd_routes *stored,
		       const struct hd_routes *routes, bool many, uint8_t **follows);

/* ---- files of service levels ---- */

/* Words in files of service levels, shared by the writer and the reader. */

#define SERVICE_LEVELS 16u
#define SERVICE_VL_NONE 15u /* no lane for data */
#define SERVICE_MAP_HEAD "SL to VL:"
#define SERVICE_LANES_HEAD "Virtual lanes at switch guid "
#define SERVICE_SWITCH_HEAD "Service levels at switch guid "

#endif
