/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/config/opensm_conf.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"
#define NOTHING "(null)" /* what OpenSM writes for an option that is not set */

struct hd_opensm_conf {
	struct hd_opensm_line *lines; /* [count]; names and values are owned */
	uint32_t count, room;
};

static bool is_blank(char character)
{
	return character && strchr(BLANKS, character);
}

/* Takes blanks off both ends. */
static struct hd_cursor trimmed(struct hd_cursor text)
{
	while (text.at < text.end && is_blank(*text.at))
		text.at++;
	while (text.end > text.at && is_blank(text.end[-1]))
		text.end--;
	return text;
}

static struct hd_cursor unquoted(struct hd_cursor text)
{
	text = trimmed(text);
	if (text.end - text.at >= 2 && (*text.at == '"' || *text.at == '\'') &&
	    text.end[-1] == *text.at) {
		text.at++;
		text.end--;
	}
	return text;
}

static char *copy_of(struct hd_cursor text)
{
	return strndup(text.at, (size_t)(text.end - text.at));
}

static int keep(struct hd_opensm_conf *conf, struct hd_cursor name, struct hd_cursor value,
		unsigned number)
{
	struct hd_opensm_line *lines =
	    hd_grow(conf->lines, conf->count, 1, &conf->room, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	conf->lines = lines;
	if ((size_t)(value.end - value.at) == strlen(NOTHING) &&
	    !memcmp(value.at, NOTHING, strlen(NOTHING)))
		value.at = value.end;
	lines[conf->count] = (struct hd_opensm_line){copy_of(name), copy_of(value), number};
	conf->count++;
	return lines[conf->count - 1].name && lines[conf->count - 1].value ? 0 : -ENOMEM;
}

static int take_line(struct hd_opensm_conf *conf, const struct hd_lines *lines,
		     struct hd_error *err)
{
	struct hd_cursor text = hd_lines_cursor(lines);
	const char *comment = memchr(text.at, '#', lines->length);

	if (memchr(text.at, '\0', lines->length))
		return hd_lines_error_at(lines, lines->number, err,
					 "zero byte: this is not a text file");
	if (comment)
		text.end = comment;
	text = trimmed(text);
	if (hd_cursor_done(&text))
		return 0;
	struct hd_cursor name = {text.at, text.at};
	while (name.end < text.end && !is_blank(*name.end))
		name.end++;
	const struct hd_cursor value = unquoted((struct hd_cursor){name.end, text.end});
	return keep(conf, name, value, lines->number) ? hd_error_no_memory(err) : 0;
}

int hd_opensm_conf_parse(const struct hd_text *text, struct hd_opensm_conf **out,
			 struct hd_error *err)
{
	struct hd_opensm_conf *conf = calloc(1, sizeof(*conf));
	struct hd_lines lines = hd_lines_of(text);
	int more = 0, rc = conf ? 0 : hd_error_no_memory(err);

	while (!rc && (more = hd_lines_next(&lines, err)) > 0)
		rc = take_line(conf, &lines, err);
	if (!rc && more < 0)
		rc = more;
	if (rc)
		hd_opensm_conf_free(conf);
	else
		*out = conf;
	return rc;
}

int hd_opensm_conf_read(const char *path, struct hd_opensm_conf **out, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open_regular(path, HD_OPENSM_CONF_LARGEST, &text, err);

	if (rc)
		return rc;
	rc = hd_opensm_conf_parse(&text, out, err);
	hd_text_close(&text);
	return rc;
}

void hd_opensm_conf_free(struct hd_opensm_conf *conf)
{
	if (!conf)
		return;
	for (uint32_t i = 0; i < conf->count; i++) {
		free((char *)conf->lines[i].name);
		free((char *)conf->lines[i].value);
	}
	free(conf->lines);
	free(conf);
}

const struct hd_opensm_line *hd_opensm_conf_lines(const struct hd_opensm_conf *conf,
						  unsigned *count)
{
	*count = conf->count;
	return conf->lines;
}

const struct hd_opensm_line *hd_opensm_conf_find(const struct hd_opensm_conf *conf,
						 const char *name)
{
	for (uint32_t i = conf->count; i-- > 0;)
		if (!strcmp(conf->lines[i].name, name))
			return &conf->lines[i];
	return NULL;
}
