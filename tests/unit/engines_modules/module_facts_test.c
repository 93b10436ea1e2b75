/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts of a module that a program could not rely on are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "module_facts.h"

#include <string.h>

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	(void)request;
	(void)out;
	return hd_error_set(err, -ENOTSUP, "a sample");
}

static const struct hd_option good_option = {
    .name = "turn", .summary = "a sample", .type = HD_OPTION_INT, .fallback = "0", .maximum = 9};

static const struct hd_engine good_engine = {.name = "sample_1",
					     .summary = "a sample",
					     .description = "A sample.",
					     .options = &good_option,
					     .option_count = 1,
					     .route = route};

static int make(const struct hd_engine *engine, struct hd_arena *arena,
		const struct hd_engine **out, struct hd_error *err)
{
	const struct hd_engine_module module = {HD_ENGINE_ABI, HD_ENGINE_SIZES_OF, engine};

	return module_facts_make(&module, arena, out, err);
}

static void assert_refused(const struct hd_engine *engine, const char *reason)
{
	struct hd_arena arena = {0};
	const struct hd_engine *made;
	struct hd_error err = {""};

	if (!make(engine, &arena, &made, &err))
		fail_msg("accepted, instead of: %s", reason);
	if (!strstr(err.text, reason))
		fail_msg("'%s' does not say '%s'", err.text, reason);
	hd_arena_release(&arena);
}

/* The engine of the program is that of the module, with the options that every engine has. */
static void a_good_engine(void **state)
{
	struct hd_arena arena = {0};
	const struct hd_engine *made;
	struct hd_error err;

	(void)state;
	assert_int_equal(make(&good_engine, &arena, &made, &err), 0);
	assert_string_equal(made->name, "sample_1");
	assert_true(made->from_module);
	assert_int_equal(made->policies, HD_POLICY_COMMON);
	struct hd_options *values = hd_engine_options(made);
	assert_string_equal(hd_options_get(values, "turn")->text, "0");
	assert_string_equal(hd_options_get(values, "deadlock")->text, "vl");
	assert_string_equal(hd_options_get(values, "vls")->text, "0");
	assert_string_equal(hd_options_get(values, "spread")->text, "auto");
	hd_options_free(values);
	hd_arena_release(&arena);
}

static void another_abi(void **state)
{
	struct hd_engine_module module = {HD_ENGINE_ABI + 1, HD_ENGINE_SIZES_OF, NULL};
	struct hd_arena arena = {0};
	const struct hd_engine *made;
	struct hd_error err;

	(void)state;
	assert_int_equal(module_facts_make(&module, &arena, &made, &err), -EINVAL);
	assert_non_null(strstr(err.text, "built for ABI 5 of engines, and this Heddle has ABI 4"));
	module = (struct hd_engine_module){HD_ENGINE_ABI, HD_ENGINE_SIZES_OF, &good_engine};
	module.sizes[HD_ENGINE_SIZES - 1]++;
	assert_int_equal(module_facts_make(&module, &arena, &made, &err), -EINVAL);
	assert_non_null(strstr(err.text, "its structs have other sizes"));
}

static void bad_texts(void **state)
{
	static const char *const names[] = {
	    NULL, "", "Sample", "1st", "a-b", "a b", "caf\xc3\xa9", "abcdefghijklmnopqrstuvwxyz01"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct hd_engine engine = good_engine;

		engine.name = names[i];
		assert_refused(&engine, "its engine has no name of 1 to 27 small letters");
	}
	struct hd_engine engine = good_engine;
	engine.name = "ar_sample";
	assert_refused(&engine, "ar_NAME is engine NAME with adaptive routing");
	engine = good_engine;
	engine.summary = "two\nlines";
	assert_refused(&engine, "engine 'sample_1' needs a summary and a description");
	engine = good_engine;
	engine.description = NULL;
	assert_refused(&engine, "engine 'sample_1' needs a summary and a description");
}

static void bad_facts(void **state)
{
	struct hd_engine engine = good_engine;

	(void)state;
	assert_refused(NULL, "it has no engine");
	engine.route = NULL;
	assert_refused(&engine, "engine 'sample_1' has no function route");
	engine = good_engine;
	engine.delegates = true;
	assert_refused(&engine, "delegates and from_module are not for modules");
	engine = good_engine;
	engine.options = NULL;
	assert_refused(&engine, "has no table of 0 to 64 options");
	engine = good_engine;
	engine.option_count = UINT32_MAX;
	assert_refused(&engine, "has no table of 0 to 64 options");
}

static void bad_options(void **state)
{
	struct hd_option options[2] = {good_option, good_option};
	struct hd_engine engine = good_engine;

	(void)state;
	engine.options = options;
	engine.option_count = 2;
	assert_refused(&engine, "engine 'sample_1' has two options 'turn'");
	options[1].name = "deadlock";
	assert_refused(&engine, "the option 'deadlock' is added to every engine");
	options[1].name = "";
	assert_refused(&engine, "option 2 of engine 'sample_1' needs a name");
	options[1].name = "other";
	options[1].fallback = "10";
	assert_refused(&engine, "a fallback is not valid: option 'other': '10' is not");
	options[1].fallback = NULL;
	assert_refused(&engine, "option 'other' has an unknown type, no fallback or no choices");
	options[1].fallback = "a";
	options[1].type = HD_OPTION_CHOICE;
	assert_refused(&engine, "option 'other' has an unknown type, no fallback or no choices");
	options[1].type = (enum hd_option_type)99;
	assert_refused(&engine, "option 'other' has an unknown type, no fallback or no choices");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_good_engine), cmocka_unit_test(another_abi),
	    cmocka_unit_test(bad_texts),     cmocka_unit_test(bad_facts),
	    cmocka_unit_test(bad_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
