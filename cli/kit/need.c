/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "need.h"
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

int (*need_end)(void) = message_no_memory;
void (*need_clean)(void);

/* Without exit(): libraries such as that of MPI, and other threads, may be at work. */
void *need(void *block)
{
	if (block)
		return block;
	const int status = need_end();

	if (need_clean)
		need_clean();
	fflush(stdout);
	_exit(status);
}

void *need_bytes(size_t size)
{
	return need(malloc(size));
}

void *need_of(struct hd_arena *arena, size_t count, size_t size)
{
	return need(hd_arena_alloc(arena, count, size));
}

int need_enough(int rc)
{
	if (rc == -ENOMEM)
		need(NULL);
	return rc;
}

void need_close(FILE *stream)
{
	if (fclose(stream))
		need(NULL);
}

char *need_format(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	const bool failed = vasprintf(&text, format, arguments) < 0;
	va_end(arguments);
	return need(failed ? NULL : text);
}
