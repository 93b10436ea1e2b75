/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Another program draws: the picture is complete, or the reason is correct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drawing.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool no_processes; /* the machine has run out of them */

/* These replace the functions of the C library. Their close() changes errno, which must not get
 * into a reason. */
pid_t fork(void)
{
	static pid_t (*real)(void);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fork");
	errno = EAGAIN;
	return no_processes ? -1 : real();
}

int close(int file)
{
	int rc = (int)syscall(SYS_close, file);

	errno = EDOM;
	return rc;
}

static char folder[] = "/tmp/heddle-drawing-XXXXXX";
static char picture[sizeof(folder) + 16];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(picture, sizeof(picture), "%s/picture", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void write_word(FILE *script, const void *context)
{
	fputs(context, script);
}

/* Draws "word" by a program without arguments, which must end in that code. */
static void assert_drawn(char *name, const char *path, int rc, struct hd_error *err)
{
	char *const command[] = {name, NULL};
	const struct drawing_program program = {"the package", command};

	*err = (struct hd_error){""};
	assert_int_equal(drawing_make(&program, path, write_word, "word", err), rc);
}

static void a_program_reads_the_script_and_writes_the_picture(void **state)
{
	(void)state;
	struct hd_error err;
	char text[8] = "";
	assert_drawn("cat", picture, 0, &err);
	FILE *file = fopen(picture, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "word");
	unlink(picture);
}

static void each_failure_has_its_own_reason(void **state)
{
	(void)state;
	struct hd_error err;
	char nowhere[sizeof(picture) + 8];
	snprintf(nowhere, sizeof(nowhere), "%s/none/a", folder);
	assert_drawn("cat", nowhere, -ENOENT, &err);
	assert_non_null(strstr(err.text, "cannot write"));
	assert_null(strstr(err.text, "package"));
	assert_drawn("heddle-no-such-program", picture, -ENOPKG, &err);
	assert_string_equal(err.text,
			    "cannot draw: heddle-no-such-program is not installed; install the "
			    "package");
	assert_drawn("false", picture, -EIO, &err);
	assert_non_null(strstr(err.text, picture));
	assert_non_null(strstr(err.text, ": false failed"));
	assert_int_not_equal(access(picture, F_OK), 0);
}

static void a_machine_that_has_run_out_is_named_and_leaves_no_child(void **state)
{
	(void)state;
	struct hd_error err;
	no_processes = true;
	assert_drawn("cat", picture, -EAGAIN, &err);
	assert_string_equal(err.text, "fork: Resource temporarily unavailable");
	no_processes = false;
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_not_equal(access(picture, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_program_reads_the_script_and_writes_the_picture),
	    cmocka_unit_test(each_failure_has_its_own_reason),
	    cmocka_unit_test(a_machine_that_has_run_out_is_named_and_leaves_no_child),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
