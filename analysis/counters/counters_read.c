/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads counters of ports in all dialects. */
#include <errno.h>
#include <heddle/analysis/counters.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * What the readers of counters share. A dialect is a constant table. To add one, write its file, name it in the
 * table of counters_read.c, and give the fuzz target a sample.
 */

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

/* ---- names ---- */

/* What OpenSM's performance manager calls them, in both of its forms, and what infiniband-diags called them
 * before 2011. */
static const struct {
	const char *name;
	enum hd_counter counter;
} other_names[] = {
    {"xmit_data", HD_XMIT_DATA},
    {"rcv_data", HD_RCV_DATA},
    {"xmit_pkts", HD_XMIT_PACKETS},
    {"rcv_pkts", HD_RCV_PACKETS},
    {"xmit_wait", HD_XMIT_WAIT},
    {"symbol_err_cnt", HD_SYMBOL_ERRORS},
    {"link_err_recover", HD_LINK_RECOVERIES},
    {"link_downed", HD_LINK_DOWNED},
    {"rcv_err", HD_RCV_ERRORS},
    {"rcv_rem_phys_err", HD_RCV_REMOTE_ERRORS},
    {"rcv_switch_relay_err", HD_RCV_RELAY_ERRORS},
    {"xmit_discards", HD_XMIT_DISCARDS},
    {"xmit_constraint_err", HD_XMIT_CONSTRAINT_ERRORS},
    {"rcv_constraint_err", HD_RCV_CONSTRAINT_ERRORS},
    {"link_integrity_err", HD_LINK_INTEGRITY_ERRORS},
    {"link_int_err", HD_LINK_INTEGRITY_ERRORS},
    {"buf_overrun_err", HD_BUFFER_OVERRUNS},
    {"vl15_dropped", HD_VL15_DROPPED},
    {"XmtData", HD_XMIT_DATA},
    {"RcvData", HD_RCV_DATA},
    {"XmtPkts", HD_XMIT_PACKETS},
    {"RcvPkts", HD_RCV_PACKETS},
    {"XmtWait", HD_XMIT_WAIT},
    {"SymbolErrors", HD_SYMBOL_ERRORS},
    {"LinkRecovers", HD_LINK_RECOVERIES},
    {"LinkDowned", HD_LINK_DOWNED},
    {"RcvErrors", HD_RCV_ERRORS},
    {"RcvRemotePhysErrors", HD_RCV_REMOTE_ERRORS},
    {"RcvSwRelayErrors", HD_RCV_RELAY_ERRORS},
    {"XmtDiscards", HD_XMIT_DISCARDS},
    {"XmtConstraintErrors", HD_XMIT_CONSTRAINT_ERRORS},
    {"RcvConstraintErrors", HD_RCV_CONSTRAINT_ERRORS},
    {"LinkIntegrityErrors", HD_LINK_INTEGRITY_ERRORS},
    {"ExcBufOverrunErrors", HD_BUFFER_OVERRUNS},
};

/* The counter of that name, as perfquery or OpenSM write it, or HD_COUNTERS. */
static enum hd_counter counter_reader_find(struct hd_cursor name)
{
	for (unsigned i = 0; i < HD_COUNTERS; i++)
		if (hd_cursor_is(&name, hd_counter_name(i)))
			return i;
	for (size_t i = 0; i < sizeof(other_names) / sizeof(*other_names); i++)
		if (hd_cursor_is(&name, other_names[i].name))
			return other_names[i].counter;
	return HD_COUNTERS;
}

/* ---- fields ---- */

/* Takes a decimal number of up to 64 bits. */
static bool counter_reader_take_number(struct hd_cursor *line, uint64_t *value)
{
	struct hd_cursor at = *line;
	uint64_t sum = 0;

	while (hd_cursor_peek(&at) >= '0' && hd_cursor_peek(&at) <= '9') {
		uint64_t digit = (uint64_t)(*at.at++ - '0');
		if (sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = 10 * sum + digit;
	}
	if (at.at == line->at)
		return false;
	*line = at;
	*value = sum;
	return true;
}

/* Takes a number with a fraction and an exponent, which is finite and not negative. */
static bool counter_reader_take_real(struct hd_cursor *line, double *value)
{
	char text[64], *end;
	struct hd_cursor word;

	if (!hd_take_word(line, &word) || word.end - word.at >= (ptrdiff_t)sizeof(text))
		return false;
	memcpy(text, word.at, (size_t)(word.end - word.at));
	text[word.end - word.at] = '\0';
	*value = strtod(text, &end);
	return end != text && !*end && isfinite(*value) && *value >= 0;
}

static bool take_month(struct hd_cursor *line, uint32_t *month)
{
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

	for (*month = 1; *month <= 12; ++*month)
		if (hd_take_text(line, months[*month - 1]))
			return true;
	return false;
}

/* Days since 1970, by Howard Hinnant's days_from_civil(). */
static int64_t days_of(int64_t year, uint32_t month, uint32_t day)
{
	year -= month <= 2;
	int64_t era = year / 400, of_era = year - era * 400;
	int64_t of_year =
	    (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + (int64_t)day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "Fri Nov 27 23:24:20 2026" in seconds since 1970, as if it were UTC. */
static bool counter_reader_take_time(struct hd_cursor *line, double *seconds)
{
	struct hd_cursor at = *line, weekday;
	uint32_t month, day, part[3], year;

	if (!hd_take_word(&at, &weekday))
		return false;
	hd_take_blanks(&at);
	if (!take_month(&at, &month))
		return false;
	hd_take_blanks(&at);
	if (!hd_take_decimal(&at, &day))
		return false;
	hd_take_blanks(&at);
	for (unsigned i = 0; i < 3; i++)
		if (!hd_take_decimal(&at, &part[i]) || (i < 2 && !hd_take_text(&at, ":")))
			return false;
	hd_take_blanks(&at);
	if (!hd_take_decimal(&at, &year) || year < 1970 || year > 9999 || day > 31)
		return false;
	*seconds = 86400.0 * (double)days_of(year, month, day) + 3600.0 * part[0] + 60.0 * part[1] +
		   part[2];
	*line = at;
	return true;
}

/* ---- ports ---- */

static void counters_begin(struct counter_reader *reader, uint32_t node, uint32_t number)
{
	const struct hd_fabric *fabric = reader->fabric;

	reader->port = HD_NONE;
	if (node != HD_NONE && number <= hd_node_ports(fabric, node))
		reader->port = hd_port_index(fabric, node, number);
	else
		hd_skipped_lines_add(&reader->foreign, &reader->lines);
}

/* Goes on with a port, by the GUID of its node or its own, or by a LID of its node, and by its number. If the fabric
 * does not have it, rows are left out. */
static void counter_reader_begin_guid(struct counter_reader *reader, uint64_t guid, uint32_t number)
{
	const struct hd_fabric *fabric = reader->fabric;
	uint32_t port = hd_fabric_find_port(fabric, guid);

	if (port != HD_NONE && hd_port_number(fabric, port) == number)
		counters_begin(reader, fabric->port_node[port], number);
	else
		counters_begin(reader, hd_fabric_find_node(fabric, guid), number);
}

/* Notes that the dialect at hand gives a counter of the port at hand. False: it has done so before. */
static bool note_given(struct counter_reader *reader, uint32_t bit)
{
	const uint32_t port = reader->port;
	uint32_t *given = &reader->given[reader->wide][port];

	if (reader->given_by[port] != reader->dialect)
		reader->given[0][port] = reader->given[1][port] = 0;
	reader->given_by[port] = reader->dialect;
	bool first = !(*given & bit);
	*given |= bit;
	return first;
}

/* A counter of the port at hand. Errors: -EINVAL the dialect has given it already in as many bits. */
static int counter_reader_set(struct counter_reader *reader, enum hd_counter counter,
			      uint64_t value)
{
	uint32_t bit = HD_COUNTER_BIT(counter), port = reader->port;

	reader->any = true;
	if (port == HD_NONE || counter >= HD_COUNTERS)
		return 0;
	if (!note_given(reader, bit))
		return hd_lines_error(&reader->lines, reader->err,
				      "the file has %s of this port twice; give two readings as "
				      "two files",
				      hd_counter_name(counter));
	struct hd_port_counters *row = &reader->counters->ports[port];
	if (!reader->wide && (reader->extended[port] & bit))
		return 0;
	if (!reader->wide && (counter <= HD_XMIT_WAIT && value == UINT32_MAX)) {
		row->known &= ~bit;
		row->value[counter] = 0;
		row->stopped |= bit;
		return 0;
	}
	if (reader->wide)
		reader->extended[port] |= bit;
	row->known |= bit;
	row->stopped &= ~bit;
	row->value[counter] = value;
	return 0;
}

/* Times at which a port was read, and at which its counters began. */
static void counter_reader_time(struct counter_reader *reader, double read_at, double began_at)
{
	struct hd_counters *counters = reader->counters;

	if (reader->port == HD_NONE)
		return;
	if (read_at > counters->read_at)
		counters->read_at = read_at;
	if (began_at > 0 && (counters->began_at <= 0 || began_at < counters->began_at))
		counters->began_at = began_at;
}

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

#define ALL_PORTS 255u

/* ---- perfquery ---- */

static bool is_perfquery(struct hd_cursor line)
{
	return hd_take_text(&line, "# ") && hd_cursor_find(&line, " counters: ") &&
	       hd_cursor_find(&line, " port ");
}

static int read_perfquery(struct counter_reader *reader, struct hd_cursor line, bool *taken)
{
	struct hd_cursor name;
	uint64_t value;

	*taken = true;
	if (is_perfquery(line)) {
		/* "# Port counters: Lid 13 port 4 (CapMask: 0x1300)"; other counters than those of ports are left out. */
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
		if (number != ALL_PORTS) {
			const struct hd_fabric *fabric = reader->fabric;
			uint32_t port = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;

			counters_begin(reader, port == HD_NONE ? HD_NONE : fabric->port_node[port],
				       number);
		}
		return 0;
	}
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

static const struct counter_dialect counters_perfquery = {
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
		/* "[LinkDownedCounter == 3] [PortXmitData == 52776 (206.156KB)]" */
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
	*taken = hd_take_text(&line, "Errors for ") || hd_take_text(&line, "Data Counters for ") ||
		 hd_take_text(&line, "Link info:") || hd_take_text(&line, "##");
	return 0;
}

static const struct counter_dialect counters_ibqueryerrors = {
    .name = "ibqueryerrors",
    .matches = is_ibqueryerrors,
    .read_line = read_ibqueryerrors,
};

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

static const struct counter_dialect counters_perfmgr = {
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

static const struct counter_dialect counters_perfmgr_table = {
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

static const struct counter_dialect counters_csv = {
    .name = "a table",
    .matches = is_csv,
    .read_line = read_csv,
};

/* A line is tried as the beginning of each dialect in this order. */
static const struct counter_dialect *const dialects[] = {
    &counters_perfquery,     &counters_ibqueryerrors, &counters_perfmgr,
    &counters_perfmgr_table, &counters_csv,
};

#define DIALECTS (sizeof(dialects) / sizeof(*dialects))

static int read_lines(struct counter_reader *reader)
{
	const struct counter_dialect *dialect = NULL;
	int rc, more;

	while ((more = hd_lines_next(&reader->lines, reader->err)) > 0) {
		struct hd_cursor line = hd_lines_cursor(&reader->lines);
		bool taken = false;
		if (hd_cursor_done(&line))
			continue;
		for (size_t i = 0; i < DIALECTS; i++)
			if (dialects[i]->matches(line)) {
				reader->port = dialect == dialects[i] ? reader->port : HD_NONE;
				dialect = dialects[i];
				reader->dialect = (uint8_t)(i + 1);
				break;
			}
		rc = dialect ? dialect->read_line(reader, line, &taken) : 0;
		if (rc)
			return rc;
		if (!taken)
			hd_skipped_lines_add(&reader->skipped, &reader->lines);
		else if (dialect)
			reader->counters->dialect = dialect->name;
	}
	return more;
}

/* Counts, and says what was left out. */
static int counters_finish(struct counter_reader *reader, const struct hd_log *log)
{
	struct hd_counters *counters = reader->counters;

	for (uint32_t port = 0; port < counters->port_count; port++) {
		counters->ports_read += counters->ports[port].known != 0;
		counters->ports_full += counters->ports[port].stopped != 0;
	}
	if (counters->seconds <= 0 && counters->began_at > 0 &&
	    counters->read_at > counters->began_at)
		counters->seconds = counters->read_at - counters->began_at;
	if (!counters->ports_read && !counters->ports_full) {
		if (reader->foreign.count)
			return hd_error_set(
			    reader->err, -ENODATA,
			    "%s:%u: the fabric has none of the ports of this file: '%s'",
			    reader->lines.name, reader->foreign.first_number,
			    reader->foreign.first);
		return hd_error_set(reader->err, -ENODATA,
				    "%s: no counters found; expected the output of perfquery, "
				    "ibqueryerrors or 'perfmgr "
				    "dump_counters', or a table that begins with guid,port",
				    reader->lines.name);
	}
	hd_skipped_lines_log(&reader->skipped, reader->lines.name, log);
	if (reader->foreign.count)
		hd_log(log, HD_LOG_WARNING,
		       "%s:%u: the fabric does not have this port, and %u more like it: '%s'",
		       reader->lines.name, reader->foreign.first_number, reader->foreign.count - 1,
		       reader->foreign.first);
	if (counters->ports_full)
		hd_log(log, HD_LOG_WARNING,
		       "%s: counters of 32 bits of %u ports had stopped at their end and are left "
		       "out; 'perfquery -x' "
		       "has 64 bits",
		       reader->lines.name, counters->ports_full);
	return 0;
}

int hd_counters_parse(const struct hd_text *text, const struct hd_fabric *fabric,
		      const struct hd_log *log, struct hd_counters **out, struct hd_error *err)
{
	struct counter_reader reader = {.fabric = fabric, .err = err, .port = HD_NONE};
	int rc = hd_text_check(text, err);

	if (rc)
		return rc;
	reader.lines = hd_lines_of(text);
	reader.counters = hd_counters_new(fabric);
	reader.extended = calloc((size_t)fabric->port_count + 1, sizeof(*reader.extended));
	reader.given[0] = calloc((size_t)fabric->port_count + 1, sizeof(*reader.given[0]));
	reader.given[1] = calloc((size_t)fabric->port_count + 1, sizeof(*reader.given[1]));
	reader.given_by = calloc((size_t)fabric->port_count + 1, sizeof(*reader.given_by));
	if (!reader.counters || !reader.extended || !reader.given[0] || !reader.given[1] ||
	    !reader.given_by)
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = read_lines(&reader);
	if (!rc)
		rc = counters_finish(&reader, log);
	free(reader.extended);
	free(reader.given[0]);
	free(reader.given[1]);
	free(reader.given_by);
	if (rc)
		hd_counters_free(reader.counters);
	else
		*out = reader.counters;
	return rc;
}
