/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <keyd_manager.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_S 600 /* only a watch that sees nothing takes so long */

struct seen {
	struct event_base *base;
	char name[64];
};

static void on_file(void *context, const char *name)
{
	struct seen *seen = context;

	snprintf(seen->name, sizeof(seen->name), "%s", name);
	event_base_loopbreak(seen->base);
}

static void make_file(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fclose(file);
}

/* Whether the watch says that a file of this name has appeared. */
static bool sees(struct seen *seen, const char *name)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};

	event_base_loopexit(seen->base, &patience);
	event_base_dispatch(seen->base);
	return !strcmp(seen->name, name);
}

/* A file appears, also in a folder that has been removed and made again meanwhile. */
static void test_a_file_appears(void **state)
{
	char folder[] = "/tmp/heddle-watch-XXXXXX", path[64];
	struct seen seen = {.base = event_base_new()};
	struct keyd_watch *watch = keyd_watch_new(seen.base, on_file, &seen);

	(void)state;
	assert_non_null(watch);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/one", folder);
	keyd_watch_folder_of(watch, path);
	make_file(path);
	assert_true(sees(&seen, "one"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	keyd_watch_folder_of(watch, path); /* the folder is gone */
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(path, sizeof(path), "%s/two", folder);
	keyd_watch_folder_of(watch, path);
	make_file(path);
	assert_true(sees(&seen, "two"));
	unlink(path);
	rmdir(folder);
	keyd_watch_free(watch);
	event_base_free(seen.base);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(keyd_watch_name("/run/heddle/sm.sock"), "sm.sock");
	assert_string_equal(keyd_watch_name("sm.sock"), "sm.sock");
	keyd_watch_folder_of(NULL, "/run/heddle/sm.sock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_file_appears),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
