/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast tables as OpenSM dumps them (opensm.mcfdbs), and as ibroute -M and dump_fts -M print
 * them, with and without -n. In masks, each four digits stand for 16 ports, the lowest ports first:
 *
 *   Switch 0x0000000000200000
 *   LID    : Out Port(s)
 *   0xC001 : 0x001  0x006  0x017
 *
 *   Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x0000000000200000 (leaf1):
 *        Ports: 0 1 2 3
 *    MLid
 *   0xc001        x   x
 *   1 valid mlids dumped
 *
 *   Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x0000000000200000 (leaf1):
 *    MLid       Port Mask
 *   0xc001      000a
 */
#include "table_reader.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/gzip.h>
#include <heddle/fabric/mfts.h>
#include <inttypes.h>
#include <stdlib.h>

#define FIRST_COLUMN 12
#define UNDECIDED_LINES 20000u

enum form { FORM_FOREIGN, FORM_LIST, FORM_COLUMNS, FORM_MASK };

struct row {
	struct hd_mft_entry entry;
	unsigned line;
};

struct reading {
	/* The file, its lines and the fabric; of the table being read, its switch. */
	struct table_reader tables;
	enum form form;
	bool seen;
	bool all_switches; /* the form of the file also has switches without an entry */
	bool cut; /* the last line is a row without a newline */
	uint32_t table_rows;
	struct row *rows;
	uint32_t count, room;
};

static int refuse(const struct reading *reading, const char *reason)
{
	return hd_lines_error(&reading->tables.lines, reading->tables.err, "%s", reason);
}

/* ---- headers ---- */

static int begin(struct reading *reading, const struct table_owner *owner, enum form form)
{
	struct table_reader *tables = &reading->tables;
	int rc = table_reader_end(tables);

	if (rc)
		return rc;
	reading->form = form;
	reading->seen = true;
	reading->table_rows = 0;
	rc = table_reader_find_switch(tables, owner, &tables->sw);
	if (rc)
		return rc;
	tables->table_count += !tables->has_table[tables->sw];
	tables->has_table[tables->sw] = 1;
	tables->unclosed = form == FORM_COLUMNS;
	reading->all_switches |= tables->unclosed;
	return 0;
}

static int read_mlids_header(struct reading *reading, struct hd_cursor line)
{
	struct table_owner owner;

	if (!table_reader_take_owner(line, &owner))
		return refuse(reading, "expected Multicast mlids [..] of switch Lid L guid 0x.. "
				       "(NAME):");
	return begin(reading, &owner, FORM_COLUMNS);
}

/* "Switch 0x..", after any text. The next line shows whether the table is multicast. */
static bool take_list_header(struct hd_cursor line, uint64_t *guid)
{
	struct hd_cursor before;

	return hd_take_until(&line, "Switch 0x", &before) && hd_take_hex(&line, guid) &&
	       hd_cursor_done(&line);
}

/* ---- rows ---- */

static int add_port(const struct reading *reading, struct hd_mft_entry *entry, uint64_t port)
{
	const struct hd_fabric *fabric = reading->tables.fabric;
	uint32_t ports = hd_node_ports(fabric, reading->tables.sw);

	if (port > ports)
		return hd_lines_error(
		    &reading->tables.lines, reading->tables.err,
		    "the row names port %u of '%s', but the switch has only %u ports",
		    (unsigned)port, fabric->node_name[reading->tables.sw], ports);
	hd_port_set_add(&entry->ports, (uint32_t)port);
	return 0;
}

static int read_list(const struct reading *reading, struct hd_cursor line,
		     struct hd_mft_entry *entry)
{
	int rc = 0;

	hd_take_blanks(&line);
	if (!hd_take_text(&line, ":"))
		return refuse(reading, "expected a row such as 0xC001 : 0x001  0x006");
	for (hd_take_blanks(&line); !rc && !hd_cursor_done(&line); hd_take_blanks(&line)) {
		uint64_t port;
		if (!hd_take_hex(&line, &port) || port > HD_PORTS_MAX)
			return refuse(reading, "expected ports such as 0x001");
		rc = add_port(reading, entry, port);
	}
	return rc;
}

static int read_columns(const struct reading *reading, const char *start, struct hd_cursor line,
			struct hd_mft_entry *entry)
{
	int rc = 0;

	for (; !rc && !hd_cursor_done(&line); line.at++) {
		size_t column = (size_t)(line.at - start);
		if (*line.at == ' ')
			continue;
		if (*line.at != 'x' || column < FIRST_COLUMN || (column - FIRST_COLUMN) % 2)
			return refuse(reading, "expected an x below the number of a port");
		rc = add_port(reading, entry, (column - FIRST_COLUMN) / 2);
	}
	return rc;
}

static int read_mask(const struct reading *reading, struct hd_cursor line,
		     struct hd_mft_entry *entry)
{
	hd_take_blanks(&line);
	for (uint32_t first = 0; !hd_cursor_done(&line); first += 16) {
		struct hd_cursor digits = {line.at, line.at + 4};
		uint64_t mask;
		int rc = 0;
		if (line.end - line.at < 4 || !hd_take_hex(&digits, &mask) ||
		    !hd_cursor_done(&digits) || line.at[1] == 'x')
			return refuse(
			    reading,
			    "expected a mask of ports, with four digits for each 16 ports");
		for (uint32_t bit = 0; !rc && bit < 16; bit++)
			if (mask >> bit & 1)
				rc = add_port(reading, entry, first + bit);
		if (rc)
			return rc;
		line.at = digits.end;
	}
	return 0;
}

static int keep(struct reading *reading, const struct hd_mft_entry *entry)
{
	if (hd_port_set_is_empty(&entry->ports))
		return 0;
	struct row *rows = hd_grow(reading->rows, reading->count, 1, &reading->room, sizeof(*rows));
	if (!rows)
		return hd_error_no_memory(reading->tables.err);
	reading->rows = rows;
	reading->rows[reading->count++] = (struct row){*entry, reading->tables.lines.number};
	return 0;
}

static int read_row(struct reading *reading, struct hd_cursor line)
{
	struct hd_mft_entry entry = {.sw = reading->tables.sw};
	const char *start = line.at;
	uint64_t mlid;
	int rc;

	if (!reading->seen)
		return refuse(reading, "a row before the first switch, expected a line that names "
				       "one");
	if (reading->form == FORM_FOREIGN)
		return 0;
	if (!hd_take_hex(&line, &mlid) || mlid < HD_MLID_FIRST || mlid > HD_MLID_LAST)
		return refuse(reading, "expected a multicast LID, 0xC000..0xFFFE");
	entry.mlid = (uint32_t)mlid;
	if (reading->form == FORM_LIST)
		rc = read_list(reading, line, &entry);
	else if (reading->form == FORM_MASK)
		rc = read_mask(reading, line, &entry);
	else
		rc = read_columns(reading, start, line, &entry);
	reading->table_rows++;
	reading->cut = reading->tables.lines.cut;
	return rc ? rc : keep(reading, &entry);
}

/* ---- lines ---- */

static bool take_closing(struct hd_cursor line, uint32_t *rows)
{
	return hd_take_decimal(&line, rows) &&
	       (hd_take_text(&line, " valid mlids dumped") || hd_take_text(&line, " mlids dumped"));
}

static int read_closing(struct reading *reading, uint32_t rows)
{
	table_reader_closing_line(&reading->tables, HD_NONE);
	if (reading->form == FORM_FOREIGN || rows == reading->table_rows)
		return 0;
	return hd_lines_error(&reading->tables.lines, reading->tables.err,
			      "%" PRIu32 " rows came before (is a part of the file missing?)",
			      reading->table_rows);
}

static int read_line(struct reading *reading)
{
	struct hd_cursor line = hd_lines_cursor(&reading->tables.lines), rest;
	struct table_owner owner = {.name = {line.end, line.end}};
	uint32_t rows;

	hd_take_blanks(&line);
	rest = line;
	if (hd_take_text(&rest, "Multicast mlids ["))
		return read_mlids_header(reading, rest);
	if (take_list_header(line, &owner.guid))
		return begin(reading, &owner, FORM_LIST);
	if (hd_take_text(&rest, "Unicast lids [") || hd_take_text(&rest, "LID    : Port")) {
		reading->form = FORM_FOREIGN;
		reading->seen = true;
		return table_reader_end(&reading->tables);
	} else if (hd_take_text(&rest, "MLid") && reading->form == FORM_COLUMNS) {
		hd_take_blanks(&rest);
		if (hd_take_text(&rest, "Port Mask"))
			reading->form = FORM_MASK;
	} else if (hd_take_text(&rest, "0x")) {
		return read_row(reading, line);
	} else if (take_closing(rest, &rows)) {
		return read_closing(reading, rows);
	} else if (!reading->seen && !hd_cursor_done(&line)) {
		hd_skipped_lines_add(&reading->tables.skipped, &reading->tables.lines);
	}
	return 0;
}

static int read_lines(struct reading *reading)
{
	struct table_reader *tables = &reading->tables;
	int rc = 0, more;

	while (!rc && (more = hd_lines_next(&tables->lines, tables->err)) != 0) {
		if (more < 0)
			return more;
		rc = read_line(reading);
		if (!reading->seen && tables->skipped.count > UNDECIDED_LINES)
			break;
	}
	return rc;
}

/* ---- the file ---- */

static int by_group(const void *left, const void *right)
{
	return hd_mfts_compare(&((const struct row *)left)->entry,
			       &((const struct row *)right)->entry);
}

static int refuse_repeated(const struct reading *reading, const struct row *a, const struct row *b)
{
	return hd_lines_error_at(&reading->tables.lines, a->line > b->line ? a->line : b->line,
				 reading->tables.err,
				 "'%s' already has an entry for 0x%04X on line %u",
				 reading->tables.fabric->node_name[a->entry.sw], a->entry.mlid,
				 a->line > b->line ? b->line : a->line);
}

static int make(struct reading *reading, struct hd_mfts **out)
{
	struct hd_mfts *mfts = calloc(1, sizeof(*mfts));
	struct hd_mft_entry *entries = calloc((size_t)reading->count + 1, sizeof(*entries));
	int rc = mfts && entries ? 0 : hd_error_no_memory(reading->tables.err);

	if (reading->count)
		qsort(reading->rows, reading->count, sizeof(*reading->rows), by_group);
	for (uint32_t i = 0; !rc && i < reading->count; i++) {
		if (i && !by_group(&reading->rows[i - 1], &reading->rows[i]))
			rc = refuse_repeated(reading, &reading->rows[i - 1], &reading->rows[i]);
		entries[i] = reading->rows[i].entry;
	}
	if (rc) {
		free(entries);
		free(mfts);
		return rc;
	}
	*mfts = (struct hd_mfts){reading->count, entries};
	*out = mfts;
	return 0;
}

static int no_table(const struct hd_text *text, struct hd_error *err)
{
	return hd_error_set(err, -ENODATA,
			    "%s: no multicast table found; expected opensm.mcfdbs, or the output "
			    "of dump_fts -M or ibroute -M",
			    text->name);
}

/*
 * If a dump was cut off, what is left looks as if the fabric had faults. opensm.mcfdbs lists only
 * switches with entries and does not mark its end, so nothing can be warned of.
 */
static void remark(const struct reading *reading, const struct hd_text *text)
{
	hd_skipped_lines_log(&reading->tables.skipped, text->name, reading->tables.log);
	if (!text->length)
		hd_log(reading->tables.log, HD_LOG_WARNING,
		       "%s: the file is empty; OpenSM leaves it empty if there are no groups",
		       text->name);
	if (reading->all_switches)
		table_reader_remark_missing(&reading->tables);
	if (reading->cut)
		hd_log(
		    reading->tables.log, HD_LOG_WARNING,
		    "%s: the last row does not end with a newline (is a part of the file missing?)",
		    text->name);
}

static int read_text(const struct hd_text *text, const struct hd_fabric *fabric,
		     const struct hd_log *log, struct hd_mfts **out, struct hd_error *err)
{
	struct reading reading = {
	    .tables = {.fabric = fabric, .log = log, .err = err, .sw = HD_NONE}};
	struct table_reader *tables = &reading.tables;

	/* OpenSM writes an empty file if there are no groups. */
	int rc = text->length ? hd_text_check(text, err) : 0;
	if (rc)
		return rc;
	tables->has_table = calloc((size_t)fabric->switch_count + 1, 1);
	if (!tables->has_table)
		return hd_error_no_memory(err);
	if (text->length)
		tables->lines = hd_lines_of(text);
	rc = read_lines(&reading);
	if (!rc)
		rc = table_reader_end(tables);
	if (!rc && text->length && tables->sw == HD_NONE)
		rc = no_table(text, err);
	if (!rc)
		rc = make(&reading, out);
	if (!rc)
		remark(&reading, text);
	free(tables->has_table);
	free(reading.rows);
	return rc;
}

int hd_mfts_parse(const char *text, size_t length, const char *name, const struct hd_fabric *fabric,
		  const struct hd_log *log, struct hd_mfts **out, struct hd_error *err)
{
	const struct hd_text whole = {.bytes = text, .length = length, .name = name};

	return read_text(&whole, fabric, log, out, err);
}

int hd_mfts_read(const char *path, const struct hd_fabric *fabric, const struct hd_log *log,
		 struct hd_mfts **out, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_gzip_open(path, &text, err);

	if (rc)
		return rc;
	rc = read_text(&text, fabric, log, out, err);
	hd_text_close(&text);
	return rc;
}

void hd_mfts_free(struct hd_mfts *mfts)
{
	if (!mfts)
		return;
	free(mfts->entries);
	free(mfts);
}
