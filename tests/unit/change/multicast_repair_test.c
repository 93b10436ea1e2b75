/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repairs of multicast tables on random damaged fabrics. An oracle follows a packet of each member
 * after each single write, with the lost cables dead, and again as if they had come back: no packet
 * comes to a switch twice. In the end each member gets each packet once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multicast_repair_testing.h"

/* ---- writes ---- */

/* What a switch does with a block; it had `expected` before, if that is given. */
static void take(struct world *world, const struct hd_mft_write *write, const uint16_t *expected,
		 const uint16_t *masks)
{
	for (uint32_t i = 0; i < HD_MFT_BLOCK; i++) {
		uint32_t offset = write->block * HD_MFT_BLOCK + i;
		if (offset % SPREAD || offset / SPREAD >= GROUPS) {
			assert_int_equal(masks[i], 0);
			continue;
		}
		uint16_t *held = masks_of(world, write->sw, offset / SPREAD) + write->position;
		if (expected && !world->left_over)
			assert_int_equal(*held, expected[i]);
		*held = masks[i];
	}
}

static void shuffle(struct world *world, uint32_t *order, uint32_t begin, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		order[i] = begin + i;
	variants_shuffle(order, count, &world->random);
}

static uint32_t end_of_step(const struct hd_repair_mfts *plan, uint32_t begin)
{
	uint32_t end = begin;

	while (end < plan->write_count && plan->writes[end].step == plan->writes[begin].step)
		end++;
	return end;
}

/* A switch does not take the step away: what the others took is written back. */
static void undo(struct world *world, const struct hd_repair_mfts *plan, const uint32_t *order,
		 uint32_t taken)
{
	for (uint32_t i = 0; i < taken; i++) {
		const struct hd_mft_write *write = &plan->writes[order[i]];
		take(world, write, write->after, write->before);
		assert_true(is_safe(world));
	}
}

static void run_step(struct world *world, const struct hd_repair_mfts *plan, uint32_t begin,
		     uint32_t end)
{
	uint32_t *order = calloc(end - begin, sizeof(*order)), count = end - begin;

	shuffle(world, order, begin, count);
	if (!plan->writes[begin].adds && draw(world, 3) == 0) {
		uint32_t taken = draw(world, count);
		for (uint32_t i = 0; i < taken; i++)
			take(world, &plan->writes[order[i]], NULL, plan->writes[order[i]].after);
		undo(world, plan, order, taken);
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct hd_mft_write *write = &plan->writes[order[i]];
		take(world, write, write->before, write->after);
		assert_true(is_safe(world));
	}
	free(order);
}

/* Groups that have lost a cable are whole before ports of other groups are taken away. */
static void check_hit_first(const struct world *world, const struct hd_repair_mfts *plan,
			    uint32_t end)
{
	uint32_t whole = 0;

	for (uint32_t group = 0; group < GROUPS; group++)
		whole += delivers(world, group, false, true);
	if (plan->hit && plan->writes[end - 1].adds &&
	    (end == plan->write_count || !plan->writes[end].adds))
		assert_true(whole >= plan->hit);
}

/* All tables at once, a switch at a time, without an order: how many states are not safe. */
static uint32_t count_unsafe(struct world *world)
{
	uint32_t unsafe = 0, switches = world->fabric->switch_count;
	const size_t row = GROUPS * POSITIONS;
	uint16_t *after = calloc(switches * row, sizeof(*after));
	uint32_t *order = calloc(switches, sizeof(*order));

	fill(world, &world->repaired); /* both have the same switches */
	memcpy(after, world->tables, switches * row * sizeof(*after));
	fill(world, &world->in_place);
	shuffle(world, order, 0, switches);
	for (uint32_t i = 0; i < switches; i++) {
		memcpy(masks_of(world, order[i], 0), after + order[i] * row, row * sizeof(*after));
		unsafe += !is_safe(world);
	}
	free(after);
	free(order);
	fill(world, &world->in_place);
	return unsafe;
}

struct tally {
	uint32_t plans, hit, moved, writes, unsafe, loops;
};

/* What a walk finds of the groups. */
static void follow(const struct world *world, const struct hd_repair_mfts_request *request,
		   const struct hd_repair_mfts *plan, uint32_t *loops, uint32_t *missed)
{
	*loops = *missed = 0;
	for (uint32_t group = 0; group < GROUPS; group++) {
		const struct hd_repair_mfts_group followed = {
		    world->mlids[group], world->members[group], world->member_count[group]};
		enum hd_repair_mfts_verdict verdict;
		struct hd_error err;
		assert_int_equal(hd_repair_mfts_follow(request, plan, &followed, &verdict, &err),
				 0);
		*loops += verdict == HD_REPAIR_MFTS_LOOP;
		*missed += verdict == HD_REPAIR_MFTS_MISSED;
	}
}

/* Members that are left may be without a path to each other. */
static bool is_whole(const struct world *world)
{
	bool whole = true;

	for (uint32_t group = 0; group < GROUPS; group++)
		whole &= delivers(world, group, false, true);
	return whole;
}

/* The walk agrees with the oracle on a plan, and finds what its steps and its writes are for. */
static void follow_worse_plans(const struct world *world,
			       const struct hd_repair_mfts_request *request,
			       struct hd_repair_mfts *plan, struct tally *tally)
{
	uint32_t loops, missed, writes = plan->write_count;

	follow(world, request, plan, &loops, &missed);
	assert_int_equal(loops, 0);
	assert_int_equal(missed != 0, !is_whole(world));
	if (!writes)
		return;
	plan->write_count--;
	follow(world, request, plan, &loops, &missed);
	assert_true(loops + missed > 0);
	plan->write_count++;
	for (uint32_t i = 0; i < writes; i++)
		plan->writes[i].step = 0;
	follow(world, request, plan, &loops, &missed);
	tally->loops += loops;
}

static void repair_once(const char *kind, const char *settings, uint64_t seed, bool left_over,
			struct tally *tally)
{
	struct hd_repair_mfts *plan = NULL;
	struct world world;
	struct hd_error err = {""};

	open_world(&world, kind, settings, seed);
	const struct hd_repair_mfts_request request = {.fabric = world.fabric,
						       .damaged = world.damaged,
						       .in_place = &world.in_place,
						       .repaired = &world.repaired,
						       .mlids = world.mlids,
						       .group_count = GROUPS};
	if (hd_repair_mfts_plan(&request, &plan, &err))
		fail_msg("%s %s, seed %u: %s", kind, settings, (unsigned)seed, err.text);
	if (!left_over && world.fabric->switch_count == world.damaged->switch_count)
		tally->unsafe += count_unsafe(&world);
	if (left_over)
		leave_over(&world);
	assert_true(is_safe(&world));
	for (uint32_t begin = 0, end; begin < plan->write_count; begin = end) {
		end = end_of_step(plan, begin);
		run_step(&world, plan, begin, end);
		check_hit_first(&world, plan, end);
	}
	for (uint32_t group = 0; group < GROUPS; group++)
		assert_true(delivers(&world, group, false, true));
	tally->plans++;
	tally->hit += plan->hit;
	tally->moved += plan->groups - plan->hit;
	tally->writes += plan->write_count;
	if (!left_over)
		follow_worse_plans(&world, &request, plan, tally);
	hd_repair_mfts_free(plan);
	close_world(&world);
}

static const struct {
	const char *kind, *settings;
} fabrics[] = {{"xgft", "children=4,4 parents=1,4"},
	       {"xgft", "children=3,3,3 parents=1,3,3"},
	       {"torus", "dims=4,4"},
	       {"irregular", "switches=14 radix=8 seed=3"},
	       {"irregular", "switches=9 radix=20 seed=5"}};

/* Property: every interim state is safe, and the last one delivers. hd_repair_mfts_follow() says so, and
 * that it is not so without the last write, or without the order. */
static void test_every_interim_state(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++)
		for (uint64_t seed = 1; seed <= 30; seed++)
			repair_once(fabrics[i].kind, fabrics[i].settings, seed, false, &tally);
	print_message("%u plans: %u groups hit, %u moved, %u writes; without an order %u unsafe "
		      "states, and the walk sees loops of %u groups\n",
		      tally.plans, tally.hit, tally.moved, tally.writes, tally.unsafe, tally.loops);
	assert_true(tally.hit > 100 && tally.moved > 100);
	assert_true(tally.unsafe > 0); /* so the oracle sees what the order prevents */
	assert_true(tally.loops > 0); /* and so does hd_repair_mfts_follow() */
}

/* Property: that also holds if switches have entries of which nobody knows, in blocks in which they have no
 * tree. Such switches join trees. */
static void test_entries_that_are_left_over(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++)
		for (uint64_t seed = 1; seed <= 30; seed++)
			repair_once(fabrics[i].kind, fabrics[i].settings, seed, true, &tally);
	assert_true(tally.hit > 100 && tally.moved > 100);
}

/* Property: new entries that are not a tree of cables that are left are refused, with a reason. */
static void test_a_tree_over_a_lost_cable_is_refused(void **state)
{
	struct hd_repair_mfts *plan = NULL;
	struct world world;
	struct hd_error err = {""};

	(void)state;
	open_world(&world, "torus", "dims=4,4", 3); /* loses no switch */
	assert_int_equal(world.fabric->switch_count, world.damaged->switch_count);
	struct hd_mfts old = world.in_place, nothing = {.entries = world.in_place.entries};
	assert_int_equal(
	    hd_repair_mfts_plan(&(struct hd_repair_mfts_request){.fabric = world.fabric,
								 .damaged = world.damaged,
								 .in_place = &nothing,
								 .repaired = &old,
								 .mlids = world.mlids,
								 .group_count = GROUPS},
				&plan, &err),
	    -EINVAL);
	assert_non_null(strstr(err.text, "has no cable"));
	close_world(&world);
}

/* Property: the same entries need no write. */
static void test_nothing_changes(void **state)
{
	struct hd_repair_mfts *plan = NULL;
	struct world world;
	struct hd_error err = {""};

	(void)state;
	open_world(&world, "xgft", "children=4,4 parents=1,4", 1);
	assert_int_equal(
	    hd_repair_mfts_plan(&(struct hd_repair_mfts_request){.fabric = world.fabric,
								 .damaged = world.fabric,
								 .in_place = &world.in_place,
								 .repaired = &world.in_place,
								 .mlids = world.mlids,
								 .group_count = GROUPS},
				&plan, &err),
	    0);
	assert_int_equal(plan->groups + plan->hit + plan->steps + plan->write_count, 0);
	hd_repair_mfts_free(plan);
	close_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_interim_state),
	    cmocka_unit_test(test_entries_that_are_left_over),
	    cmocka_unit_test(test_a_tree_over_a_lost_cable_is_refused),
	    cmocka_unit_test(test_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
