/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Published and golden figures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing.h"
#include "tree_tables.h"

#define assert_near(value, expected, within) assert_true(fabs((value) - (expected)) <= (within))

static double mean_share(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 const char *kind, uint64_t patterns)
{
	struct hd_error err = {""};
	struct hd_ranks *ranks = all_ranks(fabric);
	struct hd_pattern *pattern = pattern_of(kind, "", ranks);
	struct hd_congestion_request request = {.fabric = fabric,
						.routes = routes,
						.ranks = ranks,
						.pattern = pattern,
						.mapping = HD_MAP_RANDOM,
						.seed = 1,
						.patterns = patterns,
						.threads = 2};
	struct hd_congestion_report *report = NULL;

	CHECK(hd_congestion_run(&request, &report, &err));
	assert_int_equal(report->broken, 0);
	double mean = report->mean;
	hd_congestion_report_free(report);
	hd_pattern_free(pattern);
	hd_ranks_free(ranks);
	return mean;
}

/* The paper's example: four leaves of four hosts below two spines of eight ports. Its ports are
 * numbered from 1, ours from 0. */
static void sixteen_hosts_have_the_congestion_of_the_paper(void **state)
{
	(void)state;
	struct hd_error err = {""};
	char path[32];
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2 parallel=1,2");
	struct hd_routes *routes = tree_tables(fabric, 4);
	struct hd_ranks *ranks = all_ranks(fabric);
	write_file(path, "0 4\n1 8\n2 12\n3 5\n6 7\n9 10\n11 13\n14 15\n");
	char setting[64];
	snprintf(setting, sizeof(setting), "file=%s", path);
	struct hd_pattern *pattern = pattern_of("ranks", setting, ranks);
	struct hd_congestion_request request = {
	    .fabric = fabric, .routes = routes, .ranks = ranks, .pattern = pattern, .patterns = 1};
	struct hd_congestion_report *report = NULL;
	CHECK(hd_congestion_run(&request, &report, &err));
	assert_int_equal(report->routes, 8);
	assert_int_equal(report->histogram_size, 4);
	assert_int_equal(report->histogram[1], 5);
	assert_int_equal(report->histogram[2], 0);
	assert_int_equal(report->histogram[3], 3);
	assert_near(report->mean, 0.75, 1e-12);
	assert_near(report->sum_max, 3, 1e-5);
	assert_near(report->sum_avg, 14 / 8.0, 1e-5);
	hd_congestion_report_free(report);
	hd_pattern_free(pattern);
	hd_ranks_free(ranks);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	unlink(path);
}

static void ten_ary_tree_under_dmodk_has_its_figures(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("kary-ntree", "k=10 n=3");
	struct hd_routes *routes = tree_tables(fabric, 10);
	assert_near(mean_share(fabric, routes, "bisect", 10000), 0.710, 0.0015);
	assert_near(mean_share(fabric, routes, "dissemination", 1000), 0.541, 0.0015);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void twelve_ary_tree_under_dmodk_has_its_figure(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("kary-ntree", "k=12 n=3");
	struct hd_routes *routes = tree_tables(fabric, 12);
	assert_near(mean_share(fabric, routes, "bisect", 5000), 0.701, 0.0015);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static void avakas_under_its_live_tables_has_its_figures(void **state)
{
	(void)state;
	struct hd_error err = {""};
	const char *folder = getenv("HEDDLE_FABRICS");
	char topology[512], tables[512];
	folder = folder ? folder : "../shared/fabrics";
	snprintf(topology, sizeof(topology), "%s/avakas/ibnetdiscover-p.txt", folder);
	snprintf(tables, sizeof(tables), "%s/avakas/ibroute", folder);
	if (access(topology, R_OK)) {
		print_message("skipped: no %s\n", topology);
		skip();
	}
	struct hd_fabric *fabric = NULL;
	struct hd_routes *routes = NULL;
	const char *paths[] = {tables};
	CHECK(hd_fabric_read(topology, NULL, &fabric, &err));
	CHECK(hd_routes_read(paths, 1, fabric, NULL, &routes, &err));
	assert_int_equal(fabric->host_count, 281);
	assert_near(mean_share(fabric, routes, "bisect", 10000), 0.721, 0.003);
	assert_near(mean_share(fabric, routes, "tree", 10000), 0.830, 0.003);
	assert_near(mean_share(fabric, routes, "dissemination", 2000), 0.560, 0.003);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sixteen_hosts_have_the_congestion_of_the_paper),
	    cmocka_unit_test(ten_ary_tree_under_dmodk_has_its_figures),
	    cmocka_unit_test(twelve_ary_tree_under_dmodk_has_its_figure),
	    cmocka_unit_test(avakas_under_its_live_tables_has_its_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
