/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which socket of several OpenSMs is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 96

static char folder[PATH_SIZE / 2];

static int enter(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/heddle-answer-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static const char *path_of(const char *name)
{
	static char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int leave(void **state)
{
	(void)state;
	unlink(path_of("status-0x1.sock"));
	unlink(path_of("status-0x2.sock"));
	return rmdir(folder);
}

/* A file at which nobody listens. */
static void make(const char *name)
{
	int file = open(path_of(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(file >= 0);
	close(file);
}

static int ask(const char *name, struct hd_error *err)
{
	const struct plugin_address address = {.socket = path_of(name)};
	char *text = NULL;

	return plugin_answer_get(&address, "status", &text, err);
}

/* Property: a pattern stands for the only socket that matches. Several are listed in the message, and
 * without a match it has the pattern. */
static void patterns(void **state)
{
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(ask("status-*.sock", &err), -ENOENT);
	assert_non_null(strstr(err.text, "status-*.sock: no answer"));
	make("status-0x1.sock");
	assert_int_equal(ask("status-*.sock", &err), -ECONNREFUSED);
	assert_non_null(strstr(err.text, "status-0x1.sock: no answer"));
	make("status-0x2.sock");
	assert_int_equal(ask("status-*.sock", &err), -EINVAL);
	assert_non_null(strstr(err.text, "status-0x1.sock, "));
	assert_non_null(strstr(err.text, "status-0x2.sock"));
	assert_int_equal(ask("status-0x2.sock", &err), -ECONNREFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(patterns, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
