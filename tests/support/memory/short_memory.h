/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes memory short on purpose. If a test links with heddle_short_memory, the linker (--wrap)
 * redirects all calls of malloc() and similar functions to this file, but not those inside the C
 * library and the sanitizers. Each allocation from an arena counts too, although an arena asks the
 * C library only for 64 KB at a time. While allocations are counted, qsort() is not stable, as the
 * real one without memory.
 */
#ifndef SHORT_MEMORY_H
#define SHORT_MEMORY_H

#include <heddle/base/error.h>
#include <stdint.h>

enum short_memory_mode {
	SHORT_MEMORY_ONCE, /* the chosen allocation fails, later ones do not */
	SHORT_MEMORY_FROM_THEN_ON /* it fails and so do all later ones */
};

/* Begins to count the allocations of this thread. Number `first`, from 1, fails; 0: none fails. */
void short_memory_begin(uint64_t first, enum short_memory_mode mode);

struct short_memory_count {
	uint64_t own; /* allocations of the thread that began to count */
	uint64_t failed; /* how many of those failed */
	uint64_t others; /* allocations of all other threads; they never fail */
};

/* Stops counting and returns the counts. */
struct short_memory_count short_memory_end(void);

/* A call that allocates and can be repeated. */
struct short_memory_case {
	const char *what; /* for messages */
	void *context;
	/* Makes the call and keeps its result in the context. Returns 0, or a negative errno with a
	 * reason. */
	int (*call)(void *context, struct hd_error *err);
	/* Checks and frees the result. Memory is not short then. */
	void (*settle)(void *context, int rc);
	int expected; /* what call() returns when memory is not short */
};

/*
 * Repeats the call: the first time its first allocation fails, then its second, and so on, until
 * the call has fewer allocations. Then does the same again while all later allocations fail too.
 * The test fails unless the call returns -ENOMEM with a reason if an allocation failed, and
 * `expected` if none did. Returns the number of allocations if memory is not short.
 */
uint64_t short_memory_try(const struct short_memory_case *tried);

/* The same for only one allocation in `step`. */
uint64_t short_memory_try_some(const struct short_memory_case *tried, unsigned step);

#endif
