/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text files that people write, with one record on each line: words between blanks, "words with
 * blanks" in quotes, and comments that begin with #. Lists of hosts, of members and of flows are
 * such files. Lines without a word are skipped.
 */
#ifndef HEDDLE_BASE_WORDS_H
#define HEDDLE_BASE_WORDS_H

#include <heddle/base/text.h>

#define HD_WORDS_MAX 3
#define HD_WORD_SIZE 256

struct hd_words {
	struct hd_lines lines; /* the current line is the one that has the words */
	unsigned count; /* words on it; HD_WORDS_MAX + 1: it has more */
	char word[HD_WORDS_MAX][HD_WORD_SIZE]; /* without quotes, each ends in 0 */
};

/*
 * Goes before the first line of `text`, which must outlive the reading. Errors: those of
 * hd_text_check(): an empty file, UTF-16, zero bytes.
 */
int hd_words_begin(struct hd_words *words, const struct hd_text *text, struct hd_error *err);

/*
 * Goes to the next line with a word on it: 1, or 0 at the end of the file. Errors: -EINVAL a quote
 * that is not closed, a word of HD_WORD_SIZE bytes or more, a line that is too long.
 */
int hd_words_next(struct hd_words *words, struct hd_error *err);

/* The same for a file of one name a line, in word[0]. Errors: also -EINVAL a second word. */
int hd_words_next_name(struct hd_words *words, struct hd_error *err);

#endif
