/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text files of one record a line: words, "quoted words", # comments, any line ending. */
#ifndef ANALYSIS_RECORDS_H
#define ANALYSIS_RECORDS_H

#include <heddle/base/error.h>
#include <stddef.h>

#define RECORD_WORDS 3
#define RECORD_WORD_SIZE 256

struct records {
	const char *next, *end;
	const char *name; /* of the file, for messages */
	unsigned number; /* of the line in `word` */
	unsigned words; /* on it; RECORD_WORDS + 1: there are more */
	char word[RECORD_WORDS][RECORD_WORD_SIZE];
};

/* text must outlive the reading; it need not end in 0. */
void records_begin(struct records *records, const char *text, size_t length, const char *name);

/* Goes to the next line with a word on it: 1; 0 at the end; -EINVAL an open quote, a word that is
 * too long, a zero byte. */
int records_next(struct records *records, struct hd_error *err);

/* The whole file in malloc'ed memory. Errors: errno of open and read, -EFBIG, -ENOMEM. */
int records_load(const char *path, char **text, size_t *length, struct hd_error *err);

#endif
