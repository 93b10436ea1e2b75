/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle.conf and policy files, while each allocation fails in turn: the result is -ENOMEM, and
 * nothing changes or leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "config_testing.h"
#include "short_memory.h"

#include <heddle/config/policy_files.h>

#define PATH_SIZE 32

static int make_file(const char *text, char *path)
{
	int file = memfd_create("memory", MFD_CLOEXEC);
	size_t length = strlen(text);

	assert_true(file >= 0 && write(file, text, length) == (ssize_t)length);
	snprintf(path, PATH_SIZE, "/proc/self/fd/%d", file);
	return file;
}

/* ---- heddle.conf ---- */

struct reading {
	const char *path;
	struct hd_config_sections *sections;
	struct hd_config *config;
};

static int read_config(void *context, struct hd_error *err)
{
	struct reading *reading = context;
	int rc = 0;

	reading->config = NULL;
	reading->sections = hd_config_sections_new();
	if (!reading->sections)
		return hd_error_no_memory(err);
	for (size_t i = 0; !rc && i < COUNT(known_sections); i++)
		rc = hd_config_sections_add(reading->sections, &known_sections[i], err);
	return rc ? rc
		  : hd_config_read(reading->sections, reading->path, true, &reading->config, err);
}

static void settle_config(void *context, int rc)
{
	struct reading *reading = context;

	assert_int_equal(reading->config != NULL, !rc);
	if (!rc) {
		assert_int_equal(number(hd_config_options(reading->config, "spf"), "passes"), 7);
		assert_int_equal(
		    number(hd_config_object(reading->config, "ar.switch", 9), "enable"), 1);
	}
	hd_config_free(reading->config);
	hd_config_sections_free(reading->sections);
}

static void heddle_conf(void **state)
{
	char path[PATH_SIZE];
	int file = make_file("[spf]\npasses = 7\n"
			     "[ar.switch 7]\nenable = no\n[ar.switch 8]\nenable = no\n"
			     "[ar.switch 9]\nenable = yes\n",
			     path);
	struct reading reading = {.path = path};
	struct short_memory_case tried = {"heddle.conf", &reading, read_config, settle_config, 0};

	(void)state;
	assert_true(short_memory_try(&tried) > 20);
	close(file);
}

/* ---- policy files ---- */

struct policy_reading {
	const char *paths[HD_POLICY_FILES];
	struct hd_policy_files files;
	bool kept; /* reads one file again, not all files */
};

static int read_policy(void *context, struct hd_error *err)
{
	struct policy_reading *reading = context;

	if (reading->kept)
		return hd_policy_file_read(&reading->files, HD_POLICY_ROOTS,
					   reading->paths[HD_POLICY_ROOTS], false, err);
	return hd_policy_files_read(&reading->files, reading->paths, false, err);
}

static void settle_policy(void *context, int rc)
{
	struct policy_reading *reading = context;
	const struct hd_policy_list *lists = reading->files.lists;

	if (reading->kept) {
		assert_int_equal(lists[HD_POLICY_ROOTS].count, 2);
		return;
	}
	for (unsigned file = 0; file < HD_POLICY_FILES; file++)
		assert_int_equal(lists[file].count, rc ? 0 : 2);
	hd_policy_files_release(&reading->files);
}

static void policy_files(void **state)
{
	char guids[PATH_SIZE], ports[PATH_SIZE], weights[PATH_SIZE];
	int open_guids = make_file("0x7\n0x8\n", guids),
	    open_ports = make_file("7 1\n8 1\n", ports),
	    open_weights = make_file("7 1 5\n8 1 5\n", weights);
	struct policy_reading reading = {
	    .paths = {guids, guids, guids, guids, weights, ports, guids}};
	struct short_memory_case tried = {"policy", &reading, read_policy, settle_policy, 0};
	struct hd_error err;

	(void)state;
	assert_true(short_memory_try(&tried) > 6);
	assert_int_equal(hd_policy_files_read(&reading.files, reading.paths, false, &err), 0);
	reading.kept = true;
	assert_true(short_memory_try(&tried) > 1);
	hd_policy_files_release(&reading.files);
	close(open_guids);
	close(open_ports);
	close(open_weights);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(heddle_conf),
	    cmocka_unit_test(policy_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
