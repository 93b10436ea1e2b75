/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "file_mark.h"

#include <sys/stat.h>
#include <unistd.h>

struct file_mark file_mark(const char *path)
{
	struct stat facts;

	if (lstat(path, &facts) || !S_ISREG(facts.st_mode))
		return (struct file_mark){0};
	return (struct file_mark){facts.st_dev, facts.st_ino, facts.st_mtim};
}

bool file_mark_remove(const char *path, const struct file_mark *mark)
{
	const struct file_mark now = file_mark(path);

	return now.file && now.file == mark->file && now.device == mark->device &&
	       now.changed.tv_sec == mark->changed.tv_sec &&
	       now.changed.tv_nsec == mark->changed.tv_nsec && !unlink(path);
}
