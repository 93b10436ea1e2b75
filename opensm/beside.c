/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int name_temporary(const char *path, char temporary[PATH_MAX], struct hd_error *err)
{
	if (snprintf(temporary, PATH_MAX, "%s.new", path) >= PATH_MAX)
		return hd_error_set(err, -ENAMETOOLONG, "%s: the path is too long", path);
	return 0;
}

static int write_new(const char *path, mode_t mode, beside_write_fn *write, const void *context,
		     struct hd_error *err)
{
	unlink(path); /* what another user may have put there is neither followed nor written to */
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	FILE *stream = file < 0 ? NULL : fdopen(file, "w");
	int rc;

	if (!stream) {
		rc = hd_error_set(err, -errno, "%s: %s", path, strerror(errno));
		if (file >= 0)
			close(file);
		return rc;
	}
	rc = write(context, stream, err);
	if (fclose(stream) && !rc)
		rc = hd_error_set(err, -errno, "%s", strerror(errno));
	return rc ? hd_error_prefix(err, rc, "%s", path) : 0;
}

int beside_check(const char *path, struct hd_error *err)
{
	struct stat facts;

	if (lstat(path, &facts) || S_ISREG(facts.st_mode) || S_ISLNK(facts.st_mode) ||
	    S_ISDIR(facts.st_mode)) /* to rename to a folder fails by itself */
		return 0;
	return hd_error_set(err, -EEXIST, "%s: there is a device, a pipe or a socket", path);
}

int beside_write(const char *path, mode_t mode, beside_write_fn *write, const void *context,
		 struct hd_error *err)
{
	char temporary[PATH_MAX];
	int rc = beside_check(path, err);

	if (!rc)
		rc = name_temporary(path, temporary, err);
	if (rc)
		return rc;
	rc = write_new(temporary, mode, write, context, err);
	if (rc)
		unlink(temporary);
	return rc;
}

int beside_rename(const char *path, struct hd_error *err)
{
	char temporary[PATH_MAX];
	int rc = name_temporary(path, temporary, err);

	if (rc || !rename(temporary, path))
		return rc;
	rc = hd_error_set(err, -errno, "%s: %s", path, strerror(errno));
	unlink(temporary);
	return rc;
}

void beside_drop(const char *path)
{
	char temporary[PATH_MAX];

	if (!name_temporary(path, temporary, NULL))
		unlink(temporary);
}

struct beside_mark beside_mark(const char *path)
{
	struct stat facts;

	if (lstat(path, &facts) || !S_ISREG(facts.st_mode))
		return (struct beside_mark){0};
	return (struct beside_mark){facts.st_dev, facts.st_ino, facts.st_mtim};
}

bool beside_remove(const char *path, const struct beside_mark *mark)
{
	const struct beside_mark now = beside_mark(path);

	return now.file && now.file == mark->file && now.device == mark->device &&
	       now.changed.tv_sec == mark->changed.tv_sec &&
	       now.changed.tv_nsec == mark->changed.tv_nsec && !unlink(path);
}
