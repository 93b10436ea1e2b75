/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options from "KEY=VALUE,...": where a value ends, and the error for a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <heddle/base/options.h>
#include <stdio.h>
#include <string.h>

static const struct hd_option table[] = {
    {.name = "passes", .type = HD_OPTION_INT, .fallback = "3", .minimum = 1, .maximum = 16},
    {.name = "grid", .type = HD_OPTION_INT_LIST, .fallback = "1", .minimum = 1, .maximum = 9},
    {.name = "root", .type = HD_OPTION_STRING, .fallback = "auto"},
    {.name = "global-links", .type = HD_OPTION_STRING, .fallback = "2"},
};

static struct hd_options *options;

static int make_options(void **state)
{
	(void)state;
	options = hd_options_new(table, 4);
	return options ? 0 : -1;
}

static int free_options(void **state)
{
	(void)state;
	hd_options_free(options);
	return 0;
}

/* Sets `pairs`, which must return `rc`, and compares the options afterwards. */
static void assert_set(const char *pairs, int rc, const char *printed)
{
	char copy[80], text[120];
	struct hd_error err = {""};

	snprintf(copy, sizeof(copy), "%s", pairs);
	assert_int_equal(hd_options_set_pairs(options, copy, &err), rc);
	hd_options_print(options, text, sizeof(text));
	assert_string_equal(text, printed);
	assert_int_equal(!*err.text, !rc);
}

static void commas_separate_pairs(void **state)
{
	(void)state;
	assert_set("passes=2", 0, "passes=2");
	assert_set("root=best:3,passes=4", 0, "passes=4 root=best:3");
	assert_set("passes=5", 0, "passes=5 root=best:3");
}

/* Property: one string gives a name once. Which of two values was meant is unknown. */
static void a_name_given_twice_is_refused(void **state)
{
	(void)state;
	assert_set("passes=5,passes=6", -EINVAL, "passes=5");
	assert_set("root=passes=3,passes=4,root=a", -EINVAL, "passes=4 root=passes=3");
	assert_set("passes=7,root=b", 0, "passes=7 root=b");
}

static void a_piece_without_equals_sign_belongs_to_the_value_before(void **state)
{
	(void)state;
	assert_set("grid=4,5,passes=2", 0, "passes=2 grid=4,5");
	assert_int_equal(hd_options_get(options, "grid")->count, 2);
	assert_set("passes=1,root=a, b:c,,grid=7", 0, "passes=1 grid=7 root=a, b:c,");
	assert_set("root=a,b", 0, "passes=1 grid=7 root=a,b");
}

/* Property: a name with _ is the one with -, and nothing else is. */
static void dashes_are_underscores(void **state)
{
	(void)state;
	assert_set("global_links=4", 0, "global-links=4");
	assert_set("global-links=5,global_links=6", -EINVAL, "global-links=5");
	assert_true(hd_option_same_name("a-b_c", "a_b-c"));
	assert_false(hd_option_same_name("a-", "a"));
	assert_false(hd_option_same_name("a", "a_"));
	assert_false(hd_option_same_name("a-b", "a.b"));
}

static void what_is_no_pair_is_refused(void **state)
{
	(void)state;
	assert_set("", -EINVAL, "");
	assert_set("passes", -EINVAL, "");
	assert_set("=3", -EINVAL, "");
	assert_set("passes=99", -ERANGE, "");
	assert_set("passes=2,speed=1", -ENOENT, "passes=2"); /* the pairs before it are set */
}

static void an_unknown_name_gets_the_nearest_or_all(void **state)
{
	struct hd_error err;

	(void)state;
	assert_int_equal(hd_options_set(options, "pases", "1", &err), -ENOENT);
	assert_string_equal(err.text, "unknown option 'pases'; did you mean 'passes'?");
	assert_int_equal(hd_options_set(options, "speed", "1", &err), -ENOENT);
	assert_string_equal(err.text,
			    "unknown option 'speed'; there are: passes, grid, root, global-links");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_options, free_options)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(commas_separate_pairs),
	    TEST(a_name_given_twice_is_refused),
	    TEST(a_piece_without_equals_sign_belongs_to_the_value_before),
	    TEST(dashes_are_underscores),
	    TEST(what_is_no_pair_is_refused),
	    TEST(an_unknown_name_gets_the_nearest_or_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
