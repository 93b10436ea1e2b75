/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files in memory. A command reads any file; a daemon only regular files of bounded size, so that
 * it never waits. */
#include <heddle/base/text.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define LARGEST 10000

/* Makes a file of `length` bytes 'a', 'b', 'c' ... */
static int make_file(size_t length, char *path, size_t size)
{
	int file = memfd_create("text", MFD_CLOEXEC);

	assert_true(file >= 0);
	for (size_t i = 0; i < length; i++)
		assert_int_equal(write(file, &(char){(char)('a' + i % 26)}, 1), 1);
	snprintf(path, size, "/proc/self/fd/%d", file);
	return file;
}

/* All bytes of files up to the largest size are read. A file with one byte more is refused. */
static void sizes_up_to_the_largest(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, LARGEST - 1, LARGEST};
	struct hd_error err = {""};
	struct hd_text text;
	char path[32];

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int file = make_file(sizes[i], path, sizeof(path));

		assert_int_equal(hd_text_open_regular(path, LARGEST, &text, &err), 0);
		assert_int_equal(text.length, sizes[i]);
		for (size_t at = 0; at < text.length; at++)
			assert_int_equal(text.bytes[at], 'a' + at % 26);
		hd_text_close(&text);
		close(file);
	}
	for (size_t size = LARGEST + 1; size < 3 * LARGEST; size += LARGEST) {
		int file = make_file(size, path, sizeof(path));

		assert_int_equal(hd_text_open_regular(path, LARGEST, &text, &err), -EFBIG);
		assert_non_null(strstr(err.text, "larger than 10000 bytes"));
		close(file);
	}
}

/* A file that reports no size, as in /proc, is read, and its size is bounded too. */
static void files_of_proc(void **state)
{
	struct hd_error err;
	struct hd_text text;

	(void)state;
	assert_int_equal(hd_text_open_regular("/proc/self/status", 1 << 20, &text, &err), 0);
	assert_true(text.length > 100);
	hd_text_close(&text);
	assert_int_equal(hd_text_open_regular("/proc/self/status", 100, &text, &err), -EFBIG);
}

/* A FIFO that nobody writes to, devices, folders and sockets are refused at once. */
static void nothing_makes_it_wait(void **state)
{
	char folder[] = "text-XXXXXX", fifo[sizeof(folder) + 8];
	const char *const paths[] = {fifo, "/dev/zero", "/dev/null", "/"};
	struct hd_error err = {""};
	struct hd_text text;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	alarm(600); /* ends the test if it blocks */
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(hd_text_open_regular(paths[i], LARGEST, &text, &err), -EINVAL);
		assert_non_null(strstr(err.text, paths[i]));
		assert_non_null(strstr(err.text, "not a regular file"));
	}
	alarm(0);
	unlink(fifo);
	rmdir(folder);
}

static void what_is_missing(void **state)
{
	struct hd_error err = {""};
	struct hd_text text;

	(void)state;
	assert_int_equal(hd_text_open_regular("/nonexistent/x", LARGEST, &text, &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/x: cannot open: No such file or directory");
}

/* ---- any file ---- */

/* Sizes of 0 bytes, 1 byte, and near the blocks in which a pipe is read. */
static void files_and_pipes_are_loaded_in_whole(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, 65536, 300000};
	char path[] = "/tmp/heddle-text-XXXXXX", command[64];
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char *bytes = malloc(sizes[i] + 1);
		for (size_t at = 0; at < sizes[i]; at++)
			bytes[at] = (char)('a' + at % 23);
		assert_int_equal(ftruncate(file, 0), 0);
		assert_int_equal(pwrite(file, bytes, sizes[i], 0), sizes[i]);
		snprintf(command, sizeof(command), "cat %s", path);
		FILE *pipe = popen(command, "r");
		char through[32];
		snprintf(through, sizeof(through), "/proc/self/fd/%d", fileno(pipe));
		const char *const from[] = {path, through};
		for (int way = 0; way < 2; way++) {
			struct hd_text text;
			struct hd_error err = {""};
			if (hd_text_open(from[way], &text, &err))
				fail_msg("%s", err.text);
			assert_int_equal(text.length, sizes[i]);
			assert_memory_equal(text.bytes, bytes, sizes[i]);
			hd_text_close(&text);
		}
		pclose(pipe);
		free(bytes);
	}
	close(file);
	unlink(path);
}

static void what_cannot_be_loaded_is_named_with_the_reason(void **state)
{
	struct hd_text text;
	struct hd_error err;

	(void)state;
	assert_int_equal(hd_text_open("/nowhere/text", &text, &err), -ENOENT);
	assert_string_equal(err.text, "/nowhere/text: cannot open: No such file or directory");
	assert_int_equal(hd_text_open("/tmp", &text, &err), -EISDIR);
	assert_string_equal(err.text, "/tmp: cannot read: Is a directory");
	assert_int_equal(hd_text_open("/proc/self/mem", &text, &err), -EIO);
	assert_string_equal(err.text, "/proc/self/mem: cannot read: Input/output error");
}

/* Property: when a large file was read, nobody can change or take away its bytes. */
static void a_large_file_that_is_cut_off_later(void **state)
{
	char path[] = "/tmp/heddle-text-XXXXXX";
	int file = mkstemp(path);
	const off_t size = (off_t)64 << 20;
	struct hd_text text;
	size_t zeros = 0;

	(void)state;
	assert_int_equal(pwrite(file, "end", 3, size - 3), 3);
	assert_int_equal(hd_text_open(path, &text, NULL), 0);
	assert_int_equal(ftruncate(file, 0), 0);
	assert_int_equal(text.length, size);
	for (size_t i = 0; i < text.length; i++)
		zeros += !text.bytes[i];
	assert_int_equal(zeros, size - 3);
	hd_text_close(&text);
	assert_null(text.bytes);
	close(file);
	unlink(path);
}

/* Instead of the system's: cuts a file off before its second part is read. */
static int cut_file = -1;
static unsigned reads_before_cut;

ssize_t read(int file, void *bytes, size_t size)
{
	if (cut_file < 0)
		return syscall(SYS_read, file, bytes, size);
	if (!reads_before_cut--)
		assert_int_equal(ftruncate(cut_file, 10), 0);
	return syscall(SYS_read, file, bytes, size < 4096 ? size : 4096);
}

/* Property: what is left of a file that is cut off while it is read does not pass for the whole. */
static void a_file_that_is_cut_off_meanwhile(void **state)
{
	static const size_t sizes[] = {8192, (size_t)64 << 20};
	char path[32];
	struct hd_error err;
	struct hd_text text;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const size_t size = sizes[i % 2];
		cut_file = memfd_create("text", MFD_CLOEXEC);
		reads_before_cut = i / 2;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", cut_file);
		assert_int_equal(ftruncate(cut_file, (off_t)size), 0);
		assert_int_equal(hd_text_open(path, &text, &err), -EIO);
		assert_non_null(strstr(err.text, "it became shorter meanwhile"));
		assert_int_equal(ftruncate(cut_file, (off_t)size), 0);
		reads_before_cut = i / 2;
		assert_int_equal(hd_text_open_regular(path, size, &text, &err), -EIO);
		close(cut_file);
	}
	cut_file = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(files_and_pipes_are_loaded_in_whole),
	    cmocka_unit_test(what_cannot_be_loaded_is_named_with_the_reason),
	    cmocka_unit_test(a_large_file_that_is_cut_off_later),
	    cmocka_unit_test(a_file_that_is_cut_off_meanwhile),
	    cmocka_unit_test(sizes_up_to_the_largest),
	    cmocka_unit_test(files_of_proc),
	    cmocka_unit_test(nothing_makes_it_wait),
	    cmocka_unit_test(what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
