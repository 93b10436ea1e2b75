/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "write_stream.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <string.h>

int write_stream_finish(FILE *stream, struct hd_error *err)
{
	if (!fflush(stream) && !ferror(stream))
		return 0;
	int rc = errno ? errno : EIO;
	return hd_error_set(err, -rc, "cannot write: %s", strerror(rc));
}

const char *write_stream_plain_name(const char *name, char buffer[PLAIN_NAME_SIZE])
{
	hd_plain(name, buffer, PLAIN_NAME_SIZE);
	for (char *quote = buffer; (quote = strchr(quote, '"'));)
		*quote = '\'';
	return buffer;
}
