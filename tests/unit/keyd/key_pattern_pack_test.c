/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns as one word, which goes through the environment. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/base/random.h>
#include <heddle/keyd/key_pattern.h>
#include <stdlib.h>
#include <string.h>

static void assert_same(const struct hd_key_pattern *one, const struct hd_key_pattern *other)
{
	uint32_t flows = one->base[one->phase_count];

	assert_int_equal(one->phase_count, other->phase_count);
	assert_memory_equal(one->base, other->base, (one->phase_count + 1) * sizeof(one->base[0]));
	if (flows)
		assert_memory_equal(one->flows, other->flows, flows * sizeof(one->flows[0]));
}

/* Property: what is packed is unpacked again, and the size that it needs is its length and a 0. */
static void assert_trip(const struct hd_key_pattern *pattern, const char *expected)
{
	struct hd_key_pattern *again = NULL;
	struct hd_error err = {""};
	char *text = NULL, *cut = NULL;

	assert_int_equal(hd_key_pattern_pack(pattern, 1 << 20, &text), 0);
	if (expected)
		assert_string_equal(text, expected);
	assert_int_equal(strcspn(text, " \t\r\n\"'\\=$"), strlen(text));
	assert_int_equal(hd_key_pattern_unpack(text, pattern->ranks, &again, &err), 0);
	assert_same(pattern, again);
	assert_int_equal(hd_key_pattern_pack(pattern, strlen(text), &cut), -EMSGSIZE);
	assert_int_equal(hd_key_pattern_pack(pattern, strlen(text) + 1, &cut), 0);
	assert_string_equal(cut, text);
	hd_key_pattern_free(again);
	free(text);
	free(cut);
}

static void test_trips(void **state)
{
	static const struct {
		const char *file, *word;
	} cases[] = {{"phase\n0 1\n1 0\nphase\n2 0\n", "0>1,1>0/2>0"},
		     {"phase\n", ""},
		     {"# two\nphase\n\nphase # empty\n", "/"},
		     {"phase\nphase\n9 8\nphase\n", "/9>8/"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_key_pattern *pattern = NULL;
		struct hd_error err = {""};
		assert_int_equal(hd_key_pattern_read(cases[i].file, strlen(cases[i].file), "file",
						     HD_KEY_RANKS_MAX, &pattern, &err),
				 0);
		assert_trip(pattern, cases[i].word);
		hd_key_pattern_free(pattern);
	}
}

static void test_random_trips(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (unsigned trial = 0; trial < 200; trial++) {
		uint32_t base[9] = {0}, phases = 1 + (uint32_t)hd_random_below(&random, 8);
		struct hd_rank_flow flows[160];
		struct hd_key_pattern *pattern = NULL;
		struct hd_error err = {""};
		for (uint32_t phase = 0; phase < phases; phase++)
			base[phase + 1] = base[phase] + (uint32_t)hd_random_below(&random, 20);
		for (uint32_t i = 0; i < base[phases]; i++) {
			flows[i].source = (uint32_t)hd_random_below(&random, HD_KEY_RANKS_MAX - 1);
			flows[i].destination = HD_KEY_RANKS_MAX - 1;
		}
		assert_int_equal(
		    hd_key_pattern_from(HD_KEY_RANKS_MAX, phases, base, flows, &pattern, &err), 0);
		assert_trip(pattern, NULL);
		hd_key_pattern_free(pattern);
	}
}

/* Words that are wrong are refused at the byte that is, and no message has a part of them. */
static void test_wrong_words(void **state)
{
	static const struct {
		const char *word, *says;
	} cases[] = {{"secret", "byte 0"},  {"0>1,", "byte 4"},
		     {"0>", "byte 2"},	    {"0-1", "byte 1"},
		     {"0>1;1>0", "byte 3"}, {"0>1 ", "byte 3"},
		     {"0>16", "0 to 15"},   {"16>0", "0 to 15"},
		     {"3>3", "byte 3"},	    {"0>99999999999999999999", "byte"},
		     {",0>1", "byte 0"},    {"0>1/,", "byte 4"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_key_pattern *pattern = NULL;
		struct hd_error err = {""};
		assert_int_equal(hd_key_pattern_unpack(cases[i].word, 16, &pattern, &err), -EINVAL);
		assert_null(pattern);
		assert_non_null(strstr(err.text, cases[i].says));
		assert_null(strstr(err.text, "secret"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_trips),
	    cmocka_unit_test(test_random_trips),
	    cmocka_unit_test(test_wrong_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
