/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The settings of a site, as the command `heddle ar` reads them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <heddle/ar_manager/site.h>

static void write_file(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int read_conf(const char *content, struct hd_ar_site *site, struct hd_error *err)
{
	int rc;

	write_file("ar_site_test.conf", content);
	rc = hd_ar_site_read("ar_site_test.conf", NULL, site, err);
	unlink("ar_site_test.conf");
	return rc;
}

/* Property: without a file, AR is on with all defaults, at all switches. */
static void no_file_means_defaults(void **state)
{
	struct hd_ar_site site;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_ar_site_read(NULL, NULL, &site, &err), 0);
	assert_true(hd_ar_config_enabled(&site.config, 1));
	assert_int_equal(site.config.algorithm, HD_AR_AUTO);
	assert_int_equal(site.quirks.old_block_lids, hd_ar_quirks_default.old_block_lids);
	assert_false(site.legacy);
	hd_ar_site_release(&site);
}

/* Property: all three sections count, and those of others do not. */
static void the_three_sections_count(void **state)
{
	struct hd_ar_site site;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(read_conf("[heddle]\nthreads = 2\n[ar]\nalgorithm = lag\n"
				   "[ar.switch 0x7]\nenable = no\n[ar.switch 0x8]\n"
				   "ageing_time_us = 9\n[ar.quirks]\ntable_shift = 12\n",
				   &site, &err),
			 0);
	assert_int_equal(site.config.algorithm, HD_AR_LAG);
	assert_false(hd_ar_config_enabled(&site.config, 7));
	assert_true(hd_ar_config_enabled(&site.config, 8));
	assert_int_equal(hd_ar_config_settings(&site.config, 8).ageing_time_us, 9);
	assert_int_equal(site.quirks.table_shift, 12);
	hd_ar_site_release(&site);
}

/* Property: the vendor's file replaces [ar], also where it says no; errors name file and line. */
static void the_vendors_file_replaces_the_section(void **state)
{
	struct hd_ar_site site;
	struct hd_error err = {""};
	const char *conf = "[ar]\nlegacy_conf = ar_site_test_mgr.conf\nalgorithm = lag\n";

	(void)state;
	write_file("ar_site_test_mgr.conf", "ENABLE: false;\nAR_ALGORITHM: TREE;\n");
	assert_int_equal(read_conf(conf, &site, &err), 0);
	assert_true(site.legacy);
	assert_false(hd_ar_config_enabled(&site.config, 7));
	assert_int_equal(site.config.algorithm, HD_AR_TREE);
	hd_ar_site_release(&site);
	write_file("ar_site_test_mgr.conf", "ENABLE: perhaps;\n");
	assert_int_equal(read_conf(conf, &site, &err), -EINVAL);
	assert_non_null(strstr(err.text, "ar_site_test_mgr.conf:1"));
	unlink("ar_site_test_mgr.conf");
	assert_int_equal(read_conf(conf, &site, &err), -ENOENT);
}

/* Property: mistakes in the sections are errors with their line; so is a file that is missing. */
static void mistakes_are_refused(void **state)
{
	struct hd_ar_site site;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(read_conf("[ar]\nalgoritm = lag\n", &site, &err), -ENOENT);
	assert_non_null(strstr(err.text, "ar_site_test.conf:2"));
	assert_int_equal(read_conf("[ar.swich 0x7]\n", &site, &err), -ENOENT);
	assert_int_equal(hd_ar_site_read("ar_site_test.none", NULL, &site, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_file_means_defaults),
	    cmocka_unit_test(the_three_sections_count),
	    cmocka_unit_test(the_vendors_file_replaces_the_section),
	    cmocka_unit_test(mistakes_are_refused),
	};

	return cmocka_run_group_tests_name("ar_site", tests, NULL, NULL);
}
