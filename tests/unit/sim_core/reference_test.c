/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The simulator and its slow, obvious twin agree on each message to the picosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "random_testing.h"
#include "reference.h"

struct play {
	struct reference_message *messages, *results;
	uint32_t count;
};

static int play_start(void *context, struct hd_sim *sim, struct hd_error *err)
{
	struct play *play = context;

	(void)err;
	for (uint32_t i = 0; i < play->count; i++)
		assert_int_equal(hd_sim_wake(sim, play->messages[i].created, i), 0);
	return 0;
}

static void play_wake(void *context, struct hd_sim *sim, uint64_t token)
{
	const struct play *play = context;
	const struct reference_message *message = &play->messages[token];

	assert_int_equal(
	    hd_sim_send(sim, &(struct hd_sim_message){.source = message->source,
						      .destination = message->destination,
						      .bytes = message->bytes,
						      .flow = HD_NONE,
						      .lane = message->lane,
						      .tag = token}),
	    0);
}

static void play_delivered(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
			   const struct hd_sim_times *times, uint32_t endpoint)
{
	struct play *play = context;

	(void)sim;
	assert_int_equal(endpoint, message->destination);
	play->results[message->tag].injected = times->injected;
	play->results[message->tag].done = times->done;
}

static void draw_messages(struct play *play, const struct bed *bed, uint64_t *random)
{
	uint64_t time = 0;
	uint32_t hosts = bed->fabric->host_count;

	play->count = 20 + below(random, 40);
	play->messages = calloc(play->count, sizeof(*play->messages));
	play->results = calloc(play->count, sizeof(*play->results));
	for (uint32_t i = 0; i < play->count; i++) {
		uint32_t to = below(random, hosts - 1);
		struct reference_message *message = &play->messages[i];
		/* many at the same time, and times that coincide with those of packets */
		if (!below(random, 3))
			time += below(random, 40) * 50 * NANOSECOND;
		message->created = time;
		message->source = below(random, hosts);
		message->destination = to + (to >= message->source);
		if (below(random, 2))
			message->destination = message->source ? 0 : 1;
		message->bytes = below(random, 2) ? bed->settings.mtu : 1 + below(random, 3000);
		message->lane = (uint8_t)below(random, bed->settings.lanes);
		if (!below(random, 10))
			message->lane = 15;
		play->results[i].done = play->results[i].injected = HD_SIM_NEVER;
	}
}

static void play_fast(struct play *play, const struct bed *bed, uint64_t *hops)
{
	struct hd_sim_subnet subnet = {.fabric = bed->fabric, .routes = bed->routes};
	struct hd_sim_network network = {.subnets = &subnet, .subnet_count = 1};
	struct hd_sim_workload workload = {
	    .start = play_start, .wake = play_wake, .delivered = play_delivered, .context = play};
	struct hd_sim_figures figures;
	struct hd_sim *sim = NULL;
	enum hd_sim_end end;

	CHECK(hd_sim_new(&network, &bed->settings, &workload, &sim, &err));
	CHECK(hd_sim_run(sim, HD_SIM_NEVER, &end, &err));
	hd_sim_figures(sim, &figures);
	*hops = figures.hops;
	hd_sim_free(sim);
}

static void compare(uint64_t seed, bool rates)
{
	uint64_t random = seed, fast, slow;
	struct play play;
	struct bed bed;
	uint32_t lanes = 1 + below(&random, 3);
	struct hd_fabric *fabric = random_kind(&random);

	bed_init(&bed, fabric, random_routes(fabric, &random, false, 1));
	random_settings(&bed.settings, lanes, &random);
	bed.settings.forced_rate = rates ? 0 : 40 * GIGABIT;
	bed.settings.arbitration = (struct hd_sim_arbitration){0};
	bed.settings.head_lifetime = bed.settings.switch_lifetime = HD_SIM_NEVER;
	draw_messages(&play, &bed, &random);
	play_fast(&play, &bed, &fast);
	slow = reference_run(bed.fabric, bed.routes, &bed.settings, play.messages, play.count);
	assert_int_equal(fast, slow);
	for (uint32_t i = 0; i < play.count; i++) {
		if (play.messages[i].done == HD_SIM_NEVER)
			continue; /* nobody has said when a message was sent that did not arrive */
		assert_int_equal(play.messages[i].injected, play.results[i].injected);
		assert_int_equal(play.messages[i].done, play.results[i].done);
	}
	free(play.messages);
	free(play.results);
	bed_free(&bed);
}

static void test_random_networks(void **state)
{
	(void)state;
	for (uint64_t seed = 170; seed < CASES(205, 180); seed++)
		compare(seed, seed % 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
