/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Analysis with each of its allocations failing in turn: always -ENOMEM, never other figures. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing.h"

#include "random_tables.h"
#include "scene.h"
#include "short_memory.h"

/* ---- ranks ---- */

struct ranking {
	const struct hd_fabric *fabric;
	const char *path; /* of a host file; NULL: all hosts take part */
	struct hd_ranks *ranks;
};

static int ranks_call(void *context, struct hd_error *err)
{
	struct ranking *ranking = context;

	ranking->ranks = NULL;
	return ranking->path ? hd_ranks_read(ranking->fabric, ranking->path, &ranking->ranks, err)
			     : hd_ranks_new(ranking->fabric, false, &ranking->ranks, err);
}

static void ranks_settle(void *context, int rc)
{
	struct ranking *ranking = context;

	assert_int_equal(!rc, ranking->ranks != NULL);
	if (!rc)
		assert_int_equal(ranking->ranks->count,
				 ranking->path ? 2 : ranking->fabric->host_count);
	hd_ranks_free(ranking->ranks);
}

/* Property: ranks, of all hosts and from a file. */
static void ranks(void **state)
{
	struct ranking ranking = {.fabric = generate("xgft", "children=2,2 parents=1,2")};
	char path[32];

	(void)state;
	struct short_memory_case tried = {"ranks", &ranking, ranks_call, ranks_settle, 0};
	assert_true(short_memory_try(&tried) > 1);
	write_file(path, "H_1_0\nH_0_1\n");
	ranking.path = path;
	assert_true(short_memory_try(&tried) > 1);
	unlink(path);
	hd_fabric_free((struct hd_fabric *)(uintptr_t)ranking.fabric);
}

/* ---- machines ---- */

struct machine_run {
	const struct hd_fabric *fabric;
	struct hd_congestion_request request;
	double expected; /* when memory is plenty */
	struct hd_congestion_report *report;
};

/* Ranks, their machines, a pattern of them, and its figures. */
static int machines_call(void *context, struct hd_error *err)
{
	struct machine_run *run = context;
	struct hd_ranks *found = NULL;
	struct hd_pattern *pattern = NULL;
	const struct hd_pattern_kind *kind = hd_pattern_find("nccl-ring");
	int rc = hd_ranks_new(run->fabric, false, &found, err);

	run->report = NULL;
	if (!rc)
		rc = hd_ranks_for_pattern(found, kind, err);
	if (!rc)
		rc = hd_pattern_new(kind, NULL, found, &pattern, err);
	run->request.ranks = found;
	run->request.pattern = pattern;
	if (!rc)
		rc = hd_congestion_run(&run->request, &run->report, err);
	hd_pattern_free(pattern);
	hd_ranks_free(found);
	return rc;
}

static void machines_settle(void *context, int rc)
{
	struct machine_run *run = context;

	assert_int_equal(!rc, run->report != NULL);
	if (!rc) {
		assert_true(run->report->machine_routes == 3 * 4);
		assert_true(!(run->report->machine_mean < run->expected) &&
			    !(run->report->machine_mean > run->expected));
	}
	hd_congestion_report_free(run->report);
}

/* Property: patterns of machines. */
static void machines(void **state)
{
	uint64_t random = 1;
	struct hd_fabric *fabric = generate("rail-tree", "groups=2 machines=2 adapters=2 spines=1");
	struct hd_routes *routes = random_tables(fabric, &random, false);
	struct machine_run run = {
	    .fabric = fabric,
	    .request = {
		.fabric = fabric, .routes = routes, .mapping = HD_MAP_RANDOM, .patterns = 3}};

	(void)state;
	assert_int_equal(machines_call(&run, NULL), 0);
	run.expected = run.report->machine_mean;
	hd_congestion_report_free(run.report);
	struct short_memory_case tried = {"machines", &run, machines_call, machines_settle, 0};
	assert_true(short_memory_try(&tried) > 10);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- patterns ---- */

struct drawing {
	const struct hd_pattern_kind *kind;
	const struct hd_options *options; /* NULL: defaults */
	const struct hd_ranks *ranks;
	struct hd_flow *flows; /* room for any round */
	uint32_t count, expected_count;
	struct hd_pattern *pattern;
};

static int draw_call(void *context, struct hd_error *err)
{
	struct drawing *drawing = context;

	drawing->pattern = NULL;
	int rc =
	    hd_pattern_new(drawing->kind, drawing->options, drawing->ranks, &drawing->pattern, err);
	if (rc)
		return rc;
	return hd_pattern_draw(drawing->pattern, drawing->ranks, HD_MAP_RANDOM, 1, 0, 0,
			       drawing->flows, &drawing->count, err);
}

static void draw_settle(void *context, int rc)
{
	struct drawing *drawing = context;

	if (!rc)
		assert_int_equal(drawing->count, drawing->expected_count);
	hd_pattern_free(drawing->pattern);
}

static void try_pattern(const struct hd_pattern_kind *kind, const char *settings,
			const struct hd_ranks *ranks)
{
	struct hd_flow flows[256];
	struct hd_options *options =
	    settings ? options_from(kind->options, kind->option_count, settings, NULL) : NULL;
	struct drawing drawing = {.kind = kind, .options = options, .ranks = ranks, .flows = flows};
	struct hd_error err = {""};

	CHECK(draw_call(&drawing, &err));
	hd_pattern_free(drawing.pattern);
	drawing.expected_count = drawing.count;
	struct short_memory_case tried = {kind->name, &drawing, draw_call, draw_settle, 0};
	assert_true(short_memory_try(&tried) > 1);
	hd_options_free(options);
}

/* A pattern file with as many rounds as there is room for at first; their end needs more. */
static void write_pattern(char *path, const struct hd_pattern_kind *kind)
{
	bool hosts = kind->fixed_hosts;
	char text[4096] = "";
	size_t used = 0;

	if (kind == hd_pattern_find("goal")) {
		write_file(path, "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\n");
		return;
	}
	for (unsigned i = 0; i < 64; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "round\n%s\n",
					 hosts ? "H_0_0 H_1_1" : "0 3");
	write_file(path, text);
}

/* Property: patterns of every kind, made and drawn. */
static void patterns(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2");
	struct hd_ranks *all = all_ranks(fabric);
	unsigned count;

	(void)state;
	const struct hd_pattern_kind *const *kinds = hd_pattern_kinds(&count);
	for (unsigned i = 0; i < count; i++) {
		bool of_file = kinds[i]->option_count && !strcmp(kinds[i]->options[0].name, "file");
		char path[32], settings[64];
		if (!of_file) {
			try_pattern(kinds[i], NULL, all);
			continue;
		}
		write_pattern(path, kinds[i]);
		snprintf(settings, sizeof(settings), "file=%s", path);
		try_pattern(kinds[i], settings, all);
		unlink(path);
	}
	try_pattern(hd_pattern_find("neighbours"), "grid=4,4", all);
	hd_ranks_free(all);
	hd_fabric_free(fabric);
}

/* ---- runs ---- */

struct running {
	struct hd_congestion_request request;
	struct hd_congestion_report *expected, *report;
};

static int run_call(void *context, struct hd_error *err)
{
	struct running *running = context;

	running->report = NULL;
	return hd_congestion_run(&running->request, &running->report, err);
}

static void run_settle(void *context, int rc)
{
	struct running *running = context;
	const struct hd_congestion_report *now = running->report, *before = running->expected;

	assert_int_equal(!rc, now != NULL);
	if (!rc) {
		assert_true(now->mean == before->mean && now->minimum == before->minimum);
		assert_int_equal(now->routes, before->routes);
		assert_int_equal(now->histogram_size, before->histogram_size);
	}
	hd_congestion_report_free(running->report);
}

/* The other process has nothing to add. */
static int combine_alone(void *context, uint64_t *sums, size_t sum_count, uint64_t *minima,
			 size_t minimum_count)
{
	(void)context;
	(void)sums;
	(void)sum_count;
	(void)minima;
	(void)minimum_count;
	return 0;
}

/* Runs a few patterns of the request. */
static void try_run(const char *what, const struct hd_congestion_request *request)
{
	struct running running = {.request = *request};
	struct hd_error err = {""};

	running.request.patterns = 4;
	CHECK(run_call(&running, &err));
	running.expected = running.report;
	struct hd_congestion_report *expected = running.report;
	struct short_memory_case tried = {what, &running, run_call, run_settle, 0};
	assert_true(short_memory_try(&tried) > 1);
	running.request.threads = 3;
	short_memory_begin(0, SHORT_MEMORY_ONCE);
	int rc = run_call(&running, &err);
	struct short_memory_count allocations = short_memory_end();
	run_settle(&running, rc);
	assert_int_equal(allocations.others, 0);
	hd_congestion_report_free(expected);
}

/* Property: runs with every choice of LIDs and of shares, with and without a table of paths; the
 * workers allocate nothing. */
static void runs(void **state)
{
	struct scene scene = scene_of("irregular", "switches=8 radix=8 hosts=2", "bisect", "");
	struct hd_congestion_request request = scene.request;

	(void)state;
	for (int lids = HD_LIDS_BASE; lids <= HD_LIDS_SPREAD; lids++) {
		request.lids = (enum hd_lid_choice)lids;
		request.table_bytes = 0;
		try_run("run", &request);
		request.table_bytes = 1;
		try_run("run without a table", &request);
	}
	request = scene.request;
	request.parts = 2;
	request.combine = combine_alone;
	try_run("one of two processes", &request);
	request = scene.request;
	request.shares = HD_SHARE_MAX_MIN;
	request.link_flows = true;
	try_run("max-min shares and flows of links", &request);
	struct hd_spread_switch *none = calloc(scene.fabric->switch_count, sizeof(*none));
	const struct hd_spread spread = {1, none};
	request = scene.request;
	request.spread = &spread;
	try_run("groups of ports", &request);
	free(none);
	scene_end(&scene);
}

struct searching {
	const struct hd_routes *routes;
	const struct hd_ranks *ranks;
};

static int broken_call(void *context, struct hd_error *err)
{
	struct searching *searching = context;
	uint64_t routes[HD_BROKEN_KINDS];
	struct hd_broken_route list[4];
	uint32_t listed;

	return hd_broken_routes(searching->routes, searching->ranks, 1, routes, list, 4, &listed,
				err);
}

static void broken_settle(void *context, int rc)
{
	(void)context;
	(void)rc;
}

/* Property: the search for broken routes. */
static void broken_routes(void **state)
{
	struct scene scene = scene_of("irregular", "switches=8 radix=8 hosts=2", "bisect", "");
	struct searching searching = {scene.routes, scene.ranks};
	struct short_memory_case tried = {"broken", &searching, broken_call, broken_settle, 0};

	(void)state;
	assert_true(short_memory_try(&tried) > 1);
	scene_end(&scene);
}

/* ---- applications ---- */

static int application_call(void *context, struct hd_error *err)
{
	static const char text[] =
	    "10% tree 0.5\n20% neighbours:grid=4,4\n5% \"shift:distance=2\"\n"
	    "1% ring\n1% gather\n1% incast:senders=3\n1% ring\n1% ring\n1% ring\n";
	struct hd_application **application = context;

	*application = NULL;
	return hd_application_parse(text, strlen(text), "app", application, err);
}

static void application_settle(void *context, int rc)
{
	struct hd_application **application = context;

	assert_true(rc ? !*application : (*application)->count == 9);
	hd_application_free(*application);
}

/* Property: an application is read whole, or refused. */
static void applications(void **state)
{
	struct hd_application *application;
	struct short_memory_case tried = {"application", &application, application_call,
					  application_settle, 0};

	(void)state;
	assert_true(short_memory_try(&tried) > 1);
}

/* ---- schedules ---- */

static const char schedule_text[] =
    "num_ranks 2\nrank 0 {\na: calc 1\nb: send 1b to 1\nb requires a\n}\n"
    "rank 1 {\nrecv 1b from -1\n}\n";

static int read_schedule(void *context, struct hd_error *err)
{
	struct hd_schedule *schedule = NULL;
	uint32_t round[3], count;
	int rc = hd_schedule_parse_goal(schedule_text, strlen(schedule_text), "t", &schedule, err);

	(void)context;
	assert_int_equal(!rc, schedule != NULL);
	if (!rc)
		rc = hd_schedule_rounds(schedule, round, &count, err);
	hd_schedule_free(schedule);
	return rc;
}

static void nothing_left(void *context, int rc)
{
	(void)context;
	(void)rc;
}

/* Property: each allocation may fail; that is -ENOMEM, and nothing is lost. */
static void schedules(void **state)
{
	struct short_memory_case tried = {
	    .what = "goal", .call = read_schedule, .settle = nothing_left};

	(void)state;
	assert_true(short_memory_try(&tried) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranks),	     cmocka_unit_test(schedules),
	    cmocka_unit_test(machines),	     cmocka_unit_test(patterns),
	    cmocka_unit_test(applications),  cmocka_unit_test(runs),
	    cmocka_unit_test(broken_routes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
