/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a run has measured: a list of named numbers, and its form as text.
 *
 * scenario_simulation.c and scenario_ebb.c fill records; hd_record_write() makes lines of them for files of finished
 * runs and for other processes, with hexadecimal floating point, so that hd_record_read() returns the same bits. A
 * record without its end counts as not there: a process that was killed may leave one. Lack of memory is noted, and
 * checked once.
 */
#include <heddle/sim/record.h>

#include <heddle/base/grow.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD_SIZE 128
#define VALUES_OF_A_LINE 2000u /* of 25 bytes at most: see HD_LINE_LONGEST */
#define NOT_A_LIST "no list of numbers with a name"

struct hd_record *hd_record_new(void)
{
	return calloc(1, sizeof(struct hd_record));
}

void hd_record_free(struct hd_record *record)
{
	if (!record)
		return;
	for (uint32_t i = 0; i < record->count; i++) {
		free(record->items[i].name);
		free(record->items[i].unit);
		free(record->items[i].values);
	}
	free(record->items);
	free(record);
}

static char *copy_word(const char *text)
{
	char *copy = strdup(*text ? text : "_");

	for (char *at = copy; at && *at; at++)
		if ((unsigned char)*at <= ' ')
			*at = '_';
	return copy;
}

/* Takes over `values`. */
static void record_add(struct hd_record *record, const char *name, const char *unit, double *values,
		       uint32_t count)
{
	struct hd_record_item item = {copy_word(name), copy_word(unit), count, values};
	struct hd_record_item *items =
	    hd_grow(record->items, record->count, 1, &record->room, sizeof(*items));

	if (items)
		record->items = items;
	if (items && item.name && item.unit && values) {
		items[record->count++] = item;
		return;
	}
	free(item.name);
	free(item.unit);
	free(values);
	record->failed = true;
}

void hd_record_add_list(struct hd_record *record, const char *name, const char *unit,
			const double *values, uint32_t count)
{
	double *copy = malloc(((size_t)count + 1) * sizeof(*copy));

	if (copy && count)
		memcpy(copy, values, count * sizeof(*copy));
	record_add(record, name, unit, copy, count);
}

void hd_record_add(struct hd_record *record, const char *name, const char *unit, double value)
{
	if (isfinite(value))
		hd_record_add_list(record, name, unit, &value, 1);
}

int hd_record_check(const struct hd_record *record)
{
	return record->failed ? -ENOMEM : 0;
}

const struct hd_record_item *hd_record_find(const struct hd_record *record, const char *name)
{
	for (uint32_t i = 0; i < record->count; i++)
		if (!strcmp(record->items[i].name, name))
			return &record->items[i];
	return NULL;
}

void hd_record_write(const struct hd_record *record, uint32_t run, FILE *stream)
{
	fprintf(stream, "run %" PRIu32 "\n", run);
	for (uint32_t i = 0; i < record->count; i++) {
		const struct hd_record_item *item = &record->items[i];

		fprintf(stream, "%s %s %" PRIu32, item->name, item->unit, item->count);
		for (uint32_t k = 0; k < item->count; k++)
			fprintf(stream, "%s %a", k && k % VALUES_OF_A_LINE == 0 ? "\n+" : "",
				item->values[k]);
		putc('\n', stream);
	}
	fputs(record->partial ? "end partial\n" : "end complete\n", stream);
}

static bool take_word(struct hd_cursor *line, char *word)
{
	struct hd_cursor taken;

	if (!hd_take_word(line, &taken) || taken.end - taken.at >= WORD_SIZE)
		return false;
	memcpy(word, taken.at, (size_t)(taken.end - taken.at));
	word[taken.end - taken.at] = '\0';
	return true;
}

/* Takes numbers up to `most`, or to the first word that is none. Returns how many. */
static uint32_t take_numbers(struct hd_cursor *line, double *values, uint32_t most)
{
	char word[WORD_SIZE], *end;
	uint32_t count = 0;

	for (struct hd_cursor rest = *line; count < most && take_word(&rest, word); *line = rest) {
		values[count] = strtod(word, &end);
		if (*end)
			return count;
		count++;
	}
	hd_take_blanks(line);
	return count;
}

/* The numbers of a list; each further line of them begins with '+'. 1, or 0 if the text ends before. */
static int take_values(struct hd_lines *lines, struct hd_cursor line, double *values,
		       uint32_t count, struct hd_error *err)
{
	uint32_t taken = take_numbers(&line, values, count);

	while (hd_cursor_done(&line) && taken < count) {
		int more = hd_lines_next(lines, err);
		if (more <= 0 || lines->cut)
			return more < 0 ? more : 0;
		line = hd_lines_cursor(lines);
		if (!hd_take_text(&line, "+"))
			break;
		taken += take_numbers(&line, values + taken, count - taken);
	}
	return hd_cursor_done(&line) && taken == count ? 1 : hd_lines_error(lines, err, NOT_A_LIST);
}

/* 1, or 0 if the text ends before. */
static int take_item(struct hd_lines *lines, struct hd_record *record, struct hd_error *err)
{
	struct hd_cursor line = hd_lines_cursor(lines);
	char name[WORD_SIZE], unit[WORD_SIZE], word[WORD_SIZE], *end;
	size_t count;

	if (!take_word(&line, name) || !take_word(&line, unit) || !take_word(&line, word))
		return hd_lines_error(lines, err, NOT_A_LIST);
	count = strtoul(word, &end, 10);
	if (*end || count > UINT32_MAX || count > (size_t)(lines->end - line.at) / 2 + 1)
		return hd_lines_error(lines, err, NOT_A_LIST);
	double *values = malloc((count + 1) * sizeof(*values));
	record->failed |= !values;
	if (!values)
		return hd_error_no_memory(err);
	int rc = take_values(lines, line, values, (uint32_t)count, err);
	if (rc == 1)
		record_add(record, name, unit, values, (uint32_t)count);
	else
		free(values);
	return rc;
}

static int take_lines(struct hd_lines *lines, struct hd_record *record, struct hd_error *err)
{
	int more;

	while ((more = hd_lines_next(lines, err)) > 0 && !lines->cut) {
		struct hd_cursor line = hd_lines_cursor(lines);

		record->partial = hd_cursor_is(&line, "end partial");
		if (record->partial || hd_cursor_is(&line, "end complete"))
			return 1;
		int rc = take_item(lines, record, err);
		if (rc != 1)
			return rc;
	}
	return more < 0 ? more : 0;
}

int hd_record_read(struct hd_lines *lines, uint32_t *run, struct hd_record **record,
		   struct hd_error *err)
{
	int rc = hd_lines_next(lines, err);

	if (rc <= 0)
		return rc;
	struct hd_cursor line = hd_lines_cursor(lines);
	if (lines->cut)
		return 0;
	if (!hd_take_text(&line, "run ") || !hd_take_decimal(&line, run) || !hd_cursor_done(&line))
		return hd_lines_error(lines, err, "expected 'run NUMBER'");
	struct hd_record *read = hd_record_new();
	if (!read)
		return hd_error_no_memory(err);
	rc = take_lines(lines, read, err);
	if (rc == 1 && read->failed)
		rc = hd_error_no_memory(err);
	if (rc == 1)
		*record = read;
	else
		hd_record_free(read);
	return rc;
}
