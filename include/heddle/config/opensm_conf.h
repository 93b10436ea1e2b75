/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* opensm.conf, as OpenSM itself reads it: lines of an option and its value. */
#ifndef HEDDLE_CONFIG_OPENSM_CONF_H
#define HEDDLE_CONFIG_OPENSM_CONF_H

#include <heddle/base/error.h>
#include <heddle/base/text.h>
#include <stdbool.h>
#include <stdint.h>

#define HD_OPENSM_CONF_LARGEST ((size_t)1 << 20) /* bytes */

/* An option that OpenSM knows. */
struct hd_opensm_option {
	const char *name;
	bool boolean; /* TRUE; OpenSM takes any other value for FALSE */
};

/* All of them, by name; *count of them. */
const struct hd_opensm_option *hd_opensm_options(unsigned *count);

/* The largest value of an option that is a number; 0: it is none, or OpenSM reads it in another way. */
uint32_t hd_opensm_number_largest(const char *name);

/*
 * The number that OpenSM reads: decimal, octal after 0, or hexadecimal after 0x. False: OpenSM ignores the line, and
 * the value before stays, since the text is no number, or larger than hd_opensm_number_largest(). Source:
 * opts_strtoul() of OpenSM 3.3.23.
 */
bool hd_opensm_number(const char *name, const char *value, uint32_t *number);

/* A line of the file. */
struct hd_opensm_line {
	const char *name;
	const char *value; /* "" for none, and for the word (null) */
	unsigned number; /* from 1 */
};

struct hd_opensm_conf;

/*
 * Reads any text: what follows # is a comment, blanks around values and quotation marks around them do not count, and
 * no name or value is an error, as in OpenSM. The result does not refer to the text; the caller frees *out with
 * hd_opensm_conf_free(). Errors: -EINVAL a line longer than HD_LINE_LONGEST, or a zero byte; -ENOMEM. Cost: O(bytes).
 */
int hd_opensm_conf_parse(const struct hd_text *text, struct hd_opensm_conf **out,
			 struct hd_error *err);

/* The same for a regular file. Errors: those of hd_text_open_regular(), too. */
int hd_opensm_conf_read(const char *path, struct hd_opensm_conf **out, struct hd_error *err);

/* NULL is allowed. */
void hd_opensm_conf_free(struct hd_opensm_conf *conf);

/* The lines in the order of the file; *count of them. Valid as long as `conf`. */
const struct hd_opensm_line *hd_opensm_conf_lines(const struct hd_opensm_conf *conf,
						  unsigned *count);

/* The last line with an option, which is in force; NULL: no line has it. Cost: O(lines). */
const struct hd_opensm_line *hd_opensm_conf_find(const struct hd_opensm_conf *conf,
						 const char *name);

#endif
