/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one way in which programs write a file at a path: a new file is written beside the place and then gets its name.
 * It appears complete or not at all, and if the disk is full, the last good file stays. What another user may have put
 * at the place or beside it is neither followed nor opened nor copied from.
 */
#ifndef HEDDLE_BASE_REPLACEMENT_H
#define HEDDLE_BASE_REPLACEMENT_H

#include <heddle/base/error.h>
#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_REPLACEMENT_COMMAND ((mode_t)0)

/* Zero-initialise, or begin. */
struct hd_replacement {
	int folder; /* open, with O_PATH */
	char name[NAME_MAX + 1]; /* in the folder */
	char temporary[NAME_MAX + 1]; /* "": none, see hd_replacement_begin() */
};

/*
 * Begins a file; *file is to be written to and closed. Links on the way and at the end are followed if they belong to
 * the caller or root; another link at the end is replaced. There are two kinds:
 * - `mode` is the rights of a file of a service, less the umask. The new file is NAME.new, so that one that a killed
 *   process has left does not stay. A device, a pipe or a socket is refused with -EEXIST.
 * - HD_REPLACEMENT_COMMAND: the new file has a random name. The rights are those of the regular file of the caller that
 *   is there, at most 0777, or else 0666; less the umask. A pipe or device is written to directly, and `temporary` is
 *   "": one that this process got open, one of the caller or root, or one in a folder where only they can write.
 * Errors: -EPERM a link or a pipe of another user; -EISDIR; those of the system. The reason does not name `path`.
 */
int hd_replacement_begin(struct hd_replacement *replacement, const char *path, mode_t mode,
			 int *file, struct hd_error *err);

/* Gives the file its name. Does not wait for the disk. On an error it is gone; the reason does not name the path. */
int hd_replacement_commit(struct hd_replacement *replacement, struct hd_error *err);

/* Removes the file that has not got its name, if it exists. */
void hd_replacement_drop(struct hd_replacement *replacement);

typedef int hd_replacement_write_fn(const void *context, FILE *stream, struct hd_error *err);

/* Begins and writes a file of a service. On an error nothing is left. Errors: as above, and those of write(); the reason
 * names `path`. */
int hd_replacement_write(struct hd_replacement *replacement, const char *path, mode_t mode,
			 hd_replacement_write_fn *write, const void *context, struct hd_error *err);

/* The same, and gives it its name. */
int hd_replace(const char *path, mode_t mode, hd_replacement_write_fn *write, const void *context,
	       struct hd_error *err);

/* Removes what hd_replace() would replace; it may be missing. Errors: as above. */
int hd_replace_by_nothing(const char *path, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
