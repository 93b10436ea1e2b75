/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "traffic_pairs.h"

#include <heddle/base/grow.h>
#include <heddle/base/text.h>
#include <inttypes.h>

struct reader {
	const struct hd_traffic *traffic;
	bool timed;
	struct traffic_pair **pairs;
	uint32_t *count, room;
};

/* "5s" or "5s-10s" */
static int read_times(const struct reader *reader, const char *text, struct traffic_pair *pair,
		      struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)}, from;
	char part[HD_QUOTE_SIZE];
	bool end = hd_take_until(&cursor, "-", &from);

	if (!reader->timed)
		return hd_error_set(err, -EINVAL, "'%s': times are for the kind flows", text);
	if (!end)
		from = cursor;
	hd_cursor_trim(&from);
	hd_cursor_trim(&cursor);
	int rc = hd_sim_parse_time(hd_cursor_quote(&from, part, sizeof(part)), &pair->from, err);
	if (!rc && end)
		rc =
		    hd_sim_parse_time(hd_cursor_quote(&cursor, part, sizeof(part)), &pair->to, err);
	if (!rc && pair->to < pair->from)
		rc = hd_error_set(err, -EINVAL, "'%s': the time ends before it begins", text);
	return rc;
}

static int add(struct reader *reader, const char *source, const char *destination,
	       const char *times, struct hd_error *err)
{
	struct traffic_pair pair = {.to = HD_SIM_NEVER};
	int rc = traffic_host(reader->traffic, source, &pair.source, err);

	if (!rc)
		rc = traffic_host(reader->traffic, destination, &pair.destination, err);
	if (!rc && times)
		rc = read_times(reader, times, &pair, err);
	if (!rc && pair.source == pair.destination)
		rc = hd_error_set(err, -EINVAL, "host %s sends to itself", source);
	if (rc)
		return rc;
	struct traffic_pair *pairs =
	    hd_grow(*reader->pairs, *reader->count, 1, &reader->room, sizeof(*pairs));
	if (!pairs)
		return hd_error_no_memory(err);
	*reader->pairs = pairs;
	pairs[(*reader->count)++] = pair;
	return 0;
}

static char *trimmed(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t", text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* "A > B @ 1s-2s"; changes the text. */
static int add_text(struct reader *reader, char *text, struct hd_error *err)
{
	char *times = strchr(text, '@'), *arrow;

	if (times)
		*times++ = '\0';
	arrow = strchr(text, '>');
	if (!arrow)
		return hd_error_set(err, -EINVAL, "'%s' is no pair such as 0>3", text);
	*arrow++ = '\0';
	return add(reader, trimmed(text), trimmed(arrow), times, err);
}

static int read_list(struct reader *reader, const char *text, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)}, piece;
	char pair[3 * HD_NAME_SIZE];
	int rc = 0;

	while (!rc && !hd_cursor_done(&cursor)) {
		if (!hd_take_until(&cursor, ",", &piece)) {
			piece = cursor;
			cursor.at = cursor.end;
		}
		if (piece.end - piece.at >= (int)sizeof(pair))
			return hd_error_set(err, -EINVAL, "a pair is too long");
		memcpy(pair, piece.at, (size_t)(piece.end - piece.at));
		pair[piece.end - piece.at] = '\0';
		rc = add_text(reader, pair, err);
	}
	return rc;
}

static int add_line(void *reader, const struct hd_words *words, struct hd_error *err)
{
	if (words->count < 2 || words->count > 3)
		return hd_error_set(err, -EINVAL, "expected SOURCE DESTINATION [FROM-TO]");
	return add(reader, words->word[0], words->word[1],
		   words->count == 3 ? words->word[2] : NULL, err);
}

int pairs_read(const struct hd_traffic *traffic, const char *text, bool timed,
	       struct traffic_pair **pairs, uint32_t *count, struct hd_error *err)
{
	struct reader reader = {traffic, timed, pairs, count, 0};
	int rc;

	*pairs = NULL;
	*count = 0;
	if (!strncmp(text, "file:", 5))
		rc = traffic_lines(text + 5, hd_words_next, add_line, &reader, err);
	else
		rc = read_list(&reader, text, err);
	if (!rc && !*count)
		rc = hd_error_set(err, -EINVAL, "'%s' names no pair", text);
	return rc;
}
