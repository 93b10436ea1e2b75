/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much memory a computation makes the process grow by, as the kernel counts it. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stddef.h>

/*
 * Gives what the C library holds free back to the kernel, so that a computation pays for its
 * pages as it does in a fresh process, and begins a new peak. Returns the bytes resident now.
 */
size_t memory_mark(void);

/* Highest number of bytes resident since memory_mark(); 0 where the kernel does not say. */
size_t memory_peak(void);

/*
 * What the C library does with large blocks. Fresh: each comes from the kernel and goes back to
 * it, as mostly in a process that has just started. Reused: they are kept and handed out again,
 * as far as the library can be made to (below 32 MiB).
 */
void memory_be_fresh(void);
void memory_be_reused(void);

/* Pages that the process had to be given so far. */
size_t memory_page_faults(void);

/* Bytes that the C library has handed out and not got back. */
size_t memory_in_use(void);

#endif
