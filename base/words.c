/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/text.h>

#include <string.h>

int hd_words_begin(struct hd_words *words, const struct hd_text *text, struct hd_error *err)
{
	int rc = hd_text_check(text, err);

	if (rc)
		return rc;
	words->lines = hd_lines_of(text);
	words->count = 0;
	return 0;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

static void skip_blanks(struct hd_cursor *line)
{
	while (!hd_cursor_done(line) && is_blank(*line->at))
		line->at++;
}

/* Takes the word at the cursor, which is no blank, and the quotes around it. */
static int take_word(struct hd_words *words, struct hd_cursor *line, struct hd_error *err)
{
	bool quoted = hd_take_text(line, "\"");
	const char *begin = line->at;

	while (!hd_cursor_done(line) &&
	       (quoted ? *line->at != '"' : !is_blank(*line->at) && *line->at != '#'))
		line->at++;
	size_t length = (size_t)(line->at - begin);
	if (quoted && !hd_take_text(line, "\""))
		return hd_lines_error(&words->lines, err, "a quote is not closed");
	if (length >= HD_WORD_SIZE)
		return hd_lines_error(&words->lines, err,
				      "a word has %zu bytes, expected at most %d", length,
				      HD_WORD_SIZE - 1);
	if (words->count >= HD_WORDS_MAX) {
		words->count = HD_WORDS_MAX + 1;
		return 0;
	}
	memcpy(words->word[words->count], begin, length);
	words->word[words->count++][length] = '\0';
	return 0;
}

static int split(struct hd_words *words, struct hd_error *err)
{
	struct hd_cursor line = hd_lines_cursor(&words->lines);
	int rc = 0;

	words->count = 0;
	for (skip_blanks(&line); !rc && hd_cursor_peek(&line) && *line.at != '#';
	     skip_blanks(&line))
		rc = take_word(words, &line, err);
	return rc;
}

int hd_words_next(struct hd_words *words, struct hd_error *err)
{
	int rc;

	while ((rc = hd_lines_next(&words->lines, err)) > 0) {
		rc = split(words, err);
		if (rc)
			return rc;
		if (words->count)
			return 1;
	}
	return rc;
}

int hd_words_next_name(struct hd_words *words, struct hd_error *err)
{
	int rc = hd_words_next(words, err);

	if (rc > 0 && words->count > 1)
		return hd_lines_error(&words->lines, err,
				      "more than one word, expected one name a line (put a name "
				      "with blanks in \"quotes\")");
	return rc;
}
