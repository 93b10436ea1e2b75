/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables in blocks of 64 LIDs, as switches hold them and hd_routes_write_blocks() writes them, two digits an entry.
 * Entries ff have no port; blocks without any other are left out. The last line counts the others.
 *
 *   Blocks of switch Lid 1 guid 0x0000000000200000 ('leaf1'):
 *   block 0x0000 ff000104ff...
 *   block 0x0040 0102
 *   5 entries dumped
 */
#include "table_reader.h"

#define BLOCK_LIDS 64u

static bool matches(struct hd_cursor line)
{
	return hd_take_text(&line, "Blocks of switch ");
}

static int read_header(struct table_reader *tables, struct hd_cursor line)
{
	struct table_owner owner;

	if (!table_reader_take_owner(line, &owner))
		return hd_lines_error(&tables->lines, tables->err,
				      "expected Blocks of switch Lid L guid 0x.. (NAME):");
	int rc = table_reader_begin(tables, &owner);
	if (rc || tables->foreign)
		return rc;
	tables->unclosed = true;
	tables->last_lid = HD_NONE;
	return 0;
}

static bool take_digit(struct hd_cursor *line, uint32_t *value)
{
	const int digit = hd_cursor_peek(line);
	uint32_t found;

	if (digit >= '0' && digit <= '9')
		found = (uint32_t)(digit - '0');
	else if (digit >= 'a' && digit <= 'f')
		found = (uint32_t)(digit - 'a') + 10;
	else
		return false;
	line->at++;
	*value = *value << 4 | found;
	return true;
}

static int wrong_block(const struct table_reader *tables)
{
	return hd_lines_error(&tables->lines, tables->err,
			      "expected a block of at most %u entries, such as block 0x0040 01ff",
			      BLOCK_LIDS);
}

static int read_block(struct table_reader *tables, struct hd_cursor line)
{
	const struct hd_cursor none = {line.end, line.end};
	uint64_t first;
	int rc = 0;

	if (!hd_take_hex(&line, &first) || first % BLOCK_LIDS || !hd_take_text(&line, " ") ||
	    hd_cursor_done(&line))
		return wrong_block(tables);
	for (uint64_t lid = first; !rc && !hd_cursor_done(&line); lid++) {
		uint32_t port = 0;
		if (lid == first + BLOCK_LIDS || !take_digit(&line, &port) ||
		    !take_digit(&line, &port))
			return wrong_block(tables);
		if (port != HD_NO_PORT)
			rc = table_reader_entry(tables, lid, port, none);
	}
	return rc;
}

static int read_line(struct table_reader *tables, struct hd_cursor line, bool *taken)
{
	struct hd_cursor rest = line;
	uint32_t number;

	*taken = true;
	if (hd_take_text(&rest, "block "))
		return tables->foreign ? 0 : read_block(tables, rest);
	if (matches(line))
		return read_header(tables, line);
	if (hd_take_decimal(&line, &number) && hd_take_text(&line, " entries dumped"))
		return table_reader_closing_line(tables, number);
	*taken = false;
	return 0;
}

const struct table_dialect read_blocks = {
    .name = "forwarding tables in blocks, as heddle why --live reads them",
    .matches = matches,
    .read_line = read_line,
};
