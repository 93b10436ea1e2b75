/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* While tables change, adaptive routing closes no credit loop. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "change_testing.h"
#include "oracle_ar.h"

#include <heddle/change/narrow.h>

#define TRIALS 200

static bool loops(const struct hd_fabric *fabric, const struct hd_routes *after,
		  const struct hd_routes *before, const struct hd_ar_plan *plan,
		  const struct hd_ar_plan *next)
{
	bool found = false;

	for (unsigned lane = 0; lane < 16; lane++) {
		struct oracle_dependencies graph;
		found |= oracle_ar_cycle(fabric, after, before, plan, next, lane, &graph);
		oracle_dependencies_free(&graph);
	}
	return found;
}

static bool tables_change(const struct hd_ar_narrow_request *change, uint32_t lid)
{
	for (uint32_t sw = 0; sw < change->fabric->switch_count; sw++)
		if (hd_routes_port(change->before, sw, lid) !=
		    hd_routes_port(change->after, sw, lid))
			return true;
	return false;
}

static bool is_adaptive(const struct hd_ar_plan *plan, uint32_t lid)
{
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		if (hd_ar_plan_group(plan, sw, 0, lid) != HD_AR_NO_GROUP)
			return true;
	return false;
}

/* The tables without LIDs whose ports change and which are static in the plan. */
static struct hd_routes *without_static(const struct hd_ar_narrow_request *change,
					const struct hd_routes *routes,
					const struct hd_ar_plan *plan)
{
	struct hd_routes *copy = NULL;

	CHECK(hd_routes_rebase(change->fabric, routes, change->fabric, &copy, &err));
	for (uint32_t lid = 1; lid < copy->lid_count; lid++)
		for (uint32_t sw = 0; sw < copy->switch_count; sw++)
			if (tables_change(change, lid) && !is_adaptive(plan, lid))
				hd_routes_row(copy, sw)[lid] = HD_NO_PORT;
	return copy;
}

/* While the tables change, no packet to a LID that is adaptive anywhere takes part in a loop. */
static bool adaptive_lids_loop(const struct hd_ar_narrow_request *change,
			       const struct hd_ar_plan *plan)
{
	struct hd_routes *before = without_static(change, change->before, plan);
	struct hd_routes *after = without_static(change, change->after, plan);
	bool found = loops(change->fabric, after, before, plan, NULL);

	hd_routes_free(before);
	hd_routes_free(after);
	return found;
}

/* The tables by which switches may lead while the next plan is programmed, beside those after: only
 * those with AR have static ports of their own. */
static struct hd_routes *late_tables(const struct hd_fabric *fabric, const struct hd_routes *before,
				     const struct hd_routes *after, const struct hd_ar_plan *plan)
{
	struct hd_routes *late = NULL;

	CHECK(hd_routes_rebase(fabric, before, fabric, &late, &err));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		memcpy(hd_routes_row(late, sw),
		       plan->switches[sw].used ? plan->switches[sw].lid_port[0]
					       : hd_routes_row(after, sw),
		       late->lid_count);
	return late;
}

/* Entries that stay adaptive keep group and number. Returns how many do not stay. */
static uint64_t assert_part_of(const struct hd_ar_plan *narrowed, const struct hd_ar_plan *plan)
{
	uint64_t changed = 0, adaptive = 0;

	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		for (uint32_t lid = 0; lid < plan->lid_count; lid++) {
			uint32_t group = hd_ar_plan_group(narrowed, sw, 0, lid);
			uint32_t was = hd_ar_plan_group(plan, sw, 0, lid);
			assert_true(group == HD_AR_NO_GROUP || narrowed->switches[sw].used);
			changed += group != was;
			adaptive += group != HD_AR_NO_GROUP;
			if (group == HD_AR_NO_GROUP)
				continue;
			assert_int_equal(group, was);
			assert_true(hd_ar_group_equal(&narrowed->switches[sw].groups[group],
						      &plan->switches[sw].groups[was]));
		}
	assert_int_equal(narrowed->adaptive, adaptive);
	return changed;
}

/* The tables with a few entries that lead elsewhere. */
static struct hd_routes *changed(const struct hd_fabric *fabric, const struct hd_routes *routes,
				 uint64_t *random)
{
	struct hd_routes *copy = NULL;

	CHECK(hd_routes_rebase(fabric, routes, fabric, &copy, &err));
	for (int i = (int)below(random, 6); i >= 0 && fabric->isl_count; i--) {
		uint32_t link = (uint32_t)hd_random_below(random, fabric->isl_count);
		uint32_t host = (uint32_t)hd_random_below(random, fabric->host_count);
		uint32_t sw = hd_isl_from(fabric, link);
		if (fabric->host_switch[host] != sw)
			hd_routes_row(copy, sw)[fabric->lid[fabric->host_port[host]]] =
			    fabric->isl_port[link];
	}
	return copy;
}

struct counts {
	unsigned trials, safe, narrowed, some_off, all_off, loops, unsafe;
	uint64_t entries, adaptive; /* where the tables loop */
};

static void count(struct counts *counts, const struct hd_ar_narrowing *narrowing,
		  const struct hd_ar_plan *plan, bool tables_loop)
{
	counts->trials++;
	counts->safe += !narrowing->narrowed;
	counts->narrowed += narrowing->narrowed && !narrowing->switched_off;
	counts->some_off += narrowing->switched_off && !narrowing->off;
	counts->all_off += narrowing->off;
	counts->loops += tables_loop;
	counts->unsafe += narrowing->unsafe;
	if (!tables_loop)
		return;
	counts->entries += plan->adaptive;
	counts->adaptive += narrowing->plan->adaptive;
}

/* There is an interim plan that is safe with what the switches hold, and part of the next one. */
static void assert_interim(const struct hd_ar_narrow_request *change, struct hd_ar_plan *held,
			   const struct hd_routes *late)
{
	struct hd_ar_narrow_request step = *change;
	struct hd_ar_plan *interim = NULL;

	step.plan = held;
	if (change->next) {
		CHECK(hd_ar_find_interim(&step, &interim, &err));
		assert_part_of(interim, change->next);
	}
	assert_false(loops(change->fabric, change->after, late, held, interim));
	hd_ar_plan_free(interim);
}

/* What holds whatever was narrowed. */
static void assert_safe(const struct hd_ar_narrow_request *change,
			const struct hd_ar_narrowing *narrowing)
{
	const struct hd_fabric *fabric = change->fabric;
	struct hd_routes *late =
	    late_tables(fabric, change->before, change->after, narrowing->plan);

	assert_int_equal(assert_part_of(narrowing->plan, change->plan), narrowing->narrowed);
	if (narrowing->looping)
		assert_true(loops(fabric, change->after, change->before, NULL, NULL));
	if (narrowing->off && !change->stuck)
		assert_int_equal(narrowing->plan->adaptive, 0);
	if (!narrowing->off) {
		assert_false(adaptive_lids_loop(change, narrowing->plan));
		assert_interim(change, narrowing->plan, late);
	}
	if (narrowing->unsafe)
		assert_true(adaptive_lids_loop(change, change->plan));
	if (!loops(fabric, change->after, change->before, change->plan, change->next)) {
		assert_int_equal(narrowing->narrowed, 0);
		assert_false(narrowing->off);
	}
	hd_routes_free(late);
}

/* No entry of a switch that does not answer changes. */
static void assert_stuck(const struct hd_ar_narrow_request *change,
			 const struct hd_ar_narrowing *narrowing)
{
	for (uint32_t sw = 0; change->stuck && sw < change->fabric->switch_count; sw++)
		for (uint32_t lid = 0; change->stuck[sw] && lid < change->plan->lid_count; lid++)
			assert_int_equal(hd_ar_plan_group(narrowing->plan, sw, 0, lid),
					 hd_ar_plan_group(change->plan, sw, 0, lid));
}

static void try_change(uint64_t number, struct counts *counts)
{
	uint64_t random = number;
	struct hd_fabric *fabric = random_fabric(&random, 1);
	struct hd_routes *before = random_routes(fabric, &random, false, 1);
	struct hd_routes *after = number % 2 ? random_routes(fabric, &random, number % 7 == 0, 1)
					     : changed(fabric, before, &random);
	struct hd_ar_request request = {.fabric = fabric,
					.routes = before,
					.algorithm = number % 4 ? HD_AR_TREE : HD_AR_LAG,
					.mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;
	bool *stuck = calloc(fabric->switch_count, sizeof(*stuck));

	if (!hd_ar_plan_new(&request, &plan, NULL, NULL)) {
		struct hd_ar_plan *next = NULL;
		struct hd_ar_narrowing narrowing;
		request.routes = after;
		request.algorithm = number % 3 ? HD_AR_TREE : HD_AR_LAG;
		hd_ar_plan_new(&request, &next, NULL, NULL);
		stuck[hd_random_below(&random, fabric->switch_count)] = true;
		struct hd_ar_narrow_request change = {.plan = plan,
						      .fabric = fabric,
						      .before = before,
						      .after = after,
						      .next = next,
						      .stuck = number % 5 ? NULL : stuck};
		CHECK(hd_ar_narrow(&change, &narrowing, &err));
		assert_safe(&change, &narrowing);
		assert_stuck(&change, &narrowing);
		count(counts, &narrowing, plan, loops(fabric, after, before, NULL, NULL));
		hd_ar_plan_free(narrowing.plan);
		hd_ar_plan_free(next);
	}
	free(stuck);
	hd_ar_plan_free(plan);
	hd_routes_free(after);
	hd_routes_free(before);
	hd_fabric_free(fabric);
}

/* Property: while the tables change, only packets to LIDs that are static can loop, and only if the
 * tables alone loop. While the next plan is programmed, nothing loops. A safe plan stays as it is.
 * Also where one switch keeps its groups; if these are on a loop, the result says so. */
static void mixtures_are_safe(void **state)
{
	struct counts counts = {0};

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++)
		try_change(number, &counts);
	print_message("%u trials, %u safe, %u narrowed, %u some off, %u all off, %u tables loop "
		      "(%.0f%% stay adaptive), %u unsafe\n",
		      counts.trials, counts.safe, counts.narrowed, counts.some_off, counts.all_off,
		      counts.loops, 100.0 * (double)counts.adaptive / (double)counts.entries,
		      counts.unsafe);
	assert_true(counts.safe > 20);
	assert_true(counts.narrowed > 5);
	assert_true(counts.all_off > 5);
	assert_true(counts.loops > 5);
	assert_true(counts.unsafe > 0);
}

static struct hd_ar_narrowing narrow_change(const struct tree_change *change,
					    struct hd_ar_narrow_request *request)
{
	struct hd_ar_narrowing narrowing;

	*request = (struct hd_ar_narrow_request){.plan = change->plan,
						 .fabric = change->is,
						 .before = change->before,
						 .after = change->after,
						 .next = change->next};
	CHECK(hd_ar_narrow(request, &narrowing, &err));
	return narrowing;
}

/* Property: the same on trees whose cables fail and return, where AR stays on at most switches. */
static void small_trees_are_safe(void **state)
{
	static const char *const shapes[] = {"children=2,3,2 parents=1,3,2",
					     "children=2,2,3 parents=1,3,2",
					     "children=3,4 parents=1,3"};
	struct counts counts = {0};

	(void)state;
	for (unsigned trial = 0; trial < 45; trial++) {
		struct tree_change change = make_change(shapes[trial % 9 / 3], trial, 5);
		struct hd_ar_narrow_request request;
		struct hd_ar_narrowing narrowing = narrow_change(&change, &request);
		assert_safe(&request, &narrowing);
		count(&counts, &narrowing, change.plan,
		      loops(change.is, change.after, change.before, NULL, NULL));
		hd_ar_plan_free(narrowing.plan);
		free_change(&change);
	}
	print_message("%u trials, %u safe, %u some off, %u all off, %u tables loop (%.0f%% stay "
		      "adaptive)\n",
		      counts.trials, counts.safe, counts.some_off, counts.all_off, counts.loops,
		      100.0 * (double)counts.adaptive / (double)counts.entries);
	assert_true(counts.loops > 10);
	assert_true(3 * counts.adaptive > counts.entries);
}

/* Property: where one to three cables of a tree of 216 hosts fail or return, nearly all adaptive
 * entries stay adaptive, although the mixture of the tables has a loop. */
static void most_stays_adaptive(void **state)
{
	uint64_t entries = 0, adaptive = 0;
	unsigned looping = 0;
	double least = 1;

	(void)state;
	for (unsigned trial = 0; trial < 20; trial++) {
		struct tree_change change =
		    make_change("children=6,6,6 parents=1,6,6", trial, 0.24 * (1 + trial % 3));
		struct hd_ar_narrow_request request;
		struct hd_ar_narrowing narrowing = narrow_change(&change, &request);
		const struct hd_ar_proof_request mixture = {
		    .fabric = change.is, .routes = change.after, .before = change.before};
		double share = (double)narrowing.plan->adaptive /
			       (double)(narrowing.plan->adaptive + narrowing.narrowed);
		looping += hd_ar_prove(&mixture, NULL, NULL, NULL) == -ELOOP;
		entries += narrowing.plan->adaptive + narrowing.narrowed;
		adaptive += narrowing.plan->adaptive;
		least = share < least ? share : least;
		print_message("%u: %.1f%% stay adaptive, %u LIDs loop, %u switches off\n", trial,
			      100 * share, narrowing.looping, narrowing.switched_off);
		hd_ar_plan_free(narrowing.plan);
		free_change(&change);
	}
	print_message("%u of 20 mixtures loop; %.1f%% stay adaptive, at least %.1f%%\n", looping,
		      100.0 * (double)adaptive / (double)entries, 100 * least);
	assert_true(looping > 10);
	assert_true((double)adaptive > 0.9 * (double)entries);
}

/* Property: the plan in force follows switches by GUID when the fabric changes; a switch that is
 * new has no AR yet. */
static void changed_fabric(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3,2 parents=1,2,2"), *less = NULL;
	struct hd_routes *routes = route("dmodk", fabric), *rebased = NULL;
	struct hd_builder *builder = hd_builder_from(fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;
	struct hd_ar_narrowing narrowing;
	const struct hd_node_spec spec = {
	    .type = HD_SWITCH, .guid = 0x1, .port_count = 4, .name = "new"};
	uint32_t handle;

	(void)state;
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	CHECK(hd_builder_add_node(builder, &spec, &handle, &err));
	CHECK(hd_builder_build(builder, &less, &err));
	hd_builder_free(builder);
	CHECK(hd_routes_rebase(fabric, routes, less, &rebased, &err));
	struct hd_ar_narrow_request change = {
	    .plan = plan, .fabric = less, .before = rebased, .after = rebased};
	CHECK(hd_ar_narrow(&change, &narrowing, &err));
	assert_int_equal(narrowing.narrowed, 0);
	assert_int_equal(narrowing.plan->adaptive, plan->adaptive);
	assert_int_equal(narrowing.plan->switches[0].guid, 0x1);
	assert_int_equal(narrowing.plan->switches[0].form, HD_AR_FORM_NONE);
	assert_int_equal(narrowing.plan->switches[1].group_count, plan->switches[0].group_count);
	hd_ar_plan_free(narrowing.plan);
	hd_ar_plan_free(plan);
	hd_routes_free(rebased);
	hd_routes_free(routes);
	hd_fabric_free(less);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(mixtures_are_safe),
	    cmocka_unit_test(small_trees_are_safe),
	    cmocka_unit_test(most_stays_adaptive),
	    cmocka_unit_test(changed_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
