/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The place that a path names, found name by name. Each folder is open when the next name is looked up in it, so nobody
 * can put another thing in the way after a check. Nothing here needs the kernel's fs.protected_*.
 */
#ifndef HEDDLE_BASE_PLACE_H
#define HEDDLE_BASE_PLACE_H

#include <heddle/base/error.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which things on the way are good enough. The caller is the effective user. */
enum hd_place_rule {
	/* Links in the middle of a path must belong to the caller or to root. At its end a link of another user is not
	 * followed: then it is the thing at the place. */
	HD_PLACE_LINKS,
	/* Only the caller and root can change any folder, link or file on the way as it is given and as it is followed,
	 * from the root folder on. In a folder with the sticky bit, such as /tmp, that is true for what is theirs. */
	HD_PLACE_OWN
};

struct hd_place {
	int folder; /* open, with O_PATH; hd_place_close() closes it */
	char name[NAME_MAX + 1]; /* in this folder */
	char path[PATH_MAX]; /* without links; with HD_PLACE_OWN it begins at the root folder */
	bool exists;
	bool
	    given; /* a pipe or device that the process got open, such as /dev/stdout: open follows the name */
	struct stat above; /* the folder */
	struct stat facts; /* what is there, if it exists */
};

/*
 * Finds a place. Nothing needs to be there, but its folder must. Errors: -EPERM the rule is not met; those of the
 * system; then nothing is left to close. The reason does not name `path`.
 */
int hd_place_find(const char *path, enum hd_place_rule rule, struct hd_place *place,
		  struct hd_error *err);

void hd_place_close(struct hd_place *place);

/* Checks a path by HD_PLACE_OWN: what is read there is of root or the caller. Errors: those of hd_place_find(); the
 * reason names `path`. What is missing is no error. */
int hd_place_check(const char *path, struct hd_error *err);

/* The same for the folder of a path and what is above it: then nobody else can remove or exchange what this process
 * makes there, such as a socket. */
int hd_place_check_folder(const char *path, struct hd_error *err);

/* Whether a user other than the caller and root can change the thing, or a folder's entries that are not his. */
bool hd_place_is_open_to_others(const struct stat *facts);

#ifdef __cplusplus
}
#endif

#endif
