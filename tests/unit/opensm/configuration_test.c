/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The path of heddle.conf; and the last good values stay in force. */
#include <heddle/config/sections.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "configuration.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "settings.h"

static struct configuration start(const char *event_plugin_options)
{
	struct hd_config_sections *sections = hd_config_sections_new();
	struct configuration configuration = {0};
	struct hd_error err;

	assert_non_null(sections);
	assert_int_equal(hd_config_sections_add_heddle(sections, &err), 0);
	assert_int_equal(configuration_start(&configuration, sections, event_plugin_options, &err),
			 0);
	return configuration;
}

/* The path is in the word heddle=PATH, at any position, or is the complete text. Words of other
 * plugins are ignored. */
static void the_place_of_the_file(void **state)
{
	static const struct {
		const char *options, *path; /* path NULL: the default one, which may be missing */
	} places[] = {
	    {NULL, NULL},
	    {"", NULL},
	    {"(null)", NULL},
	    {" \t, ", NULL},
	    {"/a/b.conf", "/a/b.conf"},
	    {"heddle=/a/b.conf", "/a/b.conf"},
	    {"heddle=b.conf", "b.conf"},
	    {"armgr --conf_file /x/y heddle=/a/b.conf", "/a/b.conf"},
	    {"x=1,heddle=/a/b.conf,y=2", "/a/b.conf"},
	    {"heddle=/a/b.conf heddle=/c", "/a/b.conf"},
	    {"heddle=", NULL},
	    {"heddle= /a/b.conf", NULL},
	    {"xheddle=/a", NULL},
	    {"/a/b.conf other", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct configuration configuration = start(places[i].options);

		assert_string_equal(configuration.path,
				    places[i].path ? places[i].path : HD_CONFIG_PATH);
		assert_int_equal(configuration.named, places[i].path != NULL);
		assert_int_equal(settings_multicast_sl(configuration.values), 0);
		configuration_end(&configuration);
	}
}

/* Property: a word that seems to be for Heddle, but that Heddle ignores, is an error. Words of
 * other plugins are not. */
static void ignored_words(void **state)
{
	static const struct {
		const char *options, *plugins, *word; /* word NULL: no error */
	} samples[] = {
	    {NULL, "heddle", NULL},
	    {"(null)", "heddle", NULL},
	    {"/a/b.conf", "heddle", NULL},
	    {"heddle=/a/b.conf", "heddle", NULL},
	    {"heddle.conf", "heddle", "'heddle.conf'"},
	    {"heddle=", "heddle", "'heddle='"},
	    {"/a/b.conf other", " heddle, ", "'other'"},
	    {"--conf_file /x/y heddle=/a/b.conf", "armgr heddle", NULL},
	    {"--conf_file /x/heddle.conf", "armgr heddle", "'/x/heddle.conf'"},
	    {"other", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct opensm_log log = {.threshold = HD_LOG_INFO};

		logged[0] = '\0';
		configuration_check_options(samples[i].options, samples[i].plugins, &log);
		if (samples[i].word)
			assert_logged(samples[i].word);
		else
			assert_string_equal(logged, "");
	}
}

/* Property: a path that is not absolute is an error, and the defaults stay. */
static void relative_path(void **state)
{
	struct configuration configuration = start("heddle=b.conf");
	struct opensm_log log = {.threshold = HD_LOG_INFO};

	(void)state;
	logged[0] = '\0';
	configuration_read(&configuration, &log);
	assert_logged("ERR HD02: event_plugin_options: heddle=b.conf: not an absolute path "
		      "(going on with the defaults)");
	assert_int_equal(settings_multicast_sl(configuration.values), 0);
	configuration_end(&configuration);
}

static void write_file(const char *path, const char *text)
{
	FILE *stream = fopen(path, "w");

	assert_non_null(stream);
	fputs(text, stream);
	fclose(stream);
}

/* Reads a bad file, a good one, a bad one, none. A bad file changes nothing, and the log says which
 * values stay. */
static void the_last_good_values_stay(void **state)
{
	char folder[] = "/tmp/configuration-XXXXXX", options[64];
	char *path = options + strlen("heddle=");
	struct opensm_log log = {.threshold = HD_LOG_INFO};
	struct configuration configuration;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(options, sizeof(options), "heddle=%s/heddle.conf", folder);
	configuration = start(options);
	logged[0] = '\0';
	write_file(path, "[heddle]\nmulticast_sl = 16\n");
	configuration_read(&configuration, &log);
	assert_logged("ERR HD02: ");
	assert_logged(":2: [heddle]: option 'multicast_sl': '16' is not");
	assert_logged(" (going on with the defaults)");
	assert_int_equal(settings_multicast_sl(configuration.values), 0);

	logged[0] = '\0';
	write_file(path, "[heddle]\nmulticast_sl = 4\n");
	configuration_read(&configuration, &log);
	assert_string_equal(logged, "");
	assert_int_equal(settings_multicast_sl(configuration.values), 4);

	write_file(path, "[heddle]\nmulticast_sl = 5\n[hedle]\n");
	configuration_read(&configuration, &log);
	assert_logged(":3: unknown section [hedle]; did you mean [heddle]? (going on with the last "
		      "good configuration");
	assert_int_equal(settings_multicast_sl(configuration.values), 4);

	logged[0] = '\0';
	unlink(path);
	configuration_read(&configuration, &log);
	assert_logged("cannot open: No such file or directory (going on with the last good");
	assert_int_equal(settings_multicast_sl(configuration.values), 4);

	write_file(path, "");
	configuration_read(&configuration, &log);
	assert_int_equal(settings_multicast_sl(configuration.values), 0);
	unlink(path);
	rmdir(folder);
	configuration_end(&configuration);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_place_of_the_file),
	    cmocka_unit_test(ignored_words),
	    cmocka_unit_test(relative_path),
	    cmocka_unit_test(the_last_good_values_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
