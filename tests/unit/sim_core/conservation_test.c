/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* No packet and no byte is lost or made, at any instant, whatever the network and the settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "core_state.h"
#include "random_testing.h"

static void end_bed(struct bed *bed)
{
	hd_mfts_free(bed->mfts);
	bed_free(bed);
}

/* Each buffer of the cycle waits for the next one, and none is there twice. */
static void check_cycle(const struct bed *bed)
{
	uint32_t count;
	const struct hd_sim_buffer *cycle = hd_sim_deadlock(bed->sim, &count);

	assert_true(count > 0);
	for (uint32_t i = 0; i < count; i++) {
		const struct hd_sim_buffer *next = &cycle[(i + 1) % count];
		assert_int_equal(bed->fabric->port_node[cycle[i].port],
				 bed->fabric->port_node[cycle[i].waits_for]);
		assert_int_equal(bed->fabric->peer[cycle[i].waits_for], next->port);
		for (uint32_t j = 0; j < i; j++)
			assert_false(cycle[i].port == cycle[j].port &&
				     cycle[i].lane == cycle[j].lane);
	}
}

/* All that pools have given is back: what is free is as much as was ever in use. */
#define CHECK_POOL(sim, name, items)                                                               \
	do {                                                                                       \
		uint32_t left = (sim)->name##_count;                                               \
		for (uint32_t i = (sim)->name##_free; i != HD_NONE; i = (sim)->items[i].next)      \
			left--;                                                                    \
		assert_int_equal(left, 0);                                                         \
	} while (0)

static void check_pools(const struct hd_sim *sim)
{
	CHECK_POOL(sim, packet, packets);
	CHECK_POOL(sim, message, messages);
	CHECK_POOL(sim, wake, wakes);
	CHECK_POOL(sim, copies, copies);
}

static void check_end(const struct bed *bed, enum hd_sim_end end, uint32_t *ends)
{
	const struct hd_sim_figures figures = bed_figures(bed);
	const struct hd_sim_class *class = &figures.classes[0];

	ends[end]++;
	if (end == HD_SIM_DEADLOCK) {
		assert_true(figures.in_flight > 0);
		if (!bed->mfts)
			check_cycle(bed);
		return;
	}
	if (end == HD_SIM_UNTIL) /* round a loop that wrong entries make, for ever */
		return;
	assert_int_equal(end, HD_SIM_IDLE);
	assert_int_equal(figures.in_flight, 0);
	check_pools(bed->sim);
	assert_int_equal(class->messages_sent, bed->traffic.sent);
	assert_int_equal(class->messages_delivered, bed->traffic.delivered);
	assert_true(class->messages_lost >= bed->traffic.lost);
	if (!bed->mfts)
		assert_int_equal(bed->traffic.sent, bed->traffic.delivered + bed->traffic.lost);
	if (!bed->mfts)
		assert_int_equal(class->packets_injected,
				 class->packets_delivered + class->packets_dropped);
	for (uint32_t i = 0; i < bed->traffic.count; i++)
		assert_int_equal(hd_sim_backlog(bed->sim, i), 0);
}

static void run_random(bool adaptive, uint64_t seeds, uint32_t *ends)
{
	for (uint64_t seed = 0; seed < seeds; seed++) {
		struct bed bed;
		uint64_t random = seed + 1000 * adaptive;
		random_bed(&bed, &random, adaptive);
		bed.traffic.check = 13;
		check_end(&bed, bed_run(&bed, 10000 * HD_SIM_MICROSECOND), ends);
		end_bed(&bed);
	}
}

static void test_random_tables(void **state)
{
	uint32_t ends[4] = {0};

	(void)state;
	run_random(false, UNDER_SANITIZERS(50, 100), ends);
	assert_true(ends[HD_SIM_UNTIL] < 5);
	assert_true(ends[HD_SIM_IDLE] > UNDER_SANITIZERS(6, 20));
	assert_true(ends[HD_SIM_DEADLOCK] > 0);
}

static void test_adaptive_and_multicast(void **state)
{
	uint32_t ends[4] = {0};

	(void)state;
	run_random(true, UNDER_SANITIZERS(36, 120), ends);
	assert_true(ends[HD_SIM_UNTIL] < 5);
	assert_true(ends[HD_SIM_IDLE] > UNDER_SANITIZERS(12, 40));
}

/* Checks after single events, not only at callbacks: the run stops every few nanoseconds. */
static void test_between_events(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < UNDER_SANITIZERS(4, 12); seed++) {
		struct bed bed;
		uint64_t random = seed + 77777;
		random_bed(&bed, &random, seed % 2);
		for (uint64_t time = 0; time < 20 * HD_SIM_MICROSECOND; time += 29 * NANOSECOND)
			bed_run(&bed, time);
		end_bed(&bed);
	}
}

/* A run in pieces is the same run. */
static void test_pieces_make_the_whole(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < UNDER_SANITIZERS(4, 10); seed++) {
		uint64_t hashes[2];
		for (int pieces = 0; pieces < 2; pieces++) {
			struct bed bed;
			uint64_t random = seed + 4444;
			random_bed(&bed, &random, seed % 2);
			for (uint64_t time = 0; pieces && time < 200 * HD_SIM_MICROSECOND;
			     time += 1777 * NANOSECOND)
				bed_run(&bed, time);
			bed_run(&bed, 200 * HD_SIM_MICROSECOND);
			hashes[pieces] = bed.traffic.hash + bed_figures(&bed).hops;
			end_bed(&bed);
		}
		assert_int_equal(hashes[0], hashes[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_tables),
	    cmocka_unit_test(test_adaptive_and_multicast),
	    cmocka_unit_test(test_between_events),
	    cmocka_unit_test(test_pieces_make_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
