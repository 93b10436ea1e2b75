/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables for spreadsheets: comma-separated values with the quoting of RFC 4180. Each line ends in a
 * newline alone, so that awk and cut take them as well, and texts are plain, see heddle/base/plain.h. The first line has the names of the columns.
 * A text that a spreadsheet would take for a formula, because it begins with = + - @ or a tab, gets an
 * apostrophe before it.
 */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv {
	FILE *stream;
	bool begun; /* the row has a field already */
};

/* Begins a table with these columns, named "a,b,c". Errors of writing stay in the stream. */
struct csv csv_begin(FILE *stream, const char *columns);

/* The next field of the row. */
void csv_text(struct csv *csv, const char *text);
void csv_number(struct csv *csv, uint64_t number);
void csv_real(struct csv *csv, double number);
void csv_guid(struct csv *csv, uint64_t guid);
void csv_empty(struct csv *csv);

void csv_end_row(struct csv *csv);

/* STATUS_BAD after a message if both --csv and --json were given, else 0. */
int csv_refuse(bool csv, bool json);

#endif
