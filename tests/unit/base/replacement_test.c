/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that are replaced where another user has put something: by services, and in the middle of a change. What a
 * command does is in tests/integration/test_cli_hostile_places.py. */
#include <heddle/base/place.h>
#include <heddle/base/replacement.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define OTHER 65534u
#define SECRET "secret"

static char top[] = "/tmp/heddle-replacement-XXXXXX", secret[64], folder[64], path[96], beside[128];

static void put(const char *name, const char *text)
{
	FILE *stream = fopen(name, "w");

	assert_non_null(stream);
	fputs(text, stream);
	assert_int_equal(fclose(stream), 0);
}

static const char *text_of(const char *name)
{
	static char text[64];
	FILE *stream = fopen(name, "r");

	assert_non_null(stream);
	text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
	fclose(stream);
	return text;
}

/* A file of root, and a folder in which all may write, as in /tmp. */
static int enter(void **state)
{
	(void)state;
	snprintf(secret, sizeof(secret), "%s/secret", top);
	snprintf(folder, sizeof(folder), "%s/all", top);
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(beside, sizeof(beside), "%s.new", path);
	umask(022);
	put(secret, SECRET);
	return mkdir(folder, 0700) || chmod(folder, 01777) || chmod(secret, 0600);
}

static int leave(void **state)
{
	(void)state;
	unlink(path);
	unlink(beside);
	unlink(secret);
	assert_int_equal(rmdir(folder), 0); /* nothing else is left */
	return 0;
}

static int write_new(const void *context, FILE *stream, struct hd_error *err)
{
	(void)err;
	fputs(context, stream);
	return 0;
}

static void make_setuid(const char *name)
{
	put(name, "old");
	assert_int_equal(chown(name, OTHER, OTHER) || chmod(name, 04777), 0);
}

static void make_link(const char *name)
{
	assert_int_equal(symlink(secret, name) || lchown(name, OTHER, OTHER), 0);
}

static void make_hard_link(const char *name)
{
	assert_int_equal(link(secret, name), 0);
}

/* Root's link, to which another user gave a second name. */
static void make_link_with_two_names(const char *name)
{
	char first[sizeof(path)];

	snprintf(first, sizeof(first), "%s/link", top);
	assert_int_equal(symlink(secret, first) || link(first, name), 0);
}

static void make_fifo(const char *name)
{
	assert_int_equal(mkfifo(name, 0666) || chown(name, OTHER, OTHER), 0);
}

/* Property: whatever is at the place of a file or beside it, a service's file is new, with its own rights, or nothing
 * happens. */
static void services(void **state)
{
	static void (*const traps[])(const char *) = {make_setuid, make_link, make_hard_link,
						      make_link_with_two_names, make_fifo};
	char first[sizeof(path)];
	struct hd_error err = {""};
	struct stat facts;

	(void)state;
	if (geteuid())
		skip();
	for (unsigned i = 0; i < 2 * sizeof(traps) / sizeof(*traps); i++) {
		const bool refused = i % 2 && traps[i / 2] == make_fifo;
		traps[i / 2](i % 2 ? path : beside);
		assert_int_equal(hd_replace(path, 0666, write_new, "new", &err),
				 refused ? -EEXIST : 0);
		assert_string_equal(text_of(secret), SECRET);
		assert_int_equal(lstat(path, &facts), 0);
		assert_true(refused ? S_ISFIFO(facts.st_mode) : S_ISREG(facts.st_mode));
		if (!refused) {
			assert_int_equal(facts.st_mode & 07777, 0644);
			assert_int_equal(facts.st_uid, 0);
			assert_string_equal(text_of(path), "new");
		}
		assert_int_equal(access(beside, F_OK), -1);
		assert_int_equal(unlink(path), 0);
		snprintf(first, sizeof(first), "%s/link", top);
		unlink(first);
	}
}

/* Property: a file is removed, but not what a link of another user leads to; what is missing is no error. */
static void removal(void **state)
{
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_replace_by_nothing(path, &err), 0);
	put(path, "old");
	assert_int_equal(hd_replace_by_nothing(path, &err), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(hd_replace_by_nothing("/nonexistent/folder/file", &err), 0);
	assert_string_equal(err.text, "");
	if (geteuid())
		return;
	make_link(path);
	assert_int_equal(hd_replace_by_nothing(path, &err), 0);
	assert_string_equal(text_of(secret), SECRET);
	assert_int_equal(unlink(path), -1);
}

/* Property: the folder stays the one in which the file was begun, if its name leads elsewhere at the end. */
static void an_exchanged_folder(void **state)
{
	struct hd_replacement made;
	struct hd_error err;
	char moved[96], there[128];

	(void)state;
	snprintf(moved, sizeof(moved), "%s.moved", folder);
	snprintf(there, sizeof(there), "%s/file", moved);
	assert_int_equal(hd_replacement_write(&made, path, 0600, write_new, "new", &err), 0);
	assert_int_equal(rename(folder, moved), 0);
	assert_int_equal(symlink(top, folder), 0);
	assert_int_equal(hd_replacement_commit(&made, &err), 0);
	assert_string_equal(text_of(there), "new");
	assert_int_equal(unlink(there), 0);
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(rename(moved, folder), 0);
	snprintf(there, sizeof(there), "%s/file", top);
	assert_int_equal(access(there, F_OK), -1);
}

/* Property: names come to the same place as the kernel brings them. */
static void places(void **state)
{
	static const struct {
		const char *path;
		int rc;
	} cases[] = {{"all/file", 0},	    {"all/../all//./file", 0}, {"link/file", 0},
		     {"all", -EISDIR},	    {"all/..", -EISDIR},       {"loop/file", -ELOOP},
		     {"", -ENOENT},	    {"none/file", -ENOENT},    {"secret/file", -ENOTDIR},
		     {"secret/", -ENOTDIR}, {"all/none/", -ENOENT}};
	char before[PATH_MAX], link[96];
	struct hd_error err;

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(symlink("../../../../../../tmp/../tmp", "far") || symlink("loop", "loop"),
			 0);
	snprintf(link, sizeof(link), "far/%s/all", top + strlen("/tmp/"));
	assert_int_equal(symlink(link, "link"), 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(hd_replace(cases[i].path, 0600, write_new, "new", &err),
				 cases[i].rc);
		if (!cases[i].rc)
			assert_string_equal(text_of(path), "new");
		assert_true(!unlink(path) == !cases[i].rc);
	}
	/* a way that is checked is there, is missing, or cannot be looked at */
	assert_int_equal(hd_place_check("link/file", &err), 0);
	assert_int_equal(hd_place_check("all/none/file", &err), 0);
	assert_int_equal(hd_place_check("loop/file", &err), -ELOOP);
	assert_non_null(strstr(err.text, "loop/file: "));
	assert_int_equal(unlink("far") || unlink("loop") || unlink("link"), 0);
	assert_int_equal(chdir(before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(services, enter, leave),
	    cmocka_unit_test_setup_teardown(removal, enter, leave),
	    cmocka_unit_test_setup_teardown(an_exchanged_folder, enter, leave),
	    cmocka_unit_test_setup_teardown(places, enter, leave),
	};

	if (!mkdtemp(top))
		return EXIT_FAILURE;
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(top);
	return failed;
}
