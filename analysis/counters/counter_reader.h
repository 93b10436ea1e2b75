/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the readers of counters share. A dialect is a constant table. To add one, write its file, name it in the
 * table of counters_read.c, and give the fuzz target a sample.
 */
#ifndef ANALYSIS_COUNTER_READER_H
#define ANALYSIS_COUNTER_READER_H

#include <heddle/analysis/counters.h>

#define COUNTER_COLUMNS_MAX 64u
#define COUNTER_NO_COLUMN 0xFFu

struct counter_reader {
	const struct hd_fabric *fabric;
	struct hd_counters *counters;
	struct hd_error *err;
	struct hd_lines lines;
	struct hd_skipped_lines skipped; /* lines of no dialect */
	struct hd_skipped_lines foreign; /* lines that name a port which the fabric does not have */
	/* [port_count] counters that are known by 64 bits, HD_COUNTER_BIT() each */
	uint32_t *extended;
	/* [port_count] what dialect number `given_by` has given of a port, in 32 and in 64 bits; HD_COUNTER_BIT() each */
	uint32_t *given[2];
	uint8_t *given_by; /* [port_count] */
	uint8_t dialect; /* number of the one at hand, from 1 on */
	bool any; /* a counter was read, of whatever port */
	uint32_t port; /* to which rows belong; HD_NONE: they are left out */
	bool wide; /* rows are counters of 64 bits */
	/* the table at hand: what each column is, an enum hd_counter or a number of the dialect's own above */
	uint8_t column[COUNTER_COLUMNS_MAX];
	uint32_t columns;
};

struct counter_dialect {
	const char *name; /* for messages and reports: "perfquery" */
	/* Whether this line by itself shows that lines of the dialect follow. */
	bool (*matches)(struct hd_cursor line);
	/* Reads a line from such a one on; *taken: it belongs to the dialect. Errors: -EINVAL. */
	int (*read_line)(struct counter_reader *reader, struct hd_cursor line, bool *taken);
};

extern const struct counter_dialect counters_perfquery, counters_ibqueryerrors, counters_perfmgr,
    counters_perfmgr_table, counters_csv;

/* The counter of that name, as perfquery or OpenSM write it, or HD_COUNTERS. */
enum hd_counter counter_reader_find(struct hd_cursor name);

/* Takes a decimal number of up to 64 bits. */
bool counter_reader_take_number(struct hd_cursor *line, uint64_t *value);

/* Takes a number with a fraction and an exponent, which is finite and not negative. */
bool counter_reader_take_real(struct hd_cursor *line, double *value);

/* Goes on with a port, by the GUID of its node or its own, or by a LID of its node, and by its number. If the fabric
 * does not have it, rows are left out. */
void counter_reader_begin_guid(struct counter_reader *reader, uint64_t guid, uint32_t number);
void counter_reader_begin_lid(struct counter_reader *reader, uint32_t lid, uint32_t number);

/* A counter of the port at hand. Errors: -EINVAL the dialect has given it already in as many bits. */
int counter_reader_set(struct counter_reader *reader, enum hd_counter counter, uint64_t value);

/* "Fri Nov 27 23:24:20 2026" in seconds since 1970, as if it were UTC. */
bool counter_reader_take_time(struct hd_cursor *line, double *seconds);

/* Times at which a port was read, and at which its counters began. */
void counter_reader_time(struct counter_reader *reader, double read_at, double began_at);

#endif
