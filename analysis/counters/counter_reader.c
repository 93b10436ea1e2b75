/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "counter_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

enum hd_counter counter_reader_find(struct hd_cursor name)
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

bool counter_reader_take_number(struct hd_cursor *line, uint64_t *value)
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

bool counter_reader_take_real(struct hd_cursor *line, double *value)
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

bool counter_reader_take_time(struct hd_cursor *line, double *seconds)
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

static void begin(struct counter_reader *reader, uint32_t node, uint32_t number)
{
	const struct hd_fabric *fabric = reader->fabric;

	reader->port = HD_NONE;
	if (node != HD_NONE && number <= hd_node_ports(fabric, node))
		reader->port = hd_port_index(fabric, node, number);
	else
		hd_skipped_lines_add(&reader->foreign, &reader->lines);
}

void counter_reader_begin_guid(struct counter_reader *reader, uint64_t guid, uint32_t number)
{
	const struct hd_fabric *fabric = reader->fabric;
	uint32_t port = hd_fabric_find_port(fabric, guid);

	if (port != HD_NONE && hd_port_number(fabric, port) == number)
		begin(reader, fabric->port_node[port], number);
	else
		begin(reader, hd_fabric_find_node(fabric, guid), number);
}

void counter_reader_begin_lid(struct counter_reader *reader, uint32_t lid, uint32_t number)
{
	const struct hd_fabric *fabric = reader->fabric;
	uint32_t port = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;

	begin(reader, port == HD_NONE ? HD_NONE : fabric->port_node[port], number);
}

/* Whether a counter of 32 bits or less has stopped at its end, where that can be told. */
static bool has_stopped(enum hd_counter counter, uint64_t value)
{
	return counter <= HD_XMIT_WAIT && value == UINT32_MAX;
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

int counter_reader_set(struct counter_reader *reader, enum hd_counter counter, uint64_t value)
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
	if (!reader->wide && has_stopped(counter, value)) {
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

void counter_reader_time(struct counter_reader *reader, double read_at, double began_at)
{
	struct hd_counters *counters = reader->counters;

	if (reader->port == HD_NONE)
		return;
	if (read_at > counters->read_at)
		counters->read_at = read_at;
	if (began_at > 0 && (counters->began_at <= 0 || began_at < counters->began_at))
		counters->began_at = began_at;
}
