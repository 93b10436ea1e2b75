/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads heddle.conf line by line. inih splits a line into key, value and comment. We pass it single
 * lines: given a complete file, inih does not report sections without keys, ignores text after a
 * ']', cuts long names, and appends an indented line to the value before.
 */
#include "config_sections.h"
#include "config_values.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

#define HEAD_SIZE 96
#define COMMENTS "#;"

/* One reading of one file. */
struct reading {
	const struct hd_config_sections *sections;
	struct hd_config *config;
	struct hd_lines lines;
	const struct hd_config_section *section; /* the section of the line; NULL = none yet */
	struct config_values_object *object; /* NULL = in a section of another program */
	int rc; /* of the line */
	struct hd_error *err;
};

static int bad_form(struct hd_error *err)
{
	return hd_error_set(err, -EINVAL, "expected [section], key = value or # comment");
}

/* True if the rest of a line is neither empty nor a comment. */
static bool says_something(const struct hd_cursor *line)
{
	return !hd_cursor_done(line) && !strchr(COMMENTS, *line->at);
}

static bool take_guid(struct hd_cursor text, uint64_t *guid)
{
	return hd_take_hex(&text, guid) && hd_cursor_done(&text) && *guid;
}

/* Takes the GUID of a section from the text after its name in the head. */
static int take_object(const struct hd_config_section *section, const struct hd_cursor *text,
		       uint64_t *guid, struct hd_error *err)
{
	char quote[HD_QUOTE_SIZE];

	*guid = 0;
	hd_cursor_quote(text, quote, sizeof(quote));
	switch (section->kind) {
	case HD_CONFIG_OTHER_PROGRAM:
		return 0;
	case HD_CONFIG_BY_GUID:
		if (take_guid(*text, guid))
			return 0;
		return hd_error_set(err, -EINVAL,
				    "[%s] needs a GUID, such as [%s 0x0002c90300001234]; '%s' is "
				    "not a GUID",
				    section->name, section->name, quote);
	default:
		if (hd_cursor_done(text))
			return 0;
		return hd_error_set(err, -EINVAL, "section [%s] takes no name or GUID: '%s'",
				    section->name, quote);
	}
}

/* A section that is not registered. */
static int enter_unknown(struct reading *reading, const char *name)
{
	static const struct hd_config_section ignored = {.kind = HD_CONFIG_OTHER_PROGRAM};

	if (!config_sections_ignores(reading->sections, name))
		return config_sections_unknown(reading->sections, name, reading->err);
	reading->section = &ignored;
	reading->object = NULL;
	return 0;
}

/* Begins the section with this name and object. */
static int enter(struct reading *reading, const char *name, const struct hd_cursor *object)
{
	unsigned index = config_sections_find(reading->sections, name);
	const struct hd_config_section *section = &reading->sections->items[index];
	uint64_t guid;
	int rc;

	if (index == reading->sections->count)
		return enter_unknown(reading, name);
	rc = take_object(section, object, &guid, reading->err);
	if (rc)
		return rc;
	reading->section = section;
	reading->object = NULL;
	if (section->kind == HD_CONFIG_OTHER_PROGRAM)
		return 0;
	return config_values_enter(reading->config, index, guid, reading->lines.number,
				   &reading->object, reading->err);
}

/* Takes [name] or [name object], after the first bracket. Only a comment may follow. */
static int take_head(struct reading *reading, struct hd_cursor line)
{
	struct hd_cursor head, word;
	char name[HD_QUOTE_SIZE], quote[HD_QUOTE_SIZE];

	if (!hd_take_until(&line, "]", &head))
		return bad_form(reading->err);
	hd_cursor_trim(&head);
	if (!hd_take_word(&head, &word))
		return hd_error_set(reading->err, -EINVAL, "section without a name");
	hd_cursor_quote(&word, name, sizeof(name));
	hd_take_blanks(&line);
	if (says_something(&line))
		return hd_error_set(reading->err, -EINVAL,
				    "'%s' after [%s]: expected it on the next line",
				    hd_cursor_quote(&line, quote, sizeof(quote)), name);
	hd_cursor_trim(&head);
	return enter(reading, name, &head);
}

/* inih's handler. Returns 0 on failure, as inih expects. */
static int take_pair(void *context, const char *section, const char *key, const char *value)
{
	struct reading *reading = context;
	char head[HEAD_SIZE];

	(void)section;
	if (!reading->object)
		return 1;
	reading->rc = config_values_set(reading->section, reading->object, key, value,
					reading->lines.number, reading->err);
	if (reading->rc)
		hd_error_prefix(reading->err, reading->rc, "%s",
				config_values_print_head(reading->section, reading->object, head,
							 sizeof(head)));
	return !reading->rc;
}

static int take_key(struct reading *reading)
{
	char line[HD_CONFIG_LINE_LONGEST + 1];
	int bad;

	if (!reading->section)
		return config_sections_unknown(reading->sections, "", reading->err);
	memcpy(line, reading->lines.line, reading->lines.length);
	line[reading->lines.length] = '\0';
	reading->rc = 0;
	bad = ini_parse_string(line, take_pair, reading);
	if (bad < 0)
		return hd_error_no_memory(reading->err);
	return bad && !reading->rc ? bad_form(reading->err) : reading->rc;
}

static int take_line(struct reading *reading)
{
	struct hd_cursor line = hd_lines_cursor(&reading->lines);

	if (memchr(line.at, '\0', reading->lines.length))
		return hd_error_set(reading->err, -EINVAL, "zero byte: this is not a text file");
	if (reading->lines.length > HD_CONFIG_LINE_LONGEST)
		return hd_error_set(reading->err, -EINVAL,
				    "line is longer than %d characters, the most allowed",
				    HD_CONFIG_LINE_LONGEST);
	hd_take_blanks(&line);
	if (!says_something(&line))
		return 0;
	return hd_take_text(&line, "[") ? take_head(reading, line) : take_key(reading);
}

/* Stops at the first error, because later errors are often only its consequences. */
static int take_lines(struct reading *reading)
{
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&reading->lines, reading->err)) != 0) {
		if (more < 0)
			return more;
		rc = take_line(reading);
		if (rc)
			hd_lines_error_prefix(&reading->lines, rc, reading->err);
	}
	return rc;
}

int hd_config_parse(const struct hd_config_sections *sections, const struct hd_text *text,
		    struct hd_config **out, struct hd_error *err)
{
	struct reading reading = {.sections = sections, .lines = hd_lines_of(text), .err = err};
	unsigned line;
	int rc = hd_config_defaults(sections, &reading.config, err);

	if (rc)
		return rc;
	rc = take_lines(&reading);
	if (!rc) {
		rc = config_values_check(reading.config, &line, err);
		if (rc)
			hd_error_prefix(err, rc, "%s:%u", text->name, line);
	}
	if (rc)
		hd_config_free(reading.config);
	else
		*out = reading.config;
	return rc;
}

int hd_config_read(const struct hd_config_sections *sections, const char *path, bool must_exist,
		   struct hd_config **out, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open_regular(path, HD_CONFIG_LARGEST, &text, err);

	if (rc == -ENOENT && !must_exist)
		return hd_config_defaults(sections, out, err);
	if (rc)
		return rc;
	rc = hd_config_parse(sections, &text, out, err);
	hd_text_close(&text);
	return rc;
}
