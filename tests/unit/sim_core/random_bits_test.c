/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many small networks with all that the model has, drawn by seeds: what comes out is known to the bit. A
 * change that shall not change the model does not change these numbers. One that shall renews them;
 * the tables of engines, plans and trees that the networks use are part of them, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "random_testing.h"

#define RUN_TIME (150 * HD_SIM_MICROSECOND)

static void mix_class(uint64_t *hash, const struct hd_sim_class *class)
{
	mix(hash, class->messages_sent);
	mix(hash, class->messages_delivered);
	mix(hash, class->messages_lost);
	mix(hash, class->packets_injected);
	mix(hash, class->packets_delivered);
	mix(hash, class->packets_dropped);
	mix(hash, class->bytes_delivered);
	mix(hash, class->packet.least);
	mix(hash, class->packet.greatest);
	for (uint32_t i = 0; i < HD_SIM_HISTOGRAM_BINS; i++)
		if (class->message.bins[i])
			mix(hash, (uint64_t)i << 32 | class->message.bins[i]);
}

static void mix_deadlock(uint64_t *hash, const struct hd_sim *sim)
{
	uint32_t count;
	const struct hd_sim_buffer *cycle = hd_sim_deadlock(sim, &count);

	mix(hash, count);
	for (uint32_t i = 0; i < count; i++) {
		mix(hash, cycle[i].port);
		mix(hash, cycle[i].lane);
		mix(hash, cycle[i].waits_for);
	}
}

static uint64_t hash_of(const struct bed *bed)
{
	struct hd_sim_figures figures = bed_figures(bed);
	uint64_t hash = bed->traffic.hash;

	mix(&hash, hd_sim_now(bed->sim));
	mix(&hash, figures.from);
	mix(&hash, figures.hops);
	mix(&hash, figures.packets);
	mix(&hash, figures.dropped_head);
	mix(&hash, figures.dropped_switch);
	mix(&hash, figures.dropped_route);
	mix_class(&hash, &figures.classes[0]);
	for (uint32_t i = 0; i < figures.flow_count; i++)
		mix(&hash, figures.flow_bytes[i]);
	for (uint32_t i = 0; i < figures.flow_count * figures.bin_count; i++)
		mix(&hash, figures.flow_bins[i]);
	for (uint32_t port = 0; port < bed->fabric->port_count; port++) {
		const struct hd_sim_link *link = &figures.links[0][port];
		mix(&hash, link->bytes);
		mix(&hash, link->packets);
		mix(&hash, link->busy);
		mix(&hash, link->blocked);
	}
	mix_deadlock(&hash, bed->sim);
	return hash;
}

/* Half of the runs count only from a later time on, and half have a series. */
static uint64_t hash_alone(uint64_t seed, bool adaptive)
{
	uint64_t random = seed, hash;
	struct bed bed;

	random_bed(&bed, &random, adaptive);
	for (uint32_t i = 0; i < bed.traffic.count; i++)
		if (bed.traffic.flows[i].pace == POISSON)
			bed.traffic.flows[i].pace = UNIFORM;
	bed.settings.warm_up = seed % 2 * 9 * HD_SIM_MICROSECOND;
	bed.settings.bin = seed / 2 % 2 * 5 * HD_SIM_MICROSECOND;
	bed.settings.multicast_first = seed / 4 % 2;
	bed_run(&bed, RUN_TIME);
	hash = hash_of(&bed);
	hd_mfts_free(bed.mfts);
	bed_free(&bed);
	return hash;
}

static uint64_t hash_all(uint64_t first, uint64_t count, bool adaptive)
{
	uint64_t hash = 0;

	for (uint64_t seed = first; seed < first + count; seed++)
		mix(&hash, hash_alone(seed, adaptive));
	return hash;
}

static void test_deterministic_traffic(void **state)
{
	(void)state;
	assert_int_equal(
	    hash_all(31000, UNDER_SANITIZERS(24, 120), false),
	    UNDER_SANITIZERS(UINT64_C(0xdf0e968acf546f9f), UINT64_C(0x6563dd704871f6e2)));
}

static void test_adaptive_and_multicast_traffic(void **state)
{
	(void)state;
	assert_int_equal(
	    hash_all(32000, UNDER_SANITIZERS(48, 240), true),
	    UNDER_SANITIZERS(UINT64_C(0xc3edc39ae170b70d), UINT64_C(0x26d2a1adfb2f0f0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_deterministic_traffic),
	    cmocka_unit_test(test_adaptive_and_multicast_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
