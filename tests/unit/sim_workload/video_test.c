/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Video: the model's moments, deadlines by hand, loads, what may be dropped, multicast groups. */
#include "traffic_testing.h"

#include "traffic_draw.h"

#include <math.h>

#define MILLISECOND (1000 * HD_SIM_MICROSECOND)

static const int64_t weights[] = {160, 60, 30}, deviations[] = {20, 40, 50};

/* Logarithm and exponential agree with the C library to 1e-14. */
static void test_functions(void **state)
{
	(void)state;
	for (double x = 1e-12; x < 1e12; x *= 1.37)
		assert_near(draw_logarithm(x), log(x), 1e-14 * (1 + fabs(log(x))));
	for (double x = -40; x < 40; x += 0.37)
		assert_near(draw_power(x) / exp(x), 1, 1e-12);
}

/* Mean and variance of the variables, 4 sigma. */
static void test_variables(void **state)
{
	const int n = 400000;
	uint64_t random = 7;
	double sum[3] = {0}, square[3] = {0};

	(void)state;
	for (int i = 0; i < n; i++) {
		double x[3] = {draw_exponential(&random), draw_normal(&random),
			       draw_lognormal(&random, 0.4)};
		for (int k = 0; k < 3; k++) {
			sum[k] += x[k];
			square[k] += x[k] * x[k];
		}
	}
	const double mean[3] = {1, 0, 1}, variance[3] = {1, 1, 0.16};
	for (int k = 0; k < 3; k++) {
		assert_near(sum[k] / n, mean[k], 4 * sqrt(variance[k] / n));
		assert_near(square[k] / n - sum[k] * sum[k] / n / n, variance[k],
			    0.02 * variance[k]);
	}
}

/* Each type of frame has its mean and its deviation, and all frames together the stream's mean. */
static void test_model(void **state)
{
	struct frame_model model;
	uint64_t random = 3;
	double sum[3] = {0}, square[3] = {0}, all = 0;
	const int n = 600000;
	int count[3] = {0};

	(void)state;
	assert_int_equal(draw_frames_model(&model, "IBBPBBPBBPBB", weights, deviations, 30, NULL),
			 0);
	for (int i = 0; i < n; i++) {
		double size = draw_frames_size(&model, (uint64_t)i, 20000, &random);
		int type = model.type[i % 12];
		sum[type] += size;
		square[type] += size * size;
		all += size;
		count[type]++;
	}
	assert_near(all / n, 20000, 60);
	for (int t = 0; t < 3; t++) {
		double mean = sum[t] / count[t];
		double deviation = sqrt(square[t] / count[t] - mean * mean);
		assert_near(mean / (20000 * (double)weights[t] * 12 / (160 + 3 * 60 + 8 * 30)), 1,
			    0.01);
		assert_near(deviation / mean, (double)deviations[t] / 100, 0.01);
	}
}

/* The deadline is the one before plus a frame time; after a miss, the arrival plus a frame time. */
static void test_deadlines(void **state)
{
	struct frame_model model;
	struct frame_deadline deadline = {0};
	uint64_t ms = MILLISECOND;

	(void)state;
	draw_frames_model(&model, "I", weights, deviations, 10, NULL); /* 100 ms */
	assert_int_equal(draw_frames_arrive(&model, &deadline, 0, 5 * ms, 5 * ms), 0);
	assert_int_equal(draw_frames_arrive(&model, &deadline, 1, 105 * ms, 0),
			 0); /* just in time */
	assert_int_equal(draw_frames_arrive(&model, &deadline, 2, 215 * ms, 0),
			 10 * ms); /* due 205 */
	assert_int_equal(draw_frames_arrive(&model, &deadline, 3, 315 * ms, 0), 0); /* due 315 */
	assert_int_equal(draw_frames_arrive(&model, &deadline, 5, 515 * ms, 0), 0); /* 4 was lost */
	assert_int_equal(draw_frames_arrive(&model, &deadline, 4, 516 * ms, 0),
			 101 * ms); /* overtaken */
	assert_int_equal(draw_frames_arrive(&model, &deadline, 6, 620 * ms, 0),
			 5 * ms); /* due 615 */
	assert_int_equal(draw_frames_arrive(&model, &deadline, 7, 720 * ms, 0), 0); /* due 720 */
}

/* Thirty frames of 33.3 ms are a second, without drift. */
static void test_frame_times(void **state)
{
	struct frame_model model;

	(void)state;
	draw_frames_model(&model, "I", weights, deviations, 30, NULL);
	assert_int_equal(frames_time(&model, 30 * 3600), 3600 * HD_SIM_SECOND);
}

/* The streams take the share of the cable that was asked for. */
static void test_load(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, "xgft", "children=4,4 parents=1,4", "dmodk", 0);
	bench.settings.forced_rate = UINT64_C(2500000000);
	bench_add(&bench, "v", "video", "load=40%");
	bench_run(&bench, 800 * MILLISECOND);
	struct hd_sim_figures figures;
	uint64_t bytes = 0;
	hd_sim_figures(bench.sim, &figures);
	for (uint32_t h = 0; h < 16; h++)
		bytes += figures.links[0][bench.fabric->host_port[h]].bytes;
	assert_near((double)bytes / 16 / 0.8 / (2.5e9 / 8), 0.4, 0.008);
	/* all come well before their deadlines, except while a stream has its longest frame */
	assert_true(figure(&bench, "v", "delivered") > 0.9 * figure(&bench, "v", "frames"));
	bench_end(&bench);
}

/* Without a network in the way there is no miss if the first frame's deadline follows from its
 * creation; where it follows from its arrival, longer frames than all before them miss. */
static void test_first_deadline(void **state)
{
	double missed[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bench bench;
		bench_begin(&bench, "xgft", "children=4,4 parents=1,4", "dmodk", 0);
		bench_add(&bench, "v", "video",
			  i ? "streams=1;first_deadline=creation;to=shift:1"
			    : "streams=1;first_deadline=arrival;to=shift:1");
		bench_run(&bench, 2000 * MILLISECOND);
		missed[i] = figure(&bench, "v", "missed");
		assert_near(figure(&bench, "v", "delivered"), 16 * 60, 16);
		bench_end(&bench);
	}
	assert_true(missed[0] > 16 && missed[0] < 16 * 15);
	assert_near(missed[1], 0, 0);
}

struct seen {
	uint32_t unicast, multicast;
	uint16_t most;
};

static int count(void *context, const struct hd_sim_message *message, struct hd_error *err)
{
	struct seen *seen = context;

	(void)err;
	if (message->destination == HD_NONE) {
		seen->multicast++;
		seen->most = message->mlid > seen->most ? message->mlid : seen->most;
	} else {
		seen->unicast++;
	}
	return 0;
}

/* A fifth of the streams goes to groups; each host has three, with distinct members. */
static void test_groups(void **state)
{
	struct bench bench;
	struct seen seen = {0};
	struct hd_error err = {""};
	uint32_t groups;

	(void)state;
	bench_begin(&bench, "xgft", "children=4,4 parents=1,4", "dmodk", 0);
	bench_add(&bench, "v", "video", "streams=10;multicast=20%;group_members=4");
	assert_int_equal(bench_try_traffic(&bench, &err), 0);
	assert_int_equal(hd_traffic_list(bench.traffic, count, &seen, &err), 0);
	assert_int_equal(seen.unicast, 16 * 8);
	assert_int_equal(seen.multicast, 16 * 2);
	const struct hd_traffic_group *group = hd_traffic_groups(bench.traffic, &groups);
	assert_int_equal(groups, 16 * 3);
	for (uint32_t i = 0; i < groups; i++) {
		assert_int_equal(group[i].mlid, 0xC000 + i);
		assert_int_equal(group[i].source, i / 3);
		assert_int_equal(group[i].member_count, 4);
		for (uint32_t k = 0; k < 4; k++) {
			assert_int_not_equal(group[i].members[k], group[i].source);
			assert_true(!k || group[i].members[k - 1] < group[i].members[k]);
		}
	}
	bench_end(&bench);
}

/* Copies by the host: each receiver has its own messages, and its own deadlines. */
static void test_copies_by_the_host(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, "xgft", "children=4,4 parents=1,4", "dmodk", 0);
	bench_add(&bench, "v", "video",
		  "streams=2;multicast=100%;group_members=3;copies=host;first_deadline=creation");
	bench_run(&bench, 1000 * MILLISECOND);
	assert_near(figure(&bench, "v", "delivered"), 3 * figure(&bench, "v", "frames"), 60);
	assert_near(figure(&bench, "v", "missed"), 0, 0);
	bench_end(&bench);
}

/* Copies by the switch: one message on the sender's cable, a frame for each receiver. */
static void test_copies_by_the_switch(void **state)
{
	struct bench bench;
	struct hd_error err = {""};
	struct hd_mft_entry entries[64];
	struct hd_mfts mfts = {.entries = entries};

	(void)state;
	bench_begin(&bench, "xgft", "children=12,1 parents=1,1", "dmodk", 0);
	bench_add(&bench, "v", "video",
		  "streams=3;multicast=100%;group_members=5;first_deadline=creation");
	assert_int_equal(bench_try_traffic(&bench, &err), 0);
	const struct hd_traffic_group *groups = hd_traffic_groups(bench.traffic, &mfts.count);
	assert_int_equal(mfts.count, 36);
	for (uint32_t i = 0; i < mfts.count; i++) {
		entries[i] = (struct hd_mft_entry){.mlid = groups[i].mlid,
						   .sw = bench.fabric->host_switch[0]};
		for (uint32_t k = 0; k < groups[i].member_count; k++)
			hd_port_set_add(&entries[i].ports,
					bench.fabric->host_switch_port[groups[i].members[k]]);
	}
	bench.subnet.mfts = &mfts;
	struct hd_sim_workload workload = hd_traffic_workload(bench.traffic);
	assert_int_equal(hd_sim_new(&bench.network, &bench.settings, &workload, &bench.sim, &err),
			 0);
	if (hd_traffic_check(bench.traffic, bench.sim, NULL, &err))
		fail_msg("%s", err.text);
	bench_run(&bench, 1000 * MILLISECOND);
	struct hd_sim_figures figures;
	uint64_t up = 0, down = 0;
	hd_sim_figures(bench.sim, &figures);
	for (uint32_t h = 0; h < 12; h++) {
		up += figures.links[0][bench.fabric->host_port[h]].packets;
		down += figures.links[0][bench.fabric->peer[bench.fabric->host_port[h]]].packets;
	}
	assert_near((double)down / (double)up, 5, 0.01);
	assert_near(figure(&bench, "v", "delivered"), 5 * figure(&bench, "v", "frames"), 20);
	assert_near(figure(&bench, "v", "missed"), 0, 0);
	bench_end(&bench);
}

/* Under a head lifetime, only frames of P and B are damaged, and no packet at their ends is missing:
 * all frames come. */
static void test_dropping(void **state)
{
	struct bench bench;

	(void)state;
	bench_begin(&bench, "xgft", "children=4,4 parents=1,4", "dmodk", 0);
	bench.settings.forced_rate = UINT64_C(2500000000);
	bench.settings.head_lifetime = 10 * HD_SIM_MICROSECOND;
	bench_add(&bench, "v", "video", "load=32%;to=pairs:0>8,4>8,12>8;group=IP;hosts=0,4,8,12");
	bench_run(&bench, 500 * MILLISECOND);
	assert_true(figure(&bench, "v", "damaged") > 0);
	assert_near(figure(&bench, "v", "lost"), 0, 0);
	assert_true(figure(&bench, "v", "damaged") < 0.51 * figure(&bench, "v", "frames"));
	bench_end(&bench);
}

/* Bits of video that the fullest cable carries a second. */
static double fullest(const struct bench *bench, double seconds)
{
	struct hd_sim_figures figures;
	uint64_t most = 0;

	hd_sim_figures(bench->sim, &figures);
	for (uint32_t port = 0; port < bench->fabric->port_count; port++)
		if (figures.links[0][port].bytes > most)
			most = figures.links[0][port].bytes;
	return 8 * (double)most / seconds;
}

/* Half of a cable has room for four streams. Three hosts of a leaf send five each to hosts that have one spine by the
 * first of their LIDs: that cable takes four. With four LIDs each host has as many as its own cable takes. */
static void test_reservation(void **state)
{
	static const struct {
		const char *offset;
		double streams;
	} cases[] = {{"0", 4}, {"random:1-1", 4}, {"random:1-2", 8}, {"random", 12}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		char settings[256];
		snprintf(settings, sizeof(settings),
			 "hosts=0,1,2,4,8,12;to=pairs:0>4,1>8,2>12;streams=5;rates=100 "
			 "Mb/s;deviations=0,0,0;reserve=50%%;offset=%s",
			 cases[i].offset);
		bench_begin(&bench, "xgft", "children=4,4 parents=1,4", "dmodk", 2);
		bench.settings.forced_rate = UINT64_C(1000000000);
		bench_add(&bench, "v", "video", settings);
		bench_run(&bench, 400 * MILLISECOND); /* a group of pictures */
		assert_near(figure(&bench, "v", "streams"), 15, 0);
		assert_near(figure(&bench, "v", "refused"), 15 - cases[i].streams, 0);
		assert_near(figure(&bench, "v", "frames"), 12 * cases[i].streams, cases[i].streams);
		assert_true(fullest(&bench, 0.4) < 0.5 * 1e9 && fullest(&bench, 0.4) > 0.37 * 1e9);
		bench_end(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_functions),
	    cmocka_unit_test(test_variables),
	    cmocka_unit_test(test_model),
	    cmocka_unit_test(test_deadlines),
	    cmocka_unit_test(test_frame_times),
	    cmocka_unit_test(test_load),
	    cmocka_unit_test(test_first_deadline),
	    cmocka_unit_test(test_groups),
	    cmocka_unit_test(test_copies_by_the_host),
	    cmocka_unit_test(test_copies_by_the_switch),
	    cmocka_unit_test(test_dropping),
	    cmocka_unit_test(test_reservation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
