/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Repairs of multicast trees as OpenSM sees them: it knows what the switches hold, whatever happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "repair_multicast_testing.h"

#define STRANGE 0xFF /* an entry that only a join would make */

static void assert_text(const char *expected)
{
	if (!strstr(world.text, expected))
		fail_msg("'%s' does not say '%s'", world.text, expected);
}

static bool holds(uint32_t sw, table_row (*tables)[ROWS])
{
	return !memcmp(world.held[sw], tables[sw], sizeof(tables[sw]));
}

static void assert_known(void)
{
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		assert_memory_equal(known(sw), world.held[sw], sizeof(world.held[sw]));
}

/* Property: afterwards the switches and OpenSM have the trees of the sweep that follows. */
static void test_the_trees_are_those_of_the_sweep(void **state)
{
	static table_row expected[SWITCHES][ROWS];
	uint32_t changed = 0;

	(void)state;
	start_world();
	sweep(world.damaged, expected);
	run_repair();
	assert_text(" multicast groups, ");
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++) {
		assert_true(holds(sw, expected));
		changed += !holds(sw, world.before);
	}
	assert_known();
	assert_true(changed > 1);
	assert_int_equal(world.shared.figures.mft_blocks, world.writes);
	run_repair();
	assert_string_equal(world.text, ""); /* nothing is left to do */
	end_world();
}

/* Property: if a switch does not answer while ports are taken away, the others get theirs back. */
static void test_a_silent_switch(void **state)
{
	(void)state;
	start_world();
	/* it has to lose its port to the cable */
	world.port.nodes[hd_isl_from(world.fabric, world.lost)].silent = SIMULATED_FOREVER;
	run_repair();
	assert_text("; multicast is left to the sweep: switch '");
	assert_text("did not answer");
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		assert_true(holds(sw, world.before));
	assert_known();
	assert_true(world.writes > 1); /* some were taken, and given back */
	end_world();
}

/* OpenSM changes entries after the first block was sent. */
static void join_once(uint32_t sw)
{
	for (sw = 0; !world.writes && sw < world.fabric->switch_count; sw++)
		known(sw)[0][0] ^= STRANGE;
}

/* Property: a group that changes meanwhile stays as OpenSM wants it. */
static void test_a_join_meanwhile(void **state)
{
	(void)state;
	start_world();
	world.meanwhile = join_once;
	run_repair();
	assert_text("; multicast is left to the sweep: OpenSM changes a group at switch '");
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		assert_int_equal(known(sw)[0][0], world.before[sw][0][0] ^ STRANGE);
	end_world();
}

static uint32_t writes_at_loss;

static void lose_turn(uint32_t sw)
{
	(void)sw;
	if (world.writer.turn == 1) {
		writes_at_loss = world.writes;
		world.writer.turn = 2; /* the lock is held: this is the thread that sends */
	}
}

/* Property: when the sweep takes the turn, nothing more is sent, and OpenSM's tables stay. */
static void test_the_sweep_takes_the_turn(void **state)
{
	(void)state;
	start_world();
	world.meanwhile = lose_turn;
	run_repair();
	assert_text("; multicast is left to the sweep: the sweep routes now, or OpenSM is no "
		    "longer the master");
	assert_true(world.writes <= writes_at_loss + 8); /* the window */
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		assert_memory_equal(known(sw), world.before[sw], sizeof(world.before[sw]));
	end_world();
}

/* Property: if OpenSM limits the MLIDs of a switch, no entry is written above the limit. */
static void test_a_limit_of_mlids(void **state)
{
	(void)state;
	start_world();
	run_repair();
	const uint32_t all = world.writes;
	reset();
	world.start.mft_top = true;
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		world.switches[sw].switch_info.mcast_top = cl_hton16(IB_LID_MCAST_START_HO - 1);
	run_repair();
	assert_text("looks at no MLID above 0xBFFF");
	assert_true(world.writes < all);
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		world.switches[sw].switch_info.mcast_top = 0;
	end_world();
}

/* Property: members that are read in pieces are those that are read at once. */
static void test_members_in_pieces(void **state)
{
	struct multicast_entry whole[4 * MEMBERS], pieces[4 * MEMBERS], end;
	struct multicast_cursor begin = {0};

	(void)state;
	start_world();
	osm_mgrp_box_t *box = &world.boxes[0];
	cl_qlist_remove_item(&world.boxes[1].mgrp_list, &world.groups[1].list_item);
	cl_qlist_insert_tail(&box->mgrp_list, &world.groups[1].list_item);
	uint32_t count = multicast_members_copy(box, &begin, whole, 4 * MEMBERS);
	assert_int_equal(count, 4 * MEMBERS); /* two groups; members, then how they joined */
	for (uint32_t room = 1; room < 4 * MEMBERS; room++) {
		struct multicast_cursor cursor = {0};
		uint32_t done = 0, more;
		do {
			uint32_t left = 4 * MEMBERS - done;
			more = multicast_members_copy(box, &cursor, left ? pieces + done : &end,
						      !left	    ? 1
						      : left < room ? left
								    : room);
			done += more;
		} while (more);
		assert_int_equal(done, count);
		for (uint32_t i = 0; i < count; i++) {
			assert_int_equal(pieces[i].node, whole[i].node);
			assert_int_equal(pieces[i].is_join, whole[i].is_join);
			assert_int_equal(pieces[i].join_state, whole[i].join_state);
		}
	}
	end_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_trees_are_those_of_the_sweep),
	    cmocka_unit_test(test_a_silent_switch),
	    cmocka_unit_test(test_a_join_meanwhile),
	    cmocka_unit_test(test_the_sweep_takes_the_turn),
	    cmocka_unit_test(test_a_limit_of_mlids),
	    cmocka_unit_test(test_members_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
