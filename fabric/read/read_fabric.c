/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a topology: finds its dialect, and makes the checks that all dialects share. */
#include "table_reader.h"
#include "topology_reader.h"

#include <errno.h>
#include <heddle/base/gzip.h>
#include <heddle/fabric/read.h>
#include <stdio.h>
#include <string.h>

/* A file has no known dialect if this many lines show none. */
#define UNDECIDED_LINES 20000u
#define UNDECIDED_BYTES (4u << 20)

#define DIALECTS (sizeof(dialects) / sizeof(*dialects))

/* The dialects are tried in this order on each line. */
static const struct topology_dialect *const dialects[] = {
    &read_discover, &read_ports, &read_lst, &read_linkinfo, &read_cache,
};

static int not_a_topology(const struct hd_lines *lines, const char *what, struct hd_error *err)
{
	char known[HD_ERROR_TEXT / 2] = "";
	size_t used = 0;

	for (size_t i = 0; i < DIALECTS && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 !i		    ? ""
					 : i + 1 < DIALECTS ? ", "
							    : ", or ",
					 dialects[i]->name);
	return hd_error_set(err, -ENODATA, "%s: %s; expected %s", lines->name, what, known);
}

static int not_a_table(const struct hd_lines *lines, const char *dialect, struct hd_error *err)
{
	char what[HD_ERROR_TEXT / 2];

	snprintf(what, sizeof(what), "the file has %s", dialect);
	return not_a_topology(lines, what, err);
}

static const struct topology_dialect *dialect_of(struct hd_cursor line)
{
	for (size_t i = 0; i < DIALECTS; i++)
		if (dialects[i]->matches(line))
			return dialects[i];
	return NULL;
}

static int detect(struct hd_lines lines, const struct topology_dialect **dialect,
		  struct hd_error *err)
{
	size_t bytes = 0;
	unsigned undecided = 0;
	int more;

	while ((more = hd_lines_next(&lines, err)) > 0) {
		struct hd_cursor line = hd_lines_cursor(&lines);
		*dialect = dialect_of(line);
		if (*dialect)
			return 0;
		const char *of_tables = read_routes_dialect(line);
		if (of_tables)
			return not_a_table(&lines, of_tables, err);
		if (topology_reader_is_debug(line))
			continue;
		bytes += lines.length;
		if (++undecided > UNDECIDED_LINES || bytes > UNDECIDED_BYTES)
			break;
	}
	return more < 0 ? more : not_a_topology(&lines, "no node or link found", err);
}

/* A dump may have a few lines of a shell around it. If most lines are unknown, it is another kind
 * of file.
 */
static int check_skipped(const struct topology_reader *reader)
{
	const struct hd_skipped_lines *skipped = &reader->skipped;

	if (skipped->count < 1000 || skipped->count / 4 < reader->understood)
		return 0;
	return hd_error_set(
	    reader->err, -EINVAL,
	    "%s: %u lines have no known form, and only %u lines have one; the first "
	    "unknown one is line %u: '%s'",
	    reader->lines.name, skipped->count, reader->understood, skipped->first_number,
	    skipped->first);
}

static int read_lines(struct topology_reader *reader, const struct topology_dialect *dialect,
		      struct hd_fabric **out)
{
	int rc = dialect->read(reader);

	if (!rc)
		rc = check_skipped(reader);
	if (rc)
		return rc;
	hd_builder_at(reader->builder, reader->lines.name, 0);
	hd_skipped_lines_log(&reader->skipped, reader->lines.name, reader->log);
	struct hd_error reason;
	rc = hd_builder_build(reader->builder, out, &reason);
	if (!rc)
		return 0;
	bool placed = strstr(reason.text, reader->lines.name) != NULL;
	return hd_error_set(reader->err, rc, "%s%s%s", placed ? "" : reader->lines.name,
			    placed ? "" : ": ", reason.text);
}

/* One dialect is not text. */
static int find_dialect(const struct hd_text *text, const struct topology_dialect **dialect,
			struct hd_error *err)
{
	if (read_cache.matches((struct hd_cursor){text->bytes, text->bytes + text->length})) {
		*dialect = &read_cache;
		return 0;
	}
	int rc = hd_text_check(text, err);
	return rc ? rc : detect(hd_lines_of(text), dialect, err);
}

static int parse(const struct hd_text *text, const struct hd_log *log, struct hd_fabric **out,
		 struct hd_error *err)
{
	struct topology_reader reader = {.lines = hd_lines_of(text), .log = log, .err = err};
	const struct topology_dialect *dialect = NULL;
	int rc = find_dialect(text, &dialect, err);

	if (rc)
		return rc;
	reader.builder = hd_builder_new();
	if (!reader.builder)
		return hd_error_no_memory(err);
	rc = read_lines(&reader, dialect, out);
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
	int rc = hd_gzip_open(path, &text, err);

	if (rc)
		return rc;
	rc = parse(&text, log, out, err);
	hd_text_close(&text);
	return rc;
}
