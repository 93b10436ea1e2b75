/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns in files and of the caller, and patterns that are refused with place and reason. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/keyd/key_pattern.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_says(const struct hd_error *err, const char *reason)
{
	if (!strstr(err->text, reason))
		fail_msg("\"%s\" does not say \"%s\"", err->text, reason);
}

/* Refused by name and arguments alone. */
static void test_bad_names(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
	    {"", "unknown pattern ''"},
	    {"stencl2d", "unknown pattern 'stencl2d'; did you mean 'stencil2d'?"},
	    {"RING", "did you mean 'ring'?"},
	    {"halving", "did you mean 'halving-doubling'?"},
	    {"nothing-like-it", "unknown pattern 'nothing-like-it'"},
	    {"stencil2d 6x6", "unknown pattern"},
	    {"ring:", "pattern 'ring:': expected ring"},
	    {"ring:1", "expected ring"},
	    {"stencil1d:36", "expected stencil1d"},
	    {"stencil2d:", "expected stencil2d[:ROWSxCOLUMNS]"},
	    {"stencil2d:6", "expected stencil2d[:ROWSxCOLUMNS]"},
	    {"stencil2d:6x", "expected stencil2d[:ROWSxCOLUMNS]"},
	    {"stencil2d:6x6x6", "expected stencil2d[:ROWSxCOLUMNS]"},
	    {"stencil2d:0x6", "expected stencil2d[:ROWSxCOLUMNS]"},
	    {"stencil2d:-1x6", "expected stencil2d[:ROWSxCOLUMNS]"},
	    {"stencil2d:65537x1", "expected stencil2d[:ROWSxCOLUMNS]"},
	    {"stencil2d:4294967302x6", "expected stencil2d[:ROWSxCOLUMNS]"},
	    {"stencil3d:6x6", "expected stencil3d[:XxYxZ]"},
	    {"transpose:x", "expected transpose[:ROWSxCOLUMNS]"},
	    {"shift", "pattern 'shift': expected shift:N"},
	    {"shift:", "expected shift:N"},
	    {"shift:0", "expected shift:N"},
	    {"shift:1x", "expected shift:N"},
	    {"random:", "expected random[:SEED]"},
	    {"random:seed", "expected random[:SEED]"},
	    {"alltoall:4", "expected alltoall"},
	    {"file", "expected file:PATH"},
	    {"file:", "expected file:PATH"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_key_pattern *pattern = NULL;
		struct hd_error err = {""};

		assert_int_equal(hd_key_pattern_check(cases[i].text, &err), -EINVAL);
		assert_says(&err, cases[i].reason);
		err.text[0] = '\0';
		assert_int_equal(hd_key_pattern_new(cases[i].text, 36, &pattern, &err), -EINVAL);
		assert_says(&err, cases[i].reason);
		assert_null(pattern);
	}
}

/* Good words that do not fit the ranks. hd_key_pattern_check() takes them. */
static void test_bad_ranks(void **state)
{
	static const struct {
		const char *text, *reason;
		uint32_t ranks;
		int rc;
	} cases[] = {
	    {"stencil2d:6x6", "is for 36 ranks, but there are 35", 35, -EINVAL},
	    {"stencil3d:65536x65536x65536", "ranks, but there are 35", 35, -EINVAL},
	    {"transpose:2x3", "is for 6 ranks, but there are 7", 7, -EINVAL},
	    {"shift:36", "expected a number below the 36 ranks", 36, -EINVAL},
	    {"ring", "at least one rank", 0, -EINVAL},
	    {"stencil3d", "at least one rank", 0, -EINVAL},
	    {"ring", "65537 ranks, expected at most 65536", HD_KEY_RANKS_MAX + 1, -ERANGE},
	    {"stencil2d", "4294967295 ranks, expected at most 65536", UINT32_MAX, -ERANGE},
	    {"alltoall", "more than 4194304 flows", 2049, -ERANGE},
	    {"alltoall", "more than 4194304 flows", HD_KEY_RANKS_MAX, -ERANGE},
	    {"file:/nowhere/at/all", "/nowhere/at/all", 36, -ENOENT},
	    {"file:/dev/null", "/dev/null", 36, -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_key_pattern *pattern = NULL;
		struct hd_error err = {""};

		assert_int_equal(hd_key_pattern_check(cases[i].text, &err), 0);
		assert_int_equal(hd_key_pattern_new(cases[i].text, cases[i].ranks, &pattern, &err),
				 cases[i].rc);
		assert_says(&err, cases[i].reason);
		assert_null(pattern);
	}
}

/* The largest patterns that are allowed. */
static void test_limits(void **state)
{
	struct hd_key_pattern *pattern;

	(void)state;
	assert_int_equal(hd_key_pattern_new("alltoall", 2048, &pattern, NULL), 0);
	assert_int_equal(pattern->base[2047], 2048 * 2047);
	hd_key_pattern_free(pattern);
	assert_int_equal(hd_key_pattern_new("stencil3d", HD_KEY_RANKS_MAX, &pattern, NULL), 0);
	assert_int_equal(pattern->base[6], 6 * HD_KEY_RANKS_MAX);
	hd_key_pattern_free(pattern);
}

/* The table has a name for each kind, and each name without brackets behind it is a pattern. */
static void test_table(void **state)
{
	unsigned count;
	const struct hd_key_pattern_kind *kinds = hd_key_pattern_kinds(&count);

	(void)state;
	for (unsigned i = 0; i < count; i++) {
		bool needed = kinds[i].arguments[0] && kinds[i].arguments[0] != '[';
		struct hd_key_pattern *pattern;

		assert_true(kinds[i].summary[0]);
		assert_int_equal(hd_key_pattern_check(kinds[i].name, NULL), needed ? -EINVAL : 0);
		if (needed)
			continue;
		assert_int_equal(hd_key_pattern_new(kinds[i].name, 36, &pattern, NULL), 0);
		hd_key_pattern_free(pattern);
	}
}

/* ---- files ---- */

static int read_text(const char *text, struct hd_key_pattern **pattern, struct hd_error *err)
{
	return hd_key_pattern_read(text, strlen(text), "flows", 4, pattern, err);
}

static void assert_example(const struct hd_key_pattern *pattern)
{
	static const struct hd_rank_flow flows[] = {{0, 1}, {3, 1}, {3, 1}, {2, 0}};

	assert_int_equal(pattern->phase_count, 3);
	assert_int_equal(pattern->base[0], 0);
	assert_int_equal(pattern->base[1], 3);
	assert_int_equal(pattern->base[2], 3);
	assert_int_equal(pattern->base[3], 4);
	assert_memory_equal(pattern->flows, flows, sizeof(flows));
}

static const char example[] = "# two phases and an empty one\n"
			      "phase\n"
			      "0 1\n"
			      "  3\t1 # a comment\r\n"
			      "\n"
			      "3 1\n"
			      "phase # nothing happens\n"
			      "phase\n"
			      "2 0"; /* no newline */

static void test_read(void **state)
{
	struct hd_key_pattern *pattern;

	(void)state;
	assert_int_equal(read_text(example, &pattern, NULL), 0);
	assert_example(pattern);
	hd_key_pattern_free(pattern);
}

static void test_file(void **state)
{
	char path[] = "/tmp/key-pattern-XXXXXX", text[64];
	int file = mkstemp(path);
	struct hd_key_pattern *pattern;
	struct hd_error err = {""};

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(write(file, example, strlen(example)), (ssize_t)strlen(example));
	close(file);
	snprintf(text, sizeof(text), "file:%s", path);
	assert_int_equal(hd_key_pattern_new(text, 4, &pattern, NULL), 0);
	assert_example(pattern);
	hd_key_pattern_free(pattern);
	assert_int_equal(hd_key_pattern_new(text, 3, &pattern, &err), -EINVAL);
	snprintf(text, sizeof(text), "%s:4: expected ranks from 0 to 2", path);
	assert_string_equal(err.text, text);
	unlink(path);
}

/* A message names the line, and has no word of it: a prolog may log what its user may not read. */
static void test_bad_files(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
	    {"", "flows"},
	    {"# nothing\n", "flows: no line `phase`"},
	    {"0 1\n", "flows:1: a flow before the first line `phase`"},
	    {"phase\n0 1\n0\n", "flows:3: expected `phase` or two ranks"},
	    {"phase\n0 1 2\n", "flows:2: expected `phase` or two ranks"},
	    {"phase 1\n", "flows:1: expected ranks from 0 to 3"},
	    {"phases\n", "flows:1: expected `phase` or two ranks"},
	    {"phase\n\n0 4\n", "flows:3: expected ranks from 0 to 3"},
	    {"phase\n4294967296 0\n", "flows:2: expected ranks from 0 to 3"},
	    {"phase\n-1 0\n", "flows:2: expected ranks from 0 to 3"},
	    {"phase\n1 1\n", "flows:2: a rank sends to itself"},
	    {"phase\n\"1 2\n", "flows:2: expected `phase` or two ranks"},
	    {"SECRET=1\n", "flows:1: expected `phase` or two ranks"},
	    {"SECRET 1\n", "flows:1: expected ranks from 0 to 3"},
	    {"phase\n\"SECRET 1\n", "flows:2: expected `phase` or two ranks"},
	    {"phase\n0 SECRET", "flows:2: expected ranks from 0 to 3 (the file ends here"},
	    {"phase\n0\0SECRET\n", "flows"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_key_pattern *pattern = NULL;
		struct hd_error err = {""};

		assert_int_equal(read_text(cases[i].text, &pattern, &err), -EINVAL);
		assert_says(&err, cases[i].reason);
		if (strstr(err.text, "SECRET"))
			fail_msg("\"%s\" has a word of the file", err.text);
		assert_null(pattern);
	}
}

/* A file of one phase too many is refused with the line of that phase. */
static void test_too_many_phases(void **state)
{
	size_t length = 6 * (HD_KEY_PHASES_MAX + 1);
	char *text = malloc(length + 1);
	struct hd_key_pattern *pattern;
	struct hd_error err = {""};

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i <= HD_KEY_PHASES_MAX; i++)
		memcpy(text + 6 * i, "phase\n", 7);
	assert_int_equal(hd_key_pattern_read(text, length, "flows", 4, &pattern, &err), -ERANGE);
	assert_says(&err, "flows:65537: more than 65536 phases");
	assert_int_equal(hd_key_pattern_read(text, length - 6, "flows", 4, &pattern, NULL), 0);
	assert_int_equal(pattern->phase_count, HD_KEY_PHASES_MAX);
	hd_key_pattern_free(pattern);
	free(text);
}

/* ---- flows of the caller ---- */

static void test_from(void **state)
{
	const struct hd_rank_flow flows[] = {{0, 1}, {3, 1}, {3, 1}, {2, 0}};
	const struct hd_rank_flow self[] = {{0, 1}, {2, 2}};
	const uint32_t base[] = {0, 3, 3, 4}, backwards[] = {0, 2, 1};
	struct hd_key_pattern *pattern;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_key_pattern_from(4, 3, base, flows, &pattern, &err), 0);
	assert_example(pattern);
	hd_key_pattern_free(pattern);
	assert_int_equal(hd_key_pattern_from(4, 0, base, NULL, &pattern, &err), 0);
	assert_int_equal(pattern->phase_count, 0);
	assert_int_equal(pattern->base[0], 0);
	hd_key_pattern_free(pattern);
	assert_int_equal(hd_key_pattern_from(3, 3, base, flows, &pattern, &err), -ERANGE);
	assert_says(&err, "flow 1 from rank 3 to rank 1: there are 3 ranks");
	assert_int_equal(hd_key_pattern_from(4, 1, (uint32_t[]){0, 2}, self, &pattern, &err),
			 -EINVAL);
	assert_says(&err, "flow 1 from rank 2 to itself");
	assert_int_equal(hd_key_pattern_from(4, 2, backwards, flows, &pattern, &err), -EINVAL);
	assert_says(&err, "phase 1 ends before it begins");
	assert_int_equal(hd_key_pattern_from(0, 0, base, NULL, &pattern, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bad_names), cmocka_unit_test(test_bad_ranks),
	    cmocka_unit_test(test_limits),    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_read),      cmocka_unit_test(test_file),
	    cmocka_unit_test(test_bad_files), cmocka_unit_test(test_too_many_phases),
	    cmocka_unit_test(test_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
