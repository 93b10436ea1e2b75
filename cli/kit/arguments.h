/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Command lines from tables: the same rows parse what was typed and print --help. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <heddle/base/options.h>
#include <stdbool.h>
#include <stdint.h>

struct argument {
	char letter; /* of the short form, 0: none */
	const char *name; /* of the long form, without dashes */
	const char *value; /* what follows it, for --help ("FILE"); NULL: nothing does */
	const char *summary;
};

struct usage {
	const char *synopsis; /* "heddle route -e ENGINE [OPTION]... FABRIC" */
	const char *summary;
	const struct argument *arguments;
	unsigned count;
	const char *notes; /* after the table of options; NULL: none */
};

/* Called for each argument that was typed: its row and its value. 0, or not 0 to stop. */
typedef int arguments_take_fn(void *context, unsigned row, const char *value);

enum arguments_parsed { ARGUMENTS_PARSED, ARGUMENTS_HELP_PRINTED, ARGUMENTS_REFUSED };

/*
 * Parses argv[1] onwards; options and operands may be mixed, "--" ends options. --help and -h
 * are understood without a row. Operands are moved to the end: argv[*operands] .. argv[argc-1].
 * ARGUMENTS_REFUSED after a message on stderr.
 */
enum arguments_parsed arguments_parse(const struct usage *usage, int argc, char **argv,
				      arguments_take_fn *take, void *context, int *operands);

/* A whole number minimum .. maximum; false after a message that names the option. */
bool arguments_number(const struct argument *argument, const char *text, int64_t minimum,
		      int64_t maximum, int64_t *number);

/* Prints a table of engine or generator options, as `prefix`name, one paragraph each. */
void arguments_print_options(const char *prefix, const struct hd_option *options, unsigned count);

/* "(1..8, default 3)": what an option takes; "" when there is nothing to say. */
const char *arguments_option_range(const struct hd_option *option, char *buffer, int size);

#endif
