/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory that runs short on purpose. In a test that links with heddle_short_memory all calls of
 * malloc() and the like go through here (the linker's --wrap). Calls inside the C library and the
 * sanitizers do not. An arena asks the C library for 64 KB at a time, so each allocation from an
 * arena counts too. While allocations are counted, qsort() is not stable: it is not, either, when
 * it gets no memory itself.
 */
#ifndef SHORT_MEMORY_H
#define SHORT_MEMORY_H

#include <heddle/base/error.h>
#include <stdint.h>

enum short_memory_mode {
	SHORT_MEMORY_ONCE, /* the chosen allocation fails, later ones do not */
	SHORT_MEMORY_FROM_THEN_ON /* it fails and so do all later ones */
};

/* Begins to count the allocations of this thread. Number `first`, from 1, fails; 0: none. */
void short_memory_begin(uint64_t first, enum short_memory_mode mode);

struct short_memory_count {
	uint64_t own; /* allocations of the thread that began to count */
	uint64_t failed; /* of those */
	uint64_t others; /* allocations of all other threads; they never fail */
};

/* Ends it and says what was counted. */
struct short_memory_count short_memory_end(void);

/* Something that allocates, in a form that can be repeated. */
struct short_memory_case {
	const char *what; /* for messages */
	void *context;
	/* Does it and keeps the result in the context. Returns 0 or a negative errno with a reason.
	 */
	int (*call)(void *context, struct hd_error *err);
	/* Looks at the result, while memory is plenty again, and frees it. */
	void (*settle)(void *context, int rc);
	int expected; /* what call() returns when memory is not short */
};

/*
 * Fails the first allocation of the call, then the second, and so on until the call ends before it
 * has got so far; then the same with all later ones failing too. The test fails unless the call
 * returns -ENOMEM with a reason whenever memory was short, and `expected` whenever it was not.
 * Returns the number of allocations when memory is not short.
 */
uint64_t short_memory_try(const struct short_memory_case *tried);

#endif
