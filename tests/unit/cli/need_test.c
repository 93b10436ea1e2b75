/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a command leaves behind where memory is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "message.h"
#include "need.h"
#include "output.h"

/* Property: the program ends as with bad input, and a file that it was writing does not appear, under no name. */
static void nothing_is_left(void **state)
{
	char folder[] = "/tmp/heddle-need-XXXXXX";
	char *path = need_format("%s/file", mkdtemp(folder));
	struct output output;
	struct hd_error err;
	int status;

	(void)state;
	const pid_t child = fork();
	if (!child) {
		if (!output_open(&output, path, &err) && fputs("half", output.stream) >= 0)
			need(NULL);
		_exit(STATUS_CLEAN);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STATUS_BAD);
	assert_int_equal(rmdir(folder), 0);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_left)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
