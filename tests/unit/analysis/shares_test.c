/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shares: max-min fairness and links of different rates. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing.h"

#include "random_tables.h"
#include "scene.h"

/* Ranks 0 to 3 are on one leaf, 4 to 7 on the other, one cable up from each. */
static void max_min_gives_what_others_cannot_use(void **state)
{
	(void)state;
	char path[32], setting[64];
	struct scene scene = scene_of("xgft", "children=4,2 parents=1,1", "ring", "");
	hd_pattern_free(scene.pattern);
	/* The cable up is full before the receivers' are: a quarter each. */
	write_file(path, "0 4\n1 4\n2 4\n3 5\n");
	snprintf(setting, sizeof(setting), "file=%s", path);
	scene.pattern = pattern_of("ranks", setting, scene.ranks);
	scene.request.pattern = scene.pattern;
	scene.request.mapping = HD_MAP_IDENTITY;
	scene.request.patterns = 1;
	scene.request.shares = HD_SHARE_MAX_MIN;
	struct hd_congestion_report *report = run(&scene.request);
	assert_true(fabs(report->mean - 0.25) < 1e-9);
	hd_congestion_report_free(report);
	hd_pattern_free(scene.pattern);
	unlink(path);
	/* 0 > 4 shares the way up with 1 > 5; 1 sends to 2 and 3 as well, so 1 > 5 has 1/3 and
	 * leaves 2/3 to 0 > 4, which congestion would count as 1/2. */
	write_file(path, "0 4\n1 5\n1 2\n1 3\n");
	snprintf(setting, sizeof(setting), "file=%s", path);
	scene.pattern = pattern_of("ranks", setting, scene.ranks);
	scene.request.pattern = scene.pattern;
	report = run(&scene.request);
	assert_true(fabs(report->mean - (2 / 3.0 + 3 * (1 / 3.0)) / 4) < 1e-9);
	hd_congestion_report_free(report);
	scene.request.shares = HD_SHARE_CONGESTION;
	report = run(&scene.request);
	assert_true(fabs(report->mean - (1 / 2.0 + 3 * (1 / 3.0)) / 4) < 1e-9);
	hd_congestion_report_free(report);
	unlink(path);
	scene_end(&scene);
}

/* Nobody gets less from max-min fairness than from the worst link's equal parts. */
static void max_min_is_never_below_congestion(void **state)
{
	(void)state;
	const char *kinds[] = {"bisect", "uniform", "incast"};
	for (unsigned i = 0; i < 3; i++) {
		struct scene scene = scene_of("irregular", "switches=20 radix=8", kinds[i], "");
		scene.request.patterns = 50;
		struct hd_congestion_report *congestion = run(&scene.request);
		scene.request.shares = HD_SHARE_MAX_MIN;
		struct hd_congestion_report *fair = run(&scene.request);
		assert_true(fair->mean > congestion->mean && fair->mean <= 1);
		assert_true(fair->sum_max == congestion->sum_max);
		hd_congestion_report_free(congestion);
		hd_congestion_report_free(fair);
		scene_end(&scene);
	}
}

/* The same fabric with its inter-switch cables at another rate than the hosts'. */
static struct hd_fabric *with_isl_speed(const struct hd_fabric *fabric, enum hd_speed speed)
{
	struct hd_error err = {""};
	struct hd_fabric *changed = NULL;
	struct hd_builder *builder = hd_builder_from(fabric);
	for (uint32_t i = 0; i < fabric->isl_count; i++) {
		if (i > fabric->isl_reverse[i])
			continue;
		uint32_t to = fabric->isl_to[i], from = fabric->isl_to[fabric->isl_reverse[i]];
		uint32_t port = fabric->isl_port[i], far = fabric->isl_port[fabric->isl_reverse[i]];
		assert_true(hd_builder_unlink(builder, from, port));
		CHECK(hd_builder_link(builder, from, port, to, far, 4, speed, &err));
	}
	CHECK(hd_builder_build(builder, &changed, &err));
	hd_builder_free(builder);
	return changed;
}

/* Between leaves a ring of two ranks is bound by the slower cables, in units of the hosts'. */
static void rates_bound_shares(void **state)
{
	(void)state;
	const enum hd_speed speeds[] = {HD_SPEED_EDR, HD_SPEED_QDR, HD_SPEED_HDR};
	const double expected[] = {1, 32 / 100.0, 1};
	struct scene scene = scene_of("xgft", "children=1,2 parents=1,1", "ring", "");
	scene.request.mapping = HD_MAP_IDENTITY;
	scene.request.patterns = 1;
	scene.request.rate_weights = true;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned model = 0; model < 2; model++) {
			struct hd_fabric *fabric = with_isl_speed(scene.fabric, speeds[i]);
			struct hd_ranks *ranks = all_ranks(fabric);
			struct hd_congestion_request request = scene.request;
			request.fabric = fabric;
			request.ranks = ranks;
			request.shares = model ? HD_SHARE_MAX_MIN : HD_SHARE_CONGESTION;
			struct hd_congestion_report *report = run(&request);
			assert_true(fabs(report->mean - expected[i]) < 0.01);
			hd_congestion_report_free(report);
			hd_ranks_free(ranks);
			hd_fabric_free(fabric);
		}
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(max_min_gives_what_others_cannot_use),
	    cmocka_unit_test(max_min_is_never_below_congestion),
	    cmocka_unit_test(rates_bound_shares),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
