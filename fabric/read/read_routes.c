/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads forwarding tables and service levels from files and folders, and reports what is
 * missing. */
#include "table_reader.h"

#include <dirent.h>
#include <errno.h>
#include <heddle/base/gzip.h>
#include <heddle/fabric/read.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file has no table if this many lines show none. */
#define UNDECIDED_LINES 20000u

/* Bytes of a text that are looked through for zero bytes at a time. */
#define CHECKED_AHEAD ((size_t)1 << 18)

#define DIALECTS (sizeof(dialects) / sizeof(*dialects))

/* The dialects are tried in this order on each line. Rows of tables come last, because they are the
 * easiest to mistake. */
static const struct table_dialect *const dialects[] = {
    &read_levels, &read_psl, &read_slvl, &read_blocks, &read_lft, &read_fdbs,
};

const char *read_routes_dialect(struct hd_cursor line)
{
	for (size_t i = 0; i < DIALECTS; i++)
		if (dialects[i]->matches(line))
			return dialects[i]->name;
	return NULL;
}

static int read_line(struct table_reader *tables)
{
	struct hd_cursor line = hd_lines_cursor(&tables->lines);
	bool taken = false;
	int rc = 0;

	hd_take_blanks(&line);
	if (hd_cursor_done(&line))
		return 0;
	for (size_t i = 0; !taken && i < DIALECTS; i++)
		rc = dialects[i]->read_line(tables, line, &taken);
	if (!taken && !tables->foreign)
		hd_skipped_lines_add(&tables->skipped, &tables->lines);
	return rc;
}

static int no_table(const struct hd_text *text, struct hd_error *err)
{
	char known[HD_ERROR_TEXT / 2 + 128] = "";
	size_t used = 0;

	for (size_t i = 0; i < DIALECTS && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? "; " : "",
					 dialects[i]->name);
	return hd_error_set(err, -ENODATA, "%s: no forwarding table found; expected one of: %s",
			    text->name, known);
}

static bool has_shown_nothing(const struct table_reader *tables)
{
	return tables->sw == HD_NONE && !tables->levels_seen;
}

/*
 * Looks for zero bytes as far ahead as the next line may reach, while the bytes are in the cache.
 * Before them *clean says how far they were looked for.
 */
static int check_ahead(const struct table_reader *tables, const struct hd_text *text,
		       const char **clean)
{
	const struct hd_lines *lines = &tables->lines;

	while (*clean < lines->end && *clean - lines->at <= HD_LINE_LONGEST) {
		size_t left = (size_t)(lines->end - *clean);
		size_t length = left < CHECKED_AHEAD ? left : CHECKED_AHEAD;
		if (memchr(*clean, '\0', length))
			return hd_text_check(text, tables->err);
		*clean += length;
	}
	return 0;
}

static void read_rows(struct table_reader *tables, const char *limit)
{
	for (size_t i = 0; i < DIALECTS; i++)
		if (dialects[i]->read_rows)
			dialects[i]->read_rows(tables, limit);
}

/* Goes to the next line that has to be looked at: 1, 0 at the end, -EINVAL. */
static int next_line(struct table_reader *tables, const struct hd_text *text, const char **clean)
{
	int rc = check_ahead(tables, text, clean);

	while (!rc && tables->section == SECTION_TABLE) {
		const char *before = tables->lines.at;
		read_rows(tables, *clean);
		if (tables->lines.at == before)
			break;
		rc = check_ahead(tables, text, clean);
	}
	return rc ? rc : hd_lines_next(&tables->lines, tables->err);
}

/* Adds the tables and service levels of one file. -ENODATA when it has neither. */
static int read_text(struct table_reader *tables, const struct hd_text *text)
{
	struct hd_text start = *text;
	int more = 0;

	if (start.length > CHECKED_AHEAD)
		start.length = CHECKED_AHEAD;
	int rc = hd_text_check(&start, tables->err);
	if (rc)
		return rc;
	const char *clean = text->bytes + start.length;
	tables->lines = hd_lines_of(text);
	tables->skipped = (struct hd_skipped_lines){0};
	tables->sw = HD_NONE;
	tables->section = SECTION_NONE;
	tables->levels_seen = tables->maps_seen = false;
	while (!rc && (more = next_line(tables, text, &clean)) > 0) {
		rc = read_line(tables);
		if (has_shown_nothing(tables) && tables->skipped.count > UNDECIDED_LINES)
			break;
	}
	if (rc || more < 0)
		return rc ? rc : more;
	rc = table_reader_end(tables);
	if (rc)
		return rc;
	if (has_shown_nothing(tables))
		return no_table(text, tables->err);
	tables->file_count++;
	hd_skipped_lines_log(&tables->skipped, text->name, tables->log);
	return 0;
}

static int read_file(struct table_reader *tables, const char *path)
{
	struct hd_text text;
	int rc = hd_gzip_open(path, &text, tables->err);

	if (rc)
		return rc;
	rc = read_text(tables, &text);
	hd_text_close(&text);
	return rc;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

/* If a file in a folder has no table, such as a README, it is skipped with a remark. */
static int read_in_folder(struct table_reader *tables, const char *folder, const char *name)
{
	char *path;
	struct stat status;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return hd_error_no_memory(tables->err);
	int rc = 0;
	if (!stat(path, &status) && S_ISREG(status.st_mode))
		rc = read_file(tables, path);
	if (rc == -ENODATA) {
		hd_log(tables->log, HD_LOG_INFO, "%s: skipped, because it has no forwarding table",
		       path);
		rc = 0;
	}
	free(path);
	return rc;
}

static int read_folder(struct table_reader *tables, const char *folder)
{
	struct dirent **entries;
	uint32_t before = tables->file_count;
	int count = scandir(folder, &entries, is_visible, by_name), rc = 0;

	if (count < 0)
		return hd_error_set(tables->err, -errno, "%s: cannot read: %s", folder,
				    strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!rc)
			rc = read_in_folder(tables, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (!rc && tables->file_count == before)
		return hd_error_set(tables->err, -ENODATA,
				    "%s: no file in this folder has a forwarding table", folder);
	return rc;
}

/* ---- what is missing ---- */

static void remark_entries(const struct table_reader *tables)
{
	const struct hd_fabric *fabric = tables->fabric;
	uint64_t missing = 0;
	uint32_t first_sw = 0, first_lid = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(tables->routes, sw);
		for (uint32_t lid = 1; tables->has_table[sw] && lid < fabric->lid_count; lid++) {
			if (fabric->lid_owner[lid] == HD_NONE || row[lid] != HD_NO_PORT)
				continue;
			if (!missing++) {
				first_sw = sw;
				first_lid = lid;
			}
		}
	}
	if (missing)
		hd_log(tables->log, HD_LOG_WARNING,
		       "%" PRIu64 " entries are missing, the first is LID %u at '%s'", missing,
		       first_lid, fabric->node_name[first_sw]);
}

static void remark(const struct table_reader *tables)
{
	table_reader_remark_missing(tables);
	remark_entries(tables);
	if (tables->unknown_rows)
		hd_log(tables->log, HD_LOG_WARNING,
		       "skipped %" PRIu64
		       " entries for LIDs that the fabric does not have, the first is LID %u",
		       tables->unknown_rows, tables->unknown_first);
}

/* ---- from start to end ---- */

static int begin(struct table_reader *tables)
{
	const struct hd_fabric *fabric = tables->fabric;

	if (fabric->lid_count <= 1)
		return hd_error_set(tables->err, -EINVAL,
				    "the fabric has no LIDs, but tables need them: expected a "
				    "topology file with LIDs");
	tables->routes = hd_routes_new(fabric);
	tables->has_table = calloc(fabric->switch_count, 1);
	tables->destination_checked = calloc(fabric->lid_count, 1);
	if (!tables->routes || !tables->has_table || !tables->destination_checked)
		return hd_error_no_memory(tables->err);
	return 0;
}

/* Service levels choose the lanes of the tables' paths. They mean nothing without tables. */
static int check_tables(const struct table_reader *tables)
{
	if (tables->table_count)
		return 0;
	return hd_error_set(tables->err, -ENODATA,
			    tables->file_count ? "only service levels were given, expected files "
						 "with forwarding tables too"
					       : "no file with forwarding tables was given");
}

static int finish(struct table_reader *tables, int rc, struct hd_routes **out)
{
	if (!rc)
		rc = read_slvl_end(tables);
	if (!rc)
		rc = table_levels_end(&tables->levels, tables->fabric, tables->routes, tables->log,
				      tables->err);
	table_levels_release(&tables->levels);
	if (rc) {
		hd_routes_free(tables->routes);
	} else {
		remark(tables);
		*out = tables->routes;
	}
	free(tables->has_table);
	free(tables->destination_checked);
	return rc;
}

int hd_routes_examine_text(const char *text, size_t length, const char *name,
			   const struct hd_fabric *fabric, const struct hd_log *log,
			   struct hd_table_defects *defects, struct hd_routes **out,
			   struct hd_error *err)
{
	struct table_reader tables = {
	    .fabric = fabric, .log = log, .err = err, .defects = defects, .sw = HD_NONE};
	struct hd_text whole = {.bytes = text, .length = length, .name = name};
	int rc = begin(&tables);

	if (!rc)
		rc = read_text(&tables, &whole);
	if (!rc)
		rc = check_tables(&tables);
	return finish(&tables, rc, out);
}

int hd_routes_parse(const char *text, size_t length, const char *name,
		    const struct hd_fabric *fabric, const struct hd_log *log,
		    struct hd_routes **out, struct hd_error *err)
{
	return hd_routes_examine_text(text, length, name, fabric, log, NULL, out, err);
}

static int read_paths(struct table_reader *tables, const char *const *paths, size_t count,
		      struct hd_routes **out)
{
	struct stat status;
	int rc = begin(tables);

	for (size_t i = 0; !rc && i < count; i++) {
		bool folder = !stat(paths[i], &status) && S_ISDIR(status.st_mode);
		rc = folder ? read_folder(tables, paths[i]) : read_file(tables, paths[i]);
	}
	if (!rc)
		rc = check_tables(tables);
	return finish(tables, rc, out);
}

int hd_routes_examine(const char *const *paths, size_t count, const struct hd_fabric *fabric,
		      const struct hd_log *log, struct hd_table_defects *defects,
		      struct hd_routes **out, struct hd_error *err)
{
	struct table_reader tables = {
	    .fabric = fabric, .log = log, .err = err, .defects = defects, .sw = HD_NONE};

	return read_paths(&tables, paths, count, out);
}

int hd_routes_read_earlier(const char *const *paths, size_t count, const struct hd_fabric *fabric,
			   const struct hd_log *log, struct hd_routes **out, struct hd_error *err)
{
	struct table_reader tables = {
	    .fabric = fabric, .log = log, .err = err, .earlier = true, .sw = HD_NONE};

	return read_paths(&tables, paths, count, out);
}

int hd_routes_read(const char *const *paths, size_t count, const struct hd_fabric *fabric,
		   const struct hd_log *log, struct hd_routes **out, struct hd_error *err)
{
	return hd_routes_examine(paths, count, fabric, log, NULL, out, err);
}
