/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verifier.h"
#include "verifier_program.h"

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

/* ---- in place of the system ---- */

static void close_file(void)
{
	if (opened)
		fclose(opened);
	opened = NULL;
}

FILE *verifier_open(const char *path, const char *mode)
{
	const struct verifier_text *text = &files[*path - '0'];

	(void)mode;
	close_file();
	opened = fmemopen((void *)(size_t)text->bytes, text->length, "r");
	return opened;
}

void *verifier_calloc(size_t count, size_t size)
{
	void *block = block_count < BLOCKS_MAX ? calloc(count, size) : NULL;

	if (block)
		blocks[block_count++] = block;
	return block;
}

_Noreturn void verifier_exit(int status)
{
	longjmp(ended, status + 1);
}

int verifier_say(const char *format, ...)
{
	size_t length = strlen(said);
	va_list arguments;

	va_start(arguments, format);
	int count = vsnprintf(said + length, sizeof(said) - length, format, arguments);
	va_end(arguments);
	return count;
}

/* ---- a run ---- */

static int run_program(verifier_main_fn *program, int count, char **arguments)
{
	int status = setjmp(ended);

	return status ? status - 1 : program(count, arguments);
}

static char *name_of(const struct verifier_text texts[VERIFIER_FILES], enum verifier_file file)
{
	static char names[VERIFIER_FILES][2];

	names[file][0] = (char)('0' + file);
	return texts[file].bytes ? names[file] : "-";
}

int verifier_run(const struct verifier_text texts[VERIFIER_FILES], const char **reason)
{
	char *arguments[] = {"program",
			     name_of(texts, VERIFIER_CERTIFICATE),
			     name_of(texts, VERIFIER_TOPOLOGY),
			     name_of(texts, VERIFIER_TABLES),
			     name_of(texts, VERIFIER_LEVELS),
			     name_of(texts, VERIFIER_PLAN),
			     NULL,
			     NULL,
			     NULL};
	verifier_main_fn *program = verifier_certificate_main;
	int count = texts[VERIFIER_LEVELS].bytes ? 5 : 4;

	if (texts[VERIFIER_BEFORE].bytes) {
		program = verifier_change_main;
		arguments[3] = name_of(texts, VERIFIER_BEFORE);
		arguments[5] = name_of(texts, VERIFIER_LEVELS);
		arguments[4] = name_of(texts, VERIFIER_TABLES);
		count++;
		if (texts[VERIFIER_PLAN].bytes || texts[VERIFIER_PLAN_BEFORE].bytes) {
			program = verifier_adaptive_change_main;
			arguments[6] = name_of(texts, VERIFIER_PLAN_BEFORE);
			arguments[7] = name_of(texts, VERIFIER_PLAN);
			count = 8;
		}
	} else if (texts[VERIFIER_PLAN].bytes) {
		program = verifier_adaptive_main;
		count = 6;
	}
	arguments[count] = NULL;
	files = texts;
	said[0] = '\0';
	int status = run_program(program, count, arguments);
	close_file();
	while (block_count)
		free(blocks[--block_count]);
	*reason = said;
	return status;
}
