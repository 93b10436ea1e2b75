/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file that says which port each of the scheduler's node names is: lines `NAME GUID`. */
#ifndef KEYD_HOSTS_H
#define KEYD_HOSTS_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

struct keyd_hosts;

/* Reads the file; path NULL: an empty list. *out is freed with keyd_hosts_free(). Errors: those of
 * open and read; -EINVAL with file and line: no GUID, a name that is listed twice; -ENOMEM. */
int keyd_hosts_read(const char *path, struct keyd_hosts **out, struct hd_error *err);

/* NULL is allowed. */
void keyd_hosts_free(struct keyd_hosts *hosts);

/* The port GUID of a name. False: the file does not list it. Expected cost: O(1). */
bool keyd_hosts_find(const struct keyd_hosts *hosts, const char *name, uint64_t *guid);

uint32_t keyd_hosts_count(const struct keyd_hosts *hosts);

#endif
