/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waiting for another thread. */
#ifndef HEDDLE_BASE_CONDITION_H
#define HEDDLE_BASE_CONDITION_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

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
