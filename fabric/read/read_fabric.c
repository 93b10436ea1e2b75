/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a topology: which dialect it is, and what holds for all of them. */
#include "topology_reader.h"

#include <errno.h>
#include <heddle/fabric/read.h>
#include <string.h>

/* A file that shows no sign of a dialect for this long has none. */
#define UNDECIDED_LINES 20000u
#define UNDECIDED_BYTES (4u << 20)

#define LID_UNASSIGNED 0xFFFF

typedef int read_function(struct topology_reader *reader);

int topology_reader_set_lid(struct topology_reader *reader, uint32_t node, uint32_t port,
			    uint32_t lid, unsigned lmc)
{
	if (!lid || lid == LID_UNASSIGNED)
		return 0;
	if (lmc > HD_LMC_INFINIBAND)
		return hd_lines_error(&reader->lines, reader->err, "LMC %u; expected 0..%d", lmc,
				      HD_LMC_INFINIBAND);
	return hd_builder_set_lid(reader->builder, node, port, lid, lmc, reader->err);
}

static int not_a_topology(const struct hd_lines *lines, const char *what, struct hd_error *err)
{
	return hd_error_set(err, -ENODATA,
			    "%s: %s; expected ibnetdiscover output (plain or -p), an ibdiagnet "
			    ".lst file or an ibsim netlist",
			    lines->name, what);
}

static int detect(struct hd_lines lines, read_function **read, struct hd_error *err)
{
	size_t bytes = 0;
	unsigned undecided = 0;
	int more;

	while ((more = hd_lines_next(&lines, err)) > 0) {
		struct hd_cursor line = hd_lines_cursor(&lines);
		if (read_discover_matches(line))
			*read = read_discover;
		else if (read_ports_matches(line))
			*read = read_ports;
		else if (read_lst_matches(line))
			*read = read_lst;
		if (*read)
			return 0;
		if (read_lft_matches(line))
			return not_a_topology(&lines, "this is a forwarding table", err);
		if (read_discover_is_debug(line))
			continue;
		bytes += lines.length;
		if (++undecided > UNDECIDED_LINES || bytes > UNDECIDED_BYTES)
			break;
	}
	return more < 0 ? more : not_a_topology(&lines, "no node or link found", err);
}

/* Dumps come with a few lines of the shell around them; mostly foreign lines is another file. */
static int check_passed(const struct topology_reader *reader)
{
	const struct hd_skipped_lines *passed = &reader->passed;

	if (passed->count < 1000 || passed->count / 4 < reader->understood)
		return 0;
	return hd_error_set(reader->err, -EINVAL,
			    "%s: %u lines are of no known form and only %u are; the first is line "
			    "%u: '%s'",
			    reader->lines.name, passed->count, reader->understood,
			    passed->first_number, passed->first);
}

static int read_lines(struct topology_reader *reader, read_function *read, struct hd_fabric **out)
{
	int rc = read(reader);

	if (!rc)
		rc = check_passed(reader);
	if (rc)
		return rc;
	hd_builder_at(reader->builder, reader->lines.name, 0);
	hd_skipped_lines_log(&reader->passed, reader->lines.name, reader->log);
	struct hd_error reason;
	rc = hd_builder_build(reader->builder, out, &reason);
	if (!rc)
		return 0;
	bool placed = strstr(reason.text, reader->lines.name) != NULL;
	return hd_error_set(reader->err, rc, "%s%s%s", placed ? "" : reader->lines.name,
			    placed ? "" : ": ", reason.text);
}

static int parse(const struct hd_text *text, const struct hd_log *log, struct hd_fabric **out,
		 struct hd_error *err)
{
	struct topology_reader reader = {.lines = hd_lines_of(text), .log = log, .err = err};
	read_function *read = NULL;
	int rc = hd_text_check(text, err);

	if (!rc)
		rc = detect(reader.lines, &read, err);
	if (rc)
		return rc;
	reader.builder = hd_builder_new();
	if (!reader.builder)
		return hd_error_no_memory(err);
	rc = read_lines(&reader, read, out);
	hd_builder_free(reader.builder);
	return rc;
}

int hd_fabric_parse(const char *text, size_t length, const char *name, const struct hd_log *log,
		    struct hd_fabric **out, struct hd_error *err)
{
	struct hd_text whole = {.bytes = text, .length = length, .name = name};

	return parse(&whole, log, out, err);
}

int hd_fabric_read(const char *path, const struct hd_log *log, struct hd_fabric **out,
		   struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = parse(&text, log, out, err);
	hd_text_close(&text);
	return rc;
}
