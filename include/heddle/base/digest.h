/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A digest of what decides on results, for files that keep them: whether they were made from the same
 * input. It is FNV-1a of 64 bits (draft-eastlake-fnv), which protects from mistakes, not from people.
 */
#ifndef HEDDLE_BASE_DIGEST_H
#define HEDDLE_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_DIGEST_BEGIN UINT64_C(0xcbf29ce484222325)

/* The digest of what `digest` is of, followed by these bytes. NULL: none. Cost: O(size). */
uint64_t hd_digest_bytes(uint64_t digest, const void *bytes, size_t size);

/* The same for a text and its end, so that "ab", "c" is not "a", "bc". */
uint64_t hd_digest_text(uint64_t digest, const char *text);

/* The same for the content of a file, which can change while its name stays. NULL, and one that cannot
 * be read: nothing. */
uint64_t hd_digest_file(uint64_t digest, const char *path);

#ifdef __cplusplus
}
#endif

#endif
