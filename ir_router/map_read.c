/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/ir_router/map.h>

#include <errno.h>
#include <string.h>

struct reading {
	struct hd_lines lines;
	struct hd_map_builder *builder;
	struct hd_error *err;
	uint32_t found; /* lines with a destination */
};

static int fail(struct reading *reading, const char *reason)
{
	return hd_lines_error(&reading->lines, reading->err, "%s", reason);
}

static int take_length(struct reading *reading, const char *text, const char *end, unsigned *length)
{
	struct hd_cursor rest = {text, end};
	uint32_t value = 0;

	if (!hd_take_decimal(&rest, &value) || !hd_cursor_done(&rest) || value < 1 || value > 127)
		return fail(reading, value == 128 && hd_cursor_done(&rest)
					 ? "a block of length 128 is one GID: leave the length out"
				     : text < end && *text == '0' && end - text == 1
					 ? "a block of length 0 is all destinations: write *"
					 : "expected a block length 1..127 after the /");
	*length = value;
	return 0;
}

static int take_destination(struct reading *reading, const struct hd_cursor *word,
			    struct hd_gid *gid, unsigned *length)
{
	const char *slash = memchr(word->at, '/', (size_t)(word->end - word->at));
	const char *end = slash ? slash : word->end;
	struct hd_error reason = {""};
	int rc = 0;

	*gid = (struct hd_gid){0, 0};
	*length = HD_MAP_DEFAULT;
	if (hd_cursor_is(word, "*"))
		return 0;
	*length = HD_MAP_GID;
	size_t bytes = (size_t)(end - word->at);
	if (hd_gid_parse(word->at, bytes < HD_GID_TEXT ? (unsigned)bytes : HD_GID_TEXT, gid,
			 &reason))
		return fail(reading, *word->at == '*' ? "expected a blank after *" : reason.text);
	if (slash)
		rc = take_length(reading, slash + 1, word->end, length);
	return rc;
}

static int take_ports(struct reading *reading, struct hd_cursor *line,
		      uint64_t ports[HD_MAP_PORTS_MAX], unsigned *count)
{
	struct hd_cursor word;

	*count = 0;
	while (hd_take_word(line, &word) && *word.at != '#') {
		if (*count == HD_MAP_PORTS_MAX)
			return hd_lines_error(&reading->lines, reading->err,
					      "expected at most %u router ports", HD_MAP_PORTS_MAX);
		if (!hd_take_hex(&word, &ports[*count]) || !hd_cursor_done(&word))
			return fail(reading, "expected the port GUID of a router, such as "
					     "0x0002c90300001234");
		++*count;
	}
	return 0;
}

/* Control characters would not be seen in an editor, but would change the destination. */
static bool has_control(const struct hd_cursor *line)
{
	for (const char *at = line->at; at < line->end; at++)
		if ((unsigned char)*at < ' ' && *at != '\t')
			return true;
	return false;
}

static int take_line(struct reading *reading)
{
	struct hd_cursor line = hd_lines_cursor(&reading->lines), word;
	uint64_t ports[HD_MAP_PORTS_MAX];
	unsigned length, count;
	struct hd_gid gid;
	struct hd_error reason = {""};

	if (!hd_take_word(&line, &word) || *word.at == '#')
		return 0;
	if (has_control(&line) || has_control(&word))
		return fail(reading, "the line has a control character");
	int rc = take_destination(reading, &word, &gid, &length);
	if (!rc)
		rc = take_ports(reading, &line, ports, &count);
	if (rc)
		return rc;
	reading->found++;
	rc = hd_map_builder_add(reading->builder, &gid, length, ports, count, reading->lines.number,
				&reason);
	if (rc == -EINVAL)
		return fail(reading, reason.text);
	return rc ? hd_error_no_memory(reading->err) : 0;
}

/* Whether the current line ends as Windows writes it. */
static bool ends_with_return(const struct hd_lines *lines)
{
	return lines->at - lines->line >= 2 && lines->at[-2] == '\r';
}

static int take_lines(struct reading *reading)
{
	struct hd_lines *lines = &reading->lines;
	bool windows = false;
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(lines, reading->err)) != 0) {
		if (more < 0)
			return more;
		if (lines->cut)
			return fail(reading, "the last line has no line end: the file may be cut");
		if (lines->number == 1)
			windows = ends_with_return(lines);
		if (windows != ends_with_return(lines))
			return fail(reading, windows ? "this line ends in \\n alone, the lines "
						       "before it in \\r\\n"
						     : "this line ends in \\r\\n, the lines before "
						       "it in \\n alone");
		rc = take_line(reading);
	}
	return rc;
}

int hd_map_parse(const struct hd_text *text, struct hd_map **out, struct hd_error *err)
{
	struct reading reading = {.lines = hd_lines_of(text), .err = err};
	int rc = hd_text_check(text, err);

	if (rc)
		return rc;
	reading.builder = hd_map_builder_new();
	rc = reading.builder ? take_lines(&reading) : hd_error_no_memory(err);
	if (!rc && !reading.found)
		rc = hd_error_set(err, -ENODATA, "%s: no line has a destination", text->name);
	if (!rc)
		rc = hd_map_builder_build(reading.builder, text->name, out, err);
	hd_map_builder_free(reading.builder);
	return rc;
}

int hd_map_read(const char *path, struct hd_map **out, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open_regular(path, HD_MAP_LARGEST, &text, err);

	if (rc)
		return rc;
	rc = hd_map_parse(&text, out, err);
	hd_text_close(&text);
	return rc;
}
