/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The run: independence of threads and processes, precision, shares, faults. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing.h"

#include "random_tables.h"

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ranks *ranks;
	struct hd_pattern *pattern;
	struct hd_congestion_request request;
};

static struct scene scene_of(const char *generator, const char *settings, const char *kind,
			     const char *options)
{
	uint64_t random = 7;
	struct scene scene = {.fabric = generate(generator, settings)};
	scene.routes = random_tables(scene.fabric, &random, false);
	scene.ranks = all_ranks(scene.fabric);
	scene.pattern = pattern_of(kind, options, scene.ranks);
	scene.request = (struct hd_congestion_request){.fabric = scene.fabric,
						       .routes = scene.routes,
						       .ranks = scene.ranks,
						       .pattern = scene.pattern,
						       .mapping = HD_MAP_RANDOM,
						       .seed = 3,
						       .patterns = 1000};
	return scene;
}

static void scene_end(struct scene *scene)
{
	hd_pattern_free(scene->pattern);
	hd_ranks_free(scene->ranks);
	hd_routes_free(scene->routes);
	hd_fabric_free(scene->fabric);
}

static struct hd_congestion_report *run(const struct hd_congestion_request *request)
{
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	CHECK(hd_congestion_run(request, &report, &err));
	return report;
}

static void assert_same(const struct hd_congestion_report *a, const struct hd_congestion_report *b)
{
	assert_int_equal(a->patterns, b->patterns);
	assert_int_equal(a->routes, b->routes);
	assert_true(a->mean == b->mean && a->half_width == b->half_width);
	assert_true(a->minimum == b->minimum && a->deviation == b->deviation);
	assert_true(a->sum_max == b->sum_max && a->sum_avg == b->sum_avg);
	assert_int_equal(a->histogram_size, b->histogram_size);
	assert_memory_equal(a->histogram, b->histogram, a->histogram_size * 8);
	assert_memory_equal(a->bins, b->bins, (HD_PATTERN_BINS + 1) * 8);
	assert_int_equal(a->link_count, b->link_count);
	assert_memory_equal(a->link_flows, b->link_flows, a->link_count * 8);
	assert_memory_equal(a->link_worst, b->link_worst, a->link_count * 8);
}

/* ---- threads and processes ---- */

static void threads_change_nothing(void **state)
{
	(void)state;
	const char *kinds[] = {"bisect", "dissemination", "uniform"};
	for (unsigned i = 0; i < 3; i++)
		for (unsigned model = 0; model < 2; model++) {
			struct scene scene =
			    scene_of("irregular", "switches=12 radix=8", kinds[i], "");
			scene.request.link_flows = true;
			scene.request.shares = model ? HD_SHARE_MAX_MIN : HD_SHARE_CONGESTION;
			scene.request.patterns = model ? 100 : 1000;
			struct hd_congestion_report *one = run(&scene.request);
			scene.request.threads = 3;
			struct hd_congestion_report *three = run(&scene.request);
			assert_same(one, three);
			hd_congestion_report_free(one);
			hd_congestion_report_free(three);
			scene_end(&scene);
		}
}

/* Stand-in for processes: a thread each, that meet to add up. */
struct meeting {
	pthread_barrier_t barrier;
	pthread_mutex_t lock;
	uint64_t sums[8192], minima[8192];
	unsigned parts;
};

struct part {
	struct meeting *meeting;
	struct hd_congestion_request request;
	struct hd_congestion_report *report;
};

static int meet(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
		size_t minimum_count)
{
	struct meeting *meeting = context;
	if (sum_count > 8192 || minimum_count > 8192)
		return -ENOSPC;
	if (pthread_barrier_wait(&meeting->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
		memset(meeting->sums, 0, sizeof(meeting->sums));
		memset(meeting->minima, 0xFF, sizeof(meeting->minima));
	}
	pthread_barrier_wait(&meeting->barrier);
	pthread_mutex_lock(&meeting->lock);
	for (size_t i = 0; i < sum_count; i++)
		meeting->sums[i] += sums[i];
	for (size_t i = 0; i < minimum_count; i++)
		if (minima[i] < meeting->minima[i])
			meeting->minima[i] = minima[i];
	pthread_mutex_unlock(&meeting->lock);
	pthread_barrier_wait(&meeting->barrier);
	memcpy(sums, meeting->sums, sum_count * sizeof(*sums));
	if (minimum_count)
		memcpy(minima, meeting->minima, minimum_count * sizeof(*minima));
	return 0;
}

static void *run_part(void *argument)
{
	struct part *part = argument;
	struct hd_error err;
	hd_congestion_run(&part->request, &part->report, &err);
	return NULL;
}

static void assert_parts_same(const struct scene *scene, unsigned parts,
			      const struct hd_congestion_report *whole)
{
	static struct meeting meeting;
	uint64_t *means = calloc(scene->request.patterns * parts, sizeof(*means));
	struct part part[8] = {0};
	pthread_t thread[8];
	pthread_barrier_init(&meeting.barrier, NULL, parts);
	pthread_mutex_init(&meeting.lock, NULL);
	for (unsigned i = 0; i < parts; i++) {
		part[i].request = scene->request;
		part[i].request.part = i;
		part[i].request.parts = parts;
		part[i].request.means = means + i * scene->request.patterns;
		part[i].request.combine = meet;
		part[i].request.combine_context = &meeting;
		assert_int_equal(pthread_create(&thread[i], NULL, run_part, &part[i]), 0);
	}
	for (unsigned i = 0; i < parts; i++) {
		pthread_join(thread[i], NULL);
		assert_non_null(part[i].report);
		assert_same(part[i].report, whole);
		assert_memory_equal(part[i].request.means, scene->request.means,
				    scene->request.patterns * sizeof(*means));
		hd_congestion_report_free(part[i].report);
	}
	free(means);
	pthread_mutex_destroy(&meeting.lock);
	pthread_barrier_destroy(&meeting.barrier);
}

static void processes_change_nothing(void **state)
{
	(void)state;
	struct scene scene = scene_of("irregular", "switches=12 radix=8", "bisect", "");
	scene.request.link_flows = true;
	scene.request.patterns = 1001;
	scene.request.means = calloc(1001, sizeof(uint64_t));
	struct hd_congestion_report *whole = run(&scene.request);
	assert_parts_same(&scene, 2, whole);
	assert_parts_same(&scene, 7, whole);
	free(scene.request.means);
	hd_congestion_report_free(whole);
	scene_end(&scene);
}

/* ---- statistics ---- */

static void the_seed_changes_the_figures_but_little(void **state)
{
	(void)state;
	struct scene scene = scene_of("kary-ntree", "k=4 n=3", "bisect", "");
	struct hd_congestion_report *first = run(&scene.request);
	scene.request.seed = 4;
	struct hd_congestion_report *second = run(&scene.request);
	assert_true(first->mean != second->mean);
	assert_true(fabs(first->mean - second->mean) < 2 * first->half_width);
	hd_congestion_report_free(first);
	hd_congestion_report_free(second);
	scene_end(&scene);
}

static void it_stops_at_a_precision_whatever_the_threads(void **state)
{
	(void)state;
	struct scene scene = scene_of("kary-ntree", "k=4 n=3", "bisect", "");
	scene.request.patterns = 1000000;
	scene.request.precision = 0.0008;
	struct hd_congestion_report *one = run(&scene.request);
	scene.request.threads = 2;
	struct hd_congestion_report *two = run(&scene.request);
	assert_true(one->half_width <= 0.0008);
	assert_true(one->patterns < 1000000);
	assert_int_equal(one->patterns, two->patterns);
	assert_true(one->mean == two->mean);
	hd_congestion_report_free(one);
	hd_congestion_report_free(two);
	scene_end(&scene);
}

/* Of 40 runs with different seeds about 99% have the true mean (that of all together) within
 * their interval; 4 outside would be one chance in a thousand. */
static void the_confidence_interval_covers_the_mean(void **state)
{
	(void)state;
	struct scene scene = scene_of("kary-ntree", "k=3 n=3", "bisect", "");
	double mean[40], half_width[40], sum = 0;
	unsigned outside = 0;
	scene.request.patterns = 400;
	for (uint64_t i = 0; i < 40; i++) {
		scene.request.seed = 100 + i;
		struct hd_congestion_report *report = run(&scene.request);
		mean[i] = report->mean;
		half_width[i] = report->half_width;
		sum += report->mean;
		hd_congestion_report_free(report);
	}
	for (unsigned i = 0; i < 40; i++)
		outside += fabs(mean[i] - sum / 40) > half_width[i];
	assert_true(outside < 4);
	assert_true(half_width[0] > 0.001 && half_width[0] < 0.05);
	scene_end(&scene);
}

static void percentiles_and_minimum_agree_with_the_bins(void **state)
{
	(void)state;
	struct scene scene = scene_of("kary-ntree", "k=4 n=3", "bisect", "");
	struct hd_congestion_report *report = run(&scene.request);
	uint64_t patterns = 0;
	for (unsigned i = 0; i <= HD_PATTERN_BINS; i++)
		patterns += report->bins[i];
	assert_int_equal(patterns, 1000);
	assert_true(hd_congestion_percentile(report, 0) <= report->minimum);
	assert_true(hd_congestion_percentile(report, 0) > report->minimum - 0.001);
	assert_true(fabs(hd_congestion_percentile(report, 50) - report->mean) < 0.01);
	assert_true(hd_congestion_percentile(report, 1) < hd_congestion_percentile(report, 99));
	hd_congestion_report_free(report);
	scene_end(&scene);
}

/* Host cables count: n senders to one receiver share its cable. */
static void a_receiver_shares_its_cable(void **state)
{
	(void)state;
	struct scene scene = scene_of("kary-ntree", "k=9 n=1", "gather", "");
	scene.request.patterns = 1;
	scene.request.link_flows = true;
	struct hd_congestion_report *report = run(&scene.request);
	assert_int_equal(report->routes, 8);
	assert_int_equal(report->histogram[8], 8);
	assert_true(fabs(report->mean - 0.125) < 1e-12);
	uint32_t hottest[2];
	assert_int_equal(hd_congestion_hottest(report, hottest, 2), 2);
	assert_int_equal(report->link_flows[hottest[0]], 8);
	assert_int_equal(report->link_worst[hottest[0]], 8);
	assert_int_equal(report->link_flows[hottest[1]], 1);
	uint32_t port = hd_congestion_link_port(scene.fabric, hottest[0]);
	assert_true(hd_is_switch(scene.fabric, scene.fabric->port_node[port]));
	hd_congestion_report_free(report);
	scene_end(&scene);
}

/* ---- shares ---- */

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

/* ---- LIDs, faults, refusals ---- */

/* All offsets of random LIDs are in use: cut one and some flows break, cut none and none does. */
static void random_lids_use_every_offset(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	struct hd_fabric *fabric = NULL;
	uint64_t random = 1;
	CHECK(hd_fabric_assign_lids(scene.fabric, 2, &fabric, &err));
	struct hd_routes *routes = random_tables(fabric, &random, false);
	struct hd_ranks *ranks = all_ranks(fabric);
	for (unsigned cut = 0; cut < 5; cut++) {
		struct hd_congestion_request request = scene.request;
		request.fabric = fabric;
		request.ranks = ranks;
		request.routes = routes;
		request.lids = HD_LIDS_RANDOM;
		uint32_t host_lid = fabric->lid[fabric->host_port[0]] + (cut - 1);
		uint8_t *entry = &hd_routes_row(routes, fabric->host_switch[3])[cut ? host_lid : 0];
		uint8_t kept = *entry;
		*entry = HD_NO_PORT;
		struct hd_congestion_report *report = run(&request);
		*entry = kept;
		if (cut)
			assert_true(report->broken > 0);
		else
			assert_int_equal(report->broken, 0);
		hd_congestion_report_free(report);
	}
	hd_ranks_free(ranks);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	scene_end(&scene);
}

static void a_table_without_any_route_is_refused(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	memset(scene.routes->lft, HD_NO_PORT,
	       (size_t)scene.routes->switch_count * scene.routes->stride);
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no route arrives in 1000 patterns (2000 flows"));
	scene_end(&scene);
}

/* The means of patterns are those that the report sums up. */
static void means_of_patterns_agree_with_the_report(void **state)
{
	(void)state;
	struct scene scene = scene_of("kary-ntree", "k=4 n=2", "bisect", "");
	uint64_t means[1000], sum = 0, least = UINT64_MAX;
	scene.request.means = means;
	struct hd_congestion_report *report = run(&scene.request);
	for (unsigned i = 0; i < 1000; i++) {
		sum += means[i];
		least = means[i] < least ? means[i] : least;
	}
	assert_true(fabs((double)sum / 1000 / (double)HD_SHARE_ONE - report->mean) < 1e-8);
	assert_true((double)least / (double)HD_SHARE_ONE == report->minimum);
	hd_congestion_report_free(report);
	scene_end(&scene);
}

/* One entry taken out of a leaf's and one of a top switch's table, one turned back. */
static void broken_routes_are_counted_and_listed(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct scene scene = scene_of("xgft", "children=3,2 parents=1,1", "bisect", "");
	const struct hd_fabric *fabric = scene.fabric;
	struct hd_broken_route list[8];
	uint64_t routes[HD_BROKEN_KINDS];
	uint32_t listed = 9, leaf = fabric->host_switch[0], other = fabric->host_switch[3];
	CHECK(hd_broken_routes(scene.routes, scene.ranks, routes, list, 8, &listed, &err));
	assert_int_equal(listed + routes[0] + routes[1] + routes[2], 0);
	uint32_t lid[6];
	for (uint32_t host = 0; host < 6; host++)
		lid[host] = fabric->lid[fabric->host_port[host]];
	hd_routes_row(scene.routes, leaf)[lid[4]] = HD_NO_PORT;
	hd_routes_row(scene.routes, leaf)[lid[1]] = fabric->host_exit[0];
	hd_routes_row(scene.routes, other)[lid[5]] = 4;
	CHECK(hd_broken_routes(scene.routes, scene.ranks, routes, list, 8, &listed, &err));
	assert_int_equal(routes[HD_BROKEN_NO_ENTRY], 3);
	/* Two neighbours and the three of the other leaf find host 1 at host 0's port. */
	assert_int_equal(routes[HD_BROKEN_DEAD_END], 5);
	/* Host 5 is sent up again by its own leaf. */
	assert_int_equal(routes[HD_BROKEN_LOOP], 5);
	assert_int_equal(listed, 5);
	assert_int_equal(list[0].source, leaf);
	assert_int_equal(list[0].host, 1);
	assert_int_equal(list[0].lid, lid[1]);
	assert_int_equal(list[0].kind, HD_BROKEN_DEAD_END);
	assert_int_equal(list[1].kind, HD_BROKEN_NO_ENTRY);
	scene_end(&scene);
}

static void tables_of_another_fabric_are_refused(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	struct scene other = scene_of("kary-ntree", "k=2 n=3", "bisect", "");
	scene.request.routes = other.routes;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "tables of 12 switches"));
	scene.request.routes = scene.routes;
	scene.request.ranks = other.ranks;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	scene.request.ranks = scene.ranks;
	scene.request.patterns = 0;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -EINVAL);
	scene_end(&other);
	scene_end(&scene);
}

static int stop(void *context, const struct hd_congestion_progress *progress)
{
	*(uint64_t *)context = progress->patterns;
	return 1;
}

static void progress_can_stop_the_run(void **state)
{
	(void)state;
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;
	uint64_t told = 0;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	scene.request.patterns = 1000000;
	scene.request.progress = stop;
	scene.request.progress_context = &told;
	assert_int_equal(hd_congestion_run(&scene.request, &report, &err), -ECANCELED);
	assert_true(told > 0 && told < 1000000);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads_change_nothing),
	    cmocka_unit_test(processes_change_nothing),
	    cmocka_unit_test(the_seed_changes_the_figures_but_little),
	    cmocka_unit_test(it_stops_at_a_precision_whatever_the_threads),
	    cmocka_unit_test(the_confidence_interval_covers_the_mean),
	    cmocka_unit_test(percentiles_and_minimum_agree_with_the_bins),
	    cmocka_unit_test(a_receiver_shares_its_cable),
	    cmocka_unit_test(max_min_gives_what_others_cannot_use),
	    cmocka_unit_test(max_min_is_never_below_congestion),
	    cmocka_unit_test(rates_bound_shares),
	    cmocka_unit_test(random_lids_use_every_offset),
	    cmocka_unit_test(a_table_without_any_route_is_refused),
	    cmocka_unit_test(means_of_patterns_agree_with_the_report),
	    cmocka_unit_test(broken_routes_are_counted_and_listed),
	    cmocka_unit_test(tables_of_another_fabric_are_refused),
	    cmocka_unit_test(progress_can_stop_the_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
