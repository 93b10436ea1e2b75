/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of a pattern. */
#include "key_pattern_build.h"

#include <errno.h>
#include <heddle/base/text.h>
#include <stdio.h>
#include <string.h>

/* A whole word is a rank below `ranks`. */
static bool is_rank(const char *word, uint32_t ranks, uint32_t *rank)
{
	struct hd_cursor cursor = {word, word + strlen(word)};

	return hd_take_decimal(&cursor, rank) && hd_cursor_done(&cursor) && *rank < ranks;
}

/* The message has no word of the file: a prolog may read it for somebody who may not. */
static int refuse(const struct hd_words *words, const char *what, struct hd_error *err)
{
	return hd_lines_error_at(
	    &words->lines, words->lines.number, err, "%s%s", what,
	    words->lines.cut ? " (the file ends here without a newline: cut off?)" : "");
}

static int take_flow(struct key_pattern_build *build, const struct hd_words *words,
		     struct hd_error *err)
{
	uint32_t ranks = build->pattern->ranks, source, destination;
	char expected[64];

	if (words->count != 2)
		return refuse(words, "expected `phase` or two ranks, a source and a destination",
			      err);
	snprintf(expected, sizeof(expected), "expected ranks from 0 to %u", ranks - 1);
	if (!is_rank(words->word[0], ranks, &source) ||
	    !is_rank(words->word[1], ranks, &destination))
		return refuse(words, expected, err);
	if (source == destination)
		return refuse(words, "a rank sends to itself", err);
	if (!build->pattern->phase_count)
		return refuse(words, "a flow before the first line `phase`", err);
	key_pattern_build_flow(build, source, destination);
	return 0;
}

static int take_line(struct key_pattern_build *build, const struct hd_words *words,
		     struct hd_error *err)
{
	int rc = 0;

	if (words->count == 1 && !strcmp(words->word[0], "phase"))
		key_pattern_build_phase(build);
	else
		rc = take_flow(build, words, err);
	if (build->rc) /* a limit */
		return hd_lines_error_prefix(&words->lines, build->rc, err);
	return rc;
}

static int take_lines(struct key_pattern_build *build, const struct hd_text *text,
		      struct hd_error *err)
{
	struct hd_words words;
	int rc = hd_words_begin(&words, text, err), more = 0;

	while (!rc && (more = hd_words_next(&words, err)) > 0)
		rc = take_line(build, &words, err);
	if (more < 0) /* that message quotes the line */
		rc = more == -EINVAL
			 ? refuse(&words, "expected `phase` or two ranks, not such words", err)
			 : more;
	if (rc)
		return rc == -ENODATA ? -EINVAL : rc;
	if (!build->pattern->phase_count)
		return hd_error_set(err, -EINVAL, "%s: no line `phase`", text->name);
	return 0;
}

int hd_key_pattern_read(const char *bytes, size_t length, const char *name, uint32_t ranks,
			struct hd_key_pattern **out, struct hd_error *err)
{
	struct hd_text text = {.bytes = bytes, .length = length, .name = name};
	struct key_pattern_build build;

	key_pattern_build_begin(&build, ranks, err);
	if (!build.rc)
		build.rc = take_lines(&build, &text, err);
	return key_pattern_build_end(&build, out);
}
