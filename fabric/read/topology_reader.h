/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the readers of topologies share: the lines of one file go into one builder. A dialect is a
 * constant table. To add one, write its file, name it in the table of read_fabric.c, and give the
 * fuzz target a sample.
 */
#ifndef FABRIC_TOPOLOGY_READER_H
#define FABRIC_TOPOLOGY_READER_H

#include <heddle/base/text.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/graph.h>

/* ---- width and speed ---- */

/* How tools print a link's width and speed: "4xQDR", "4x QDR". */

/* Takes "4x" off the front; "??" is width 0. False if neither is there. */
bool topology_reader_take_width(struct hd_cursor *cursor, uint8_t *width);

/* Takes a speed's name off the front; "???" and names not known yet are HD_SPEED_UNKNOWN. */
bool topology_reader_take_speed(struct hd_cursor *cursor, uint8_t *speed);

/* ---- dialects ---- */

struct topology_reader {
	struct hd_lines lines;
	struct hd_builder *builder;
	const struct hd_log *log;
	struct hd_error *err;
	struct hd_skipped_lines skipped;
	unsigned understood; /* lines that the dialect knows */
};

struct topology_dialect {
	const char *name; /* for messages: "an ibdiagnet .lst file" */
	/* Whether this line by itself shows that the file is in this dialect. */
	bool (*matches)(struct hd_cursor line);
	/* Reads all lines into the builder. Errors: -EINVAL, those of the builder, -ENOMEM. */
	int (*read)(struct topology_reader *reader);
};

/* Whether it is a line "DR path ..." of ibnetdiscover -d, which may be anywhere. */
bool topology_reader_is_debug(struct hd_cursor line);

/* Sets a port's LID as a dump prints it: 0 and 65535 mean that it has none. Errors: -EINVAL, those
 * of hd_builder_set_lid(). */
int topology_reader_set_lid(struct topology_reader *reader, uint32_t node, uint32_t port,
			    uint32_t lid, unsigned lmc);

/* The dialects. matches() of read_cache takes the beginning of the file in place of a line. */
extern const struct topology_dialect read_cache;
extern const struct topology_dialect read_discover;
extern const struct topology_dialect read_linkinfo;
extern const struct topology_dialect read_lst;
extern const struct topology_dialect read_ports;

#endif
