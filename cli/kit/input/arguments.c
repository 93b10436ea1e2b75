/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "arguments.h"
#include "message.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <heddle/base/suggest.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 48
#define HELP_COLUMN 30
#define HELP_WIDTH 100
#define OPERAND 1 /* getopt's value for words that are not options */
#define FIRST_LONG 256 /* getopt's value for row 0; smaller values are letters */
#define HELP_VALUE (FIRST_LONG + ROWS_MAX)

int arguments_take_flag(const struct typed *typed, void *place)
{
	(void)typed;
	*(bool *)place = true;
	return 0;
}

int arguments_take_text(const struct typed *typed, void *place)
{
	*(const char **)place = typed->text;
	return 0;
}

static void store_number(size_t size, int64_t number, void *place)
{
	if (size == sizeof(bool))
		*(bool *)place = number;
	else if (size == sizeof(int32_t))
		*(int32_t *)place = (int32_t)number;
	else
		*(int64_t *)place = number;
}

int arguments_take_number(const struct typed *typed, void *place)
{
	const struct argument *argument = typed->argument;
	char *end;

	errno = 0;
	long long number = strtoll(typed->text, &end, 10);
	if (end == typed->text || *end || errno || number < argument->minimum ||
	    number > argument->maximum)
		return message_error(
		    "option '--%s': '%s' is not a whole number %" PRId64 "..%" PRId64,
		    argument->name, typed->text, argument->minimum, argument->maximum);
	store_number(argument->size, number, place);
	return 0;
}

int arguments_take_choice(const struct typed *typed, void *place)
{
	const struct argument *argument = typed->argument;
	size_t length = strlen(typed->text);
	int64_t index = 0;

	for (const char *word = argument->value; word; index++) {
		size_t word_length = strcspn(word, "|");
		if (word_length == length && !strncmp(word, typed->text, length)) {
			store_number(argument->size, index, place);
			return 0;
		}
		word = word[word_length] ? word + word_length + 1 : NULL;
	}
	return message_error("option '--%s': '%s' is not one of %s", argument->name, typed->text,
			     argument->value);
}

const char *arguments_path(const char *typed)
{
	return strcmp(typed, "-") ? typed : "/dev/stdin";
}

/* Words are put on lines of HELP_WIDTH columns, the second column indented. */
void arguments_print_row(const char *text, const char *summary)
{
	bool own_line = strlen(text) >= HELP_COLUMN;
	size_t column = HELP_COLUMN;

	printf("%-*s", HELP_COLUMN, text);
	if (own_line)
		printf("\n%*s", HELP_COLUMN, "");
	while (*summary) {
		size_t length = strcspn(summary, " ");
		if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		}
		bool first = column == HELP_COLUMN;
		printf("%s%.*s", first ? "" : " ", (int)length, summary);
		column += length + !first;
		summary += length + strspn(summary + length, " ");
	}
	putchar('\n');
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
		arguments_print_row(text, argument->summary);
	}
	arguments_print_row("  -h, --help", "print this");
	if (usage->notes)
		printf("\n%s\n", usage->notes);
	printf("\nExit status:\n");
	for (unsigned status = 0; status < STATUS_COUNT; status++)
		if (usage->statuses[status])
			printf("  %u  %s\n", status, usage->statuses[status]);
}

struct getopt_tables {
	struct option long_options[ROWS_MAX + 2];
	char letters[2 * ROWS_MAX + 5];
};

static void fill_tables(const struct usage *usage, struct getopt_tables *tables)
{
	char *letter = tables->letters;

	assert(usage->count <= ROWS_MAX);
	*letter++ = '-'; /* operands come in their place among the options */
	*letter++ = ':'; /* a missing value is not an unknown option */
	for (unsigned row = 0; row < usage->count; row++) {
		const struct argument *argument = &usage->arguments[row];
		tables->long_options[row] =
		    (struct option){.name = argument->name,
				    .has_arg = !argument->value	     ? no_argument
					       : argument->otherwise ? optional_argument
								     : required_argument,
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

static const struct argument *argument_of(const struct usage *usage, int value)
{
	const struct argument *argument = usage->arguments;

	if (value >= FIRST_LONG)
		return argument + (value - FIRST_LONG);
	while (argument->letter != value)
		argument++;
	return argument;
}

static void refuse_unknown(const struct usage *usage, const char *name)
{
	char word[HD_SUGGEST_LONGEST + 2] = "";

	if (!strncmp(name, "--", 2))
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(name + 2, "="), name + 2);
	struct hd_suggestion suggestion = hd_suggestion_for(word);
	for (unsigned row = 0; *word && row < usage->count; row++)
		hd_suggestion_offer(&suggestion, usage->arguments[row].name);
	if (suggestion.nearest)
		message_error("unknown option '%s'; did you mean '--%s'?", name,
			      suggestion.nearest);
	else
		message_error("unknown option '%s'", name);
}

/* Messages name a short option by its letter, also in a cluster such as -xv, and a long option as
 * it was typed. */
static int show_synopsis(const struct usage *usage)
{
	fprintf(stderr, "Usage: %s\n", usage->synopsis);
	return STATUS_BAD;
}

int arguments_refuse(const struct usage *usage, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_error_list(format, arguments);
	va_end(arguments);
	return show_synopsis(usage);
}

/* Whether a word is one of "a|b|c". */
static bool is_choice(const char *word, const char *choices)
{
	const size_t length = strlen(word);

	for (const char *at = choices; at; at = strchr(at, '|'), at = at ? at + 1 : NULL)
		if (strcspn(at, "|") == length && !strncmp(at, word, length))
			return true;
	return false;
}

/* The value that was typed, or is meant; optind goes past it. */
static const char *value_of(const struct argument *argument, int argc, char **argv)
{
	if (optarg || !argument->otherwise)
		return optarg;
	return optind < argc && is_choice(argv[optind], argument->value) ? argv[optind++]
									 : argument->otherwise;
}

static int take(const struct usage *usage, int result, unsigned operands, int argc, char **argv,
		void *job)
{
	const struct argument *argument = argument_of(usage, result);
	const struct typed typed = {
	    .argument = argument, .text = value_of(argument, argc, argv), .operands = operands};

	return typed.argument->take(&typed, (char *)job + typed.argument->offset);
}

int arguments_run(const struct usage *usage, int argc, char **argv, void *job,
		  arguments_run_fn *run)
{
	/* Operands are moved to the beginning of argv, which getopt no longer needs by then. */
	struct operands operands = {.items = argv + 1};
	struct getopt_tables tables;
	int result;

	fill_tables(usage, &tables);
	opterr = 0;
	optind = 0; /* glibc: start afresh */
	while ((result = getopt_long(argc, argv, tables.letters, tables.long_options, NULL)) !=
	       -1) {
		if (result == 'h' || result == HELP_VALUE) {
			print_help(usage);
			return STATUS_CLEAN;
		}
		if (result == '?' || result == ':') {
			const char *text = argv[optind - 1];
			char letter[3] = {'-', (char)optopt, '\0'};
			const char *name = optopt && optopt < FIRST_LONG ? letter : text;
			if (result == ':')
				message_error("option '%s' needs a value", name);
			else if (optopt >= FIRST_LONG)
				message_error("option '%s' takes no value", text);
			else
				refuse_unknown(usage, name);
			return show_synopsis(usage);
		}
		if (result == OPERAND)
			operands.items[operands.count++] = optarg;
		else if (take(usage, result, operands.count, argc, argv, job))
			return STATUS_BAD;
	}
	while (optind < argc)
		operands.items[operands.count++] = argv[optind++];
	return run(job, &operands);
}

int arguments_expect(const struct usage *usage, const struct operands *operands,
		     const char *expected, unsigned least, unsigned most)
{
	if (operands->count >= least && operands->count <= most)
		return 0;
	return arguments_refuse(usage, "expected %s, got %u", expected, operands->count);
}
