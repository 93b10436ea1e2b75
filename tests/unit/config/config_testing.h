/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sections of a program, of all kinds. Include after <cmocka.h>. */
#ifndef CONFIG_TESTING_H
#define CONFIG_TESTING_H

#include <errno.h>
#include <heddle/config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LEAF UINT64_C(0x0002c903000a1b2c)

static const struct hd_option heddle_options[] = {
    {.name = "threads", .type = HD_OPTION_INT, .fallback = "0", .minimum = 0, .maximum = 64},
    {.name = "share", .type = HD_OPTION_CHOICE, .fallback = "same", .choices = "same|log"},
    {.name = "level", .type = HD_OPTION_INT, .fallback = "0", .minimum = 0, .maximum = 15},
};

static const struct hd_option engine_options[] = {
    {.name = "passes", .type = HD_OPTION_INT, .fallback = "3", .minimum = 1, .maximum = 16},
    {.name = "root", .type = HD_OPTION_STRING, .fallback = "auto"},
};

static const struct hd_option switch_options[] = {
    {.name = "enable", .type = HD_OPTION_BOOL, .fallback = NULL}, /* must be given */
    {.name = "ageing", .type = HD_OPTION_INT, .fallback = "30", .minimum = 0, .maximum = 999},
};

/* A check like that of the plugin: a share needs a level. */
static inline int check_share(const struct hd_options *options, const char **key,
			      struct hd_error *err)
{
	if (!hd_options_get(options, "share")->number || hd_options_get(options, "level")->number)
		return 0;
	*key = "share";
	return hd_error_set(err, -EDOM, "share needs level");
}

static const struct hd_config_section known_sections[] = {
    {.name = "heddle", .options = heddle_options, .option_count = 3, .check = check_share},
    {.name = "spf", .options = engine_options, .option_count = 2},
    {.name = "updown", .options = engine_options, .option_count = 2},
    {.name = "ar.switch", .kind = HD_CONFIG_BY_GUID, .options = switch_options, .option_count = 2},
    {.name = "keyd", .kind = HD_CONFIG_OTHER_PROGRAM},
};

static inline struct hd_config_sections *sections_of_a_program(void)
{
	struct hd_config_sections *sections = hd_config_sections_new();

	assert_non_null(sections);
	for (size_t i = 0; i < COUNT(known_sections); i++)
		assert_int_equal(hd_config_sections_add(sections, &known_sections[i], NULL), 0);
	return sections;
}

/* Parses `length` bytes as the file "conf". Returns NULL, with a reason in err, if they are
 * refused. */
static inline struct hd_config *parse_bytes(const struct hd_config_sections *sections,
					    const char *bytes, size_t length, int *rc,
					    struct hd_error *err)
{
	struct hd_text text = {.bytes = bytes, .length = length, .name = "conf"};
	struct hd_config *config = NULL;

	*rc = hd_config_parse(sections, &text, &config, err);
	assert_int_equal(*rc == 0, config != NULL);
	return config;
}

static inline struct hd_config *accept(const struct hd_config_sections *sections, const char *file)
{
	struct hd_error err = {""};
	int rc;
	struct hd_config *config = parse_bytes(sections, file, strlen(file), &rc, &err);

	if (rc)
		fail_msg("'%s' is refused: %s", file, err.text);
	return config;
}

static inline int64_t number(const struct hd_options *options, const char *key)
{
	assert_non_null(options);
	return hd_options_get(options, key)->number;
}

#endif
