/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a run has measured: lists of numbers by name. A list of one number is a figure. A record can
 * be written as text and read back bit by bit, so that runs can be kept in files and sent to other
 * processes.
 */
#ifndef HEDDLE_SIM_RECORD_H
#define HEDDLE_SIM_RECORD_H

#include <heddle/base/error.h>
#include <heddle/base/text.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hd_record_item {
	char *name; /* "class.storage.latency.mean"; no blanks */
	char *unit; /* "s", "bit/s", "1"; no blanks */
	uint32_t count;
	double *values; /* [count] */
};

struct hd_record {
	bool partial; /* the run was ended early */
	uint32_t count, room;
	struct hd_record_item *items; /* in the order in which they were added */
	bool failed; /* memory was short: hd_record_check() */
};

/* An empty record, to be freed with hd_record_free(). NULL: no memory. */
struct hd_record *hd_record_new(void);
void hd_record_free(struct hd_record *record); /* NULL is allowed */

/* Adds a figure or a list, which is copied. A figure that is no number is left out. Blanks in names become '_'. Shortage of memory is checked
 * once, by hd_record_check(). */
void hd_record_add(struct hd_record *record, const char *name, const char *unit, double value);
void hd_record_add_list(struct hd_record *record, const char *name, const char *unit,
			const double *values, uint32_t count);

/* 0, or -ENOMEM if an addition has failed. */
int hd_record_check(const struct hd_record *record);

/* NULL: the record has no such item. O(items). */
const struct hd_record_item *hd_record_find(const struct hd_record *record, const char *name);

/*
 * Writes the record of a run as lines of text; errors stay in the stream. hd_record_read() takes
 * such lines, from the first one of a run to its `end`: 1 with *run and *record, or 0 at the end of
 * the text. A record whose end is missing, as a process that was killed leaves it, counts as the
 * end. Errors, with the line: -EINVAL, -ENOMEM.
 */
void hd_record_write(const struct hd_record *record, uint32_t run, FILE *stream);
int hd_record_read(struct hd_lines *lines, uint32_t *run, struct hd_record **record,
		   struct hd_error *err);

#endif
