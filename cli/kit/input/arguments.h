/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Command lines from tables: the same rows parse the command line and print --help. A row gives the
 * kind of its value, and the member of the command's job that gets the value.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct argument;

/* An option as it was typed. */
struct typed {
	const struct argument *argument;
	const char *text; /* its value; NULL if it takes none */
	unsigned operands; /* how many operands were typed before it */
};

/* Stores a value in its place. 0, or STATUS_BAD after a message. */
typedef int arguments_take_fn(const struct typed *typed, void *place);

struct argument {
	char letter; /* of the short form; 0 = none */
	const char *name; /* of the long form, without dashes */
	const char *value; /* its value in --help ("FILE"); NULL = it takes no value */
	const char *summary;
	arguments_take_fn *take;
	size_t offset; /* of the value's place in the job */
	size_t size; /* of a number or choice there */
	int64_t minimum, maximum; /* of a number */
	/* It may have no value, and this one is meant then; `value` is "a|b|c". The word behind it is its value only if it
	 * is one of these. NULL = it needs one. */
	const char *otherwise;
};

/*
 * The last members of a row say how its value is read and which member of the job's type it goes
 * to. A member of another type than named here does not compile.
 *
 * FLAG: a bool, which becomes true.
 * TEXT: a const char *, which points to the text.
 * NUMBER: an integer, from `least` to `most`.
 * CHOICE: a bool or enum, the index of the text among the words of `value`, which are "a|b|c".
 * BY: anything else, read by a function of its own.
 */
#define ARGUMENT_FLAG(type, member)                                                                \
	.take = arguments_take_flag, .offset = offsetof(type, member),                             \
	.size = _Generic(((type *)0)->member, bool                                                 \
			 : sizeof(bool))
#define ARGUMENT_TEXT(type, member)                                                                \
	.take = arguments_take_text, .offset = offsetof(type, member),                             \
	.size = _Generic(((type *)0)->member, const char *: sizeof(const char *))
#define ARGUMENT_NUMBER(type, member, least, most)                                                 \
	.take = arguments_take_number, .offset = offsetof(type, member),                           \
	.size = _Generic(((type *)0)->member, int32_t                                              \
			 : sizeof(int32_t), uint32_t                                               \
			 : sizeof(int32_t), int64_t                                                \
			 : sizeof(int64_t), uint64_t                                               \
			 : sizeof(int64_t)),                                                       \
	.minimum = (least), .maximum = (most)
#define ARGUMENT_CHOICE(type, member)                                                              \
	.take = arguments_take_choice, .offset = offsetof(type, member),                           \
	.size = _Generic(((type *)0)->member, bool                                                 \
			 : sizeof(bool), unsigned                                                  \
			 : sizeof(unsigned))
#define ARGUMENT_BY(function, type, member) .take = (function), .offset = offsetof(type, member)

arguments_take_fn arguments_take_flag, arguments_take_text, arguments_take_number,
    arguments_take_choice;

struct usage {
	const char *synopsis; /* "heddle route [OPTION]... -e NAME FABRIC" */
	const char *summary;
	const struct argument *arguments;
	unsigned count;
	const char *notes; /* after the table of options; NULL = none */
	/* When the command ends with this status; NULL = never */
	const char *statuses[STATUS_COUNT];
};

/* The words on the command line that are not options or their values. */
struct operands {
	char **items;
	unsigned count;
};

/* The command itself, after its options are in `job`. The exit status. */
typedef int arguments_run_fn(void *job, const struct operands *operands);

/*
 * Reads argv[1] onwards into `job` and calls run(). Options and operands may be mixed; "--" ends
 * the options. --help and -h need no row: they print the usage in place of run(). Returns what
 * run() returns, or STATUS_BAD after a message. Changes the order of argv.
 */
int arguments_run(const struct usage *usage, int argc, char **argv, void *job,
		  arguments_run_fn *run);

/* Prints a message_error() and the synopsis. Returns STATUS_BAD. */
int arguments_refuse(const struct usage *usage, const char *format, ...) HD_PRINTF(2, 3);

/* 0 if there are `least` .. `most` operands, else STATUS_BAD after a message: "expected ...". */
int arguments_expect(const struct usage *usage, const struct operands *operands,
		     const char *expected, unsigned least, unsigned most);

/* The file that an argument names: - is standard input. */
const char *arguments_path(const char *typed);

/* One row of a table in two columns; the summary may take several lines. */
void arguments_print_row(const char *text, const char *summary);

#endif
