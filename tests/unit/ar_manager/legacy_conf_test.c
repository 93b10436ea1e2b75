/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of the vendor's AR manager, good and broken. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/ar_manager.h>

static struct hd_ar_config defaults(void)
{
	struct hd_options *options = hd_options_new(hd_ar_options, hd_ar_option_count);
	struct hd_ar_config config = hd_ar_config_from(options);

	hd_options_free(options);
	return config;
}

static int parse(const char *content, struct hd_ar_config *config, struct hd_error *err)
{
	const struct hd_text text = {
	    .bytes = content, .length = strlen(content), .name = "ar_mgr.conf"};

	return hd_ar_legacy_parse(&text, NULL, config, err);
}

/* Property: the defaults of [ar], and what its options change. */
static void options_of_the_section(void **state)
{
	struct hd_ar_config config = defaults();
	struct hd_options *options = hd_options_new(hd_ar_options, hd_ar_option_count);
	struct hd_error err = {""};

	(void)state;
	assert_false(config.enable);
	assert_int_equal(config.algorithm, HD_AR_AUTO);
	assert_int_equal(config.mode, HD_AR_BOUNDED);
	assert_int_equal(config.settings.sl_mask, 0xFFFF);
	assert_int_equal(config.settings.transport_disable, 0);
	assert_int_equal(config.order, HD_AR_GROUPS_FIRST);
	const char *const pairs[] = {"enable=yes",     "algorithm=tree",   "mode=free",
				     "sl_mask=0x0002", "transport_mask=2", "order=lft"};
	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_int_equal(hd_options_set_pair(options, pairs[i], &err), 0);
	config = hd_ar_config_from(options);
	assert_true(config.enable);
	assert_int_equal(config.algorithm, HD_AR_TREE);
	assert_int_equal(config.mode, HD_AR_FREE);
	assert_int_equal(config.settings.sl_mask, 2);
	assert_int_equal(config.settings.transport_disable, 0xD);
	assert_int_equal(config.order, HD_AR_LFT_FIRST);
	assert_int_equal(hd_options_set_pair(options, "sl_mask=0x10000", &err), -ERANGE);
	assert_int_equal(hd_options_set_pair(options, "sl_mask=all", &err), -EINVAL);
	assert_int_equal(hd_options_set_pair(options, "transport_mask=16", &err), -ERANGE);
	hd_options_free(options);
}

/* Property: every key, both forms of a line, comments, and sections of switches. */
static void good_file(void **state)
{
	struct hd_ar_config config = defaults();
	struct hd_error err = {""};
	const char *text = "# from the old manager\n"
			   "ENABLE: true;\n"
			   "LOG_FILE: /var/log/armgr.log;\r\n"
			   "LOG_SIZE: 5;\n"
			   "AR_ALGORITHM: TREE\n"
			   "AR_MODE : Free; AGEING_TIME: 77;\n"
			   "MAX_ERRORS: 0x10; ERROR_WINDOW: 8\n"
			   "EN_SL_MASK: 0xFFFE;   # not SL 0\n"
			   "\n"
			   "SWITCH 0x12345 {\n"
			   "  ENABLE: false;\n"
			   "  AGEING_TIME: 33;\n"
			   "}\n"
			   "SWITCH 0xabcdef { AGEING_TIME: 5 }\n"
			   "SWITCH 0x7 {}\n";

	(void)state;
	if (parse(text, &config, &err))
		fail_msg("%s", err.text);
	assert_true(config.enable);
	assert_int_equal(config.algorithm, HD_AR_TREE);
	assert_int_equal(config.mode, HD_AR_FREE);
	assert_int_equal(config.settings.ageing_time_us, 77);
	assert_int_equal(config.settings.sl_mask, 0xFFFE);
	assert_int_equal(config.max_errors, 16);
	assert_int_equal(config.error_window_s, 8);
	assert_int_equal(config.switch_count, 3);
	assert_false(hd_ar_config_enabled(&config, 0x12345));
	assert_true(hd_ar_config_enabled(&config, 0xabcdef));
	assert_true(hd_ar_config_enabled(&config, 0x99));
	assert_int_equal(hd_ar_config_settings(&config, 0xabcdef).ageing_time_us, 5);
	assert_int_equal(hd_ar_config_settings(&config, 0x7).ageing_time_us, 77);
	hd_ar_config_release(&config);
}

/* Property: the other names of the vendor, and an empty file, which changes nothing. */
static void other_names(void **state)
{
	struct hd_ar_config config = defaults();

	(void)state;
	assert_int_equal(parse("AR_ENABLE: TRUE\nAR_ALGORITHM: DF_PLUS\n", &config, NULL), 0);
	assert_true(config.enable);
	assert_int_equal(config.algorithm, HD_AR_DFP);
	assert_int_equal(parse("", &config, NULL), 0);
	assert_int_equal(config.algorithm, HD_AR_DFP);
	assert_int_equal(parse("AR_ALGORITHM: LAG", &config, NULL), 0);
	assert_int_equal(config.algorithm, HD_AR_LAG);
}

struct broken {
	const char *text, *message;
	int rc;
};

static const struct broken broken_files[] = {
    {"ENABLE: true\nENABEL: true\n", "ar_mgr.conf:2: unknown key 'ENABEL'", -EINVAL},
    {"\nENABLE: maybe\n", "ar_mgr.conf:2: 'maybe' is neither true nor false", -EINVAL},
    {"ENABLE true\n", "ar_mgr.conf:1: expected 'KEY: value'", -EINVAL},
    {"ENABLE:\n", "ar_mgr.conf:1: a value is missing", -EINVAL},
    {"ENABLE: true\nAR_ENABLE: true\n", "ar_mgr.conf:2: AR_ENABLE is given twice", -EINVAL},
    {"AR_MODE: fast\n", "ar_mgr.conf:1: 'fast' is neither bounded nor free", -EINVAL},
    {"AR_ALGORITHM: MESH\n", "ar_mgr.conf:1: 'MESH' is none of LAG, TREE, DF_PLUS", -EINVAL},
    {"AGEING_TIME: soon\n", "ar_mgr.conf:1: 'soon' is not a number", -EINVAL},
    {"AGEING_TIME: -1\n", "ar_mgr.conf:1: '-1' is not a number", -EINVAL},
    {"AGEING_TIME: 4294967296\n", "ar_mgr.conf:1: '4294967296' is more than", -ERANGE},
    {"EN_SL_MASK: 0x10000\n", "ar_mgr.conf:1: '0x10000' is more than 65535", -ERANGE},
    {"SWITCH 0x1 {\nENABLE: true\n", "ar_mgr.conf:1: the SWITCH is not closed", -EINVAL},
    {"SWITCH 0x1 {\nSWITCH 0x2 {\n", "ar_mgr.conf:2: the SWITCH of line 1 is not closed", -EINVAL},
    {"SWITCH {\n}\n", "ar_mgr.conf:1: expected the GUID of a switch", -EINVAL},
    {"SWITCH 0x1\n{\n}\n", "ar_mgr.conf:1: expected { after the GUID", -EINVAL},
    {"SWITCH 0x1 { MAX_ERRORS: 1 }\n", "ar_mgr.conf:1: MAX_ERRORS is not for a single switch",
     -EINVAL},
    {"SWITCH 0x1 { }\nSWITCH 0x1 { }\n", "ar_mgr.conf:2: switch 0x0000000000000001 is given twice",
     -EEXIST},
    {"ENABLE: true\n}\n", "ar_mgr.conf:2: } without a SWITCH before it", -EINVAL},
};

/* Property: a broken file is refused with its line, and the configuration stays as it was. */
static void broken(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(broken_files) / sizeof(broken_files[0]); i++) {
		const struct broken *file = &broken_files[i];
		struct hd_ar_config config = defaults(), before;
		struct hd_error err = {""};
		assert_int_equal(parse("AGEING_TIME: 12\nSWITCH 0x5 { ENABLE: no }", &config, &err),
				 0);
		before = config;
		assert_int_equal(parse(file->text, &config, &err), file->rc);
		if (strncmp(err.text, file->message, strlen(file->message)))
			fail_msg("'%s' does not begin with '%s'", err.text, file->message);
		assert_memory_equal(&config, &before, sizeof(config));
		assert_false(hd_ar_config_settings(&config, 5).ageing_time_us != 12);
		hd_ar_config_release(&config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(options_of_the_section),
	    cmocka_unit_test(good_file),
	    cmocka_unit_test(other_names),
	    cmocka_unit_test(broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
