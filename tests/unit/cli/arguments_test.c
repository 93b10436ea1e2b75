/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Command lines described by tables: each value gets to its place, and operands keep their order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum colour { RED, GREEN, BLUE };

struct job {
	const char *file;
	bool quiet, second;
	int32_t small;
	uint64_t large;
	enum colour colour;
	char seen[80]; /* the value of each --mark, with the number of operands before it */
	char operands[80];
};

static int take_mark(const struct typed *typed, void *place)
{
	struct job *job = place;
	size_t used = strlen(job->seen);

	snprintf(job->seen + used, sizeof(job->seen) - used, "%s@%u ", typed->text,
		 typed->operands);
	return strcmp(typed->text, "bad") ? 0 : STATUS_BAD;
}

static const struct argument arguments[] = {
    {'o', "output", "FILE", "a text", ARGUMENT_TEXT(struct job, file)},
    {'q', "quiet", NULL, "a flag", ARGUMENT_FLAG(struct job, quiet)},
    {0, "small", "N", "a number of 4 bytes", ARGUMENT_NUMBER(struct job, small, -5, 5)},
    {'l', "large", "N", "one of 8", ARGUMENT_NUMBER(struct job, large, 0, INT64_MAX)},
    {0, "colour", "red|green|blue", "an enum", ARGUMENT_CHOICE(struct job, colour)},
    {0, "second", "no|yes", "a bool", ARGUMENT_CHOICE(struct job, second)},
    {'m', "mark", "TEXT", "by a function", ARGUMENT_BY(take_mark, struct job, file)},
};

/* --mark needs all of the job, which begins with `file`. */
_Static_assert(offsetof(struct job, file) == 0, "");

static const struct usage usage = {
    .synopsis = "test [OPTION]... FILE...",
    .summary = "Tests.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"done", "faults", "bad"},
};

static int run(void *context, const struct operands *operands)
{
	struct job *job = context;
	size_t used = 0;

	for (unsigned i = 0; i < operands->count; i++)
		used += (size_t)snprintf(job->operands + used, sizeof(job->operands) - used, "%s%s",
					 i ? " " : "", operands->items[i]);
	return STATUS_FAULTS;
}

/* Runs a line of words, which must end with `status`: STATUS_FAULTS if it reaches run(). */
static struct job assert_runs(const char *line, int status)
{
	static char copy[200]; /* values point into it */
	char *argv[20], *rest = copy;
	struct job job = {.small = 1, .large = 2, .colour = BLUE, .second = true};
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	argv[0] = copy + strlen(copy);
	for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	assert_int_equal(arguments_run(&usage, argc, argv, &job, run), status);
	return job;
}

static void each_value_gets_to_its_place(void **state)
{
	(void)state;
	struct job job = assert_runs("--output=x -q --small -3 -l 9000000000 --colour green "
				     "--second=no",
				     STATUS_FAULTS);
	assert_string_equal(job.file, "x");
	assert_true(job.quiet);
	assert_false(job.second);
	assert_int_equal(job.small, -3);
	assert_int_equal(job.large, 9000000000);
	assert_int_equal(job.colour, GREEN);
	job = assert_runs("a", STATUS_FAULTS);
	assert_null(job.file);
	assert_false(job.quiet);
	assert_true(job.second && job.small == 1 && job.large == 2 && job.colour == BLUE);
}

static void operands_keep_their_order_among_the_options(void **state)
{
	(void)state;
	struct job job = assert_runs("-m p a -q -m q - b --mark=r -- -x -m s", STATUS_FAULTS);
	assert_string_equal(job.operands, "a - b -x -m s");
	assert_string_equal(job.seen, "p@0 q@1 r@3 ");
	job = assert_runs("--mark p --", STATUS_FAULTS);
	assert_string_equal(job.operands, "");
	job = assert_runs("-qmp a", STATUS_FAULTS); /* letters in a cluster */
	assert_true(job.quiet);
	assert_string_equal(job.seen, "p@0 ");
}

static void what_is_wrong_ends_it(void **state)
{
	static const char *const lines[] = {"--small 6",     "--small -6",
					    "--small x",     "--small 3x",
					    "--small",	     "--large -1",
					    "--large 1e9",   "--colour",
					    "--colour pink", "--colour gree",
					    "--colour red|", "--quiet=yes",
					    "--unknown",     "-x",
					    "-qx",	     "-q --mark bad a"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_string_equal(assert_runs(lines[i], STATUS_BAD).operands, "");
}

static void help_runs_nothing(void **state)
{
	(void)state;
	assert_string_equal(assert_runs("a -h", STATUS_CLEAN).operands, "");
	assert_string_equal(assert_runs("--help --unknown", STATUS_CLEAN).operands, "");
}

static void too_few_or_too_many_operands_are_refused(void **state)
{
	const struct operands two = {.count = 2};

	(void)state;
	assert_int_equal(arguments_expect(&usage, &two, "FILE", 1, 2), 0);
	assert_int_equal(arguments_expect(&usage, &two, "FILE", 2, 3), 0);
	assert_int_equal(arguments_expect(&usage, &two, "FILE", 3, 3), STATUS_BAD);
	assert_int_equal(arguments_expect(&usage, &two, "FILE", 0, 1), STATUS_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_value_gets_to_its_place),
	    cmocka_unit_test(operands_keep_their_order_among_the_options),
	    cmocka_unit_test(what_is_wrong_ends_it),
	    cmocka_unit_test(help_runs_nothing),
	    cmocka_unit_test(too_few_or_too_many_operands_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
