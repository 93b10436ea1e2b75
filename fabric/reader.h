/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the topology readers share: one file's lines going into one builder. */
#ifndef FABRIC_READER_H
#define FABRIC_READER_H

#include "text.h"

#include <heddle/fabric/builder.h>

struct reader {
	struct lines lines;
	struct hd_builder *builder;
	const struct hd_log *log;
	struct hd_error *err;
	struct passed_over passed;
	unsigned understood; /* lines that said something */
};

/*
 * One function a dialect: reads all lines into the builder. Each looks_like_*() tells from one
 * line alone whether the file speaks that dialect.
 */
int read_discover(struct reader *reader);
int read_ports(struct reader *reader);
int read_lst(struct reader *reader);

bool looks_like_discover(struct cursor line);
bool looks_like_ports(struct cursor line);
bool looks_like_lst(struct cursor line);
bool looks_like_debug(struct cursor line); /* "DR path ..." of ibnetdiscover -d */

/* True where a line is one of a forwarding table's, for a helpful message. */
bool looks_like_table(struct cursor line);

/* A port's LID as a dump prints it: 0 and 65535 mean that it has none. */
int reader_set_lid(struct reader *reader, uint32_t node, uint32_t port, uint32_t lid, unsigned lmc);

#endif
