/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans that are made by the plan before, against plans that are made afresh. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"
#include "cases.h"
#include "swapped_testing.h"

#define TRIALS CASES(60, 18)
#define STEPS 8
#define LOSSES 6u

/* A fabric that loses parts and gets them back, while plans follow. */
struct story {
	uint64_t random;
	struct hd_fabric *base, *now;
	struct hd_fabric_change losses[LOSSES];
	uint32_t loss_count;
	const char *engine; /* NULL: random shortest paths, some of them bad */
	struct hd_routes *routes;
	struct hd_ar_capability can[256];
	bool limited; /* they count; else all switches can do all */
	struct hd_ar_request request;
	struct hd_ar_plan *plan; /* of the step before */
	struct hd_ar_plan *copy; /* of it, which does not know what it was made from */
	unsigned planned, rows, shared;
};

static struct hd_fabric *base_of(uint64_t number, uint64_t *random)
{
	struct hd_fabric *fabric, *with = NULL;

	if (number % 3 == 0)
		fabric = random_kind(random);
	else if (number % 3 == 1)
		fabric = generate("xgft", "children=4,5,5 parents=1,5,4");
	else
		fabric = generate("xgft", "children=3,5,4 parents=1,4,3 parallel=1,2,1");
	if (number % 5 == 1) {
		struct swap swap = swap_cables(fabric, number);
		hd_fabric_free(fabric);
		hd_fabric_free(swap.without);
		fabric = swap.swapped;
	}
	if (number % 2) {
		CHECK(hd_fabric_add_aggregation(fabric, &with, &err));
		hd_fabric_free(fabric);
		fabric = with;
	}
	return fabric;
}

static struct story story_new(uint64_t number)
{
	static const char *const engines[] = {"dmodk", "updown", "spf", NULL};
	struct story story = {.random = number};

	story.base = base_of(number, &story.random);
	story.engine = number % 3 ? engines[number / 3 % 8 < 5 ? 0 : number / 3 % 8 - 4]
				  : engines[1 + number / 3 % 3];
	story.limited = number % 4 < 3;
	for (uint32_t sw = 0; sw < 256; sw++)
		story.can[sw] = hd_ar_capability_full;
	story.request =
	    (struct hd_ar_request){.algorithm = number % 4 == 3 ? HD_AR_LAG : HD_AR_TREE,
				   .mode = HD_AR_FREE,
				   .group_cap = number % 7 < 3 ? (uint32_t)(number % 7) : 0,
				   .unproved = number % 4 == 2,
				   .threads = 1 + (unsigned)(number % 3 == 0)};
	return story;
}

static void story_end(struct story *story)
{
	hd_ar_plan_free(story->copy);
	hd_ar_plan_free(story->plan);
	hd_routes_free(story->routes);
	hd_fabric_free(story->now);
	hd_fabric_free(story->base);
}

/* A cable between switches, often of the first one, so that groups towards it lose one port after another; a switch,
 * or any node. */
static struct hd_fabric_change draw_loss(struct story *story)
{
	const struct hd_fabric *base = story->base;
	const uint32_t links = below(&story->random, 3) ? base->isl_count : base->isl_base[1];
	const uint32_t link = below(&story->random, links);

	if (below(&story->random, 3))
		return (struct hd_fabric_change){
		    .lost = true,
		    .cable = true,
		    .index = hd_port_index(base, hd_isl_from(base, link), base->isl_port[link])};
	return (struct hd_fabric_change){.lost = true,
					 .index = below(&story->random, below(&story->random, 3)
									    ? base->switch_count
									    : base->node_count)};
}

static bool is_lost(const struct story *story, const struct hd_fabric_change *loss)
{
	for (uint32_t i = 0; i < story->loss_count; i++)
		if (story->losses[i].index == loss->index && story->losses[i].cable == loss->cable)
			return true;
	return false;
}

/* One part is lost, or comes back; sometimes tables or switches alone change. */
static void change(struct story *story)
{
	const struct hd_fabric_change loss = draw_loss(story);

	const uint32_t sw = below(&story->random, story->base->switch_count);
	const uint32_t cap = below(&story->random, 2) ? below(&story->random, 4) : 100;

	if (!below(&story->random, 3))
		story->can[sw].group_cap = cap;
	if (!below(&story->random, 6))
		return;
	if (story->loss_count == LOSSES || (story->loss_count && !below(&story->random, 2))) {
		const uint32_t back = below(&story->random, story->loss_count--);
		story->losses[back] = story->losses[story->loss_count];
	} else if (!is_lost(story, &loss)) {
		story->losses[story->loss_count++] = loss;
	}
}

static struct hd_routes *tables(struct story *story, const struct hd_fabric *fabric)
{
	const char *engine = below(&story->random, 12) ? story->engine : "spf";
	const struct hd_route_request request = {.fabric = fabric};
	struct hd_routes *routes = NULL;

	if (engine && !hd_engine_route(hd_engine_find(engine), &request, &routes, NULL))
		return routes;
	return random_routes(fabric, &story->random, true, 1);
}

static void next_fabric(struct story *story)
{
	struct hd_fabric *fabric = NULL;

	CHECK(hd_fabric_without(story->base, story->losses, story->loss_count, HD_NONE, &fabric,
				&err));
	hd_routes_free(story->routes);
	story->routes = tables(story, fabric);
	hd_fabric_free(story->now);
	story->now = fabric;
	story->request.fabric = fabric;
	story->request.routes = story->routes;
	story->request.capabilities = story->limited ? story->can : NULL;
}

static void compare_switches(const struct hd_ar_plan *a, const struct hd_ar_plan *b, uint32_t sw)
{
	const struct hd_ar_switch *left = &a->switches[sw], *right = &b->switches[sw];

	assert_true(left->guid == right->guid);
	assert_int_equal(left->form, right->form);
	assert_int_equal(left->sub_groups, right->sub_groups);
	assert_int_equal(left->group_count, right->group_count);
	assert_int_equal(left->used, right->used);
	assert_int_equal(left->wanted, right->wanted);
	for (uint32_t group = 0; group < left->group_count; group++)
		assert_true(hd_ar_group_equal(&left->groups[group], &right->groups[group]));
	assert_memory_equal(left->lid_group[0], right->lid_group[0],
			    a->lid_count * sizeof(uint16_t));
	assert_memory_equal(left->lid_port[0], right->lid_port[0], a->lid_count);
}

static void compare_plans(const struct hd_ar_plan *a, const struct hd_ar_plan *b)
{
	assert_int_equal(a->switch_count, b->switch_count);
	assert_int_equal(a->lid_count, b->lid_count);
	assert_int_equal(a->algorithm, b->algorithm);
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->entries, b->entries);
	assert_int_equal(a->possible, b->possible);
	assert_int_equal(a->adaptive, b->adaptive);
	assert_int_equal(a->full, b->full);
	assert_int_equal(a->proof.dependencies, b->proof.dependencies);
	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		compare_switches(a, b, sw);
	assert_true(hd_ar_plan_equal(a, b));
}

/* Rows that are shared have not changed, and rows that have not changed are shared. */
static void look_at_rows(struct story *story, const struct hd_ar_plan *plan)
{
	if (plan->lid_count != story->plan->lid_count)
		return;
	for (uint32_t sw = 0; sw < plan->switch_count; sw++) {
		const uint32_t old = hd_ar_plan_find(story->plan, plan->switches[sw].guid);
		if (old == HD_NONE)
			continue;
		const struct hd_ar_switch *was = &story->plan->switches[old];
		const struct hd_ar_switch *is = &plan->switches[sw];
		story->rows++;
		story->shared += hd_ar_switch_same(was, is);
		if (hd_ar_switch_same(was, is)) {
			assert_int_equal(was->form, is->form);
			assert_int_equal(was->used, is->used);
			assert_int_equal(was->group_count, is->group_count);
		}
	}
}

static void keep_plan(struct story *story, struct hd_ar_plan *plan)
{
	struct hd_ar_plan_copy copy;

	assert_int_equal(hd_ar_plan_copy_new(plan, story->now, NULL, &copy), 0);
	hd_ar_plan_free(story->copy);
	hd_ar_plan_free(story->plan);
	story->plan = plan;
	story->copy = copy.plan;
	story->planned++;
}

static void step(struct story *story)
{
	struct hd_ar_plan *plan = NULL, *afresh = NULL;

	next_fabric(story);
	struct hd_ar_request request = story->request;
	request.previous = story->copy;
	int expected = hd_ar_plan_new(&request, &afresh, NULL, NULL);
	request.previous = story->plan;
	int rc = hd_ar_plan_new(&request, &plan, NULL, NULL);
	assert_int_equal(rc, expected);
	if (!rc) {
		compare_plans(plan, afresh);
		if (story->plan)
			look_at_rows(story, plan);
		keep_plan(story, plan);
	}
	hd_ar_plan_free(afresh);
}

/* Property: while cables and switches are lost and return, and tables and switches change, each plan is that which is made
 * afresh with the same plan before: numbers of groups, entries, sums. */
static void the_same_as_afresh(void **state)
{
	unsigned planned = 0, rows = 0, shared = 0;

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		struct story story = story_new(number);
		for (unsigned i = 0; i < STEPS; i++) {
			step(&story);
			change(&story);
		}
		planned += story.planned;
		rows += story.rows;
		shared += story.shared;
		story_end(&story);
	}
	print_message("%u plans; %u of %u rows are shared\n", planned, shared, rows);
	assert_true(planned > TRIALS * STEPS / 2);
	assert_true(shared > rows / 8 && shared < rows);
}

/* Property: when one cable of a leaf is lost after another, groups of distant switches towards it lose ports, and keep
 * the number under which they lost the first one. */
static void groups_keep_their_numbers(void **state)
{
	struct story story = {.base = generate("xgft", "children=4,5,5 parents=1,5,4"),
			      .engine = "dmodk",
			      .request = {.algorithm = HD_AR_TREE, .mode = HD_AR_FREE}};
	const struct hd_fabric *base = story.base;
	const uint32_t lid = base->lid[base->host_port[0]], leaf = base->host_switch[0];
	const uint32_t far = base->host_switch[base->host_count - 1];
	uint32_t number = 0;

	(void)state;
	for (uint32_t lost = 0; lost < 3; lost++) {
		story.random = 1; /* the engine's tables */
		step(&story);
		assert_int_equal(story.planned, lost + 1);
		const uint32_t link = base->isl_base[leaf] + lost;
		story.losses[story.loss_count++] = (struct hd_fabric_change){
		    .lost = true,
		    .cable = true,
		    .index = hd_port_index(base, leaf, base->isl_port[link])};
		const uint32_t group = hd_ar_plan_group(story.plan, far, 0, lid);
		assert_int_not_equal(group, HD_AR_NO_GROUP);
		assert_int_equal(
		    hd_port_set_count(&story.plan->switches[far].groups[group].ports[0]), 5 - lost);
		if (lost == 2)
			assert_int_equal(group, number);
		number = group;
	}
	story_end(&story);
}

/* Property: an unproved plan is the proved one, without the proof. */
static void without_a_proof(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,4,3 parents=1,2,2");
	struct hd_routes *routes = route("dmodk", fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_AUTO, .mode = HD_AR_FREE};
	struct hd_ar_plan *proved = NULL, *unproved = NULL;

	(void)state;
	CHECK(hd_ar_plan_new(&request, &proved, NULL, &err));
	request.unproved = true;
	CHECK(hd_ar_plan_new(&request, &unproved, NULL, &err));
	assert_true(proved->proof.dependencies > 0);
	assert_int_equal(unproved->proof.dependencies, 0);
	assert_true(hd_ar_plan_equal(proved, unproved));
	hd_ar_plan_free(unproved);
	hd_ar_plan_free(proved);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: after the loss of one cable all switches but those that it concerns keep their rows, also when nothing but the
 * plan before is known; a second plan of the same fabric has all rows of the first. */
static void rows_are_shared(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=3,4,4 parents=1,4,4"), *less = NULL;
	struct hd_routes *routes = route("dmodk", fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_TREE, .mode = HD_AR_FREE};
	struct hd_ar_plan *first = NULL, *second = NULL, *third = NULL;
	uint32_t same = 0;

	(void)state;
	CHECK(hd_ar_plan_new(&request, &first, NULL, &err));
	request.previous = first;
	CHECK(hd_ar_plan_new(&request, &second, NULL, &err));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		assert_true(hd_ar_switch_same(&first->switches[sw], &second->switches[sw]));
	hd_ar_plan_free(first);
	CHECK(variants_without_link(fabric, fabric->isl_count - 1, &less, &err));
	struct hd_routes *after = route("dmodk", less);
	request.previous = second;
	request.fabric = less;
	request.routes = after;
	CHECK(hd_ar_plan_new(&request, &third, NULL, &err));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		same += hd_ar_switch_same(&second->switches[sw], &third->switches[sw]);
	assert_in_range(same, 1, fabric->switch_count - 2);
	hd_ar_plan_free(second);
	hd_ar_plan_free(third);
	hd_routes_free(after);
	hd_routes_free(routes);
	hd_fabric_free(less);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_same_as_afresh),
	    cmocka_unit_test(groups_keep_their_numbers),
	    cmocka_unit_test(without_a_proof),
	    cmocka_unit_test(rows_are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
