/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that are written beside their place, as PATH.new, and then renamed: if the disk is full, the
 * last good file stays.
 */
#ifndef OPENSM_BESIDE_H
#define OPENSM_BESIDE_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

typedef int beside_write_fn(const void *context, FILE *stream, struct hd_error *err);

/* Whether a file may replace what is at the path. Error: -EEXIST a device such as /dev/null, a pipe or a socket. */
int beside_check(const char *path, struct hd_error *err);

/*
 * Writes PATH.new as a new file with these rights, whatever was there. On an error PATH.new is gone.
 * Errors: errno of the system's calls, -ENOMEM, those of beside_check() and write().
 */
int beside_write(const char *path, mode_t mode, beside_write_fn *write, const void *context,
		 struct hd_error *err);

/* Renames PATH.new to PATH. Does not wait for the disk. Errors: as above; then PATH.new is gone. */
int beside_rename(const char *path, struct hd_error *err);

/* Removes PATH.new. */
void beside_drop(const char *path);

/* Which file stands at a path, so that only that one is removed later. */
struct beside_mark {
	dev_t device;
	ino_t file; /* 0: none */
	struct timespec changed;
};

struct beside_mark beside_mark(const char *path);

/* Removes the file at the path if it is the marked one, and nobody has written to it since. False: it is not, or could not
 * be removed. */
bool beside_remove(const char *path, const struct beside_mark *mark);

#endif
