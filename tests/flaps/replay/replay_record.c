/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "replay_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		fail("cannot be read", path);
	return file;
}

void record_open(struct record *record, const char *lfts, const char *groups)
{
	_Static_assert(sizeof(struct lft_record) == 144, "as bench/lft_clock.c writes it");
	record->lfts = open_file(lfts);
	record->groups = open_file(groups);
}

/* ---- cuts ---- */

static void add_end(const struct fabric *fabric, uint64_t *dead, const char *text)
{
	const char *bracket = strchr(text, '[');
	const uint32_t node = fabric_node(fabric, text);
	const unsigned long port = bracket ? strtoul(bracket + 1, NULL, 10) : PORTS;

	if (node == NONE || port >= PORTS)
		fail("no such end of a cable", text);
	dead[node] |= UINT64_C(1) << port;
}

void record_add_cut(struct record *record, const struct fabric *fabric, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;
	struct cut cut = {.dead = allocate(fabric->nodes, sizeof(uint64_t))};

	if (!copy)
		fail("no memory", "strdup");
	word = strtok_r(copy, " \n", &rest);
	cut.when = word ? strtoull(word, NULL, 10) : 0;
	while ((word = strtok_r(NULL, " \n", &rest)))
		add_end(fabric, cut.dead, word);
	free(copy);
	if (record->cut_count == record->cut_room) {
		record->cut_room = record->cut_room ? 2 * record->cut_room : 16;
		record->cuts = realloc(record->cuts, record->cut_room * sizeof(*record->cuts));
		if (!record->cuts)
			fail("no memory", "realloc");
	}
	record->cuts[record->cut_count++] = cut;
}

/* ---- files ---- */

/* A record that is not whole yet is read again the next time. */
static bool read_lft(struct record *record)
{
	const long at = ftell(record->lfts);

	if (fread(&record->lft, sizeof(record->lft), 1, record->lfts) == 1)
		return true;
	clearerr(record->lfts);
	fseek(record->lfts, at, SEEK_SET);
	return false;
}

static unsigned digit(char text)
{
	return text >= 'a' ? (unsigned)text - 'a' + 10 : (unsigned)text - '0';
}

static bool read_line(struct record *record)
{
	const long at = ftell(record->groups);
	const ssize_t length = getline(&record->line, &record->line_size, record->groups);

	if (length > 0 && record->line[length - 1] == '\n')
		return true;
	clearerr(record->groups);
	fseek(record->groups, at, SEEK_SET);
	return false;
}

/* "NS GUID ATTRIBUTE MODIFIER DATA" */
static bool read_set(struct record *record, const struct fabric *fabric)
{
	struct set *set = &record->set;
	char *at;

	do {
		if (!read_line(record))
			return false;
		set->when = strtoull(record->line, &at, 10);
		set->sw = fabric_switch(fabric, strtoull(at, &at, 16));
		set->attribute = (uint32_t)strtoul(at, &at, 16);
		set->modifier = (uint32_t)strtoul(at, &at, 16);
		if (strlen(at) < 1 + 2 * sizeof(set->data))
			fail("not a line of the emulator's record", record->line);
		for (size_t i = 0; i < sizeof(set->data); i++)
			set->data[i] = (uint8_t)(digit(at[1 + 2 * i]) << 4 | digit(at[2 + 2 * i]));
	} while (set->sw == NONE);
	return true;
}

enum record_kind record_next(struct record *record, const struct fabric *fabric)
{
	if (!record->has_lft)
		record->has_lft = read_lft(record);
	if (!record->has_set)
		record->has_set = read_set(record, fabric);
	const uint64_t lft = record->has_lft ? record->lft.when : UINT64_MAX;
	const uint64_t set = record->has_set ? record->set.when : UINT64_MAX;
	if (record->cut < record->cut_count && record->cuts[record->cut].when <= lft &&
	    record->cuts[record->cut].when <= set) {
		record->cut++;
		return RECORD_CUT;
	}
	if (!record->has_lft && !record->has_set)
		return RECORD_END;
	if (record->has_lft && lft <= set)
		record->has_lft = false;
	else
		record->has_set = false;
	return lft <= set ? RECORD_LFT : RECORD_SET;
}
