/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hd_config_inspect() finds what hd_config_parse() finds, and all that follows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_testing.h"

#include <heddle/base/random.h>
#include <stdio.h>
#include <string.h>

struct found {
	unsigned count;
	char first[2 * HD_ERROR_TEXT]; /* as hd_config_parse() spells it */
	char all[8 * HD_ERROR_TEXT];
};

static void take(void *context, unsigned line, const char *reason)
{
	struct found *found = context;
	const size_t used = strlen(found->all);

	if (!found->count++)
		snprintf(found->first, sizeof(found->first), "conf:%u: %s", line, reason);
	snprintf(found->all + used, sizeof(found->all) - used, "%u %s\n", line, reason);
}

static struct hd_config *inspect(const struct hd_config_sections *sections, const char *bytes,
				 struct found *found)
{
	struct hd_text text = {.bytes = bytes, .length = strlen(bytes), .name = "conf"};
	struct hd_config *config = NULL;
	struct hd_error err = {""};

	*found = (struct found){0};
	assert_int_equal(hd_config_inspect(sections, &text, take, found, &config, &err), 0);
	return config;
}

static void lines_of_options(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();
	struct found found;
	struct hd_config *config =
	    inspect(sections, "[heddle]\n\nshare = same\n[spf]\n[heddle]\nlevel = 1\n", &found);

	(void)state;
	assert_int_equal(hd_config_option_line(config, "heddle", "share"), 3);
	assert_int_equal(hd_config_option_line(config, "heddle", "level"), 6);
	assert_int_equal(hd_config_option_line(config, "spf", "passes"), 0);
	assert_int_equal(hd_config_option_line(config, "spf", "none"), 0);
	assert_int_equal(hd_config_option_line(config, "none", "passes"), 0);
	hd_config_free(config);
	hd_config_sections_free(sections);
}

static void goes_on_after_a_fault(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();
	struct found found;
	struct hd_config *config =
	    inspect(sections,
		    "passes = 1\nroot = 1\n[updwn]\npases = 1\n[spf]\npasses = 0\npasses = 2\n"
		    "[heddle]\nshare = log\nthredas = 1\n[ar.switch]\nenable = 1\n[spf\n",
		    &found);

	(void)state;
	assert_non_null(strstr(found.all, "1 key before the first section; "));
	assert_non_null(strstr(found.all, "\n3 unknown section [updwn]; "));
	assert_non_null(strstr(found.all, "\n6 [spf]: option 'passes': "));
	assert_non_null(strstr(found.all, "\n10 [heddle]: unknown option 'thredas'"));
	assert_non_null(strstr(found.all, "\n11 [ar.switch] needs a GUID, "));
	assert_non_null(strstr(found.all, "\n13 expected [section], "));
	/* neither keys below a bad head, nor the second key before the first section */
	assert_null(strstr(found.all, "\n2 "));
	assert_null(strstr(found.all, "\n4 "));
	assert_null(strstr(found.all, "\n12 "));
	assert_int_equal(number(hd_config_options(config, "spf"), "passes"), 2);
	hd_config_free(config);
	hd_config_sections_free(sections);
}

/* Some lines, good and bad, in random order. */
static void print_random(uint64_t *random, char *file, size_t size)
{
	static const char *const lines[] = {
	    "[spf]\n",	     "[updown]\n",    "[heddle]\n",    "[ar.switch 0x1]\n", "[ar.switch]\n",
	    "[keyd]\n",	     "[nothing]\n",   "[spf\n",	       "passes = 2\n",	    "passes = 0\n",
	    "root = auto\n", "share = log\n", "level = 1\n",   "# note\n",	    "\n",
	    "nonsense\n",    "= 1\n",	      "enable = yes\n"};

	*file = '\0';
	for (unsigned i = 0; i < 1 + hd_random_below(random, 12); i++) {
		const size_t used = strlen(file);
		snprintf(file + used, size - used, "%s",
			 lines[hd_random_below(random, COUNT(lines))]);
	}
}

static void begins_with_the_fault_of_the_parser(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();
	uint64_t random = 7;
	unsigned refused = 0;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		char file[512];
		struct found found;
		struct hd_error err = {""};
		int rc;

		print_random(&random, file, sizeof(file));
		struct hd_config *strict = parse_bytes(sections, file, strlen(file), &rc, &err);
		struct hd_config *config = inspect(sections, file, &found);
		assert_int_equal(rc == 0, found.count == 0);
		if (rc)
			assert_string_equal(err.text, found.first);
		refused += rc != 0;
		hd_config_free(strict);
		hd_config_free(config);
	}
	assert_true(refused > 300 && refused < 2950);
	hd_config_sections_free(sections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_of_options),
	    cmocka_unit_test(goes_on_after_a_fault),
	    cmocka_unit_test(begins_with_the_fault_of_the_parser),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
