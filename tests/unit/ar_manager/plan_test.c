/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans of known fabrics: limits of switches, stable numbers, refusals. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"
#include "swapped_testing.h"

static struct hd_ar_plan *plan_of(const struct hd_ar_request *request)
{
	struct hd_ar_plan *plan = NULL;

	CHECK(hd_ar_plan_new(request, &plan, NULL, &err));
	return plan;
}

static struct hd_ar_plan *tree_plan(const struct hd_fabric *fabric, const struct hd_routes *routes,
				    const struct hd_ar_plan *previous)
{
	return plan_of(&(struct hd_ar_request){.fabric = fabric,
					       .routes = routes,
					       .previous = previous,
					       .algorithm = HD_AR_TREE,
					       .mode = HD_AR_FREE});
}

/* Property: in an intact fat tree a leaf has one group, all its up ports; the top switches have
 * none; and where there are parallel links they are in one group on the way down too. */
static void intact_tree(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,4,3 parents=1,2,2 parallel=1,2,1");
	struct hd_routes *routes = route("dmodk", fabric);
	struct hd_ar_plan *plan = tree_plan(fabric, routes, NULL);

	(void)state;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const struct hd_ar_switch *planned = &plan->switches[sw];
		char level = fabric->node_name[sw][1];
		/* a leaf: 4 up ports; in the middle: 2 up, and a pair to each of 4 leaves */
		assert_int_equal(planned->used, level == '1' ? 1 : level == '2' ? 5 : 0);
		for (uint32_t group = 0; group < planned->group_count; group++)
			assert_int_equal(hd_port_set_count(&planned->groups[group].ports[0]),
					 level == '1' ? 4 : 2);
	}
	assert_int_equal(plan->proof.lanes, 1);
	assert_true(plan->proof.dependencies > 0);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

static struct hd_ar_plan *any_plan(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	return plan_of(&(struct hd_ar_request){
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_AUTO, .mode = HD_AR_FREE});
}

/* Property: in a tree with two swapped cables nearly as many entries are adaptive as without these
 * two. Paths over them could close a credit loop. */
static void swapped_cables(void **state)
{
	static const char *const shapes[] = {"children=4,4,4 parents=1,4,4",
					     "children=1,4,4 parents=1,4,4",
					     "children=3,6 parents=1,6"};

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		struct hd_fabric *plain = generate("xgft", shapes[i % 3]);
		struct swap swap = swap_cables(plain, i);
		struct hd_routes *without = route("dmodk", swap.without);
		struct hd_routes *swapped = route("dmodk", swap.swapped);
		struct hd_ar_plan *expected = any_plan(swap.without, without);
		struct hd_ar_plan *plan = any_plan(swap.swapped, swapped);
		assert_int_equal(plan->algorithm, HD_AR_TREE);
		assert_true((double)plan->adaptive >= 0.93 * (double)expected->adaptive);
		hd_ar_plan_free(plan);
		hd_ar_plan_free(expected);
		hd_routes_free(swapped);
		hd_routes_free(without);
		release_swap(&swap);
		hd_fabric_free(plain);
	}
}

/* Property: TREE on a torus is refused with the loop, and AUTO takes LAG instead. */
static void torus(void **state)
{
	struct hd_fabric *fabric = generate("torus", "dims=4,4 hosts=2 parallel=2");
	struct hd_routes *routes = route("updown", fabric);
	struct hd_routes *shortest = route("spf", fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = shortest, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;
	struct hd_ar_loop *loop = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_ar_plan_new(&request, &plan, &loop, &err), -ELOOP);
	assert_non_null(strstr(err.text, "credit loop of 4 links on VL "));
	assert_int_equal(loop->length, 4);
	hd_ar_loop_free(loop);
	request.algorithm = HD_AR_AUTO;
	request.routes = routes;
	plan = plan_of(&request);
	assert_int_equal(plan->algorithm, HD_AR_LAG);
	/* all entries that lead to another switch have a pair of links */
	assert_int_equal(plan->adaptive, (uint64_t)fabric->host_count * 15);
	hd_ar_plan_free(plan);
	hd_routes_free(shortest);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: switches without AR stay static, those of the old form have at most 256 groups, and
 * group_cap limits all. */
static void mixed_switches(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,4,3 parents=1,2,2");
	struct hd_routes *routes = route("dmodk", fabric);
	struct hd_ar_capability can[64];
	struct hd_ar_request request = {.fabric = fabric,
					.routes = routes,
					.capabilities = can,
					.algorithm = HD_AR_TREE,
					.mode = HD_AR_BOUNDED};

	(void)state;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		can[sw] = hd_ar_capability_full;
		if (sw % 3 == 0)
			can[sw].form = HD_AR_FORM_NONE;
		if (sw % 3 == 1)
			can[sw].group_cap = 0;
	}
	struct hd_ar_plan *plan = plan_of(&request), *all = tree_plan(fabric, routes, NULL);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const struct hd_ar_switch *planned = &plan->switches[sw];
		assert_int_equal(planned->form, sw % 3 == 2 ? HD_AR_FORM_REV1 : HD_AR_FORM_NONE);
		assert_int_equal(planned->used, sw % 3 == 2 ? all->switches[sw].used : 0);
	}
	assert_int_equal(plan->possible, all->adaptive);
	assert_true(plan->adaptive > 0 && plan->adaptive < all->adaptive);
	assert_int_equal(plan->full, 0);
	hd_ar_plan_free(all);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Groups of a switch without limits, the most useful first. */
static uint32_t benefits(const struct hd_ar_plan *plan, uint32_t sw, uint64_t *benefit)
{
	const struct hd_ar_switch *planned = &plan->switches[sw];

	for (uint32_t group = 0; group < planned->group_count; group++) {
		uint64_t lids = 0;
		for (uint32_t lid = 0; lid < plan->lid_count; lid++)
			lids += hd_ar_plan_group(plan, sw, 0, lid) == group;
		benefit[group] = lids * hd_port_set_count(&planned->groups[group].ports[0]);
	}
	for (uint32_t i = 1; i < planned->group_count; i++)
		for (uint32_t j = i; j > 0 && benefit[j] > benefit[j - 1]; j--) {
			uint64_t swap = benefit[j];
			benefit[j] = benefit[j - 1];
			benefit[j - 1] = swap;
		}
	return planned->group_count;
}

/* Property: with too few groups a switch keeps those with the largest sum of ports times LIDs, and
 * the share of adaptive entries is that of the table. */
static void overflow(void **state)
{
	struct hd_fabric *fabric = damaged(generate("xgft", "children=3,6,6 parents=1,6,6"), 6, 5);
	struct hd_routes *routes = route("dmodk", fabric);
	struct hd_ar_request request = {.fabric = fabric,
					.routes = routes,
					.algorithm = HD_AR_TREE,
					.mode = HD_AR_FREE,
					.group_cap = 2};
	struct hd_ar_plan *plan = plan_of(&request), *all = tree_plan(fabric, routes, NULL);
	uint64_t adaptive = 0, wanted[512], kept[512];
	unsigned full = 0;

	(void)state;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t count = benefits(all, sw, wanted), left = benefits(plan, sw, kept);
		assert_int_equal(left, count < 2 ? count : 2);
		for (uint32_t group = 0; group < left; group++)
			assert_int_equal(kept[group], wanted[group]);
		full += count > 2;
		for (uint32_t lid = 0; lid < plan->lid_count; lid++)
			adaptive += hd_ar_plan_state(plan, sw, 0, lid) == HD_AR_FREE;
	}
	assert_true(full > 0);
	assert_int_equal(plan->full, full);
	assert_int_equal(plan->adaptive, adaptive);
	assert_int_equal(plan->possible, all->adaptive);
	hd_ar_plan_free(all);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* The largest sum of benefits that any choice of `cap` groups gives: all choices are tried. */
static uint64_t best_choice(const uint64_t *benefit, uint32_t count, uint32_t cap)
{
	uint64_t best = 0;

	for (uint32_t chosen = 0; chosen < 1u << count; chosen++) {
		uint64_t sum = 0;
		for (uint32_t group = 0; group < count; group++)
			sum += chosen >> group & 1 ? benefit[group] : 0;
		if ((uint32_t)__builtin_popcount(chosen) <= cap && sum > best)
			best = sum;
	}
	return best;
}

/* Property: on random damaged trees no other choice of as many groups serves more ports times LIDs
 * than the one that a switch keeps; kept groups have all entries that want them. */
static void best_groups_are_kept(void **state)
{
	unsigned limited = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct hd_fabric *fabric =
		    damaged(generate("xgft", "children=3,5,4 parents=1,5,3"), 8, seed);
		struct hd_routes *routes = route(seed % 2 ? "dmodk" : "updown", fabric);
		struct hd_ar_request request = {.fabric = fabric,
						.routes = routes,
						.algorithm = HD_AR_TREE,
						.mode = HD_AR_FREE,
						.group_cap = 1 + (uint32_t)seed % 4};
		struct hd_ar_plan *plan = plan_of(&request), *all = tree_plan(fabric, routes, NULL);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint64_t wanted[512], kept[512], sum = 0;
			uint32_t count = benefits(all, sw, wanted);
			uint32_t left = benefits(plan, sw, kept);
			assert_true(left <= request.group_cap && count < 20);
			for (uint32_t group = 0; group < left; group++)
				sum += kept[group];
			assert_int_equal(sum, best_choice(wanted, count, request.group_cap));
			limited += count > request.group_cap;
		}
		hd_ar_plan_free(all);
		hd_ar_plan_free(plan);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_true(limited > 100);
}

/* The number of a group in a switch, HD_AR_NO_GROUP: it does not have the group. */
static uint32_t number_of(const struct hd_ar_switch *sw, const struct hd_ar_group *group)
{
	for (uint32_t number = 0; number < sw->group_count; number++)
		if (hd_ar_group_equal(&sw->groups[number], group))
			return number;
	return HD_AR_NO_GROUP;
}

/* One has all ports of the other, or none at all. */
static bool related(const struct hd_ar_group *before, const struct hd_ar_group *after)
{
	struct hd_port_set shared = before->ports[0];

	hd_port_set_intersect(&shared, &after->ports[0]);
	return hd_port_set_equal(&shared, &before->ports[0]) ||
	       hd_port_set_equal(&shared, &after->ports[0]);
}

static void assert_stable(const struct hd_ar_plan *before, const struct hd_ar_plan *after,
			  unsigned *survived, unsigned *added)
{
	for (uint32_t sw = 0; sw < after->switch_count; sw++) {
		uint32_t old = hd_ar_plan_find(before, after->switches[sw].guid);
		assert_int_not_equal(old, HD_NONE);
		const struct hd_ar_switch *was = &before->switches[old], *is = &after->switches[sw];
		for (uint32_t number = 0; number < is->group_count; number++) {
			if (hd_ar_group_is_empty(&is->groups[number]))
				continue;
			uint32_t earlier = number_of(was, &is->groups[number]);
			if (earlier != HD_AR_NO_GROUP)
				assert_int_equal(number, earlier);
			else if (number < was->group_count)
				assert_true(related(&was->groups[number], &is->groups[number]));
			*(earlier == HD_AR_NO_GROUP ? added : survived) += 1;
		}
	}
}

/* Property: while links fail and return, a surviving set keeps its number, a number goes to another
 * set only if that has lost ports or got some, and the entries are those of a plan without a past.
 */
static void stable_numbers(void **state)
{
	unsigned survived = 0, added = 0;
	struct hd_ar_plan *before = NULL;

	(void)state;
	for (uint64_t step = 0; step < 12; step++) {
		struct hd_fabric *fabric = damaged(generate("xgft", "children=2,4,4 parents=1,4,4"),
						   step % 3 ? (double)(step % 3) * 2 : 0.0, step);
		struct hd_routes *routes = route("dmodk", fabric);
		struct hd_ar_plan *plan = tree_plan(fabric, routes, before);
		struct hd_ar_plan *afresh = tree_plan(fabric, routes, NULL);
		assert_same_plan(plan, afresh, false);
		if (before)
			assert_stable(before, plan, &survived, &added);
		hd_ar_plan_free(afresh);
		hd_ar_plan_free(before);
		before = plan;
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	hd_ar_plan_free(before);
	assert_true(survived > 100 && added > 20);
}

/* Property: the plan depends neither on the number of threads nor on the order of discovery. */
static void determinism(void **state)
{
	struct hd_fabric *fabric = damaged(generate("xgft", "children=3,4,4 parents=1,4,4"), 5, 9),
			 *shuffled = NULL;
	struct hd_routes *routes = route("dmodk", fabric);
	struct hd_ar_plan *first = tree_plan(fabric, routes, NULL);

	(void)state;
	for (unsigned threads = 2; threads <= 5; threads++) {
		struct hd_ar_plan *plan = plan_of(&(struct hd_ar_request){.fabric = fabric,
									  .routes = routes,
									  .algorithm = HD_AR_TREE,
									  .mode = HD_AR_FREE,
									  .threads = threads});
		assert_same_plan(first, plan, true);
		assert_int_equal(first->proof.dependencies, plan->proof.dependencies);
		hd_ar_plan_free(plan);
	}
	CHECK(variants_shuffled(fabric, 3, &shuffled, &err));
	struct hd_ar_plan *plan = tree_plan(shuffled, routes, NULL);
	assert_same_plan(first, plan, true);
	hd_ar_plan_free(plan);
	hd_fabric_free(shuffled);
	hd_ar_plan_free(first);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: an aggregation node, and the switches' own LIDs, stay static. */
static void static_lids(void **state)
{
	const char text[] =
	    "sysimgguid=0x1\nswitchguid=0x200000(200000)\n"
	    "Switch 4 \"S-0000000000200000\" # \"one\" base port 0 lid 1 lmc 0\n"
	    "[1] \"H-0000000000100000\"[1](100001) # \"h1\" lid 4 4xEDR\n"
	    "[2] \"H-0000000000100010\"[1](100011) # \"agg\" lid 5 4xEDR\n"
	    "[3] \"S-0000000000200001\"[3] # \"two\" lid 2 4xEDR\n"
	    "[4] \"S-0000000000200001\"[4] # \"two\" lid 2 4xEDR\n"
	    "sysimgguid=0x2\nswitchguid=0x200001(200001)\n"
	    "Switch 4 \"S-0000000000200001\" # \"two\" base port 0 lid 2 lmc 0\n"
	    "[1] \"H-0000000000100002\"[1](100003) # \"h2\" lid 6 4xEDR\n"
	    "[3] \"S-0000000000200000\"[3] # \"one\" lid 1 4xEDR\n"
	    "[4] \"S-0000000000200000\"[4] # \"one\" lid 1 4xEDR\n"
	    "sysimgguid=0x100000\ncaguid=0x100000\nCa 1 \"H-0000000000100000\" # \"h1\"\n"
	    "[1](100001) \"S-0000000000200000\"[1] # lid 4 lmc 0 \"one\" lid 1 4xEDR\n"
	    "sysimgguid=0x1\ncaguid=0x100010\nCa 1 \"H-0000000000100010\" # \"agg\"\n"
	    "[1](100011) \"S-0000000000200000\"[2] # lid 5 lmc 0 \"one\" lid 1 4xEDR\n"
	    "sysimgguid=0x100002\ncaguid=0x100002\nCa 1 \"H-0000000000100002\" # \"h2\"\n"
	    "[1](100003) \"S-0000000000200001\"[1] # lid 6 lmc 0 \"two\" lid 2 4xEDR\n";
	struct hd_fabric *fabric = NULL;

	(void)state;
	CHECK(hd_fabric_parse(text, strlen(text), "text", NULL, &fabric, &err));
	struct hd_routes *routes = route("updown", fabric);
	struct hd_ar_plan *plan = tree_plan(fabric, routes, NULL);
	uint32_t one = hd_fabric_find_node(fabric, 0x200000), two = !one;
	assert_int_equal(hd_ar_plan_state(plan, one, 0, 6), HD_AR_FREE);
	assert_int_equal(hd_ar_plan_state(plan, two, 0, 4), HD_AR_FREE);
	assert_int_equal(hd_ar_plan_state(plan, two, 0, 5), HD_AR_STATIC);
	assert_int_equal(hd_ar_plan_state(plan, two, 0, 1), HD_AR_STATIC);
	assert_int_equal(plan->adaptive, 2);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: names of algorithms lead back to them. */
static void names(void **state)
{
	(void)state;
	for (int algorithm = HD_AR_AUTO; algorithm <= HD_AR_TREE; algorithm++) {
		enum hd_ar_algorithm found = HD_AR_DFP;
		const char *name = hd_ar_algorithm_name((enum hd_ar_algorithm)algorithm);
		assert_true(hd_ar_algorithm_find(name, &found));
		assert_int_equal(found, algorithm);
	}
	assert_false(hd_ar_algorithm_find("trees", &(enum hd_ar_algorithm){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(intact_tree),    cmocka_unit_test(swapped_cables),
	    cmocka_unit_test(torus),	      cmocka_unit_test(mixed_switches),
	    cmocka_unit_test(overflow),	      cmocka_unit_test(best_groups_are_kept),
	    cmocka_unit_test(stable_numbers), cmocka_unit_test(determinism),
	    cmocka_unit_test(static_lids),    cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
