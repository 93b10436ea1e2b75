/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Measures by how much memory a computation makes the process grow, as the kernel counts it. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stddef.h>

/*
 * Gives the free memory of the C library back to the kernel, so that a computation needs new pages
 * as in a fresh process. Begins a new peak. Returns the bytes that are resident now.
 */
size_t memory_mark(void);

/* Highest number of bytes resident since memory_mark(); 0 if the kernel does not count them. */
size_t memory_peak(void);

/*
 * Chooses what the C library does with large blocks. Fresh: each comes from the kernel and goes
 * back to it, as usually in a process that has just started. Reused: the library keeps blocks below
 * 32 MiB and hands them out again.
 */
void memory_be_fresh(void);
void memory_be_reused(void);

/* Pages that the kernel has given the process so far. */
size_t memory_page_faults(void);

/* Bytes that the C library has handed out and that were not freed. */
size_t memory_in_use(void);

#endif
