/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rings, phases with and without routing keys, collective operations, rounds: on the simulator. */
#include "traffic_testing.h"

#define MILLISECOND (1000 * HD_SIM_MICROSECOND)

static const char tree[] = "xgft", three_levels[] = "children=3,3,3 parents=1,3,3";

static void run_to_end(struct bench *bench)
{
	bench_run(bench, 100 * HD_SIM_SECOND);
	assert_int_equal(bench->end, HD_SIM_STOPPED);
	assert_near(hd_traffic_progress(bench->traffic), 1, 1e-9);
}

/* Neighbours below one switch: nearly the full cable. 12 hosts on one switch, any ring. */
static void test_ring_on_a_switch(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, "children=12,1 parents=1,1", "dmodk", 0);
	bench_add(&bench, "r", "ring", "size=1954 kB;random=3");
	run_to_end(&bench);
	double full = 5e9 * 2048 / 2074;
	assert_near(figure(&bench, "r", "natural") / full, 1, 0.002);
	assert_near(figure(&bench, "r", "random-mean") / full, 1, 0.002);
	assert_near(figure(&bench, "r", "rings"), 3, 0);
	assert_true(figure(&bench, "r", "random-node-min") <= figure(&bench, "r", "random-min"));
	assert_true(figure(&bench, "r", "random-min") <= figure(&bench, "r", "random-max"));
	bench_end(&bench);
}

/* Natural rings are free of contention under D-mod-K; random ones are not. */
static void test_rings_on_a_tree(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, three_levels, "dmodk", 0);
	bench_add(&bench, "r", "ring", "size=200 kB;random=5");
	run_to_end(&bench);
	double full = 5e9 * 2048 / 2074;
	assert_true(figure(&bench, "r", "natural") / full > 0.98);
	assert_true(figure(&bench, "r", "random-mean") / full < 0.9);
	assert_true(figure(&bench, "r", "random-mean") / full > 0.4);
	bench_end(&bench);
}

/* Phases without contention and without calculation take the ideal time, plus latencies. */
static void test_ideal_phases(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, "children=8,1 parents=1,1", "dmodk", 0);
	bench_add(&bench, "p", "phases",
		  "size=256 KiB;iterations=4;barrier=ideal;pattern=stencil3d");
	run_to_end(&bench);
	assert_near(figure(&bench, "p", "phases"), 4 * 6, 0);
	double ideal = figure(&bench, "p", "communication-ideal");
	/* 8 ranks: 2x2x2; six phases of 128 packets of 2074 bytes at 40 Gb/s, four times */
	assert_near(ideal, 24 * 128 * 2074 * 8 / 40e9, 1e-9);
	assert_near(figure(&bench, "p", "communication-max") / ideal, 1, 0.02);
	bench_end(&bench);
}

/* Calculation fills the time up to the utilisation, and is no communication. */
static void test_utilisation(void **state)
{
	double spent[2], completion[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bench bench;
		bench_begin(&bench, tree, "children=8,1 parents=1,1", "dmodk", 0);
		bench_add(&bench, "p", "phases",
			  i ? "size=64 KiB;iterations=2;utilisation=20%;barrier=ideal"
			    : "size=64 KiB;iterations=2;utilisation=100%;barrier=ideal");
		run_to_end(&bench);
		spent[i] = figure(&bench, "p", "communication-max");
		completion[i] = figure(&bench, "p", "completion");
		if (i)
			assert_near(completion[i] - spent[i],
				    4 * figure(&bench, "p", "communication-ideal"), 1e-9);
		bench_end(&bench);
	}
	assert_near(spent[1], spent[0], 1e-9);
	assert_near(completion[0], spent[0], 1e-12);
}

/* With a deviation, ranks wait for the slowest: that is communication. */
static void test_deviation(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, "children=8,1 parents=1,1", "dmodk", 0);
	bench_add(&bench, "p", "phases",
		  "size=64 KiB;iterations=20;utilisation=20%;deviation=50%;barrier=ideal");
	run_to_end(&bench);
	/* the latest of 8 is at 1 + 0.5 * 7/9 of the mean: 0.39 * 4 of the ideal time more */
	assert_near(figure(&bench, "p", "communication-mean") /
			figure(&bench, "p", "communication-ideal"),
		    1 + 0.39 * 4, 0.3);
	bench_end(&bench);
}

/* A key takes away the contention within an application: then phases take nearly the ideal time. */
static void test_keys(void **state)
{
	static const char *const modes[] = {"none", "ark", "nrk"};
	double spent[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct bench bench;
		char settings[160];
		bench_begin(&bench, tree, three_levels, "dmodk", 1);
		struct hd_routes *before = hd_routes_copy(bench.routes);
		bench.settings.queueing = HD_SIM_VOQ;
		snprintf(settings, sizeof(settings),
			 "size=256 KiB;iterations=2;barrier=ideal;pattern=stencil3d;keys=%s",
			 modes[i]);
		bench_add(&bench, "p", "phases", settings);
		run_to_end(&bench);
		spent[i] = figure(&bench, "p", "communication-max") /
			   figure(&bench, "p", "communication-ideal");
		/* the tables are as before, when all phases are over */
		assert_int_equal(hd_routes_count_changes(before, bench.routes), 0);
		hd_routes_free(before);
		bench_end(&bench);
	}
	assert_true(spent[0] > 1.5);
	assert_near(spent[1], 1, 0.03);
	assert_near(spent[2], 1, 0.03);
}

/* Two applications at once: shifts keep their keys apart better than keys as they were made. */
static void test_shifts(void **state)
{
	static const char *const modes[] = {"ark", "nrk"};
	double spent[2] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++)
		for (int i = 0; i < 2; i++) {
			struct bench bench;
			char settings[160];
			bench_begin(&bench, tree, "children=4,4,4 parents=1,4,4", "dmodk", 1);
			bench.settings.queueing = HD_SIM_VOQ;
			bench.settings.seed = seed;
			snprintf(settings, sizeof(settings),
				 "applications=4;size=64 KiB;iterations=2;keys=%s", modes[i]);
			bench_add(&bench, "p", "phases", settings);
			run_to_end(&bench);
			spent[i] += figure(&bench, "p", "communication-max");
			assert_near(figure(&bench, "p", "key-contention"), 1, 0);
			bench_end(&bench);
		}
	assert_true(spent[1] < spent[0]);
}

/* A request takes its time. */
static void test_key_delay(void **state)
{
	double completion[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bench bench;
		bench_begin(&bench, tree, three_levels, "dmodk", 1);
		bench_add(&bench, "p", "phases",
			  i ? "size=4 KiB;keys=ark;key_delay=1 ms" : "size=4 KiB;keys=ark");
		run_to_end(&bench);
		completion[i] = figure(&bench, "p", "completion");
		bench_end(&bench);
	}
	assert_near(completion[1] - completion[0], 6 * 1e-3, 1e-9);
}

/* Keys that are in place from the start cost no time, and keep the flows of a phase apart. */
static void test_placed_keys(void **state)
{
	static const char *const modes[] = {"keys=ark;key_mode=rewrite",
					    "keys=ark;key_mode=offset;key_delay=1 ms",
					    "keys=nrk;key_mode=offset;key_delay=1 ms"};
	double spent[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct bench bench;
		char settings[200];
		bench_begin(&bench, tree, three_levels, "dmodk", 3);
		bench.settings.queueing = HD_SIM_VOQ;
		snprintf(settings, sizeof(settings), "size=64 KiB;iterations=2;order=same;%s",
			 modes[i]);
		bench_add(&bench, "p", "phases", settings);
		run_to_end(&bench);
		spent[i] = figure(&bench, "p", "communication-max");
		bench_end(&bench);
	}
	assert_near(spent[1], spent[0], 1e-9);
	assert_near(spent[2] / spent[0], 1, 0.02);
}

/* Without other flows jitter is what the slowest rank waits longer: up to its limit in each phase. */
static void test_jitter(void **state)
{
	double completion[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bench bench;
		bench_begin(&bench, tree, "children=8,1 parents=1,1", "dmodk", 0);
		bench_add(&bench, "p", "phases",
			  i ? "size=4 KiB;iterations=20;barrier=ideal;jitter=1 ms"
			    : "size=4 KiB;iterations=20;barrier=ideal");
		run_to_end(&bench);
		completion[i] = figure(&bench, "p", "completion");
		bench_end(&bench);
	}
	double added = (completion[1] - completion[0]) / (20 * 6);
	assert_true(added < 1e-3 && added > 0.7e-3); /* the largest of 8 draws: 8/9 ms on average */
}

/* Applications arrive: keys keep the flows of one apart, and shifts those of different ones. */
static void test_arrivals(void **state)
{
	static const char *const modes[] = {"keys=none", "keys=ark", "keys=nrk"};
	double most[3] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		for (int i = 0; i < 3; i++) {
			struct bench bench;
			bench_begin(&bench, tree, "children=16,16 parents=1,16", "dmodk", 0);
			bench.settings.seed = seed;
			bench_add(&bench, "a", "arrivals", modes[i]);
			bench_run(&bench, HD_SIM_SECOND);
			assert_near(figure(&bench, "a", "flows"), 153, 1); /* 60% of 256 */
			assert_near(figure(&bench, "a", "sharing"), 0, 0);
			most[i] += figure(&bench, "a", "contention") / 10;
			bench_end(&bench);
		}
	assert_true(most[2] <= 2 && most[0] > 2.5 && most[1] > 2.5);
}

/* One application of all hosts without keys: what the tables of dmodk give a random permutation, counted by hand. */
static void test_arrivals_are_counted(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, "children=2,2 parents=1,1", "dmodk", 0);
	bench_add(&bench, "a", "arrivals", "load=100%;smallest=4;largest=4");
	bench_run(&bench, HD_SIM_SECOND);
	assert_near(figure(&bench, "a", "applications"), 1, 0);
	/* a ring of four hosts on two leaves with one uplink each crosses once or twice in each direction */
	double most = figure(&bench, "a", "contention");
	assert_true(most == 1 || most == 2);
	bench_end(&bench);
}

static void test_key_errors(void **state)
{
	struct bench bench;
	struct hd_error err = {""};

	(void)state;
	bench_begin(&bench, tree, three_levels, "dmodk", 0);
	bench_add(&bench, "p", "phases", "keys=nrk");
	assert_int_equal(bench_try_traffic(&bench, &err), -ERANGE);
	assert_non_null(strstr(err.text, "traffic p"));
	bench.scene.tables = NULL;
	assert_int_equal(bench_try_traffic(&bench, &err), -EINVAL);
	bench_end(&bench);
	bench_begin(&bench, tree, three_levels, "dmodk", 1);
	bench_add(&bench, "p", "phases", "keys=nrk;hosts=0-17");
	bench_add(&bench, "q", "phases", "keys=nrk;hosts=9-26");
	assert_int_equal(bench_try_traffic(&bench, &err), -EINVAL);
	assert_non_null(strstr(err.text, "traffic q: two applications have keys for LID"));
	bench_end(&bench);
	bench_begin(&bench, "torus", "dims=3,3 hosts=2", "updown", 1);
	bench_add(&bench, "p", "phases", "keys=nrk");
	assert_int_equal(bench_try_traffic(&bench, &err), -ENOTSUP);
	bench_end(&bench);
}

/* On one switch, a pairwise all-to-all takes n - 1 times the time of a message. */
static void test_all_to_all(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, "children=8,1 parents=1,1", "dmodk", 0);
	bench_add(&bench, "c", "collective",
		  "operation=all-to-all-pairwise;size=128 KiB,256 KiB;repeat=3");
	run_to_end(&bench);
	double packet = 2074 * 8 / 40e9;
	assert_near(figure_at(&bench, "c", "time", 0), 7 * 64 * packet, 7 * 0.6e-6);
	assert_near(figure_at(&bench, "c", "time", 1), 7 * 128 * packet, 7 * 0.6e-6);
	assert_true(figure_at(&bench, "c", "time-max", 0) >= figure_at(&bench, "c", "time", 0));
	bench_end(&bench);
}

/* All operations end, on any number of ranks. */
static void test_all_operations(void **state)
{
	static const char *const names[] = {"barrier",		"all-to-all-linear",
					    "all-to-all-bruck", "all-reduce-doubling",
					    "all-reduce",	"all-gather-doubling",
					    "broadcast",	"reduce",
					    "gather",		"scatter",
					    "all-gather-ring"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (int ranks = 2; ranks <= 13; ranks += 11) {
			struct bench bench;
			char settings[160];
			bench_begin(&bench, tree, three_levels, "dmodk", 0);
			snprintf(settings, sizeof(settings),
				 "operation=%s;size=8,9000;repeat=2;hosts=0-%d", names[i],
				 ranks - 1);
			bench_add(&bench, "c", "collective", settings);
			run_to_end(&bench);
			bench_end(&bench);
		}
}

/* The flows of a pattern as the analysis draws it, and the time of its rounds on one switch. */
static void test_rounds_on_a_switch(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, "children=8,1 parents=1,1", "dmodk", 0);
	bench_add(&bench, "r", "rounds", "pattern=all-to-all;size=128 KiB;repeat=3");
	run_to_end(&bench);
	double packet = 2074 * 8 / 40e9;
	assert_near(figure(&bench, "r", "rounds"), 7, 0);
	assert_near(figure(&bench, "r", "messages"), 7 * 8, 0);
	assert_near(figure(&bench, "r", "time"), 7 * 64 * packet, 7 * 0.6e-6);
	assert_near(figure(&bench, "r", "bandwidth") / 5e9, 2048.0 / 2074, 0.06);
	bench_end(&bench);
}

/* A rank in the middle of a binomial tree sends only after it has received: three messages one after
 * the other reach the last of 8 ranks. */
static void test_rounds_wait_for_the_ones_before(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, "children=8,1 parents=1,1", "dmodk", 0);
	bench_add(&bench, "r", "rounds", "pattern=tree;size=128 KiB");
	run_to_end(&bench);
	assert_near(figure(&bench, "r", "messages"), 7, 0);
	assert_near(figure(&bench, "r", "time-max"), 3 * 64 * (2074 * 8 / 40e9), 3 * 0.6e-6);
	bench_end(&bench);
}

/* NCCL's patterns end on machines of several adapters, with the numbers of messages of their
 * definitions; hosts that are not in whole machines do not take part. */
static void test_rounds_of_machines(void **state)
{
	static const struct {
		const char *settings;
		double rounds, messages;
	} cases[] = {
	    {"pattern=nccl-ring", 1, 6 * 4},
	    {"pattern=nccl-tree", 1, 4 * 5 * 4},
	    {"pattern=nccl-all-to-all", 5, 5 * 6 * 4},
	    {"pattern=nccl-all-to-all,pxn=no;repeat=2", 20, 20 * 6 * 4},
	    {"pattern=nccl-ring;hosts=0-9,12-15", 1, 2 * 3}, /* two machines have three rails */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		bench_begin(&bench, "rail-tree", "groups=2 machines=3 adapters=4 spines=1", "dmodk",
			    0);
		bench_add(&bench, "r", "rounds", cases[i].settings);
		run_to_end(&bench);
		assert_near(figure(&bench, "r", "rounds"), cases[i].rounds, 0);
		assert_near(figure(&bench, "r", "messages"), cases[i].messages, 0);
		bench_end(&bench);
	}
}

/* The run ends when the last finite traffic does, whatever else sends. */
static void test_end_beside_other_traffic(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, three_levels, "dmodk", 0);
	bench_add(&bench, "noise", "poisson", "rate=10%");
	bench_add(&bench, "c", "collective", "operation=barrier;repeat=10");
	bench_add(&bench, "p", "phases", "size=4 KiB;start=1 ms");
	bench_run(&bench, HD_SIM_SECOND);
	assert_int_equal(bench.end, HD_SIM_STOPPED);
	assert_true(hd_sim_now(bench.sim) > MILLISECOND && hd_sim_now(bench.sim) < 2 * MILLISECOND);
	assert_int_equal(hd_traffic_class_count(bench.traffic), 3);
	assert_string_equal(hd_traffic_class_name(bench.traffic, 1), "c");
	bench_end(&bench);
}

/* Two flows into one host share it; one of them alone has it; the flows know their times. */
static void test_flows(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, "children=4,4 parents=1,4", "dmodk", 0);
	bench.settings.bin = MILLISECOND;
	bench_add(&bench, "f", "flows", "flows=0>4, 1>4@1 ms-2 ms, H_1_2>H_3_0;size=16 KiB");
	bench_open(&bench);
	assert_int_equal(hd_traffic_flow_count(bench.traffic), 3);
	assert_int_equal(hd_traffic_flow(bench.traffic, 2)->source, 6);
	assert_int_equal(hd_traffic_flow(bench.traffic, 2)->destination, 12);
	bench_run(&bench, 3 * MILLISECOND);
	double full = 5e9 * 2048 / 2074;
	struct hd_sim_figures figures;
	hd_sim_figures(bench.sim, &figures);
	static const double expected[2][3] = {{1, 0.5, 1}, {0, 0.5, 0}};
	for (uint32_t f = 0; f < 2; f++)
		for (uint32_t bin = 0; bin < 3; bin++)
			assert_near((double)figures.flow_bins[f * figures.bin_count + bin] /
					(full / 1000),
				    expected[f][bin], 0.02);
	assert_near(figure_at(&bench, "f", "throughput", 0) / full, 2.5 / 3, 0.02);
	assert_near(figure_at(&bench, "f", "throughput", 1) / full, 0.5, 0.02);
	assert_near(figure_at(&bench, "f", "throughput", 2) / full, 1, 0.02);
	bench_end(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ring_on_a_switch),
	    cmocka_unit_test(test_rings_on_a_tree),
	    cmocka_unit_test(test_ideal_phases),
	    cmocka_unit_test(test_utilisation),
	    cmocka_unit_test(test_deviation),
	    cmocka_unit_test(test_keys),
	    cmocka_unit_test(test_shifts),
	    cmocka_unit_test(test_key_delay),
	    cmocka_unit_test(test_placed_keys),
	    cmocka_unit_test(test_jitter),
	    cmocka_unit_test(test_arrivals),
	    cmocka_unit_test(test_arrivals_are_counted),
	    cmocka_unit_test(test_key_errors),
	    cmocka_unit_test(test_all_to_all),
	    cmocka_unit_test(test_all_operations),
	    cmocka_unit_test(test_rounds_on_a_switch),
	    cmocka_unit_test(test_rounds_wait_for_the_ones_before),
	    cmocka_unit_test(test_rounds_of_machines),
	    cmocka_unit_test(test_end_beside_other_traffic),
	    cmocka_unit_test(test_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
