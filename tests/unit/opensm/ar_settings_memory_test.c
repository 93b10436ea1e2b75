/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an administrator says about adaptive routing, when memory is short or the vendor's file is
 * bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ar_settings.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "short_memory.h"

#include <heddle/ar_manager/site.h>
#include <heddle/config.h>

static struct hd_config_sections *sections_new(void)
{
	struct hd_config_sections *sections = hd_config_sections_new();
	struct hd_error err = {""};

	assert_non_null(sections);
	assert_int_equal(hd_ar_site_sections(sections, &err), 0);
	return sections;
}

static struct hd_config *values_of(const struct hd_config_sections *sections, const char *conf)
{
	const struct hd_text text = {.bytes = conf, .length = strlen(conf), .name = "conf"};
	struct hd_config *values = NULL;
	struct hd_error err = {""};

	if (hd_config_parse(sections, &text, &values, &err))
		fail_msg("%s", err.text);
	return values;
}

/* Property: without memory for the new values those before stay in force, and AR stays on. */
static void nothing_changes_without_memory(void **state)
{
	struct hd_config_sections *sections = sections_new();
	struct hd_config *before = values_of(sections, "[ar]\nenable = yes\ngroup_cap = 7\n");
	struct hd_config *after = values_of(
	    sections, "[ar]\nenable = yes\ngroup_cap = 9\n[ar.switch 0x1]\nenable = no\n");
	struct ar_settings settings = {0};
	struct opensm_log log = {0};

	(void)state;
	logged[0] = '\0';
	ar_settings_read(&settings, before, false, &log);
	short_memory_begin(1, SHORT_MEMORY_FROM_THEN_ON);
	ar_settings_read(&settings, after, false, &log);
	assert_true(short_memory_end().failed > 0);
	assert_true(settings.config.enable);
	assert_int_equal(settings.config.group_cap, 7);
	assert_logged("out of memory; the settings of adaptive routing stay as they are");
	ar_settings_read(&settings, after, false, &log);
	assert_true(settings.config.group_cap == 9 && settings.config.switch_count == 1);
	ar_settings_release(&settings);
	hd_config_free(before);
	hd_config_free(after);
	hd_config_sections_free(sections);
}

/* Property: if the vendor's file is bad from the beginning, the log says whether AR was on. */
static void says_what_a_bad_file_does(void **state)
{
	struct hd_config_sections *sections = sections_new();
	struct hd_config *with = values_of(sections, "[ar]\nlegacy_conf = /nowhere/ar_mgr.conf\n");

	(void)state;
	for (unsigned on = 0; on < 2; on++) {
		struct hd_config *before = values_of(sections, on ? "[ar]\nenable = yes\n" : "");
		struct ar_settings settings = {0};
		struct opensm_log log = {0};
		logged[0] = '\0';
		ar_settings_read(&settings, before, false, &log);
		ar_settings_read(&settings, with, false, &log);
		assert_false(settings.config.enable);
		assert_logged(on ? "; adaptive routing is switched off"
				 : "; adaptive routing stays off");
		ar_settings_release(&settings);
		hd_config_free(before);
	}
	hd_config_free(with);
	hd_config_sections_free(sections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_changes_without_memory),
	    cmocka_unit_test(says_what_a_bad_file_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
