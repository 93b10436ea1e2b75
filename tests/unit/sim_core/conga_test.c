/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Conga against its own description: M. Alizadeh et al., SIGCOMM 2014. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

#define HOSTS 16u /* of a leaf */
#define MESSAGE (256u * 2048u) /* bytes */
#define THINK (1100 * HD_SIM_MICROSECOND) /* on average */
#define TOLD_EACH (20 * HD_SIM_MICROSECOND)
#define RUN_TIME (100000 * HD_SIM_MICROSECOND)

/*
 * The example of that paper for links of different rates: two leaves and two spines, all with
 * 4x QDR, but one spine has only half the rate to leaf 1.
 *
 *        spine 2    spine 3
 *       4 /    \4  4/    \2
 *     leaf 0         leaf 1
 */
static struct hd_fabric *asymmetric(void)
{
	struct drawing drawing = {.builder = hd_builder_new()};

	for (uint32_t i = 0; i < 4; i++)
		draw_switch(&drawing, i < 2 ? HOSTS + 2 : 2);
	for (uint32_t host = 0; host < 2 * HOSTS; host++)
		draw_host(&drawing, host / HOSTS, host % HOSTS + 1, HD_SPEED_SDR);
	for (uint32_t leaf = 0; leaf < 2; leaf++)
		for (uint32_t spine = 0; spine < 2; spine++)
			CHECK(hd_builder_link(drawing.builder, leaf, HOSTS + 1 + spine, 2 + spine,
					      leaf + 1, 4,
					      leaf && spine ? HD_SPEED_DDR : HD_SPEED_QDR, &err));
	return drawn(&drawing);
}

/* A host of leaf 0 sends a message, waits until it has come, thinks, and sends the next. Hosts of
 * leaf 1 send a small packet now and then, if they send at all. */
struct loop {
	uint64_t random;
	uint32_t senders; /* endpoints below it send */
	uint8_t routing;
};

static uint64_t around(struct loop *loop, uint64_t average)
{
	return average / 2 + hd_random_below(&loop->random, average);
}

static void loop_wake(void *context, struct hd_sim *sim, uint64_t token)
{
	struct loop *loop = context;
	uint32_t host = (uint32_t)token;
	struct hd_sim_message message = {.source = host,
					 .destination = (host + HOSTS) % (2 * HOSTS),
					 .bytes = host < HOSTS ? MESSAGE : 256,
					 .lane = HD_SIM_LANE_OF_SL,
					 .tag = host,
					 .flow = host,
					 .routing = loop->routing};

	assert_int_equal(hd_sim_send(sim, &message), 0);
	if (host >= HOSTS)
		hd_sim_wake(sim, hd_sim_now(sim) + around(loop, TOLD_EACH), host);
}

static int loop_start(void *context, struct hd_sim *sim, struct hd_error *err)
{
	struct loop *loop = context;

	(void)err;
	loop->random = hd_sim_stream(sim, 0);
	for (uint32_t i = 0; i < loop->senders; i++)
		hd_sim_wake(sim, around(loop, THINK), i);
	return 0;
}

static void loop_delivered(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
			   const struct hd_sim_times *times, uint32_t endpoint)
{
	(void)times;
	(void)endpoint;
	if (message->source < HOSTS)
		hd_sim_wake(sim, hd_sim_now(sim) + around(context, THINK), message->source);
}

static void loop_nothing(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
			 const struct hd_sim_times *times)
{
	(void)context;
	(void)sim;
	(void)message;
	(void)times;
}

struct outcome {
	double rate; /* from leaf 0 to leaf 1, Gb/s */
	double wide; /* share of the packets that take the spine without the narrow link */
};

static struct outcome run_asymmetric(enum hd_sim_routing routing, bool told, uint64_t age)
{
	struct loop loop = {.senders = told ? 2 * HOSTS : HOSTS, .routing = (uint8_t)routing};
	struct hd_sim_workload workload = {.start = loop_start,
					   .wake = loop_wake,
					   .sent = loop_nothing,
					   .delivered = loop_delivered,
					   .context = &loop};
	struct hd_ar_request request = {.algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct hd_sim_network network = {.subnet_count = 1};
	uint64_t packets[2], bytes = 0;
	struct outcome outcome;
	struct bed bed;

	bed_init(&bed, asymmetric(), NULL);
	request.fabric = bed.fabric;
	request.routes = bed.routes;
	CHECK(hd_ar_plan_new(&request, &bed.plan, NULL, &err));
	bed.settings.forced_rate = 0;
	bed.settings.selection = HD_SIM_CONGA;
	bed.settings.queueing = HD_SIM_VOQ;
	bed.settings.conga_age = age;
	bed.subnet = (struct hd_sim_subnet){bed.fabric, bed.routes, bed.plan, NULL};
	network.subnets = &bed.subnet;
	CHECK(hd_sim_new(&network, &bed.settings, &workload, &bed.sim, &err));
	bed_run(&bed, RUN_TIME);
	for (uint32_t i = 0; i < HOSTS; i++)
		bytes += bed_figures(&bed).flow_bytes[i];
	for (uint32_t spine = 0; spine < 2; spine++)
		packets[spine] = bed_figures(&bed)
				     .links[0][hd_port_index(bed.fabric, 0, HOSTS + 1 + spine)]
				     .packets;
	outcome.rate = (double)bytes * 8 / ((double)RUN_TIME / 1000);
	outcome.wide = (double)packets[0] / (double)(packets[0] + packets[1]);
	bed_free(&bed);
	return outcome;
}

/* With what leaf 1 tells, two thirds of the packets avoid the narrow link, which has a third of the
 * rate of both. Without packets from leaf 1, leaf 0 loads its two uplinks equally, and is slower. */
static void test_feedback_finds_the_narrow_link(void **state)
{
	uint64_t age = 10000 * HD_SIM_MICROSECOND;
	struct outcome told = run_asymmetric(HD_SIM_ADAPTIVE, true, age);
	struct outcome untold = run_asymmetric(HD_SIM_ADAPTIVE, false, age);

	(void)state;
	assert_near(told.wide, 2 / 3.0, 0.1);
	assert_near(untold.wide, 0.5, 0.1);
	assert_true(told.rate > 1.1 * untold.rate);
}

/* A leaf tells metrics again that stay as they are: else the other one forgets them. */
static void test_steady_metrics_are_told_again(void **state)
{
	struct outcome told = run_asymmetric(HD_SIM_ADAPTIVE, true, 1000 * HD_SIM_MICROSECOND);

	(void)state;
	assert_near(told.wide, 2 / 3.0, 0.1);
}

/*
 * Hosts of all leaves begin at the same moment, when all paths are equal. Each flow draws its path,
 * so that the packets climb by most of the 64 cables to the spines. If leaves took turns in the
 * same order, all switches in the middle would use one cable each.
 */
static void test_equal_paths_are_drawn(void **state)
{
	struct bed bed;
	struct hd_ar_request request = {.algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	uint32_t used = 0;

	(void)state;
	bed_init(&bed, generate("xgft", "children=4,4,4 parents=1,4,4"), NULL);
	request.fabric = bed.fabric;
	request.routes = bed.routes;
	CHECK(hd_ar_plan_new(&request, &bed.plan, NULL, &err));
	bed.settings.selection = HD_SIM_CONGA;
	for (uint32_t i = 0; i < 64; i++) {
		struct flow *flow = bed_flow(&bed, i, ONE, (i + 32) % 64);
		flow->message.bytes = 16 * 2048;
		flow->message.routing = HD_SIM_ADAPTIVE;
	}
	assert_int_equal(bed_run(&bed, HD_SIM_NEVER), HD_SIM_IDLE);
	for (uint32_t sw = 0; sw < bed.fabric->switch_count; sw++) {
		bool leaf = bed.fabric->host_base[sw] < bed.fabric->host_base[sw + 1];
		for (uint32_t port = 5; !leaf && port <= hd_node_ports(bed.fabric, sw); port++)
			used += bed_figures(&bed)
				    .links[0][hd_port_index(bed.fabric, sw, port)]
				    .packets > 0;
	}
	assert_true(used > 32);
	bed_free(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_feedback_finds_the_narrow_link),
	    cmocka_unit_test(test_steady_metrics_are_told_again),
	    cmocka_unit_test(test_equal_paths_are_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
