/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads counters of ports in all dialects. */
#include "counter_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int refuse(const struct counter_reader *reader)
{
	if (reader->foreign.count)
		return hd_error_set(reader->err, -ENODATA,
				    "%s:%u: the fabric has none of the ports of this file: '%s'",
				    reader->lines.name, reader->foreign.first_number,
				    reader->foreign.first);
	return hd_error_set(
	    reader->err, -ENODATA,
	    "%s: no counters found; expected the output of perfquery, ibqueryerrors or 'perfmgr "
	    "dump_counters', or a table that begins with guid,port",
	    reader->lines.name);
}

/* Counts, and says what was left out. */
static int finish(struct counter_reader *reader, const struct hd_log *log)
{
	struct hd_counters *counters = reader->counters;

	for (uint32_t port = 0; port < counters->port_count; port++) {
		counters->ports_read += counters->ports[port].known != 0;
		counters->ports_full += counters->ports[port].stopped != 0;
	}
	if (counters->seconds <= 0 && counters->began_at > 0 &&
	    counters->read_at > counters->began_at)
		counters->seconds = counters->read_at - counters->began_at;
	if (!counters->ports_read && !counters->ports_full)
		return refuse(reader);
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
		rc = finish(&reader, log);
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
