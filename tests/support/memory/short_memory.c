/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "short_memory.h"

#include <dirent.h>
#include <errno.h>
#include <heddle/base/arena.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static atomic_bool active;
static _Thread_local bool counted; /* in the thread that began to count */
static uint64_t first_to_fail;
static enum short_memory_mode chosen_mode;
static struct short_memory_count counts;
static atomic_ullong others;

void short_memory_begin(uint64_t first, enum short_memory_mode mode)
{
	first_to_fail = first;
	chosen_mode = mode;
	counts = (struct short_memory_count){0};
	atomic_store(&others, 0);
	counted = true;
	atomic_store(&active, true);
}

struct short_memory_count short_memory_end(void)
{
	atomic_store(&active, false);
	counted = false;
	counts.others = atomic_load(&others);
	return counts;
}

/* Counts an allocation. Returns true if it must fail. */
static bool fails(void)
{
	if (!atomic_load(&active))
		return false;
	if (!counted) {
		atomic_fetch_add(&others, 1);
		return false;
	}
	counts.own++;
	bool failing =
	    first_to_fail && (chosen_mode == SHORT_MEMORY_ONCE ? counts.own == first_to_fail
							       : counts.own >= first_to_fail);
	counts.failed += failing;
	if (failing)
		errno = ENOMEM;
	return failing;
}

/* ---- the functions that replace the real ones ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
FILE *__real_fopen(const char *path, const char *mode);
int __real_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **));
void *__real_hd_arena_alloc(struct hd_arena *arena, size_t count, size_t size);
char *__real_hd_arena_strdup(struct hd_arena *arena, const char *text);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
	return fails() ? NULL : __real_strndup(text, size);
}

int __wrap_asprintf(char **out, const char *format, ...)
{
	if (fails())
		return -1;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(out, format, arguments);
	va_end(arguments);
	return length;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return fails() ? NULL : __real_fopen(path, mode);
}

int __wrap_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	return fails() ? -1 : __real_scandir(path, names, filter, compare);
}

void *__wrap_hd_arena_alloc(struct hd_arena *arena, size_t count, size_t size)
{
	/* fails for more than the address space */
	return fails() ? __real_hd_arena_alloc(arena, SIZE_MAX, 2)
		       : __real_hd_arena_alloc(arena, count, size);
}

char *__wrap_hd_arena_strdup(struct hd_arena *arena, const char *text)
{
	return fails() ? __real_hd_arena_alloc(arena, SIZE_MAX, 2)
		       : __real_hd_arena_strdup(arena, text);
}

/* ---- sorting ---- */

/*
 * qsort() keeps the order of equal elements as long as it gets memory for a copy. Here it reverses
 * their order, so that an incomplete comparison changes the result.
 */

typedef int compare_fn(const void *, const void *);
typedef int compare_context_fn(const void *, const void *, void *);

void __real_qsort(void *items, size_t count, size_t size, compare_fn *compare);
void __real_qsort_r(void *items, size_t count, size_t size, compare_context_fn *compare,
		    void *context);

static void reverse(unsigned char *items, size_t count, size_t size)
{
	for (size_t low = 0, high = count; atomic_load(&active) && low + 1 < high; low++) {
		unsigned char *a = items + low * size, *b = items + --high * size;
		for (size_t i = 0; i < size; i++) {
			unsigned char byte = a[i];
			a[i] = b[i];
			b[i] = byte;
		}
	}
}

void __wrap_qsort(void *items, size_t count, size_t size, compare_fn *compare)
{
	reverse(items, count, size);
	__real_qsort(items, count, size, compare);
}

void __wrap_qsort_r(void *items, size_t count, size_t size, compare_context_fn *compare,
		    void *context)
{
	reverse(items, count, size);
	__real_qsort_r(items, count, size, compare, context);
}

/* ---- trying ---- */

static struct short_memory_count run(const struct short_memory_case *tried, uint64_t first,
				     enum short_memory_mode mode)
{
	struct hd_error err = {""};

	short_memory_begin(first, mode);
	int rc = tried->call(tried->context, &err);
	struct short_memory_count count = short_memory_end();
	if (count.failed && (rc != -ENOMEM || !strstr(err.text, "emory")))
		fail_msg("%s: %d '%s' where allocation %" PRIu64 "%s failed", tried->what, rc,
			 err.text, first, mode == SHORT_MEMORY_ONCE ? "" : " and all later ones");
	if (!count.failed && rc != tried->expected)
		fail_msg("%s: %d '%s' where no allocation failed, expected %d", tried->what, rc,
			 err.text, tried->expected);
	tried->settle(tried->context, rc);
	return count;
}

uint64_t short_memory_try_some(const struct short_memory_case *tried, unsigned step)
{
	struct short_memory_count count = {0};

	for (int mode = SHORT_MEMORY_ONCE; mode <= SHORT_MEMORY_FROM_THEN_ON; mode++) {
		uint64_t first = 1;
		do {
			count = run(tried, first, (enum short_memory_mode)mode);
			first += step;
		} while (count.failed);
	}
	return count.own;
}

uint64_t short_memory_try(const struct short_memory_case *tried)
{
	return short_memory_try_some(tried, 1);
}
