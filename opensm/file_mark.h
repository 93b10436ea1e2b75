/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which file stands at a path, so that only that one is removed when its option goes or names another path. */
#ifndef OPENSM_FILE_MARK_H
#define OPENSM_FILE_MARK_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct file_mark {
	dev_t device;
	ino_t file; /* 0: none */
	struct timespec changed;
};

struct file_mark file_mark(const char *path);

/* Removes the file at the path if it is the marked one, and nobody has written to it since. False: it is not, or could not
 * be removed. */
bool file_mark_remove(const char *path, const struct file_mark *mark);

#endif
