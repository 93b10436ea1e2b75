/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_textfile.h"

#include <errno.h>
#include <heddle/base/replacement.h>
#include <string.h>
#include <sys/stat.h>

struct metrics {
	const char *text;
	size_t length;
};

/* The collector is another user, whatever the umask is. */
static int write_metrics(const void *context, FILE *stream, struct hd_error *err)
{
	const struct metrics *metrics = context;

	if (fwrite(metrics->text, 1, metrics->length, stream) == metrics->length &&
	    !fflush(stream) && !fchmod(fileno(stream), 0644))
		return 0;
	return hd_error_set(err, -errno, "%s", strerror(errno));
}

/* The collector reads only names that end with .prom, so not the new file. */
int status_textfile_write(const char *path, const char *text, size_t length, struct hd_error *err)
{
	return hd_replace(path, 0644, write_metrics, &(struct metrics){text, length}, err);
}
