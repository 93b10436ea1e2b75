/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code with sanitizers is ten times as slow, so tests take fewer random cases there: those without sanitizers find wrong
 * results, these bad accesses. */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNLESS_SANITIZED(count, few) (few)
#else
#define UNLESS_SANITIZED(count, few) (count)
#endif

#endif
