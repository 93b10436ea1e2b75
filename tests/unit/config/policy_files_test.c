/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policy files: each fills its part of the policy; a file that cannot be read changes nothing. */
#include <errno.h>
#include <heddle/config/policy_files.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PATH_SIZE 64

static int make_file(const char *text, char *path)
{
	int file = memfd_create("policy", MFD_CLOEXEC);
	size_t length = strlen(text);

	assert_true(file >= 0 && write(file, text, length) == (ssize_t)length);
	snprintf(path, PATH_SIZE, "/proc/self/fd/%d", file);
	return file;
}

/* The number of items that one file adds to the policy. */
static unsigned count_of(const struct hd_policy *policy, enum hd_policy_file file)
{
	const unsigned counts[HD_POLICY_FILES] = {
	    [HD_POLICY_ROOTS] = policy->root_count,
	    [HD_POLICY_COMPUTE_NODES] = policy->cn_count,
	    [HD_POLICY_IO_NODES] = policy->io_count,
	    [HD_POLICY_ORDER] = policy->order_count,
	    [HD_POLICY_HOP_WEIGHTS] = policy->hop_weight_count,
	    [HD_POLICY_IGNORED_PORTS] = policy->ignored_port_count,
	    [HD_POLICY_AGGREGATION] = policy->aggregation_count};

	return counts[file];
}

/* A file fills its own part of the policy, and no other. */
static void each_file_has_its_part(void **state)
{
	(void)state;
	for (unsigned file = 0; file < HD_POLICY_FILES; file++) {
		bool ports = !strcmp(hd_policy_file_kind(file)->holds, "ports");
		bool weights = file == HD_POLICY_HOP_WEIGHTS;
		struct hd_policy_files files = {0};
		struct hd_policy policy;
		struct hd_error err;
		char path[PATH_SIZE];
		int open = make_file(weights ? "0x7 3 9\n0x8 4 1\n"
				     : ports ? "0x7 3\n0x8 4\n"
					     : "0x7\n0x8\n",
				     path);

		assert_int_equal(hd_policy_file_read(&files, file, path, false, &err), 0);
		policy = hd_policy_files_view(&files);
		for (unsigned other = 0; other < HD_POLICY_FILES; other++)
			assert_int_equal(count_of(&policy, other), other == file ? 2 : 0);
		if (ports)
			assert_true(files.lists[file].ports[1].node_guid == 8 &&
				    files.lists[file].ports[1].value == (weights ? 1 : 0));
		else
			assert_true(files.lists[file].guids[1] == 8);
		hd_policy_files_release(&files);
		close(open);
	}
}

/* After a bad file, a missing one or a FIFO the list stays. Without a path it is emptied. */
static void a_bad_file_changes_nothing(void **state)
{
	char good[PATH_SIZE], bad[PATH_SIZE], folder[] = "policy-XXXXXX", fifo[PATH_SIZE];
	int open_good = make_file("0x7\n", good), open_bad = make_file("0x9\nspine\n", bad);
	const char *const paths[] = {bad, "/nonexistent/guids", fifo, "/dev/zero"};
	struct hd_policy_files files = {0};
	struct hd_error err = {""};

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(hd_policy_file_read(&files, HD_POLICY_ROOTS, good, false, &err), 0);
	alarm(600); /* ends the test if it blocks */
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_not_equal(
		    hd_policy_file_read(&files, HD_POLICY_ROOTS, paths[i], false, &err), 0);
		assert_non_null(strstr(err.text, paths[i]));
		assert_int_equal(files.lists[HD_POLICY_ROOTS].count, 1);
		assert_true(files.lists[HD_POLICY_ROOTS].guids[0] == 7);
	}
	alarm(0);
	assert_int_equal(hd_policy_file_read(&files, HD_POLICY_ROOTS, NULL, false, &err), 0);
	assert_int_equal(files.lists[HD_POLICY_ROOTS].count, 0);
	hd_policy_files_release(&files);
	unlink(fifo);
	rmdir(folder);
	close(open_good);
	close(open_bad);
}

static void *write_guids(void *path)
{
	FILE *stream = fopen(path, "w");

	assert_non_null(stream);
	fputs("0x7\n0x8\n", stream);
	fclose(stream);
	return NULL;
}

/* On a command line a file may be a pipe: the reader waits for the writer. */
static void a_pipe_on_a_command_line(void **state)
{
	char folder[] = "policy-XXXXXX", fifo[PATH_SIZE];
	struct hd_policy_files files = {0};
	struct hd_error err;
	pthread_t writer;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_guids, fifo), 0);
	assert_int_equal(hd_policy_file_read(&files, HD_POLICY_ORDER, fifo, true, &err), 0);
	pthread_join(writer, NULL);
	assert_int_equal(files.lists[HD_POLICY_ORDER].count, 2);
	hd_policy_files_release(&files);
	unlink(fifo);
	rmdir(folder);
}

/* All files or none: if one file is bad, the good ones are not kept either. */
static void all_or_none(void **state)
{
	char good[PATH_SIZE], bad[PATH_SIZE];
	int open_good = make_file("0x7\n", good), open_bad = make_file("0x7\n", bad);
	const char *paths[HD_POLICY_FILES] = {
	    [HD_POLICY_ROOTS] = good, [HD_POLICY_HOP_WEIGHTS] = bad, [HD_POLICY_IO_NODES] = good};
	struct hd_policy_files files = {0};
	struct hd_policy policy;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_policy_files_read(&files, paths, false, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":1: "));
	assert_null(files.lists[HD_POLICY_ROOTS].guids);
	paths[HD_POLICY_HOP_WEIGHTS] = NULL;
	assert_int_equal(hd_policy_files_read(&files, paths, false, &err), 0);
	policy = hd_policy_files_view(&files);
	assert_int_equal(policy.root_count + policy.io_count, 2);
	assert_true(policy.root_guids[0] == 7 && policy.io_guids[0] == 7);
	hd_policy_files_release(&files);
	close(open_good);
	close(open_bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_file_has_its_part),
	    cmocka_unit_test(a_bad_file_changes_nothing),
	    cmocka_unit_test(a_pipe_on_a_command_line),
	    cmocka_unit_test(all_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
