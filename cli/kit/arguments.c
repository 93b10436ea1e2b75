/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "arguments.h"
#include "message.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 32
#define HELP_COLUMN 30
#define FIRST_LONG 256 /* getopt's value of row 0; below it are the letters */
#define HELP_VALUE (FIRST_LONG + ROWS_MAX)

struct getopt_tables {
	struct option long_options[ROWS_MAX + 2];
	char letters[2 * ROWS_MAX + 4];
};

static void fill_tables(const struct usage *usage, struct getopt_tables *tables)
{
	char *letter = tables->letters;

	*letter++ = ':'; /* tells a missing value from an unknown option */
	for (unsigned row = 0; row < usage->count; row++) {
		const struct argument *argument = &usage->arguments[row];
		tables->long_options[row] =
		    (struct option){.name = argument->name,
				    .has_arg = argument->value ? required_argument : no_argument,
				    .val = FIRST_LONG + (int)row};
		if (!argument->letter)
			continue;
		*letter++ = argument->letter;
		if (argument->value)
			*letter++ = ':';
	}
	*letter++ = 'h';
	*letter = '\0';
	tables->long_options[usage->count] =
	    (struct option){.name = "help", .has_arg = no_argument, .val = HELP_VALUE};
	tables->long_options[usage->count + 1] = (struct option){.name = NULL};
}

static void print_row(const char *text, const char *summary)
{
	if (strlen(text) < HELP_COLUMN)
		printf("%-*s%s\n", HELP_COLUMN, text, summary);
	else
		printf("%s\n%*s%s\n", text, HELP_COLUMN, "", summary);
}

static void print_help(const struct usage *usage)
{
	printf("Usage: %s\n%s\n\nOptions:\n", usage->synopsis, usage->summary);
	for (unsigned row = 0; row < usage->count; row++) {
		const struct argument *argument = &usage->arguments[row];
		char letter[8] = "    ", text[80];
		if (argument->letter)
			snprintf(letter, sizeof(letter), "-%c, ", argument->letter);
		snprintf(text, sizeof(text), "  %s--%s%s%s", letter, argument->name,
			 argument->value ? " " : "", argument->value ? argument->value : "");
		print_row(text, argument->summary);
	}
	print_row("  -h, --help", "print this");
	if (usage->notes)
		printf("\n%s\n", usage->notes);
}

static unsigned row_of(const struct usage *usage, int value)
{
	unsigned row = 0;

	if (value >= FIRST_LONG)
		return (unsigned)(value - FIRST_LONG);
	while (row < usage->count && usage->arguments[row].letter != value)
		row++;
	return row;
}

/* A cluster such as -xv is named by its letter, a long option as it was typed. */
static void refuse_option(const struct usage *usage, int result, const char *typed)
{
	char letter[3] = {'-', (char)optopt, '\0'};
	const char *name = optopt && optopt < FIRST_LONG ? letter : typed;

	if (result == ':')
		message_error("option '%s' needs a value", name);
	else if (optopt >= FIRST_LONG)
		message_error("option '%s' takes no value", typed);
	else
		message_error("unknown option '%s'", name);
	fprintf(stderr, "Usage: %s\n", usage->synopsis);
}

enum arguments_parsed arguments_parse(const struct usage *usage, int argc, char **argv,
				      arguments_take_fn *take, void *context, int *operands)
{
	struct getopt_tables tables;
	int result;

	fill_tables(usage, &tables);
	opterr = 0;
	optind = 0; /* glibc: start afresh */
	while ((result = getopt_long(argc, argv, tables.letters, tables.long_options, NULL)) !=
	       -1) {
		if (result == 'h' || result == HELP_VALUE) {
			print_help(usage);
			return ARGUMENTS_HELP_PRINTED;
		}
		if (result == '?' || result == ':') {
			refuse_option(usage, result, argv[optind - 1]);
			return ARGUMENTS_REFUSED;
		}
		if (take(context, row_of(usage, result), optarg))
			return ARGUMENTS_REFUSED;
	}
	*operands = optind;
	return ARGUMENTS_PARSED;
}

bool arguments_number(const struct argument *argument, const char *text, int64_t minimum,
		      int64_t maximum, int64_t *number)
{
	char *end;

	errno = 0;
	long long parsed = strtoll(text, &end, 10);
	if (end == text || *end || errno || parsed < minimum || parsed > maximum) {
		message_error("option '--%s': '%s' is not a whole number %" PRId64 "..%" PRId64,
			      argument->name, text, minimum, maximum);
		return false;
	}
	*number = parsed;
	return true;
}

const char *arguments_option_range(const struct hd_option *option, char *buffer, int size)
{
	char range[64] = "";

	if (option->type == HD_OPTION_INT || option->type == HD_OPTION_INT_LIST)
		snprintf(range, sizeof(range), "%" PRId64 "..%" PRId64 "%s", option->minimum,
			 option->maximum, option->type == HD_OPTION_INT_LIST ? " each" : "");
	else if (option->type == HD_OPTION_BOOL)
		snprintf(range, sizeof(range), "yes|no");
	else if (option->type == HD_OPTION_CHOICE)
		snprintf(range, sizeof(range), "%s", option->choices);
	snprintf(buffer, (size_t)size, "(%s%s%s%s)", range, *range ? ", " : "",
		 option->fallback ? "default " : "required",
		 option->fallback ? (*option->fallback ? option->fallback : "none") : "");
	return buffer;
}

void arguments_print_options(const char *prefix, const struct hd_option *options, unsigned count)
{
	char range[160], text[80];

	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%s%s", prefix, options[i].name);
		print_row(text, options[i].summary);
		printf("%*s%s\n", HELP_COLUMN, "",
		       arguments_option_range(&options[i], range, sizeof(range)));
	}
}
