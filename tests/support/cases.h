/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many random cases a test takes: many in a thorough run (./check --fabrics 101 and more), else few. Code with
 * sanitizers is ten times as slow, and finds bad accesses, not wrong results: few are enough there. */
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#if !defined(HEDDLE_THOROUGH) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CASES(many, few) (few)
#else
#define CASES(many, few) (many)
#endif

/* UNDER_SANITIZERS(few, others): where even the few take minutes with a sanitizer. UNDER_TSAN(few, others): where one
 * thread does the work, and ThreadSanitizer has nothing to find. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZERS(few, others) (few)
#else
#define UNDER_SANITIZERS(few, others) (others)
#endif
#ifdef __SANITIZE_THREAD__
#define UNDER_TSAN(few, others) (few)
#else
#define UNDER_TSAN(few, others) (others)
#endif

#endif
