/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sources that send by the clock: rates, times between messages, destinations, and that traffics do
 * not change each other. */
#include "traffic_testing.h"

#define MILLISECOND (1000 * HD_SIM_MICROSECOND)

static const char tree[] = "xgft";
static const char small[] = "children=4,4 parents=1,4";

/* The share of the cable counts headers: 40 Gb/s * 50% / (2048 + 26 bytes), exactly. */
static void test_constant_rate_is_exact(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench_add(&bench, "a", "constant", "rate=50%;size=2048;to=shift:5;phases=no");
	bench_run(&bench, 10 * MILLISECOND);
	/* interval = 2074 * 8 / 20e9 s = 829.6 ns: messages 0 .. floor(10 ms / 829.6 ns) */
	assert_near(figure(&bench, "a", "messages"), 16.0 * (12054 + 1), 0);
	assert_near(figure(&bench, "a", "refused"), 0, 0);
	bench_end(&bench);
}

/* An interval of 1/3 ns does not drift: the fractions are carried. */
static void test_fractions_are_carried(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench_add(&bench, "a", "constant", "rate=3 Gb/s;size=1000;to=shift:1;phases=no;hosts=0-1");
	bench_run(&bench, 10 * MILLISECOND - 1);
	/* 8000 bits / 3 Gb/s = 2666.67 ns: 10 ms have exactly 3750 of them */
	assert_near(figure(&bench, "a", "messages"), 2.0 * 3750, 0);
	bench_end(&bench);
}

static void test_every(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench_add(&bench, "c", "control", "rate=every 100 us;size=64");
	bench_run(&bench, 10 * MILLISECOND - 1);
	assert_near(figure(&bench, "c", "messages"), 16.0 * 100, 0);
	bench_end(&bench);
}

/* Mean and variance of the number of messages in a time are equal. */
static void test_poisson(void **state)
{
	struct bench bench;
	double sum = 0, square = 0, before = 0;
	const int windows = 400;

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench_add(&bench, "p", "poisson", "rate=20%;size=2 KiB;hosts=0-7;to=shift:1");
	for (int i = 1; i <= windows; i++) {
		bench_run(&bench, (uint64_t)i * 50 * HD_SIM_MICROSECOND);
		double all = figure(&bench, "p", "messages"), now = all - before;
		before = all;
		sum += now;
		square += now * now;
	}
	/* 8 GB/s / (2074 * 8) * 50 us * 8 hosts = 192.9 in a window */
	double mean = sum / windows, variance = square / windows - mean * mean;
	assert_near(mean, 8e9 / (2074 * 8) * 50e-6 * 8, 3); /* 4 sigma: 4 * sqrt(193 / 400) */
	assert_near(variance / mean, 1, 0.3); /* 4 sigma: 4 * sqrt(2 / 400) */
	bench_end(&bench);
}

/* The mean of a range, with the headers of one or two packets. */
static void test_sizes(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench_add(&bench, "r", "poisson", "rate=30%;size=84 .. 4 KiB;to=permutation");
	bench_run(&bench, 20 * MILLISECOND);
	/* 84 .. 2048: one header; 2049 .. 4096: two. Mean payload 2090, mean wire 2090 + 26 * 1.5104 */
	double packets = (2048 - 83 + 2 * 2048.0) / (4096 - 83);
	assert_near(figure(&bench, "r", "offered") / (16 * 12e9 / 8 * 2090 / (2090 + 26 * packets)),
		    1, 0.02);
	bench_end(&bench);
}

/* A traffic sends the same whatever other traffics there are, in whatever order. */
static void test_traffics_are_independent(void **state)
{
	double messages[2], offered[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bench bench;
		bench_begin(&bench, tree, small, "dmodk", 0);
		if (i)
			bench_add(&bench, "other", "poisson", "rate=20%");
		bench_add(&bench, "a", "poisson", "rate=10%;size=84 .. 2 kB");
		if (i)
			bench_add(&bench, "third", "constant", "rate=5%");
		bench_run(&bench, 3 * MILLISECOND);
		messages[i] = figure(&bench, "a", "messages");
		offered[i] = figure(&bench, "a", "offered");
		bench_end(&bench);
	}
	assert_true(messages[0] == messages[1] && offered[0] == offered[1]);
}

/* Another seed gives another run, the same seed the same one. */
static void test_seed(void **state)
{
	double offered[3];
	const uint64_t seeds[3] = {1, 2, 1};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct bench bench;
		bench_begin(&bench, tree, small, "dmodk", 0);
		bench.settings.seed = seeds[i];
		bench_add(&bench, "a", "poisson", "rate=10%;size=84 .. 2 kB");
		bench_run(&bench, 3 * MILLISECOND);
		offered[i] = figure(&bench, "a", "offered") + figure(&bench, "a", "latency");
		bench_end(&bench);
	}
	assert_true(offered[0] == offered[2] && offered[0] != offered[1]);
}

/* A host whose queue is full sends no more. */
static void test_backlog(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench_add(&bench, "a", "constant",
		  "rate=100%;size=2 KiB;to=pairs:0>5,1>5;hosts=0,1;backlog=64 KiB");
	bench_run(&bench, 5 * MILLISECOND);
	assert_true(hd_sim_backlog(bench.sim, 0) <= 65536);
	assert_near(figure(&bench, "a", "refused"), 0.5, 0.02);
	bench_end(&bench);
}

/* What others have waiting at the same host does not count. */
static void test_backlog_of_others(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench.settings.lanes = 2;
	bench_add(&bench, "a", "flows", "flows=0>5;size=1 MiB;depth=10;lane=0");
	bench_add(&bench, "b", "constant", "rate=10%;hosts=0;to=pairs:0>5;backlog=64 KiB;lane=1");
	bench_run(&bench, 2 * MILLISECOND);
	assert_true(hd_sim_backlog(bench.sim, 0) > 1 << 20);
	assert_near(figure(&bench, "b", "refused"), 0, 0);
	bench_end(&bench);
}

struct counts {
	uint32_t to[64], from[64], all, offsets[8];
};

static int count_lane(void *context, const struct hd_sim_message *message, struct hd_error *err)
{
	(void)err;
	((uint32_t *)context)[message->lane]++;
	return 0;
}

/* Flows are spread over a range of lanes, about equally. */
static void test_lanes(void **state)
{
	struct bench bench;
	struct hd_error err = {""};
	uint32_t lanes[16] = {0};

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench.settings.lanes = 15;
	bench_add(&bench, "a", "poisson", "lane=3-7");
	assert_int_equal(bench_try_traffic(&bench, &err), 0);
	assert_int_equal(hd_traffic_list(bench.traffic, count_lane, lanes, &err), 0);
	for (int i = 0; i < 16; i++)
		assert_in_range(lanes[i], i >= 3 && i <= 7 ? 30 : 0, i >= 3 && i <= 7 ? 66 : 0);
	bench_end(&bench);
}

static int count(void *context, const struct hd_sim_message *message, struct hd_error *err)
{
	struct counts *counts = context;

	(void)err;
	counts->from[message->source]++;
	counts->to[message->destination]++;
	counts->offsets[message->lid_offset]++;
	counts->all++;
	return 0;
}

static struct counts addresses(struct bench *bench, const char *settings)
{
	struct counts counts = {{0}, {0}, 0, {0}};
	struct hd_error err = {""};

	bench_add(bench, "a", "poisson", settings);
	if (bench_try_traffic(bench, &err))
		fail_msg("%s", err.text);
	assert_int_equal(hd_traffic_list(bench->traffic, count, &counts, &err), 0);
	return counts;
}

/* All addresses are known before the run. */
static void test_addresses(void **state)
{
	static const struct {
		const char *settings;
		uint32_t all;
	} cases[] = {
	    {"to=uniform", 16 * 15},
	    {"to=uniform;hosts=2-5", 4 * 3},
	    {"to=uniform;remote=100%", 16 * 12},
	    {"to=uniform;remote=0", 16 * 3},
	    {"to=permutation", 16},
	    {"to=shift:3", 16},
	    {"to=pairs:0>4,0>5,7>1", 3},
	    {"to=pattern:all-to-all", 16 * 15},
	    {"to=pattern:shift,distance=2", 16},
	    {"to=shift:3;offset=random", 16 * 4},
	    {"to=shift:3;offset=2", 16},
	    {"to=shift:3;offset=random:1-3", 16 * 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		bench_begin(&bench, tree, small, "dmodk", 2);
		struct counts counts = addresses(&bench, cases[i].settings);
		if (counts.all != cases[i].all)
			fail_msg("%s: %u", cases[i].settings, counts.all);
		bench_end(&bench);
	}
}

/* In a permutation each host sends once and receives once, and never to itself. */
static void test_permutation(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 30; seed++) {
		struct bench bench;
		bench_begin(&bench, tree, small, "dmodk", 0);
		bench.settings.seed = seed;
		struct counts counts = addresses(&bench, "to=permutation;hosts=0-6");
		for (int i = 0; i < 7; i++)
			assert_true(counts.to[i] == 1 && counts.from[i] == 1);
		bench_end(&bench);
	}
}

/* Bytes that came at each host, of messages that are flows of one traffic. */
static uint64_t received(const struct bench *bench, uint32_t host)
{
	struct hd_sim_figures figures;
	uint32_t port = bench->fabric->peer[bench->fabric->host_port[host]];

	hd_sim_figures(bench->sim, &figures);
	return figures.links[0][port].packets;
}

/* The hot host gets its share besides what all get; remote traffic has its share of all. */
static void test_hot_spot_and_remote(void **state)
{
	struct bench bench;
	uint64_t all = 0, most = 0, up = 0;
	struct hd_sim_figures figures;

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench_add(&bench, "a", "poisson", "rate=10%;size=1 KiB;remote=30%;hot=20%");
	bench_run(&bench, 20 * MILLISECOND);
	for (uint32_t h = 0; h < 16; h++) {
		uint64_t packets = received(&bench, h);
		all += packets;
		most = packets > most ? packets : most;
	}
	hd_sim_figures(bench.sim, &figures);
	for (uint32_t s = 0; s < bench.fabric->switch_count; s++)
		for (uint32_t i = bench.fabric->isl_base[s]; i < bench.fabric->isl_base[s + 1]; i++)
			up +=
			    figures
				.links[0][hd_port_index(bench.fabric, s, bench.fabric->isl_port[i])]
				.packets;
	/* a remote packet crosses two links between switches */
	assert_near((double)up / 2 / (double)all, 0.3, 0.01);
	/* of a leaf's quarter of all: 20% to the hot host, but not from itself, and 1/4 of the rest */
	assert_true((double)most / (double)all > 0.25 * 0.30 &&
		    (double)most / (double)all < 0.25 * 0.45);
	bench_end(&bench);
}

/* Uniform destinations: no host gets more or less than chance allows (chi squared, 15 degrees of
 * freedom: beyond 37.7 in 1 of 1,000 runs). */
static void test_uniform(void **state)
{
	struct bench bench;
	double mean = 0, sum = 0;

	(void)state;
	bench_begin(&bench, tree, small, "dmodk", 0);
	bench_add(&bench, "a", "poisson", "rate=20%;size=1 KiB");
	bench_run(&bench, 20 * MILLISECOND);
	for (uint32_t h = 0; h < 16; h++)
		mean += (double)received(&bench, h) / 16;
	for (uint32_t h = 0; h < 16; h++) {
		double more = (double)received(&bench, h) - mean;
		sum += more * more / mean;
	}
	assert_true(sum < 37.7);
	bench_end(&bench);
}

static void test_errors(void **state)
{
	static const struct {
		const char *kind, *settings, *reason;
	} cases[] = {
	    {"poisson", "hosts=0-99",
	     "traffic a: option 'hosts': host 0-99: the network has hosts 0 .. 15"},
	    {"poisson", "hosts=nobody", "nobody"},
	    {"poisson", "hosts=1,1", "twice"},
	    {"poisson", "rate=fast", "expected a share"},
	    {"poisson", "rate=0%", "expected a share"},
	    {"poisson", "size=0", "at least 1 byte"},
	    {"poisson", "size=9..2", "ends before"},
	    {"poisson", "sl=16", "0 .. 15"},
	    {"poisson", "lane=x", "no lane"},
	    {"poisson", "lane=4-2", "but there are lanes 0 .. 0 and 15"},
	    {"poisson", "lane=1", "but there are lanes 0 .. 0 and 15"},
	    {"poisson", "offset=1", "has 1 LIDs"},
	    {"poisson", "offset=random:0-1", "has 1 LIDs"},
	    {"poisson", "offset=random:3-2", "no range"},
	    {"poisson", "offset=random:2", "no range"},
	    {"poisson", "offset=random:", "no range"},
	    {"poisson", "offset=randomly", "no whole number"},
	    {"video", "reserve=1;multicast=10%;hosts=0-7", "several receivers"},
	    {"poisson", "to=shift:16", "shift:N"},
	    {"poisson", "to=pairs:1>1", "itself"},
	    {"poisson", "to=pairs:1-2", "no pair"},
	    {"poisson", "to=pairs:0>1@5s", "times are for"},
	    {"poisson", "to=pattern:nothing", "no pattern"},
	    {"poisson", "to=shift:1;hot=10%", "are for to = uniform"},
	    {"poisson", "hosts=0", "expected 2 or more"},
	    {"poisson", "start=2 s;stop=1 s", "before 'start'"},
	    {"poisson", "start=2", "expected a time"},
	    {"flows", "flows=file:/nowhere", "/nowhere"},
	    {"flows", "", "flows"},
	    {"flows", "flows=0>1@2s-1s", "ends before"},
	    {"phases", "applications=9", "expected 2 or more"},
	    {"phases", "pattern=stencil3d:9x9x9", "option 'pattern'"},
	    {"goal", "trace=file:/nowhere", "/nowhere"},
	    {"goal", "trace=/nowhere", "expected file:PATH"},
	    {"video", "group=BBI", "no group of pictures"},
	    {"video", "weights=1,2", "3 numbers"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		struct hd_error err = {""};
		bench_begin(&bench, tree, small, "dmodk", 0);
		int rc = bench_try_add(&bench, "a", cases[i].kind, cases[i].settings, &err);
		if (!rc)
			rc = bench_try_traffic(&bench, &err);
		if (!rc || !strstr(err.text, cases[i].reason))
			fail_msg("%s: '%s' does not say '%s'", cases[i].settings, err.text,
				 cases[i].reason);
		assert_null(bench.traffic);
		bench_end(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_constant_rate_is_exact),
	    cmocka_unit_test(test_fractions_are_carried),
	    cmocka_unit_test(test_every),
	    cmocka_unit_test(test_poisson),
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_traffics_are_independent),
	    cmocka_unit_test(test_seed),
	    cmocka_unit_test(test_backlog),
	    cmocka_unit_test(test_backlog_of_others),
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_lanes),
	    cmocka_unit_test(test_permutation),
	    cmocka_unit_test(test_hot_spot_and_remote),
	    cmocka_unit_test(test_uniform),
	    cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
