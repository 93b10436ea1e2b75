/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files that read ibnetdiscover's format share; read_discover.c shows the format. */
#ifndef FABRIC_READ_DISCOVER_INTERNAL_H
#define FABRIC_READ_DISCOVER_INTERNAL_H

#include "topology_reader.h"
#include <heddle/base/lookup.h>

struct record {
	struct hd_cursor id;
	uint32_t node;
	unsigned line;
	bool counted_guid; /* the GUID comes from ibsim's counter, not from the id */
};

struct port_line {
	uint32_t node, port, peer_port, peer_lid;
	uint64_t peer_guid;
	struct hd_cursor peer_id;
	unsigned line;
	uint8_t width, speed;
	bool has_facts; /* the line has width and speed */
};

struct discover {
	struct topology_reader *reader;
	struct record *records;
	uint32_t record_count, record_room;
	struct hd_lookup by_id;
	struct port_line *ports;
	uint32_t port_count, port_room;
	bool has_facts; /* some port line has */
	/* from lines before a header, which belong to that header's node */
	uint64_t system_guid, said_guid, said_port_guid;
	uint32_t vendor_id;
	uint16_t device_id;
	uint64_t next_guid[3]; /* ibsim's counters, by enum hd_node_type */
	uint64_t base_guid[3]; /* the GUID to which "caguid+N" adds N */
};

/* ---- read_discover_node.c ---- */

/* Whether the line is a header, or one of the lines before a header ("caguid=..."). */
bool read_discover_is_attribute(struct hd_cursor line);
bool read_discover_is_header(struct hd_cursor line);

int read_discover_attribute(struct discover *discover, struct hd_cursor line);
int read_discover_header(struct discover *discover, struct hd_cursor line);

/* Takes blanks, then "S-f4521403001165a0" with its quotes. */
bool read_discover_take_id(struct hd_cursor *cursor, struct hd_cursor *id);

uint32_t read_discover_find_record(const struct discover *discover, const struct hd_cursor *id);

/*
 * Splits the text after the # of a line into the text before the quoted name, the name, and the
 * text after it. An old ibnetdiscover has no quotes; then all three are the complete text. False if
 * a quote is opened and not closed.
 */
bool read_discover_split_comment(struct hd_cursor comment, struct hd_cursor *before,
				 struct hd_cursor *name, struct hd_cursor *after);

/* Takes everything up to `word` and the number that follows it. */
bool read_discover_take_after(struct hd_cursor *cursor, const char *word, uint32_t *value);

/* ---- read_discover_port.c ---- */

bool read_discover_is_port(struct hd_cursor line);
int read_discover_port(struct discover *discover, struct hd_cursor line);

/* Adds the cables of all port lines. All nodes must be known by then. */
int read_discover_link_ports(struct discover *discover);

#endif
