/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The checker against the oracle on random fabrics with good, damaged and senseless tables. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "check_samples.h"
#include "oracle_check.h"

#define ALL_FAULTS 1000000

struct sample {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
};

static struct hd_check_report *check(const struct sample *sample, unsigned threads, bool switches)
{
	struct hd_check_options options = {
	    .threads = threads, .max_faults = ALL_FAULTS, .switch_traffic = switches};
	struct hd_check_report *report = NULL;
	struct hd_error err;

	assert_int_equal(hd_check(sample->fabric, sample->routes, &options, &report, &err), 0);
	return report;
}

static void same_figures(const struct hd_check_report *report, const struct oracle_check *oracle)
{
	assert_int_equal(report->paths, oracle->paths);
	assert_int_equal(report->no_route, oracle->no_route);
	assert_int_equal(report->dead_end, oracle->dead_end);
	assert_int_equal(report->loop, oracle->loop);
	assert_int_equal(report->routes, oracle->host_routes);
	assert_int_equal(report->longer_routes, oracle->longer);
	assert_int_equal(report->max_hops, oracle->max_hops);
	assert_true(report->max_stretch == oracle->max_stretch);
	if (!report->routes)
		return;
	assert_true(report->mean_hops == (double)oracle->hops / (double)report->routes);
	assert_true(report->mean_shortest == (double)oracle->shortest / (double)report->routes);
}

static void same_flows(const struct hd_check_report *report, const struct oracle_check *oracle)
{
	uint32_t links = oracle->fabric->isl_count;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < links; i++) {
		assert_int_equal(report->link_flows[i], oracle->link_flows[i]);
		assert_true(report->link_flows[i] >= report->flows_min);
		assert_true(report->link_flows[i] <= report->flows_max);
		sum += report->link_flows[i];
	}
	if (!links) {
		assert_int_equal(report->busiest_link, HD_NONE);
		return;
	}
	assert_int_equal(report->link_flows[report->busiest_link], report->flows_max);
	assert_true(report->flows_mean == (double)sum / links);
}

static void same_fault(const struct hd_fault *fault, uint32_t source, uint32_t lid,
		       const struct oracle_check_walk *walk)
{
	assert_int_equal(fault->kind, walk->kind);
	assert_int_equal(fault->source, source);
	assert_int_equal(fault->lid, lid);
	assert_int_equal(fault->path_length, walk->length);
	assert_memory_equal(fault->path, walk->path, walk->length * sizeof(*walk->path));
}

/* Walks every pair; returns how many do not arrive, each of which must be the report's next. */
static uint32_t same_walks(const struct hd_check_report *report, const struct sample *sample)
{
	const struct hd_fabric *fabric = sample->fabric;
	struct oracle_check_walk walk = {.path =
					     calloc(fabric->switch_count + 1, sizeof(*walk.path))};
	uint32_t seen = 0;

	for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			if (!oracle_check_is_destination(fabric, lid))
				continue;
			oracle_check_follow(fabric, sample->routes, sw, lid, &walk);
			if (walk.arrives)
				continue;
			assert_true(seen < report->fault_count);
			same_fault(&report->faults[seen++], sw, lid, &walk);
		}
	free(walk.path);
	return seen;
}

static uint32_t link_out_port(const struct hd_fabric *fabric, uint32_t link)
{
	uint32_t from = hd_isl_from(fabric, link);

	return hd_port_index(fabric, from, fabric->isl_port[link]);
}

/* Each link of a reported cycle is one that the oracle too saw waiting for the next. */
static void real_cycle(const struct hd_fault *fault, const struct oracle_check *oracle)
{
	assert_int_equal(fault->kind, HD_FAULT_CREDIT_LOOP);
	assert_true(oracle->lane_loop[fault->vl]);
	assert_true(fault->path_length >= 2);
	for (uint32_t i = 0; i < fault->path_length; i++) {
		uint32_t link = fault->path[i], next = fault->path[(i + 1) % fault->path_length];
		assert_true(oracle_check_depends(oracle, fault->vl,
						 link_out_port(oracle->fabric, link),
						 link_out_port(oracle->fabric, next)));
	}
}

static void same_credit_loops(const struct hd_check_report *report,
			      const struct oracle_check *oracle, uint32_t walks)
{
	uint32_t used = 0, loops = 0;

	for (unsigned lane = 0; lane < 16; lane++) {
		used += oracle->lane_used[lane];
		loops += oracle->lane_loop[lane];
	}
	assert_int_equal(report->lanes, used);
	assert_int_equal(report->credit_loops, loops);
	assert_int_equal(report->fault_count, walks + loops);
	for (uint32_t i = walks; i < report->fault_count; i++)
		real_cycle(&report->faults[i], oracle);
}

/* What kinds of tables the comparison has met. */
struct met {
	unsigned clean, unreachable, credit_loops, several_lanes, longer, multipath;
};

static void note(struct met *met, const struct hd_check_report *report, const struct sample *sample)
{
	met->clean += hd_check_clean(report);
	met->unreachable += report->loop && report->dead_end && report->no_route;
	met->credit_loops += report->credit_loops != 0;
	met->several_lanes += report->credit_loops > 1 && report->credit_loops < report->lanes;
	met->longer += report->longer_routes != 0;
	met->multipath += sample->fabric->lmc[sample->fabric->host_port[0]] != 0;
}

static void compare(const struct sample *sample, unsigned threads, bool switches, struct met *met)
{
	struct hd_check_report *report = check(sample, threads, switches);
	struct oracle_check *oracle = oracle_check_new(sample->fabric, sample->routes, switches);

	same_figures(report, oracle);
	same_flows(report, oracle);
	same_credit_loops(report, oracle, same_walks(report, sample));
	if (sample->fabric->host_count)
		note(met, report, sample);
	oracle_check_free(oracle);
	hd_check_report_free(report);
}

static struct sample draw(uint64_t *state)
{
	struct sample sample = {.fabric = sample_random_fabric(state, 14)};
	uint32_t kind = sample_random(state, 3);

	sample.routes =
	    kind ? sample_shortest(sample.fabric, state) : sample_nonsense(sample.fabric, state);
	for (uint32_t damage = kind == 1 ? sample_random(state, 9) : 0; damage > 0; damage--)
		hd_routes_row(sample.routes,
			      sample_random(state, sample.fabric->switch_count))[sample_random(
		    state, sample.fabric->lid_count)] = (uint8_t)sample_random(state, 12);
	if (sample_random(state, 2))
		sample_service_levels(sample.routes, 1 + sample_random(state, 16), state);
	return sample;
}

static void discard(struct sample *sample)
{
	hd_routes_free(sample->routes);
	hd_fabric_free(sample->fabric);
}

/* Every figure, every fault with its path and every verdict on a lane is the oracle's. */
static void agrees_with_the_oracle(void **unused)
{
	uint64_t state = 1;
	struct met met = {0};

	(void)unused;
	for (unsigned i = 0; i < 1500; i++) {
		struct sample sample = draw(&state);
		compare(&sample, 1 + i % 3, i % 4 == 3, &met);
		discard(&sample);
	}
	assert_true(met.clean > 50 && met.unreachable > 50 && met.credit_loops > 50);
	assert_true(met.several_lanes > 5 && met.longer > 20 && met.multipath > 50);
}

static bool names(const struct hd_check_report *report, uint32_t source, uint32_t lid)
{
	for (uint32_t i = 0; i < report->fault_count; i++)
		if (report->faults[i].source == source && report->faults[i].lid == lid)
			return true;
	return false;
}

/* Damages one entry; the walk that starts there must be bad, unless the port goes there too. */
static void damage(struct sample *sample, uint32_t sw, uint32_t lid, uint8_t port)
{
	uint8_t *entry = hd_routes_row(sample->routes, sw) + lid, was = *entry;

	*entry = port;
	struct hd_check_report *report = check(sample, 1, false);
	assert_false(hd_check_clean(report));
	assert_true(names(report, sw, lid));
	*entry = was;
	hd_check_report_free(report);
}

/* Tries every LID at every switch: no entry, a port without a cable, a port that is not there,
 * the switch itself, a wrong host's port, and back to where the neighbour sends it from. */
static void finds_every_single_damage(void **unused)
{
	uint64_t state = 5;
	struct sample sample = {.fabric = sample_tree(3, 2, 2)};

	(void)unused;
	sample.routes = sample_shortest(sample.fabric, &state);
	struct hd_check_report *report = check(&sample, 1, false);
	assert_true(hd_check_clean(report));
	hd_check_report_free(report);
	for (uint32_t lid = 1; lid < sample.fabric->lid_count; lid++)
		for (uint32_t sw = 0; sw < sample.fabric->switch_count; sw++) {
			uint8_t right = hd_routes_port(sample.routes, sw, lid);
			damage(&sample, sw, lid, HD_NO_PORT);
			damage(&sample, sw, lid, 200);
			if (right != 0)
				damage(&sample, sw, lid, 0);
			for (uint8_t port = 1; port <= 2 && sw < 3; port++)
				if (port != right)
					damage(&sample, sw, lid, port);
		}
	discard(&sample);
}

/* An entry that points back to the neighbour that sends here is a loop of the two. */
static void names_the_loop(void **unused)
{
	uint64_t state = 5;
	struct sample sample = {.fabric = sample_ring(5)};
	uint32_t lid = sample.fabric->lid[sample.fabric->host_port[2]];

	(void)unused;
	sample.routes = sample_shortest(sample.fabric, &state);
	hd_routes_row(sample.routes, 1)[lid] = 2;
	struct hd_check_report *report = check(&sample, 1, false);
	assert_int_equal(report->loop, 2);
	assert_int_equal(report->faults[0].kind, HD_FAULT_LOOP);
	const uint32_t path[] = {0, 1, 0};
	assert_int_equal(report->faults[0].path_length, 3);
	assert_memory_equal(report->faults[0].path, path, sizeof(path));
	hd_check_report_free(report);
	discard(&sample);
}

/* The report keeps as many faults as asked for, the first ones, and counts all. */
static void keeps_the_first_faults(void **unused)
{
	struct sample sample = {.fabric = sample_tree(3, 2, 2)};
	struct hd_check_options options = {.max_faults = 7};
	struct hd_check_report *report;

	(void)unused;
	sample.routes = hd_routes_new(sample.fabric);
	assert_int_equal(hd_check(sample.fabric, sample.routes, &options, &report, NULL), 0);
	assert_int_equal(report->no_route, report->paths);
	assert_int_equal(report->paths, 5 * (5 + 6));
	assert_int_equal(report->fault_count, 7);
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(report->faults[i].source, i % 5);
		assert_int_equal(report->faults[i].lid, report->faults[0].lid + i / 5);
	}
	hd_check_report_free(report);
	assert_int_equal(hd_check(sample.fabric, sample.routes, NULL, &report, NULL), 0);
	assert_int_equal(report->fault_count, 20);
	hd_check_report_free(report);
	discard(&sample);
}

/* Tables of another shape are refused with both sizes, not read. */
static void refuses_another_shape(void **unused)
{
	struct sample small = {.fabric = sample_tree(2, 2, 2)};
	struct hd_fabric *large = sample_tree(3, 2, 2);
	struct hd_check_report *report = NULL;
	struct hd_error err;

	(void)unused;
	small.routes = hd_routes_new(small.fabric);
	assert_int_equal(hd_check(large, small.routes, NULL, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "4 switches"));
	assert_null(report);
	small.routes->switch_count = 5;
	assert_int_equal(hd_check(large, small.routes, NULL, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "last LID"));
	hd_fabric_free(large);
	discard(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(agrees_with_the_oracle), cmocka_unit_test(finds_every_single_damage),
	    cmocka_unit_test(names_the_loop),	      cmocka_unit_test(keeps_the_first_faults),
	    cmocka_unit_test(refuses_another_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
