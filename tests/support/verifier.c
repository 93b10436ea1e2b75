/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program is included here with functions of the system replaced: it reads texts, returns in place of
 * ending, and its memory is freed. */
#include "verifier.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 65536u

static const struct verifier_text *files;
static jmp_buf ended;
static char said[512];
static void *blocks[BLOCKS_MAX];
static size_t block_count;
static FILE *opened;

static FILE *verifier_open(const char *path, const char *mode)
{
	const struct verifier_text *text = &files[*path - '0'];

	(void)mode;
	opened = fmemopen((void *)(size_t)text->bytes, text->length, "r");
	return opened;
}

static int verifier_close(FILE *stream)
{
	opened = NULL;
	return fclose(stream);
}

static void *verifier_calloc(size_t count, size_t size)
{
	void *block = block_count < BLOCKS_MAX ? calloc(count, size) : NULL;

	if (block)
		blocks[block_count++] = block;
	return block;
}

static _Noreturn void verifier_exit(int status)
{
	longjmp(ended, status + 1);
}

static int verifier_say(const char *format, va_list arguments)
{
	return vsnprintf(said, sizeof(said), format, arguments);
}

#define main verifier_main
#define fopen verifier_open
#define fclose verifier_close
#define calloc verifier_calloc
#define exit verifier_exit
#define vprintf verifier_say
#define printf(...) ((void)0)
#define putchar(byte) ((void)0)
#define perror(path) ((void)0)
#include "../../tools/verify_certificate.c"
#undef fclose

static void release(void)
{
	free(s.line);
	if (opened)
		fclose(opened);
	opened = NULL;
	while (block_count)
		free(blocks[--block_count]);
	memset(&s, 0, sizeof(s));
}

static int run_program(int count, char **arguments)
{
	int status = setjmp(ended);

	return status ? status - 1 : verifier_main(count, arguments);
}

int verifier_run(const struct verifier_text texts[VERIFIER_FILES], const char **reason)
{
	static char *words[] = {"verify_certificate", "0", "1", "2", "3", "4", NULL};
	char *arguments[VERIFIER_FILES + 2] = {NULL};
	int count = 1;

	memcpy(arguments, words, sizeof(words));
	for (int file = 0; file < VERIFIER_FILES; file++) {
		if (texts[file].bytes)
			count = file + 2;
		else
			arguments[file + 1] = "-";
	}
	arguments[count] = NULL;
	files = texts;
	said[0] = '\0';
	int status = run_program(count, arguments);
	release();
	*reason = said;
	return status;
}
