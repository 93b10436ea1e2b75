/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which sweep a chart runs over, which points make a line, and what readers call a figure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_series.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Two sweeps: every label of the first with every label of the second. */
struct grid {
	const char *labels[16][2];
	struct hd_scenario_point points[16];
	struct hd_scenario_runs runs;
};

static void make_grid(struct grid *grid, const char *const *first, uint32_t rows,
		      const char *const *second, uint32_t columns)
{
	static const char *const sweeps[] = {"one", "two"};

	for (uint32_t i = 0; i < rows * columns; i++) {
		grid->labels[i][0] = first[i / columns];
		grid->labels[i][1] = second[i % columns];
		grid->points[i] = (struct hd_scenario_point){"", grid->labels[i], 2};
	}
	grid->runs = (struct hd_scenario_runs){.points = grid->points,
					       .point_count = rows * columns,
					       .sweeps = sweeps,
					       .sweep_count = 2};
}

/* Property: a chart runs over the last sweep of ascending numbers with one unit, whichever it is; the
 * other labels name the lines, and each point is in one line, at the place of its label. */
static void lines_run_over_numbers(void **state)
{
	static const char *const loads[] = {"20%", "40%", "60%"}, *const engines[] = {"a", "b"};
	struct hd_arena arena = {0};
	struct sim_series series;
	struct grid grid;

	(void)state;
	for (unsigned swapped = 0; swapped < 2; swapped++) {
		make_grid(&grid, swapped ? engines : loads, swapped ? 2 : 3,
			  swapped ? loads : engines, swapped ? 3 : 2);
		sim_series_make(&grid.runs, &arena, &series);
		assert_true(series.numeric);
		assert_string_equal(series.title, swapped ? "two" : "one");
		assert_string_equal(series.unit, "%");
		assert_int_equal(series.line_count, 2);
		for (uint32_t i = 0; i < 2; i++) {
			assert_string_equal(series.lines[i].name, engines[i]);
			assert_int_equal(series.lines[i].count, 3);
			for (uint32_t k = 0; k < 3; k++) {
				uint32_t point = series.lines[i].points[k];
				assert_int_equal(series.place[point], k);
				assert_true(series.numbers[k] == 20.0 * (k + 1));
				assert_string_equal(grid.labels[point][!swapped], engines[i]);
			}
		}
	}
	hd_arena_release(&arena);
}

/* Property: numbers with different units, or in no order, are names, and have no place on an axis. */
static void other_labels_are_names(void **state)
{
	static const char *const cases[][2] = {
	    {"16 KiB", "1 MiB"}, {"2", "1"}, {"static", "adaptive"}, {"1", "many"}};
	static const char *const engines[] = {"a", "b"};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct hd_arena arena = {0};
		struct sim_series series;
		struct grid grid;
		make_grid(&grid, engines, 2, cases[i], 2);
		sim_series_make(&grid.runs, &arena, &series);
		assert_false(series.numeric);
		assert_string_equal(series.title, "two");
		assert_string_equal(series.labels[1], cases[i][1]);
		hd_arena_release(&arena);
	}
}

/* Property: readers get words, with the name of the traffic, flow or pattern in them. */
static void figures_have_words(void **state)
{
	static const char *const cases[][2] = {
	    {"class.a.latency.p99", "99th percentile of latency of a"},
	    {"class.a.packet_latency.mean", "mean latency of packets of a"},
	    {"flow.victim.share", "share of flow victim"},
	    {"ebb.bisect.mean", "mean bandwidth of pattern bisect"},
	    {"apps.communication-max", "communication max of apps"},
	    {"mpi.time@bytes1024", "time bytes1024 of mpi"},
	    {"links.most", "utilisation of the busiest link"},
	    {"odd", "odd"},
	};
	char words[100];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(sim_words_figure(cases[i][0], words, sizeof(words)),
				    cases[i][1]);
	assert_string_equal(sim_words_figure("class.a.throughput", words, 8), "through");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_run_over_numbers),
	    cmocka_unit_test(other_labels_are_names),
	    cmocka_unit_test(figures_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
