/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A simulation with each of its allocations failing in turn: always -ENOMEM, and nothing leaks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_testing.h"
#include "short_memory.h"

/* As the traffic of the other tests, but hd_sim_send() and hd_sim_wake() may fail. */
static int start(void *context, struct hd_sim *sim, struct hd_error *err)
{
	struct bed *bed = context;

	for (uint32_t i = 0; i < bed->traffic.count; i++)
		for (uint32_t n = 0; n < 40; n++) {
			struct hd_sim_message message = bed->traffic.flows[i].message;
			message.destination = (i + n + 1) % bed->traffic.count;
			if (bed->mfts && !(n % 3)) {
				message.destination = HD_NONE;
				message.mlid = (uint16_t)bed->mfts->entries[0].mlid;
			}
			if (hd_sim_send(sim, &message) ||
			    hd_sim_wake(sim, n * HD_SIM_MICROSECOND, n))
				return hd_error_no_memory(err);
		}
	return 0;
}

static int call(void *context, struct hd_error *err)
{
	struct bed *bed = context;
	struct hd_sim_workload workload = {.start = start, .context = bed};
	struct hd_sim_network network = {.subnets = &bed->subnet, .subnet_count = 1};
	enum hd_sim_end end;
	int rc = hd_sim_new(&network, &bed->settings, &workload, &bed->sim, err);

	return rc ? rc : hd_sim_run(bed->sim, HD_SIM_NEVER, &end, err);
}

static void settle(void *context, int rc)
{
	struct bed *bed = context;
	struct hd_sim_figures figures;

	if (bed->sim) {
		hd_sim_figures(bed->sim, &figures);
		assert_true(rc || !figures.in_flight);
	}
	hd_sim_free(bed->sim);
	bed->sim = NULL;
}

static void test_memory_runs_out(void **state)
{
	(void)state;
	for (int way = 0; way < 3; way++) {
		struct bed bed;
		uint64_t random = 5, allocations;
		bed_init(&bed, generate("xgft", "children=2,3 parents=1,2"), NULL);
		bed.mfts = random_mfts(bed.fabric, &random);
		bed.subnet = (struct hd_sim_subnet){
		    .fabric = bed.fabric, .routes = bed.routes, .mfts = bed.mfts};
		bed.settings.replication = (enum hd_sim_replication)way;
		bed.settings.bin = 100 * NANOSECOND;
		bed.settings.deadlock_check = HD_SIM_MICROSECOND;
		allocations = short_memory_try(&(struct short_memory_case){
		    .what = "a simulation", .context = &bed, .call = call, .settle = settle});
		assert_true(allocations > 30);
		hd_mfts_free(bed.mfts);
		bed_free(&bed);
	}
}

/* With adaptive traffic and Conga, which remembers something for each packet. */
static void test_memory_of_conga_runs_out(void **state)
{
	struct hd_ar_request request = {.algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct bed bed;
	uint64_t allocations;

	(void)state;
	bed_init(&bed, generate("xgft", "children=2,3 parents=1,2"), NULL);
	request.fabric = bed.fabric;
	request.routes = bed.routes;
	CHECK(hd_ar_plan_new(&request, &bed.plan, NULL, &err));
	bed.subnet = (struct hd_sim_subnet){bed.fabric, bed.routes, bed.plan, NULL};
	bed.settings.selection = HD_SIM_CONGA;
	for (uint32_t i = 0; i < bed.traffic.count; i++)
		bed.traffic.flows[i].message.routing = HD_SIM_ADAPTIVE;
	allocations = short_memory_try(&(struct short_memory_case){
	    .what = "a simulation with Conga", .context = &bed, .call = call, .settle = settle});
	assert_true(allocations > 30);
	bed_free(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_memory_runs_out),
	    cmocka_unit_test(test_memory_of_conga_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
