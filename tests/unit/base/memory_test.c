/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The room base when memory is short, above all the arena, which tells other code. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "short_memory.h"

#include <heddle/base/arena.h>
#include <heddle/base/lookup.h>
#include <heddle/base/options.h>
#include <heddle/base/text.h>

/* ---- the arena ---- */

/* Property: an arena remembers a failed allocation until it is released, whatever happens later. */
static void an_arena_remembers_failures(void **state)
{
	struct hd_arena arena = {0};

	(void)state;
	assert_non_null(hd_arena_alloc(&arena, 10, 8));
	assert_int_equal(hd_arena_check(&arena), 0);
	assert_null(hd_arena_alloc(&arena, SIZE_MAX, 2));
	assert_int_equal(hd_arena_check(&arena), -ENOMEM);
	assert_non_null(hd_arena_alloc(&arena, 10, 8));
	assert_true(arena.failed);
	hd_arena_release(&arena);
	assert_false(arena.failed);
	assert_non_null(hd_arena_strdup(&arena, "text"));
	assert_int_equal(hd_arena_check(&arena), 0);
	hd_arena_release(&arena);
}

static int arena_call(void *context, struct hd_error *err)
{
	struct hd_arena *arena = context;

	for (int i = 0; i < 4; i++)
		hd_arena_alloc(arena, 1000, 100); /* more than an arena asks for at a time */
	return hd_arena_check(arena) ? hd_error_no_memory(err) : 0;
}

static void arena_settle(void *context, int rc)
{
	struct hd_arena *arena = context;

	(void)rc;
	hd_arena_release(arena);
}

/* Property: it also does if the C library has no memory. */
static void an_arena_fails_when_malloc_does(void **state)
{
	struct hd_arena arena = {0};
	struct short_memory_case tried = {"arena", &arena, arena_call, arena_settle, 0};

	(void)state;
	assert_int_equal(short_memory_try(&tried), 8);
}

/* ---- options ---- */

static const struct hd_option table[] = {
    {.name = "count",
     .summary = "a number",
     .type = HD_OPTION_INT,
     .fallback = "1",
     .minimum = 0,
     .maximum = 9},
    {.name = "file", .summary = "a name", .type = HD_OPTION_STRING},
};

static int options_call(void *context, struct hd_error *err)
{
	struct hd_options **options = context;
	char pairs[] = "count=3,file=name";

	*options = hd_options_new(table, 2);
	return *options ? hd_options_set_pairs(*options, pairs, err) : hd_error_no_memory(err);
}

static void options_settle(void *context, int rc)
{
	struct hd_options **options = context;

	if (!rc)
		assert_string_equal(hd_options_get(*options, "file")->text, "name");
	hd_options_free(*options);
}

/* Property: options. */
static void options(void **state)
{
	struct hd_options *made = NULL;
	struct short_memory_case tried = {"options", &made, options_call, options_settle, 0};

	(void)state;
	assert_true(short_memory_try(&tried) > 3);
}

/* ---- the hash table ---- */

#define INDICES 300u /* the table grows twice */

static bool is_index(const void *context, uint32_t index)
{
	return *(const uint32_t *)context == index;
}

static int lookup_call(void *context, struct hd_error *err)
{
	struct hd_lookup *lookup = context;

	*lookup = (struct hd_lookup){0};
	for (uint32_t i = 0; i < INDICES; i++)
		if (hd_lookup_add(lookup, hd_hash_number(i), i))
			return hd_error_no_memory(err);
	return 0;
}

/* The table still has what was added before memory was short. */
static void lookup_settle(void *context, int rc)
{
	struct hd_lookup *lookup = context;

	assert_int_equal(!rc, lookup->count == INDICES);
	for (uint32_t i = 0; i < lookup->count; i++)
		assert_int_equal(hd_lookup_find(lookup, hd_hash_number(i), is_index, &i), i);
	hd_lookup_release(lookup);
}

/* Property: the hash table. */
static void lookups(void **state)
{
	struct hd_lookup lookup;
	struct short_memory_case tried = {"lookup", &lookup, lookup_call, lookup_settle, 0};

	(void)state;
	assert_int_equal(short_memory_try(&tried), 3);
}

/* ---- files ---- */

#define PIPED 10000u /* bytes, more than a pipe is given at first */

/* The length of a pipe is unknown, so the text grows while it is read. */
static int text_call(void *context, struct hd_error *err)
{
	struct hd_text *text = context;
	char bytes[PIPED], path[32];
	int ends[2];

	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	int rc = hd_text_open(path, text, err);
	text->name = NULL; /* the path is gone */
	close(ends[0]);
	return rc;
}

static void text_settle(void *context, int rc)
{
	struct hd_text *text = context;

	assert_int_equal(text->length, rc ? 0 : PIPED);
	hd_text_close(text);
}

/* Property: text from a pipe. */
static void texts(void **state)
{
	struct hd_text text;
	struct short_memory_case tried = {"text", &text, text_call, text_settle, 0};

	(void)state;
	assert_int_equal(short_memory_try(&tried), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_arena_remembers_failures),
	    cmocka_unit_test(an_arena_fails_when_malloc_does),
	    cmocka_unit_test(options),
	    cmocka_unit_test(lookups),
	    cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
