/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables as OpenSM dumps them (opensm-lfts.dump) and as ibroute, dump_lfts.sh and dump_fts
 * print them:
 *
 *   Unicast lids [0-307] of switch Lid 1 guid 0x00066a02e8001310 ('leaf1'):
 *   0x0001 000 # Switch portguid 0x00066a02e8001310: 'leaf1'
 *   307 lids dumped
 *
 *   Unicast lids [0x0-0x132] of switch Lid 1 guid 0x00066a02e8001310 (leaf1):
 *     Lid  Out   Destination
 *          Port     Info
 *   0x0001 000 : (Switch portguid 0x00066a02e8001310: 'leaf1')
 *   306 valid lids dumped
 */
#include "table_reader.h"

#include <string.h>

#define ROW_LENGTH 10 /* of "0x0001 012" */

static bool matches(struct hd_cursor line)
{
	return hd_take_text(&line, "Unicast lids [");
}

/* N in OpenSM's "Unicast lids [0-N]", which ends with "N lids dumped", however many rows are in
 * between. The others write hexadecimal LIDs and count rows at the end: HD_NONE. */
static uint32_t take_last_lid(struct hd_cursor line)
{
	uint32_t first, last;
	bool decimal = hd_take_text(&line, "Unicast lids [") && hd_take_decimal(&line, &first) &&
		       hd_take_text(&line, "-") && hd_take_decimal(&line, &last) &&
		       hd_take_text(&line, "]");

	return decimal ? last : HD_NONE;
}

static int read_header(struct table_reader *tables, struct hd_cursor line)
{
	struct table_owner owner;

	if (!table_reader_take_owner(line, &owner))
		return hd_lines_error(
		    &tables->lines, tables->err,
		    "expected Unicast lids [..] of switch Lid L guid 0x.. (NAME):");
	int rc = table_reader_begin(tables, &owner);
	if (rc || tables->foreign)
		return rc;
	tables->unclosed = true;
	tables->last_lid = take_last_lid(line);
	return 0;
}

/* "307 lids dumped", "306 valid lids dumped" */
static bool take_closing(struct hd_cursor line, uint32_t *number)
{
	return hd_take_decimal(&line, number) &&
	       (hd_take_text(&line, " lids dumped") || hd_take_text(&line, " valid lids dumped"));
}

static int read_row(struct table_reader *tables, struct hd_cursor line)
{
	const char *start = line.at;
	uint64_t lid;
	uint32_t port;
	bool right = hd_take_hex(&line, &lid) && line.at - start >= 6 && hd_take_text(&line, " ");

	start = line.at;
	if (!right || !hd_take_decimal(&line, &port) || line.at - start != 3)
		return hd_lines_error(&tables->lines, tables->err,
				      "expected LID and port, such as 0x0001 012");
	return table_reader_entry(tables, lid, port, line);
}

/* Rows of .fdbs tables begin in the same form, but have a colon after the LID. */
static bool is_row(struct hd_cursor line)
{
	uint64_t lid;

	if (!hd_take_text(&line, "0x"))
		return false;
	hd_take_hex(&line, &lid);
	hd_take_blanks(&line);
	return hd_cursor_peek(&line) != ':';
}

static int read_line(struct table_reader *tables, struct hd_cursor line, bool *taken)
{
	uint32_t number;

	*taken = true;
	if (is_row(line))
		return tables->foreign ? 0 : read_row(tables, line);
	if (matches(line))
		return read_header(tables, line);
	if (hd_take_text(&line, "Multicast mlids [")) {
		int rc = table_reader_end(tables);
		tables->foreign = true;
		return rc;
	}
	if (take_closing(line, &number))
		return table_reader_closing_line(tables, number);
	hd_take_blanks(&line);
	if (!hd_take_text(&line, "Lid  Out") && !hd_take_text(&line, "Port     Info"))
		*taken = false;
	return 0;
}

/* 0xFF: the character is no hexadecimal digit. */
static uint8_t digit_value(char digit)
{
	static const uint8_t values[] = {
	    ['0'] = 1,	['1'] = 2,  ['2'] = 3,	['3'] = 4,  ['4'] = 5,	['5'] = 6,
	    ['6'] = 7,	['7'] = 8,  ['8'] = 9,	['9'] = 10, ['A'] = 11, ['B'] = 12,
	    ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16, ['a'] = 11, ['b'] = 12,
	    ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16};
	uint8_t at = (uint8_t)digit;

	return (uint8_t)((at < sizeof(values) ? values[at] : 0) - 1);
}

/* "0x0001 012" and no fourth digit of the port: `row` has one byte more. */
static bool take_plain(const char *row, uint32_t *lid, uint32_t *port)
{
	uint32_t value = 0, worst = 0;

	if (row[0] != '0' || row[1] != 'x' || row[6] != ' ')
		return false;
	for (int i = 2; i < 6; i++) {
		value = value << 4 | digit_value(row[i]);
		worst |= digit_value(row[i]);
	}
	uint32_t hundreds = (uint8_t)(row[7] - '0'), tens = (uint8_t)(row[8] - '0');
	uint32_t ones = (uint8_t)(row[9] - '0'), more = (uint8_t)(row[10] - '0');
	*lid = value;
	*port = hundreds * 100 + tens * 10 + ones;
	return worst < 16 && hundreds < 10 && tens < 10 && ones < 10 && more >= 10;
}

static void read_rows(struct table_reader *tables, const char *limit)
{
	struct hd_lines *lines = &tables->lines;
	uint8_t *entries = hd_routes_row(tables->routes, tables->sw);
	const char *at = lines->at;
	uint32_t lid, port, rows = 0;

	while (limit - at > ROW_LENGTH && take_plain(at, &lid, &port) &&
	       table_reader_is_plain(tables, lid, port)) {
		const char *newline =
		    memchr(at + ROW_LENGTH, '\n', (size_t)(limit - at - ROW_LENGTH));
		if (!newline || newline - at > HD_LINE_LONGEST)
			break;
		entries[lid] = (uint8_t)port;
		at = newline + 1;
		rows++;
	}
	lines->at = at;
	lines->number += rows;
	tables->rows += rows;
}

const struct table_dialect read_lft = {
    .name = "forwarding tables of opensm-lfts.dump, dump_lfts.sh or ibroute",
    .matches = matches,
    .read_line = read_line,
    .read_rows = read_rows,
};
