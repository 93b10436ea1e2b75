/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same seed gives the same bits: at each run, with any sanitizer, and in threads that run
 * simulations at the same time. ThreadSanitizer runs this test.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

#define THREADS 3u
#define SMALL "children=4,4,4 parents=1,4,4"
#define LARGE "children=32,32 parents=1,32" /* does not fit into a processor's cache */

static void mix_histogram(uint64_t *hash, const struct hd_sim_histogram *histogram)
{
	uint64_t bits[2];

	memcpy(&bits[0], &histogram->mean, sizeof(bits[0]));
	memcpy(&bits[1], &histogram->square, sizeof(bits[1]));
	mix(hash, histogram->count);
	mix(hash, histogram->least);
	mix(hash, histogram->greatest);
	mix(hash, bits[0]);
	mix(hash, bits[1]);
	for (uint32_t i = 0; i < HD_SIM_HISTOGRAM_BINS; i++)
		mix(hash, histogram->bins[i]);
}

static uint64_t hash_of(const struct bed *bed)
{
	struct hd_sim_figures figures = bed_figures(bed);
	uint64_t hash = bed->traffic.hash;

	mix(&hash, figures.hops);
	mix(&hash, figures.arrived);
	mix_histogram(&hash, &figures.classes[0].packet);
	mix_histogram(&hash, &figures.classes[0].message);
	for (uint32_t i = 0; i < figures.flow_count; i++)
		mix(&hash, figures.flow_bytes[i]);
	for (uint32_t i = 0; i < figures.flow_count * figures.bin_count; i++)
		mix(&hash, figures.flow_bins[i]);
	for (uint32_t port = 0; port < bed->fabric->port_count; port++) {
		mix(&hash, figures.links[0][port].busy);
		mix(&hash, figures.links[0][port].blocked);
	}
	return hash;
}

/* The network is shared by all threads. */
struct run {
	struct bed bed;
	uint64_t seed, hash, end;
};

static void prepare(struct run *run, uint64_t seed, const char *tree)
{
	struct hd_fabric *fabric = generate("xgft", tree);

	memset(run, 0, sizeof(*run));
	bed_init(&run->bed, fabric, route("dmodk", fabric));
	run->seed = seed;
	run->end = 100 * HD_SIM_MICROSECOND;
}

static void *simulate(void *context)
{
	struct run *run = context;

	run->bed.settings.seed = run->seed;
	run->bed.settings.bin = 10 * HD_SIM_MICROSECOND;
	for (uint32_t i = 0; i < run->bed.traffic.count; i++)
		bed_flow(&run->bed, i, UNIFORM, HD_NONE)->gap = 414800.0 / 0.7;
	bed_run(&run->bed, run->end);
	run->hash = hash_of(&run->bed);
	return NULL;
}

static uint64_t hash_alone(uint64_t seed)
{
	struct run run;
	uint64_t hash;

	prepare(&run, seed, SMALL);
	simulate(&run);
	hash = run.hash;
	bed_free(&run.bed);
	return hash;
}

/* The number is that of every machine and every build: a change of the model must change it here. */
static void test_same_bits_everywhere(void **state)
{
	(void)state;
	assert_int_equal(hash_alone(1), hash_alone(1));
	assert_int_not_equal(hash_alone(1), hash_alone(2));
	assert_int_equal(hash_alone(1), UINT64_C(0x3ef8a7681f3fbe34));
}

/* The number is that of a build that takes no care of caches: see simulation.c. */
static void test_large_networks_are_not_different(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, 1, LARGE);
	run.end = 10 * HD_SIM_MICROSECOND;
	simulate(&run);
	assert_int_equal(run.hash, UINT64_C(0x10dc02ebfeea7465));
	bed_free(&run.bed);
}

/* Conga, with more flows than a leaf remembers. */
static void test_conga(void **state)
{
	struct hd_ar_request request = {.algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct run run;

	(void)state;
	prepare(&run, 1, SMALL);
	request.fabric = run.bed.fabric;
	request.routes = run.bed.routes;
	CHECK(hd_ar_plan_new(&request, &run.bed.plan, NULL, &err));
	run.bed.settings.selection = HD_SIM_CONGA;
	run.bed.settings.flowlet_gap = HD_SIM_MICROSECOND;
	run.end = 200 * HD_SIM_MICROSECOND;
	for (uint32_t i = 0; i < run.bed.traffic.count; i++)
		run.bed.traffic.flows[i].message.routing = HD_SIM_ADAPTIVE;
	simulate(&run);
	assert_int_equal(run.hash, UINT64_C(0x7e5b8f4705a2c9e3));
	bed_free(&run.bed);
}

static void test_threads_do_not_disturb_each_other(void **state)
{
	struct run runs[THREADS];
	pthread_t threads[THREADS];

	(void)state;
	for (uint32_t i = 0; i < THREADS; i++)
		prepare(&runs[i], i + 1, SMALL);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, simulate, &runs[i]), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(runs[i].hash, hash_alone(i + 1));
		bed_free(&runs[i].bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_bits_everywhere),
	    cmocka_unit_test(test_large_networks_are_not_different),
	    cmocka_unit_test(test_conga),
	    cmocka_unit_test(test_threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
