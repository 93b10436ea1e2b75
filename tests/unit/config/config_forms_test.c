/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every form of line and section: it has one meaning, or an error names its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_testing.h"

#define KNOWN "sections are [heddle] [spf] [updown] [ar.switch GUID] [keyd]"

/* Files that are refused: the code, and the message or its beginning. */
static const struct {
	const char *file;
	int rc;
	const char *message;
} refused[] = {
    /* unknown sections, also empty ones */
    {"[updwn]\n", -ENOENT, "conf:1: unknown section [updwn]; did you mean [updown]?"},
    {"[updwn]", -ENOENT, "conf:1: unknown section [updwn]; "},
    {"[updwn]\n# a comment\n; another\n", -ENOENT, "conf:1: unknown section [updwn]; "},
    {"[spf]\npasses = 1\n\n[updwn]\n\n[heddle]\n", -ENOENT, "conf:4: unknown section [updwn]; "},
    {"[updwn]\nroot = auto\n", -ENOENT, "conf:1: unknown section [updwn]; "},
    {"[spf]\n  [updwn]\n", -ENOENT, "conf:2: unknown section [updwn]; "},
    {"[spf]\n  passes = 1\n  [updwn]\n", -ENOENT, "conf:3: unknown section [updwn]; "},
    {"[SPF]\n", -ENOENT, "conf:1: unknown section [SPF]; did you mean [spf]?"},
    {"[ftree]\n", -ENOENT, "conf:1: unknown section [ftree]; the " KNOWN},
    {"[spf;x]\n", -ENOENT, "conf:1: unknown section [spf;x]; "},
    {"[[spf]\n", -ENOENT, "conf:1: unknown section [[spf]; "},
    {"[\x01spf]\n", -ENOENT, "conf:1: unknown section [\\u0001spf]; "},
    {"[spfxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx]\n",
     -ENOENT, "conf:1: unknown section [spfxxx"},
    {"[ar.swich 0x1]\n", -ENOENT,
     "conf:1: unknown section [ar.swich]; did you mean [ar.switch GUID]?"},
    /* heads that are no sections */
    {"[]\n", -EINVAL, "conf:1: section without a name"},
    {"[ ]\npasses = 1\n", -EINVAL, "conf:1: section without a name"},
    {"[spf\npasses = 1\n", -EINVAL, "conf:1: expected [section], key = value or # comment"},
    {"[spf] passes = 1\n", -EINVAL,
     "conf:1: 'passes = 1' after [spf]: expected it on the next line"},
    {"[spf]passes = 1\n", -EINVAL, "conf:1: 'passes = 1' after [spf]: "},
    {"[spf]]\n", -EINVAL, "conf:1: ']' after [spf]: "},
    {"[spf] [updown]\n", -EINVAL, "conf:1: '[updown]' after [spf]: "},
    {"[spf]\rpasses = 1\n", -EINVAL, "conf:1: '\\u000dpasses = 1' after [spf]: "},
    {"[spf 0x1]\n", -EINVAL, "conf:1: section [spf] takes no name or GUID: '0x1'"},
    {"[spf ; x]\n", -EINVAL, "conf:1: section [spf] takes no name or GUID: '; x'"},
    {"[ar.switch]\n", -EINVAL,
     "conf:1: [ar.switch] needs a GUID, such as [ar.switch 0x0002c90300001234]; '' is not a GUID"},
    {"[ar.switch 0x1 0x2]\n", -EINVAL, "conf:1: [ar.switch] needs a GUID, "},
    {"[ar.switch spine1]\n", -EINVAL, "conf:1: [ar.switch] needs a GUID, "},
    {"[ar.switch 0x0]\n", -EINVAL, "conf:1: [ar.switch] needs a GUID, "},
    {"[ar.switch 0x11112222333344445]\n", -EINVAL, "conf:1: [ar.switch] needs a GUID, "},
    /* keys */
    {"passes = 1\n[spf]\n", -ENOENT, "conf:1: key before the first section; the " KNOWN},
    {"# c\n\npasses = 1\n", -ENOENT, "conf:3: key before the first section; "},
    {"[spf]\npases = 1\n", -ENOENT,
     "conf:2: [spf]: unknown option 'pases'; did you mean 'passes'?"},
    {"[spf]\n= 1\n", -ENOENT, "conf:2: [spf]: unknown option ''; there are: passes, root"},
    {"[spf]\npasses 1\n", -EINVAL, "conf:2: expected [section], key = value or # comment"},
    {"[keyd]\nanything\n", -EINVAL, "conf:2: expected [section], key = value or # comment"},
    {"[spf]\npasses = 1\npasses = 1\n", -EINVAL,
     "conf:3: [spf]: option 'passes' is given twice, first in line 2"},
    {"[spf]\npasses = 1\n[updown]\npasses = 1\n[spf]\npasses = 1\n", -EINVAL,
     "conf:6: [spf]: option 'passes' is given twice, first in line 2"},
    {"[ar.switch 0x1]\nenable = no\n[ar.switch 1]\nenable = yes\n", -EINVAL,
     "conf:4: [ar.switch 0x0000000000000001]: option 'enable' is given twice, first in line 2"},
    /* values */
    {"[spf]\npasses = 17\n", -ERANGE,
     "conf:2: [spf]: option 'passes': '17' is not a whole number 1..16"},
    {"[spf]\npasses =\n", -EINVAL, "conf:2: [spf]: option 'passes': '' is not a whole number"},
    {"[spf]\npasses = 1 # c\n", -EINVAL, "conf:2: [spf]: option 'passes': '1 # c' is not"},
    {"[spf]\npasses = 1,\n   2\n", -EINVAL, "conf:2: [spf]: option 'passes': '1,' is not"},
    /* errors of a complete section */
    {"[heddle]\nthreads = 1\nshare = log\n", -EDOM, "conf:3: [heddle]: share needs level"},
    {"\n[ar.switch 0x2]\nageing = 1\n", -EINVAL,
     "conf:2: [ar.switch 0x0000000000000002]: option 'enable' is missing: "},
};

static void wrong_files_are_refused_with_their_line(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();

	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct hd_error err = {""};
		const char *file = refused[i].file;
		int rc;

		if (parse_bytes(sections, file, strlen(file), &rc, &err))
			fail_msg("'%s' is accepted", file);
		if (rc != refused[i].rc ||
		    strncmp(err.text, refused[i].message, strlen(refused[i].message)))
			fail_msg("'%s' gives %d and '%s'", file, rc, err.text);
	}
	hd_config_sections_free(sections);
}

/* Property: a program that ignores other sections reads its own, and still refuses an unknown name
 * of its own family. */
static void other_sections_are_ignored_on_request(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();
	struct hd_error err = {""};
	struct hd_config *config;
	int rc;

	(void)state;
	hd_config_sections_ignore_others(sections);
	config = accept(sections, "[ftree]\nanything = 1\n[spf]\npasses = 5\n[map x]\na = b\n");
	assert_int_equal(number(hd_config_options(config, "spf"), "passes"), 5);
	hd_config_free(config);
	assert_null(parse_bytes(sections, "[spf.swich 0x1]\n", 16, &rc, &err));
	assert_int_equal(rc, -ENOENT);
	assert_null(parse_bytes(sections, "[map]\nanything 1\n", 17, &rc, &err));
	assert_int_equal(rc, -EINVAL);
	hd_config_sections_free(sections);
}

/* Forms of [spf] passes = 7. */
static const char *const same[] = {
    "[spf]\npasses = 7\n",
    "[spf]\npasses=7",
    "[spf]\r\npasses = 7\r\n",
    "\xEF\xBB\xBF[spf]\npasses = 7\n",
    "[spf]\npasses : 7\n",
    "[spf]\npasses = 7 ; a comment\n",
    "[ spf ] # a comment\npasses = 7\n",
    "[spf];a comment\npasses = 7\n",
    "[spf]\n  passes = 7\n",
    "  [spf]\n\tpasses\t=\t7\t\n",
    "# c\n; c\n\n[heddle]\n[spf]\n  # c\n  ; c\npasses = 7\n[keyd]\n",
    "[spf]\n[updown]\n[spf]\npasses = 7\n",
    "[spf]\n  passes = 7\n  # indented\n[heddle]\n  threads = 0\n  level = 0\n",
    "[keyd]\npasses = 9\npasses = 9\n[keyd any thing]\nx = y\n[spf]\npasses = 7\n",
};

static void all_ways_to_write_one_thing(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();

	(void)state;
	for (size_t i = 0; i < COUNT(same); i++) {
		struct hd_config *config = accept(sections, same[i]);

		assert_int_equal(number(hd_config_options(config, "spf"), "passes"), 7);
		assert_int_equal(number(hd_config_options(config, "updown"), "passes"), 3);
		assert_int_equal(number(hd_config_options(config, "heddle"), "threads"), 0);
		hd_config_free(config);
	}
	hd_config_sections_free(sections);
}

/* A line may have the stated length, without the blanks at its end, and not one byte more. */
static void long_lines(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();

	(void)state;
	for (size_t length = HD_CONFIG_LINE_LONGEST - 2; length < HD_CONFIG_LINE_LONGEST + 9;
	     length++) {
		char file[256];
		struct hd_error err = {""};
		struct hd_config *config;
		int rc;

		memset(file, 'x', sizeof(file));
		memcpy(file, "[spf]\nroot = ", 13);
		memcpy(file + 6 + length, "  \n", 3);
		config = parse_bytes(sections, file, 6 + length + 3, &rc, &err);
		assert_int_equal(rc, length <= HD_CONFIG_LINE_LONGEST ? 0 : -EINVAL);
		if (rc) {
			assert_string_equal(
			    err.text,
			    "conf:2: line is longer than 198 characters, the most allowed");
			continue;
		}
		assert_int_equal(
		    strlen(hd_options_get(hd_config_options(config, "spf"), "root")->text),
		    length - 7);
		hd_config_free(config);
	}
	hd_config_sections_free(sections);
}

static void bytes_that_are_no_text(void **state)
{
	static const char zeros[] = "[spf]\n# \0\n", utf16[] = "\xFF\xFE[\0s\0";
	struct hd_config_sections *sections = sections_of_a_program();
	struct hd_error err = {""};
	int rc;

	(void)state;
	assert_null(parse_bytes(sections, zeros, sizeof(zeros) - 1, &rc, &err));
	assert_string_equal(err.text, "conf:2: zero byte: this is not a text file");
	assert_null(parse_bytes(sections, utf16, sizeof(utf16) - 1, &rc, &err));
	assert_string_equal(err.text, "conf:1: zero byte: this is not a text file");
	hd_config_sections_free(sections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wrong_files_are_refused_with_their_line),
	    cmocka_unit_test(other_sections_are_ignored_on_request),
	    cmocka_unit_test(all_ways_to_write_one_thing),
	    cmocka_unit_test(long_lines),
	    cmocka_unit_test(bytes_that_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
