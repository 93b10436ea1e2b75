/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loops over cores; results never depend on the number of threads. And waiting for another
 * thread. */
#ifndef HEDDLE_BASE_PARALLEL_H
#define HEDDLE_BASE_PARALLEL_H

#include <heddle/base/go_on.h>
#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loops over cores. Results never depend on the number of threads. */

#define HD_THREADS_MAX 64u

/* Does the items begin .. end - 1. `worker`, below hd_parallel_workers(), is never in two calls at
 * the same time: it can be the index of scratch memory. */
typedef void hd_parallel_fn(void *context, uint32_t begin, uint32_t end, unsigned worker);

/*
 * Calls fn for the items 0 .. count - 1, in chunks of `grain`, on up to `threads` threads (0 or 1:
 * only the caller's own), and returns when all items are done. The next chunk goes to the next
 * thread that is free. If a thread cannot be started, the others do its work.
 */
void hd_parallel_for(unsigned threads, uint32_t count, uint32_t grain, hd_parallel_fn *fn,
		     void *context);

/* The same, but asks before each chunk. Once the answer is no, no chunk is begun any more. Returns 0, or
 * -ECANCELED if chunks are missing. */
int hd_parallel_for_while(unsigned threads, uint32_t count, uint32_t grain, hd_parallel_fn *fn,
			  void *context, const struct hd_go_on *go_on);

/* Number of workers that hd_parallel_for() uses at most with so many threads: 1 .. HD_THREADS_MAX.
 */
unsigned hd_parallel_workers(unsigned threads);

/* Processors of this machine that are online, as a number of threads: 1 .. HD_THREADS_MAX. */
unsigned hd_parallel_cores(void);

/* ---- conditions ---- */

/* Waiting for another thread. */

/*
 * pthread_cond_wait() that returns after a second at the latest: glibc before 2.41 can lose a signal
 * (https://sourceware.org/bugzilla/show_bug.cgi?id=25847), and a thread that nothing wakes would keep
 * OpenSM from ending. The caller asks again whether there is something to do, as it has to in any case.
 */
void hd_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock);

#ifdef __cplusplus
}
#endif

#endif
