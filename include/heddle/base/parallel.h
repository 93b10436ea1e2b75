/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loops over cores. Results never depend on the number of threads. */
#ifndef HEDDLE_BASE_PARALLEL_H
#define HEDDLE_BASE_PARALLEL_H

#include <stdint.h>

#define HD_THREADS_MAX 64u

/* Does items begin .. end-1; worker is 0 .. threads-1, one at a time each: index of scratch memory.
 */
typedef void hd_parallel_fn(void *context, uint32_t begin, uint32_t end, unsigned worker);

/*
 * Calls fn over 0 .. count-1 in chunks of `grain` on up to `threads` threads (0 or 1: the
 * caller's own) and returns when all is done. Chunks are handed out as they come; where a
 * thread cannot be started the others do its work.
 */
void hd_parallel_for(unsigned threads, uint32_t count, uint32_t grain, hd_parallel_fn *fn,
		     void *context);

/* Number of workers hd_parallel_for() will use at most: 1 .. HD_THREADS_MAX. */
unsigned hd_parallel_workers(unsigned threads);

/* Processors of this machine that are online, as a number of threads: 1 .. HD_THREADS_MAX. */
unsigned hd_parallel_cores(void);

#endif
