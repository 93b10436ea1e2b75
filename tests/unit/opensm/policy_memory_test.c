/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policy files of opensm.conf when memory is short: the last good policy stays, or there is an
 * error. An engine never routes as if the file did not exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "policy_options.h"
#include "short_memory.h"

#define PATH_SIZE 32

static struct opensm_log sink = {.threshold = HD_LOG_INFO};

struct reading {
	osm_subn_opt_t options;
	struct hd_policy_files files;
};

/* Makes a file with two roots and names it in the options. Returns the open file. */
static int make_roots(osm_subn_opt_t *options, char *path)
{
	static const char text[] = "0x7\n0x8\n";
	int file = memfd_create("roots", MFD_CLOEXEC);

	assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
	snprintf(path, PATH_SIZE, "/proc/self/fd/%d", file);
	options->root_guid_file = path;
	return file;
}

static int read_files(void *context, struct hd_error *err)
{
	struct reading *reading = context;

	logged[0] = '\0';
	return policy_options_read(&reading->files, &reading->options, NULL, &sink, err);
}

static void settle(void *context, int rc)
{
	struct reading *reading = context;

	assert_int_equal(reading->files.lists[HD_POLICY_ROOTS].count, rc ? 0 : 2);
	hd_policy_files_release(&reading->files);
}

/* Property: the first reading fails, or has all roots of the file. */
static void the_first_reading(void **state)
{
	struct reading reading = {0};
	struct short_memory_case tried = {"first reading", &reading, read_files, settle, 0};
	char path[PATH_SIZE];
	int file = make_roots(&reading.options, path);

	(void)state;
	assert_true(short_memory_try(&tried) > 1);
	close(file);
}

/* Property: a later reading without memory keeps the roots, and the log has an error. */
static void a_later_reading(void **state)
{
	struct reading reading = {0};
	struct short_memory_count count;
	struct hd_error err = {""};
	char path[PATH_SIZE];
	int file = make_roots(&reading.options, path);
	uint64_t first = 0;

	(void)state;
	assert_int_equal(read_files(&reading, &err), 0);
	do {
		short_memory_begin(++first, SHORT_MEMORY_ONCE);
		int rc = read_files(&reading, &err);
		count = short_memory_end();
		assert_int_equal(rc, 0);
		assert_int_equal(reading.files.lists[HD_POLICY_ROOTS].count, 2);
		assert_true(reading.files.lists[HD_POLICY_ROOTS].guids[1] == 8);
		if (count.failed)
			assert_logged("ERR HD03: root_guid_file: out of memory; going on with the "
				      "2 GUIDs known before");
	} while (count.failed);
	assert_true(first > 2);
	assert_string_equal(logged, "");
	hd_policy_files_release(&reading.files);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_first_reading),
	    cmocka_unit_test(a_later_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
