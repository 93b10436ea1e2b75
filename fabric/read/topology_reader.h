/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the topology readers share: one file's lines going into one builder. */
#ifndef FABRIC_TOPOLOGY_READER_H
#define FABRIC_TOPOLOGY_READER_H

#include <heddle/base/text.h>

#include <heddle/fabric/builder.h>

struct topology_reader {
	struct hd_lines lines;
	struct hd_builder *builder;
	const struct hd_log *log;
	struct hd_error *err;
	struct hd_skipped_lines passed;
	unsigned understood; /* lines that said something */
};

/*
 * One function a dialect: reads all lines into the builder. Each looks_like_*() tells from one
 * line alone whether the file speaks that dialect.
 */
int read_discover(struct topology_reader *reader);
int read_ports(struct topology_reader *reader);
int read_lst(struct topology_reader *reader);

bool read_discover_matches(struct hd_cursor line);
bool read_ports_matches(struct hd_cursor line);
bool read_lst_matches(struct hd_cursor line);
bool read_discover_is_debug(struct hd_cursor line); /* "DR path ..." of ibnetdiscover -d */

/* True where a line is one of a forwarding table's, for a helpful message. */
bool read_lft_matches(struct hd_cursor line);

/* A port's LID as a dump prints it: 0 and 65535 mean that it has none. */
int topology_reader_set_lid(struct topology_reader *reader, uint32_t node, uint32_t port,
			    uint32_t lid, unsigned lmc);

#endif
