/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_textfile.h"
#include "beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int file, const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(file, text, length);
		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			text += written;
			length -= (size_t)written;
		}
	}
	return 0;
}

/* Opened without following a link that another user may have put there. */
static int write_file(const char *path, const char *text, size_t length)
{
	unlink(path);
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (file < 0)
		return -errno;
	int rc = write_all(file, text, length);
	if (!rc && fchmod(file, 0644))
		rc = -errno;
	if (close(file) && !rc)
		rc = -errno;
	return rc;
}

int status_textfile_write(const char *path, const char *text, size_t length, struct hd_error *err)
{
	char temporary[PATH_MAX];

	/* the collector reads only names that end with .prom */
	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
		return hd_error_set(err, -ENAMETOOLONG, "%s: the path is too long", path);
	int rc = beside_check(path, err);
	if (rc)
		return rc;
	rc = write_file(temporary, text, length);
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (!rc)
		return 0;
	unlink(temporary);
	return hd_error_set(err, rc, "%s: %s", path, strerror(-rc));
}
