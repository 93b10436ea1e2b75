/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Modules of engine_path: their sections are known, and whatever is wrong is only logged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine_modules.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "settings.h"

#include <heddle/base/text.h>
#include <heddle/config/sections.h>

static struct opensm_log log_to_text = {.threshold = HD_LOG_INFO};

/* Modules that a heddle.conf with this text names, and the sections of the plugin. */
struct loaded {
	struct engine_modules modules;
	struct hd_config_sections *sections;
};

static struct loaded load(const char *text)
{
	char path[] = "/tmp/engine-modules-XXXXXX", options[64];
	struct loaded loaded = {.sections = hd_config_sections_new()};
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	assert_int_equal(hd_config_sections_add_heddle(loaded.sections, NULL), 0);
	snprintf(options, sizeof(options), "heddle=%s", path);
	logged[0] = '\0';
	engine_modules_load(&loaded.modules, options, loaded.sections, &log_to_text);
	unlink(path);
	return loaded;
}

/* What the complete file says, or NULL if it is wrong. */
static struct hd_config *parse(const struct loaded *loaded, const char *text)
{
	const struct hd_text file = {.bytes = text, .length = strlen(text), .name = "heddle.conf"};
	struct hd_config *config = NULL;

	return hd_config_parse(loaded->sections, &file, &config, NULL) ? NULL : config;
}

static void unload(struct loaded *loaded)
{
	engine_modules_release(&loaded->modules);
	hd_config_sections_free(loaded->sections);
}

/* The engine of a module has a section, and its options are checked like all others. */
static void the_section_of_an_engine(void **state)
{
	struct loaded loaded = load("[heddle]\nengine_path = " MODULES "/good\n[spf]\nx = y\n");
	struct hd_config *config = parse(&loaded, "[good]\nrefuse = yes\nvls = 3\n");

	(void)state;
	assert_logged("heddle: engine 'good' is loaded from " MODULES "/good/good.so\n");
	assert_non_null(hd_engine_list_find(loaded.modules.list, "good"));
	assert_non_null(config);
	assert_int_equal(hd_options_get(hd_config_options(config, "good"), "refuse")->number, 1);
	assert_null(parse(&loaded, "[good]\nrefuse = perhaps\n"));
	assert_null(parse(&loaded, "[better]\nrefuse = yes\n"));
	hd_config_free(config);
	unload(&loaded);
}

/* After a refusal, the section of the engine that is missing does no harm to the others. */
static void a_refusal(void **state)
{
	struct loaded loaded = load("[heddle]\nengine_path = " MODULES "/foreign\n");
	struct hd_config *config = parse(&loaded, "[foreign]\na = b\n[heddle]\nthreads = 3\n");

	(void)state;
	assert_logged("heddle: ERR HD01: engine module " MODULES "/foreign/foreign.so is not "
		      "loaded: it was built for ABI 4711 of engines");
	assert_non_null(config);
	assert_int_equal(settings_threads(config), 3);
	hd_config_free(config);
	unload(&loaded);
}

/* Without a file, and with one that is wrong, there are the built-in engines. */
static void no_path(void **state)
{
	static const char *const texts[] = {"", "[spf]\n", "[heddle]\nengine_path = relative\n",
					    "[heddle]\nengine_path\n", "\x01\x02"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct loaded loaded = load(texts[i]);

		assert_null(loaded.modules.list);
		assert_string_equal(logged, "");
		unload(&loaded);
	}
	struct loaded loaded = {.sections = hd_config_sections_new()};
	engine_modules_load(&loaded.modules, "heddle=/nowhere/heddle.conf", loaded.sections,
			    &log_to_text);
	assert_null(loaded.modules.list);
	unload(&loaded);
}

/* The log names a change of the path once, and again if the change is taken back and comes again. */
static void a_change(void **state)
{
	struct loaded loaded = load("[heddle]\nengine_path = " MODULES "/good\n");
	struct hd_config *same = parse(&loaded, "[heddle]\nengine_path = " MODULES "/good\n");
	struct hd_config *other = parse(&loaded, "[heddle]\nengine_path = /other\n");

	(void)state;
	logged[0] = '\0';
	engine_modules_watch(&loaded.modules, same, &log_to_text);
	assert_string_equal(logged, "");
	engine_modules_watch(&loaded.modules, other, &log_to_text);
	assert_logged("ERR HD01: engine_path has changed; OpenSM must be restarted to load engine "
		      "modules from '/other'");
	logged[0] = '\0';
	engine_modules_watch(&loaded.modules, other, &log_to_text);
	assert_string_equal(logged, "");
	engine_modules_watch(&loaded.modules, same, &log_to_text);
	engine_modules_watch(&loaded.modules, other, &log_to_text);
	assert_logged("engine_path has changed");
	hd_config_free(same);
	hd_config_free(other);
	unload(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_section_of_an_engine),
	    cmocka_unit_test(a_refusal),
	    cmocka_unit_test(no_path),
	    cmocka_unit_test(a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
