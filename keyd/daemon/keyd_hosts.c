/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_hosts.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/grow.h>
#include <heddle/base/index.h>
#include <heddle/base/lookup.h>
#include <heddle/base/text.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LARGEST ((size_t)64 << 20)

struct row {
	const char *name;
	uint64_t guid;
};

struct keyd_hosts {
	struct hd_arena arena;
	struct row *rows;
	uint32_t count, room;
	struct hd_lookup lookup;
};

struct search {
	const struct keyd_hosts *hosts;
	const char *name;
};

static bool matches(const void *context, uint32_t index)
{
	const struct search *search = context;

	return !strcmp(search->hosts->rows[index].name, search->name);
}

static uint32_t find(const struct keyd_hosts *hosts, const char *name)
{
	const struct search search = {hosts, name};

	return hd_lookup_find(&hosts->lookup, hd_hash_bytes(name, strlen(name)), matches, &search);
}

static int add(struct keyd_hosts *hosts, const struct hd_words *words, struct hd_error *err)
{
	struct hd_cursor cursor = {words->word[1], words->word[1] + strlen(words->word[1])};
	struct row *rows;
	uint64_t guid;

	if (words->count != 2 || !hd_take_hex(&cursor, &guid) || !hd_cursor_done(&cursor) || !guid)
		return hd_lines_error(&words->lines, err, "expected NAME GUID");
	if (find(hosts, words->word[0]) != HD_NONE)
		return hd_lines_error(&words->lines, err, "an earlier line has this name");
	rows = hd_grow(hosts->rows, hosts->count, 1, &hosts->room, sizeof(*rows));
	if (!rows)
		return hd_error_no_memory(err);
	hosts->rows = rows;
	rows[hosts->count] = (struct row){hd_arena_strdup(&hosts->arena, words->word[0]), guid};
	if (!rows[hosts->count].name ||
	    hd_lookup_add(&hosts->lookup, hd_hash_bytes(words->word[0], strlen(words->word[0])),
			  hosts->count))
		return hd_error_no_memory(err);
	hosts->count++;
	return 0;
}

static int read_rows(struct keyd_hosts *hosts, const struct hd_text *text, struct hd_error *err)
{
	struct hd_words words;
	int rc = hd_words_begin(&words, text, err);

	while (!rc && (rc = hd_words_next(&words, err)) > 0)
		rc = add(hosts, &words, err);
	return rc;
}

int keyd_hosts_read(const char *path, struct keyd_hosts **out, struct hd_error *err)
{
	struct keyd_hosts *hosts = calloc(1, sizeof(*hosts));
	struct hd_text text;
	int rc = 0;

	if (!hosts)
		return hd_error_no_memory(err);
	if (path) {
		rc = hd_text_open_regular(path, FILE_LARGEST, &text, err);
		if (!rc) {
			rc = text.length ? read_rows(hosts, &text, err) : 0;
			hd_text_close(&text);
		}
	}
	if (rc)
		keyd_hosts_free(hosts);
	else
		*out = hosts;
	return rc;
}

void keyd_hosts_free(struct keyd_hosts *hosts)
{
	if (!hosts)
		return;
	hd_lookup_release(&hosts->lookup);
	hd_arena_release(&hosts->arena);
	free(hosts->rows);
	free(hosts);
}

bool keyd_hosts_find(const struct keyd_hosts *hosts, const char *name, uint64_t *guid)
{
	uint32_t row = find(hosts, name);

	if (row != HD_NONE)
		*guid = hosts->rows[row].guid;
	return row != HD_NONE;
}

uint32_t keyd_hosts_count(const struct keyd_hosts *hosts)
{
	return hosts->count;
}
