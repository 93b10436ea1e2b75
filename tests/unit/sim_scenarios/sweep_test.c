/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sweeps multiply, lines of one sweep go together, and what is not given is as in the simulator. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario_parts.h"

#include <stdlib.h>
#include <string.h>

static struct hd_scenario *parse(const char *text)
{
	const struct hd_text file = {.bytes = text, .length = strlen(text), .name = "file"};
	struct hd_scenario *scenario = NULL;
	struct hd_error err = {""};
	int rc = hd_scenario_parse(&file, &scenario, &err);

	if (rc)
		fail_msg("%s", err.text);
	return scenario;
}

static const char *value(const struct hd_scenario *scenario, const char *section, const char *key)
{
	return scenario_text_entry(scenario_text_find(scenario, section), key)->value;
}

static void sweeps_multiply_and_their_lines_go_together(void **state)
{
	struct hd_scenario *scenario = parse("[run]\nbin = 1\n[model]\nmtu = 1\n"
					     "[sweep a]\nmodel.mtu = 256 | 512 | 1024\n"
					     "model.lanes = 1 | 2 | 3\n"
					     "[sweep b]\nlabels = few | many\nrun.bin = 2 | 9\n");
	struct hd_arena arena = {0};
	struct scenario_sweep sweep;

	(void)state;
	assert_int_equal(scenario_sweep_expand(scenario, &arena, &sweep, NULL), 0);
	assert_int_equal(sweep.point_count, 6);
	assert_string_equal(sweep.points[0].label, "256, few");
	assert_string_equal(sweep.points[3].label, "512, many");
	assert_string_equal(value(sweep.scenarios[3], "model", "mtu"), "512");
	assert_string_equal(value(sweep.scenarios[3], "model", "lanes"), "2");
	assert_string_equal(value(sweep.scenarios[3], "run", "bin"), "9");
	assert_string_equal(value(scenario, "model", "mtu"), "1");
	scenario_sweep_release(&sweep);
	hd_arena_release(&arena);
	hd_scenario_free(scenario);
}

static void lines_of_different_lengths_are_refused(void **state)
{
	struct hd_scenario *scenario =
	    parse("[model]\nmtu = 1\n[sweep a]\nmodel.mtu = 256 | 512\nmodel.lanes = 1\n");
	struct hd_arena arena = {0};
	struct scenario_sweep sweep;
	struct hd_error err;

	(void)state;
	assert_int_equal(scenario_sweep_expand(scenario, &arena, &sweep, &err), -EINVAL);
	assert_memory_equal(err.text,
			    "file:5: [sweep a] model.lanes = 1: 1 values; the lines above "
			    "have 2",
			    60);
	hd_arena_release(&arena);
	hd_scenario_free(scenario);
}

static void seeds_are_a_number_or_a_list(void **state)
{
	static const struct {
		const char *text;
		uint32_t count;
		uint64_t last;
	} cases[] = {{"3", 3, 12}, {"5, 9", 2, 9}, {"7,", 0, 0}, {"0", 0, 0}, {"-1", 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_scenario *scenario = parse("[run]\nseeds = 1\n");
		const struct scenario_entry entry = {
		    .value = cases[i].text, .origin = "-O", .typed = true};
		uint64_t *seeds = NULL;
		uint32_t count = 0;
		assert_int_equal(scenario_text_set(scenario, "run.seeds", &entry, NULL), 0);
		int rc = scenario_settings_seeds(scenario, 10, false, &seeds, &count, NULL);
		assert_int_equal(rc, cases[i].count ? 0 : -EINVAL);
		if (!rc) {
			assert_int_equal(count, cases[i].count);
			assert_int_equal(seeds[count - 1], cases[i].last);
		}
		free(seeds);
		hd_scenario_free(scenario);
	}
}

static void what_is_not_given_is_as_in_the_simulator(void **state)
{
	struct hd_scenario *scenario = parse("[run]\nduration = 1 ms\n");
	struct hd_sim_settings defaults = hd_sim_settings_default();
	struct scenario_run run;

	(void)state;
	assert_int_equal(scenario_settings_read(scenario, &run, NULL), 0);
	assert_int_equal(run.duration, 1000 * HD_SIM_MICROSECOND);
	assert_memory_equal(&run.settings, &defaults, sizeof(defaults));
	hd_scenario_free(scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sweeps_multiply_and_their_lines_go_together),
	    cmocka_unit_test(lines_of_different_lengths_are_refused),
	    cmocka_unit_test(seeds_are_a_number_or_a_list),
	    cmocka_unit_test(what_is_not_given_is_as_in_the_simulator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
