/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The run: independence of threads and processes, statistics. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "testing.h"

#include "random_tables.h"
#include "scene.h"

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

static void assert_threads_same(struct hd_congestion_request *request)
{
	request->threads = 1;
	struct hd_congestion_report *one = run(request);
	for (request->threads = 2; request->threads <= 4; request->threads++) {
		struct hd_congestion_report *more = run(request);
		assert_same(one, more);
		hd_congestion_report_free(more);
	}
	hd_congestion_report_free(one);
}

static void threads_change_nothing(void **state)
{
	(void)state;
	const char *kinds[] = {"bisect", "dissemination", "uniform", "all-to-all"};
	for (unsigned i = 0; i < 4; i++)
		for (unsigned model = 0; model < 2; model++) {
			struct scene scene =
			    scene_of("irregular", "switches=12 radix=8", kinds[i], "");
			scene.request.link_flows = true;
			scene.request.shares = model ? HD_SHARE_MAX_MIN : HD_SHARE_CONGESTION;
			scene.request.patterns = model || i == 3 ? 100 : 1000;
			assert_threads_same(&scene.request);
			scene_end(&scene);
		}
}

/* A batch of patterns of many flows is short, and its last part shorter: of 512 ranks 16. */
static void few_long_patterns_change_nothing(void **state)
{
	(void)state;
	struct scene scene = scene_of("kary-ntree", "k=8 n=3", "all-to-all", "");
	scene.request.link_flows = true;
	for (scene.request.patterns = 1; scene.request.patterns <= 17; scene.request.patterns += 16)
		assert_threads_same(&scene.request);
	scene_end(&scene);
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
	struct hd_error err;
	int rc;
};

static void meeting_begin(struct meeting *meeting, unsigned parts)
{
	meeting->parts = parts;
	pthread_barrier_init(&meeting->barrier, NULL, parts);
	pthread_mutex_init(&meeting->lock, NULL);
}

static void meeting_end(struct meeting *meeting)
{
	pthread_mutex_destroy(&meeting->lock);
	pthread_barrier_destroy(&meeting->barrier);
}

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

	part->rc = hd_congestion_run(&part->request, &part->report, &part->err);
	return NULL;
}

static void part_begin(struct part *part, struct meeting *meeting,
		       const struct hd_congestion_request *request, unsigned number)
{
	part->meeting = meeting;
	part->request = *request;
	part->request.part = number;
	part->request.parts = meeting->parts;
	part->request.combine = meet;
	part->request.combine_context = meeting;
}

static void assert_parts_same(const struct scene *scene, unsigned parts,
			      const struct hd_congestion_report *whole)
{
	static struct meeting meeting;
	uint64_t *means = calloc(scene->request.patterns * parts, sizeof(*means));
	struct part part[8] = {0};
	pthread_t thread[8];

	meeting_begin(&meeting, parts);
	for (unsigned i = 0; i < parts; i++) {
		part_begin(&part[i], &meeting, &scene->request, i);
		part[i].request.means = means + i * scene->request.patterns;
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
	meeting_end(&meeting);
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

/* One process cannot set up its part; the others, that could, end as well and do not wait for it.
 */
static void a_process_that_fails_ends_all(void **state)
{
	(void)state;
	static struct meeting meeting;
	struct scene scene = scene_of("kary-ntree", "k=2 n=2", "bisect", "");
	struct scene other = scene_of("kary-ntree", "k=2 n=3", "bisect", "");
	struct part part[3] = {0};
	pthread_t thread[3];
	meeting_begin(&meeting, 3);
	for (unsigned i = 0; i < 3; i++) {
		part_begin(&part[i], &meeting, &scene.request, i);
		if (i == 1)
			part[i].request.ranks = other.ranks;
		assert_int_equal(pthread_create(&thread[i], NULL, run_part, &part[i]), 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(part[i].rc, i == 1 ? -EINVAL : -ENOMEM);
		assert_null(part[i].report);
	}
	assert_non_null(strstr(part[0].err.text, "1 of the other processes failed (3 in all)"));
	meeting_end(&meeting);
	scene_end(&other);
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

#define STEPS_MAX 100

/* What was told after each batch. */
struct steps {
	uint32_t count;
	struct hd_congestion_progress step[STEPS_MAX];
};

static int note_step(void *context, const struct hd_congestion_progress *progress)
{
	struct steps *steps = context;

	assert_true(steps->count < STEPS_MAX);
	steps->step[steps->count++] = *progress;
	return 0;
}

static void run_to_precision(struct scene *scene, unsigned threads, struct steps *steps)
{
	steps->count = 0;
	scene->request.threads = threads;
	scene->request.progress_context = steps;
	struct hd_congestion_report *report = run(&scene->request);
	const struct hd_congestion_progress *last = &steps->step[steps->count - 1];
	assert_int_equal(report->patterns, last->patterns);
	assert_true(report->mean == last->mean && report->half_width == last->half_width);
	hd_congestion_report_free(report);
}

/* It ends with the first batch that is precise enough, and batches are the same ones. */
static void it_stops_at_a_precision_whatever_the_threads(void **state)
{
	(void)state;
	struct scene scene = scene_of("kary-ntree", "k=4 n=3", "bisect", "");
	struct steps one, many;
	scene.request.patterns = 1000000;
	scene.request.precision = 0.0005;
	scene.request.progress = note_step;
	run_to_precision(&scene, 1, &one);
	assert_true(one.count > 2);
	for (uint32_t i = 0; i < one.count; i++)
		assert_true((one.step[i].half_width <= 0.0005) == (i == one.count - 1));
	for (unsigned threads = 2; threads <= 4; threads *= 2) {
		run_to_precision(&scene, threads, &many);
		assert_int_equal(many.count, one.count);
		for (uint32_t i = 0; i < one.count; i++) {
			assert_int_equal(many.step[i].patterns, one.step[i].patterns);
			assert_true(many.step[i].mean == one.step[i].mean);
			assert_true(many.step[i].half_width == one.step[i].half_width);
		}
	}
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
	assert_true(hd_congestion_percentile(report, 0) == report->minimum);
	for (int percent = 1; percent <= 100; percent++)
		assert_true(hd_congestion_percentile(report, percent) >=
			    hd_congestion_percentile(report, percent - 1));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads_change_nothing),
	    cmocka_unit_test(few_long_patterns_change_nothing),
	    cmocka_unit_test(processes_change_nothing),
	    cmocka_unit_test(a_process_that_fails_ends_all),
	    cmocka_unit_test(the_seed_changes_the_figures_but_little),
	    cmocka_unit_test(it_stops_at_a_precision_whatever_the_threads),
	    cmocka_unit_test(the_confidence_interval_covers_the_mean),
	    cmocka_unit_test(percentiles_and_minimum_agree_with_the_bins),
	    cmocka_unit_test(a_receiver_shares_its_cable),
	    cmocka_unit_test(means_of_patterns_agree_with_the_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
