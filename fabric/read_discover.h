/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of reading ibnetdiscover's format; see read_discover.c for the format. */
#ifndef FABRIC_READ_DISCOVER_H
#define FABRIC_READ_DISCOVER_H

#include "lookup.h"
#include "reader.h"

struct record {
	struct cursor id;
	uint32_t node;
	unsigned line;
	bool counted_guid; /* the GUID is ibsim's count, not the id */
};

struct port_line {
	uint32_t node, port, peer_port, peer_lid;
	uint64_t peer_guid;
	struct cursor peer_id;
	unsigned line;
	uint8_t width, speed;
	bool has_facts; /* width and speed were said */
};

struct discover {
	struct reader *reader;
	struct record *records;
	uint32_t record_count, record_room;
	struct lookup by_id;
	struct port_line *ports;
	uint32_t port_count, port_room;
	bool has_facts; /* some port line has */
	/* said before a header and meant for it */
	uint64_t system_guid, said_guid, said_port_guid;
	uint64_t next_guid[3]; /* by enum hd_node_type, as ibsim counts */
	uint64_t base_guid[3]; /* what "caguid+N" counts from */
};

/* ---- read_discover_node.c ---- */

/* Whether the line says something ahead of a header ("caguid=..."), or is a header. */
bool is_attribute(struct cursor line);
bool is_header(struct cursor line);

int read_attribute(struct discover *discover, struct cursor line);
int read_header(struct discover *discover, struct cursor line);

/* Takes "S-f4521403001165a0" with its quotes and blanks before them. */
bool take_id(struct cursor *cursor, struct cursor *id);

uint32_t find_record(const struct discover *discover, const struct cursor *id);

/*
 * Splits what follows the # of a line into the text before the quoted name, the name, and the
 * text after it. An older ibnetdiscover has no quotes: all three are the whole text then. False
 * when a quote is opened and not closed.
 */
bool split_comment(struct cursor comment, struct cursor *before, struct cursor *name,
		   struct cursor *after);

/* Takes everything up to `word` and the number that follows it. */
bool take_after(struct cursor *cursor, const char *word, uint32_t *value);

/* ---- read_discover_port.c ---- */

bool is_port_line(struct cursor line);
int read_port(struct discover *discover, struct cursor line);

/* Cables what the port lines said, once all nodes are known. */
int link_ports(struct discover *discover);

#endif
