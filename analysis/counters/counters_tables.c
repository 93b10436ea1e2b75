/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `perfmgr dump_counters` of OpenSM writes, for people and, with `mach`, for programs, and the table of
 * hd_counters_write():
 *
 *	"S2_1" 0x200050 active TRUE port 4
 *	     Last Reset           : Fri Nov 27 23:24:17 2026
 *	     xmit_data            : 13824 (54.000KB)
 *
 *	Name	GUID	Active	Port	Last Reset	...	xmit_data	rcv_data	...
 *	S2_1	0x200050	TRUE	4	Fri Nov 27 23:24:17 2026	...	13824	29016	...
 *
 *	# seconds 10
 *	guid,port,PortXmitData,PortRcvData
 *	0x0000000000200050,4,13824,29016
 */
#include "counter_reader.h"

#include <errno.h>
#include <string.h>

/* Columns that are no counters. */
enum { COLUMN_GUID = HD_COUNTERS, COLUMN_PORT, COLUMN_RESET, COLUMN_UPDATE };

/* ---- for people ---- */

/* Takes `"NAME" 0xGUID active TRUE port N`; a name may have quotes. */
static bool take_owner(struct hd_cursor line, uint64_t *guid, uint32_t *number)
{
	const char *end = hd_cursor_find_last(&line, "\" 0x");
	struct hd_cursor word;

	if (hd_cursor_peek(&line) != '"' || !end || end == line.at)
		return false;
	line.at = end + 2;
	return hd_take_hex(&line, guid) && hd_take_text(&line, " active ") &&
	       hd_take_word(&line, &word) && hd_take_text(&line, " port ") &&
	       hd_take_decimal(&line, number) && hd_cursor_done(&line);
}

static bool is_perfmgr(struct hd_cursor line)
{
	uint64_t guid;
	uint32_t number;

	return take_owner(line, &guid, &number);
}

static int read_perfmgr(struct counter_reader *reader, struct hd_cursor line, bool *taken)
{
	struct hd_cursor name;
	uint64_t guid, value;
	uint32_t number;
	double when;

	*taken = true;
	if (take_owner(line, &guid, &number)) {
		reader->wide = true;
		counter_reader_begin_guid(reader, guid, number);
		return 0;
	}
	*taken = hd_take_until(&line, ":", &name);
	if (!*taken)
		return 0;
	hd_cursor_trim(&name);
	hd_take_blanks(&line);
	bool reset = hd_cursor_is(&name, "Last Reset");
	if (reset || hd_cursor_is(&name, "Last Data Update")) {
		if (!counter_reader_take_time(&line, &when))
			return hd_lines_error(&reader->lines, reader->err,
					      "expected a time such as Fri Nov 27 23:24:17 2026");
		counter_reader_time(reader, reset ? 0 : when, reset ? when : 0);
		return 0;
	}
	enum hd_counter counter = counter_reader_find(name);
	if (counter == HD_COUNTERS)
		return 0;
	if (!counter_reader_take_number(&line, &value) ||
	    (!hd_cursor_done(&line) && !hd_take_text(&line, " (")))
		return hd_lines_error(&reader->lines, reader->err,
				      "expected a number of up to 64 bits");
	return counter_reader_set(reader, counter, value);
}

const struct counter_dialect counters_perfmgr = {
    .name = "OpenSM's performance manager",
    .matches = is_perfmgr,
    .read_line = read_perfmgr,
};

/* ---- tables ---- */

/* Takes a field up to the next separator, or all that is left. */
static struct hd_cursor take_field(struct hd_cursor *line, const char *separator)
{
	struct hd_cursor field;

	if (hd_take_until(line, separator, &field))
		return field;
	field = *line;
	line->at = line->end;
	return field;
}

static uint8_t column_of(struct hd_cursor name)
{
	hd_cursor_trim(&name);
	if (hd_cursor_is(&name, "GUID") || hd_cursor_is(&name, "guid"))
		return COLUMN_GUID;
	if (hd_cursor_is(&name, "Port") || hd_cursor_is(&name, "port"))
		return COLUMN_PORT;
	if (hd_cursor_is(&name, "Last Reset"))
		return COLUMN_RESET;
	if (hd_cursor_is(&name, "Last Data Update"))
		return COLUMN_UPDATE;
	enum hd_counter counter = counter_reader_find(name);
	return counter == HD_COUNTERS ? COUNTER_NO_COLUMN : (uint8_t)counter;
}

static int read_columns(struct counter_reader *reader, struct hd_cursor line, const char *separator)
{
	uint32_t guids = 0, ports = 0;

	for (reader->columns = 0; !hd_cursor_done(&line); reader->columns++) {
		if (reader->columns == COUNTER_COLUMNS_MAX)
			return hd_lines_error(&reader->lines, reader->err, "more than %u columns",
					      COUNTER_COLUMNS_MAX);
		uint8_t column = column_of(take_field(&line, separator));
		for (uint32_t i = 0; column != COUNTER_NO_COLUMN && i < reader->columns; i++)
			if (reader->column[i] == column)
				return hd_lines_error(&reader->lines, reader->err,
						      "columns %u and %u are the same", i + 1,
						      reader->columns + 1);
		reader->column[reader->columns] = column;
		guids += column == COLUMN_GUID;
		ports += column == COLUMN_PORT;
	}
	return guids && ports
		   ? 0
		   : hd_lines_error(&reader->lines, reader->err, "expected columns guid and port");
}

/* The place of a row, and its times. */
struct row {
	uint64_t guid;
	uint32_t number;
	double reset, update;
};

static bool read_place(const struct counter_reader *reader, struct hd_cursor line,
		       const char *separator, struct row *row)
{
	uint32_t fields = 0, places = 0;

	for (; !hd_cursor_done(&line) && fields < reader->columns; fields++) {
		struct hd_cursor field = take_field(&line, separator);
		uint8_t column = reader->column[fields];
		hd_cursor_trim(&field);
		if (column == COLUMN_GUID)
			places += hd_take_hex(&field, &row->guid) && hd_cursor_done(&field);
		else if (column == COLUMN_PORT)
			places += hd_take_decimal(&field, &row->number) && hd_cursor_done(&field);
		else if (column == COLUMN_RESET && !counter_reader_take_time(&field, &row->reset))
			return false;
		else if (column == COLUMN_UPDATE && !counter_reader_take_time(&field, &row->update))
			return false;
	}
	return places == 2 && hd_cursor_done(&line);
}

static int read_row(struct counter_reader *reader, struct hd_cursor line, const char *separator)
{
	struct row row = {.reset = 0};
	uint64_t value;

	if (!reader->columns || !read_place(reader, line, separator, &row))
		return hd_lines_error(&reader->lines, reader->err,
				      "expected a row of the table above: GUID, number of the "
				      "port, %u columns at most",
				      reader->columns);
	reader->wide = true;
	counter_reader_begin_guid(reader, row.guid, row.number);
	counter_reader_time(reader, row.update, row.reset);
	for (uint32_t i = 0; i < reader->columns && !hd_cursor_done(&line); i++) {
		struct hd_cursor field = take_field(&line, separator);
		hd_cursor_trim(&field);
		if (reader->column[i] >= HD_COUNTERS || hd_cursor_done(&field))
			continue;
		if (!counter_reader_take_number(&field, &value) || !hd_cursor_done(&field))
			return hd_lines_error(&reader->lines, reader->err,
					      "expected a number of up to 64 bits in column %u",
					      i + 1);
		int rc = counter_reader_set(reader, reader->column[i], value);
		if (rc)
			return rc;
	}
	return 0;
}

static bool is_perfmgr_table(struct hd_cursor line)
{
	return hd_take_text(&line, "Name\tGUID\t");
}

static int read_perfmgr_table(struct counter_reader *reader, struct hd_cursor line, bool *taken)
{
	*taken = true;
	return is_perfmgr_table(line) ? read_columns(reader, line, "\t")
				      : read_row(reader, line, "\t");
}

const struct counter_dialect counters_perfmgr_table = {
    .name = "OpenSM's performance manager",
    .matches = is_perfmgr_table,
    .read_line = read_perfmgr_table,
};

static bool is_csv(struct hd_cursor line)
{
	return hd_take_text(&line, "guid,") || hd_take_text(&line, "# seconds ") ||
	       hd_take_text(&line, "# wait_tick_seconds ");
}

static int read_csv(struct counter_reader *reader, struct hd_cursor line, bool *taken)
{
	struct hd_cursor start = line;

	*taken = true;
	if (hd_take_text(&line, "guid,"))
		return read_columns(reader, start, ",");
	bool seconds = hd_take_text(&line, "# seconds ");
	if (!seconds && !hd_take_text(&line, "# wait_tick_seconds "))
		return hd_cursor_peek(&line) == '#' ? 0 : read_row(reader, line, ",");
	double value;
	if (!counter_reader_take_real(&line, &value) || !hd_cursor_done(&line) || value <= 0)
		return hd_lines_error(&reader->lines, reader->err, "expected a number above 0");
	*(seconds ? &reader->counters->seconds : &reader->counters->wait_tick) = value;
	return 0;
}

const struct counter_dialect counters_csv = {
    .name = "a table",
    .matches = is_csv,
    .read_line = read_csv,
};
