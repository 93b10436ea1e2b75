/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "drain_file.h"
#include "port_path.h"

#include <errno.h>
#include <heddle/base/place.h>
#include <heddle/base/replacement.h>
#include <heddle/base/text.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_FOLDER "/var/cache/opensm" /* OpenSM's own, unless it was built with another one */
#define FILE_NAME "heddle-drained"
#define HEAD "heddle-drained 1"
#define LARGEST ((size_t)1 << 20)

char *drain_file_path(const char *state, uint64_t guid)
{
	const char *folder = getenv("OSM_CACHE_DIR");
	char name[PATH_MAX], *made;

	if (!strcmp(state, "none"))
		return NULL;
	if (*state) {
		port_path_expand(guid, state, name, sizeof(name));
		return strdup(name);
	}
	if (!folder || !*folder)
		folder = CACHE_FOLDER;
	port_path_expand(guid, guid ? FILE_NAME "-%g" : FILE_NAME, name, sizeof(name));
	return asprintf(&made, "%s/%s", folder, name) < 0 ? NULL : made;
}

static bool take_guid(struct hd_cursor *cursor, uint64_t *guid)
{
	hd_take_blanks(cursor);
	return hd_take_hex(cursor, guid);
}

static bool take_end(struct hd_cursor *cursor, struct drained_thing *thing, unsigned end)
{
	uint32_t port;

	if (!take_guid(cursor, &thing->guid[end]))
		return false;
	hd_take_blanks(cursor);
	if (!hd_take_decimal(cursor, &port) || port > HD_PORTS_MAX)
		return false;
	thing->port[end] = (uint8_t)port;
	return true;
}

/* A tabulator, and a name up to the next one, as plain text. */
static bool take_name(struct hd_cursor *cursor, char name[DRAINED_NAME])
{
	if (!hd_take_text(cursor, "\t"))
		return false;
	const char *tab = hd_cursor_find(cursor, "\t");
	const struct hd_cursor field = {cursor->at, tab ? tab : cursor->end};
	if (field.end - field.at >= (ptrdiff_t)DRAINED_NAME)
		return false;
	cursor->at = field.end;
	hd_cursor_quote(&field, name, DRAINED_NAME);
	return true;
}

static bool take_thing(struct hd_cursor cursor, struct drained_thing *thing)
{
	*thing = (struct drained_thing){.cable = hd_take_text(&cursor, "cable")};
	if (thing->cable)
		return take_end(&cursor, thing, 0) && take_end(&cursor, thing, 1) &&
		       thing->guid[0] && thing->port[0] && !thing->guid[1] == !thing->port[1] &&
		       take_name(&cursor, thing->name[0]) && take_name(&cursor, thing->name[1]) &&
		       hd_cursor_done(&cursor);
	return hd_take_text(&cursor, "switch") && take_guid(&cursor, &thing->guid[0]) &&
	       thing->guid[0] && take_name(&cursor, thing->name[0]) && hd_cursor_done(&cursor);
}

static int parse(struct hd_lines *lines, struct drained_set *out, struct hd_error *err)
{
	struct drained_thing thing;
	int more = hd_lines_next(lines, err);

	if (more < 0)
		return more;
	struct hd_cursor head = hd_lines_cursor(lines);
	if (!more || !hd_cursor_is(&head, HEAD))
		return hd_lines_error(lines, err, "expected '" HEAD "'");
	while ((more = hd_lines_next(lines, err)) > 0) {
		if (!take_thing(hd_lines_cursor(lines), &thing))
			return hd_lines_error(lines, err, "expected a cable or a switch");
		if (drained_set_find(out, &thing) != HD_NONE)
			continue;
		const int rc = drained_set_add(out, &thing);
		if (rc)
			return rc == -ENOMEM ? hd_error_no_memory(err)
					     : hd_lines_error(lines, err, "too many lines");
	}
	return more;
}

static int parse_text(const struct hd_text *text, struct drained_set *out, struct hd_error *err)
{
	struct hd_lines lines = hd_lines_of(text);
	int rc = parse(&lines, out, err);

	if (rc)
		drained_set_release(out);
	return rc;
}

int drain_file_parse(const char *text, size_t length, struct drained_set *out, struct hd_error *err)
{
	const struct hd_text whole = {
	    .name = FILE_NAME, .bytes = (char *)(uintptr_t)text, .length = length};

	return parse_text(&whole, out, err);
}

int drain_file_read(const char *path, struct drained_set *out, struct hd_error *err)
{
	struct hd_text text = {0};
	int rc = hd_place_check(path, err);

	if (!rc)
		rc = hd_text_open_regular(path, LARGEST, &text, err);
	if (rc)
		return rc;
	rc = parse_text(&text, out, err);
	hd_text_close(&text);
	return rc;
}

static void print_name(FILE *stream, const char *name)
{
	/* readers leave out what is blank at the end of a line */
	fprintf(stream, "\t%s", *name ? name : "?");
}

static int write_set(const void *context, FILE *stream, struct hd_error *err)
{
	const struct drained_set *set = context;

	(void)err;
	fputs(HEAD "\n", stream);
	for (uint32_t i = 0; i < set->count; i++) {
		const struct drained_thing *thing = &set->things[i];
		fprintf(stream, "%s 0x%016" PRIx64, thing->cable ? "cable" : "switch",
			thing->guid[0]);
		if (thing->cable)
			fprintf(stream, " %u 0x%016" PRIx64 " %u", thing->port[0], thing->guid[1],
				thing->port[1]);
		print_name(stream, thing->name[0]);
		if (thing->cable)
			print_name(stream, thing->name[1]);
		fputc('\n', stream);
	}
	return 0;
}

int drain_file_write(const char *path, const struct drained_set *set, struct hd_error *err)
{
	return set->count ? hd_replace(path, 0600, write_set, set, err)
			  : hd_replace_by_nothing(path, err);
}
