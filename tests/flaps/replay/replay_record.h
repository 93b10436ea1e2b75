/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The records of ibsim (bench/lft_clock.c) and of the emulator, and when cables died and came back, in one order. */
#ifndef REPLAY_RECORD_H
#define REPLAY_RECORD_H

#include "replay_tables.h"

/* A block of a forwarding table, as ibsim gets it. */
struct lft_record {
	uint64_t when;
	uint8_t block[4]; /* as it travels */
	uint8_t hops;
	uint8_t route[67]; /* [0] is unused */
	uint8_t ports[64];
};

/* From `when` on. */
struct cut {
	uint64_t when;
	uint64_t *dead; /* [nodes] ports */
};

struct record {
	FILE *lfts, *groups;
	char *line;
	size_t line_size;
	bool has_lft, has_set; /* those below are the next ones */
	struct lft_record lft;
	struct set set;
	struct cut *cuts;
	size_t cut, cut_count, cut_room;
};

enum record_kind { RECORD_END, RECORD_CUT, RECORD_LFT, RECORD_SET };

/* Exits if a file cannot be read. */
void record_open(struct record *record, const char *lfts, const char *groups);

/* Adds what is dead from a time on: "NS S-0000000000200000[3] ...". Later than all before. */
void record_add_cut(struct record *record, const struct fabric *fabric, const char *text);

/* What is next, up to the end of the files as they are now. It is in record->cuts[record->cut - 1],
 * record->lft or record->set. */
enum record_kind record_next(struct record *record, const struct fabric *fabric);

#endif
