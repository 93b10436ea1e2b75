/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What perfquery and ibqueryerrors of infiniband-diags print:
 *
 *	# Port counters: Lid 13 port 4 (CapMask: 0x1300)
 *	SymbolErrorCounter:..............0
 *
 *	Errors for 0x200000 "S1_0"
 *	   GUID 0x200000 port 4: [LinkDownedCounter == 3] [PortXmitWait == 777 (0.759K)]
 *
 * Port 255 of perfquery and port ALL of ibqueryerrors are sums over a node.
 */
#include "counter_reader.h"

#include <errno.h>
#include <string.h>

#define ALL_PORTS 255u

/* ---- perfquery ---- */

static bool is_perfquery(struct hd_cursor line)
{
	return hd_take_text(&line, "# ") && hd_cursor_find(&line, " counters: ") &&
	       hd_cursor_find(&line, " port ");
}

/* "# Port counters: Lid 13 port 4 (CapMask: 0x1300)"; other counters than those of ports are left out. */
static int read_head(struct counter_reader *reader, struct hd_cursor line)
{
	struct hd_cursor kind, rest;
	uint32_t lid, number;

	hd_take_text(&line, "# ");
	hd_take_until(&line, " counters: ", &kind);
	reader->port = HD_NONE;
	reader->wide = hd_cursor_is(&kind, "Port extended");
	if (!reader->wide && !hd_cursor_is(&kind, "Port"))
		return 0;
	if (!hd_take_text(&line, "Lid ") || !hd_take_decimal(&line, &lid) ||
	    !hd_take_until(&line, "port ", &rest) || !hd_take_decimal(&line, &number))
		return hd_lines_error(&reader->lines, reader->err,
				      "expected 'Lid NUMBER port NUMBER'");
	if (number != ALL_PORTS)
		counter_reader_begin_lid(reader, lid, number);
	return 0;
}

static int read_perfquery(struct counter_reader *reader, struct hd_cursor line, bool *taken)
{
	struct hd_cursor name;
	uint64_t value;

	*taken = true;
	if (is_perfquery(line))
		return read_head(reader, line);
	if (!hd_take_until(&line, ":", &name)) {
		*taken = false;
		return 0;
	}
	enum hd_counter counter = counter_reader_find(name);
	if (counter == HD_COUNTERS)
		return 0;
	while (hd_take_text(&line, "."))
		;
	if (!counter_reader_take_number(&line, &value) || !hd_cursor_done(&line))
		return hd_lines_error(&reader->lines, reader->err,
				      "expected a number of up to 64 bits after %s",
				      hd_counter_name(counter));
	return counter_reader_set(reader, counter, value);
}

const struct counter_dialect counters_perfquery = {
    .name = "perfquery",
    .matches = is_perfquery,
    .read_line = read_perfquery,
};

/* ---- ibqueryerrors ---- */

static bool is_ibqueryerrors(struct hd_cursor line)
{
	hd_take_blanks(&line);
	return hd_take_text(&line, "Errors for ") || hd_take_text(&line, "Data Counters for ") ||
	       (hd_take_text(&line, "GUID 0x") && hd_cursor_find(&line, " port "));
}

/* "[LinkDownedCounter == 3] [PortXmitData == 52776 (206.156KB)]" */
static int read_items(struct counter_reader *reader, struct hd_cursor line)
{
	struct hd_cursor item, name;
	uint64_t value;

	for (hd_take_blanks(&line); !hd_cursor_done(&line); hd_take_blanks(&line)) {
		if (!hd_take_text(&line, "[") || !hd_take_until(&line, "]", &item) ||
		    !hd_take_until(&item, " == ", &name) ||
		    !counter_reader_take_number(&item, &value) ||
		    (!hd_cursor_done(&item) && !hd_take_text(&item, " (")))
			return hd_lines_error(&reader->lines, reader->err,
					      "expected [NAME == NUMBER] for each counter");
		int rc = counter_reader_set(reader, counter_reader_find(name), value);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_ibqueryerrors(struct counter_reader *reader, struct hd_cursor line, bool *taken)
{
	uint64_t guid;
	uint32_t number;

	hd_take_blanks(&line);
	*taken = true;
	if (hd_take_text(&line, "GUID ")) {
		if (!hd_take_hex(&line, &guid) || !hd_take_text(&line, " port "))
			return hd_lines_error(&reader->lines, reader->err,
					      "expected 'GUID 0x... port NUMBER:'");
		if (hd_take_text(&line, "ALL:"))
			return 0;
		if (!hd_take_decimal(&line, &number) || !hd_take_text(&line, ":"))
			return hd_lines_error(&reader->lines, reader->err,
					      "expected 'port NUMBER:' or 'port ALL:'");
		reader->wide = true;
		counter_reader_begin_guid(reader, guid, number);
		return read_items(reader, line);
	}
	*taken = hd_take_text(&line, "Errors for ") || hd_take_text(&line, "Data Counters for ") ||
		 hd_take_text(&line, "Link info:") || hd_take_text(&line, "##");
	return 0;
}

const struct counter_dialect counters_ibqueryerrors = {
    .name = "ibqueryerrors",
    .matches = is_ibqueryerrors,
    .read_line = read_ibqueryerrors,
};
