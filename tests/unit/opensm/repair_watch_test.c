/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The watcher in the thread that repairs: it finds what no trap tells, and makes room for everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "repair_thread_testing.h"

static void wait_for_found(uint64_t count)
{
	const double end = monotonic_ms() + PATIENCE_MS;

	while (figures().repairs < count && monotonic_ms() < end)
		pause_us(500);
	assert_int_equal(figures().repairs, count);
}

static void wait_for_polls(uint64_t more)
{
	const double end = monotonic_ms() + PATIENCE_MS;
	const uint64_t enough = figures().polls + more;

	while (figures().polls < enough && monotonic_ms() < end)
		pause_us(500);
	assert_true(figures().polls >= enough);
}

static uint32_t count_sends(void)
{
	pthread_mutex_lock(&world.lock);
	const uint32_t sends = world.sends;
	pthread_mutex_unlock(&world.lock);
	return sends;
}

/* Losses that no trap tells of are repaired, one after the other, and none is found twice. */
static void test_losses_without_traps(void **state)
{
	(void)state;
	world.watch_ms = 2;
	start_world(&tree, 1);
	for (unsigned round = 1; round <= 3; round++) {
		lose_cable_unnoticed();
		wait_for_found(round);
		assert_int_equal(figures().watch_found, round);
		wait_for_polls(3);
		assert_int_equal(figures().watch_found, round);
	}
	assert_int_equal(figures().traps, 0);
	assert_logged("and no trap has told of it");
	assert_logged("repaired lost cable");
	end_world();
}

/* After a sweep it watches the new fabric; a sweep at any moment does no harm. */
static void test_sweeps_between(void **state)
{
	uint64_t random = 2;

	(void)state;
	world.watch_ms = 1;
	start_world(&tree, 2);
	for (unsigned round = 1; round <= 20; round++) {
		pause_us((unsigned)hd_random_below(&random, 3000));
		sweep();
	}
	const uint64_t repairs = figures().repairs;
	lose_cable_unnoticed();
	wait_for_found(repairs + 1);
	end_world();
}

/* From the beginning of a sweep on it sends nothing, while repairs go on. */
static void test_no_poll_in_a_sweep(void **state)
{
	(void)state;
	world.watch_ms = 1;
	start_world(&tree, 3);
	wait_for_polls(1);
	writer_note_sweep(&world.writer);
	lose_cable();
	wait_for_repairs(PATIENCE_MS);
	/* the thread has ended the job that was under way */
	const struct repair_figures before = figures();
	for (unsigned round = 0; round < 3; round++) {
		lose_cable();
		wait_for_repairs(PATIENCE_MS);
		pause_us(3000);
	}
	assert_int_equal(figures().watch_smps, before.watch_smps);
	assert_int_equal(figures().polls, before.polls);
	sweep();
	wait_for_polls(1);
	end_world();
}

/* A poll that waits for answers which never come ends at once when a trap comes. */
static void test_room_for_a_repair(void **state)
{
	(void)state;
	world.watch_ms = 1;
	start_world(&tree, 4);
	wait_for_polls(1);
	world.timeout_ms = 10 * PATIENCE_MS;
	sweep();
	pthread_mutex_lock(&world.lock);
	const uint32_t sends = world.sends;
	world.loss = 100;
	pthread_mutex_unlock(&world.lock);
	while (count_sends() <= sends + 1)
		pause_us(500);
	pause_us(5000); /* now it waits for good */
	pthread_mutex_lock(&world.lock);
	world.loss = 0;
	pthread_mutex_unlock(&world.lock);
	const uint64_t found = figures().watch_found;
	lose_cable();
	wait_for_repairs(PATIENCE_MS);
	assert_int_equal(figures().repairs, 1);
	assert_int_equal(figures().watch_found, found);
	end_world();
}

/* So many jobs have begun since then. */
static void wait_for_jobs_of_thread(unsigned count)
{
	const double end = monotonic_ms() + PATIENCE_MS;

	for (double last = -1; count && monotonic_ms() < end;) {
		writer_lock(&world.writer);
		const double since = world.writer.running_since;
		writer_unlock(&world.writer);
		count -= last >= 0 && since != last;
		last = since;
		pause_us(200);
	}
	assert_int_equal(count, 0);
}

/* While another OpenSM is the master, nothing is sent, and nothing is found. */
static void test_not_the_master(void **state)
{
	(void)state;
	world.watch_ms = 1;
	start_world(&tree, 5);
	wait_for_polls(1);
	__atomic_store_n(&world.osm.subn.sm_state, IB_SMINFO_STATE_STANDBY, __ATOMIC_RELAXED);
	wait_for_jobs_of_thread(2); /* what was under way has ended */
	const struct repair_figures before = figures();
	const uint32_t sends = count_sends();
	lose_cable_unnoticed();
	wait_for_jobs_of_thread(3);
	assert_int_equal(count_sends(), sends);
	assert_int_equal(figures().polls, before.polls);
	assert_int_equal(figures().watch_smps, before.watch_smps);
	assert_int_equal(figures().watch_found, 0);
	end_world();
}

/* Off by default. */
static void test_off(void **state)
{
	(void)state;
	world.watch_ms = 0;
	start_world(&tree, 6);
	lose_cable_unnoticed();
	lose_cable();
	wait_for_repairs(PATIENCE_MS);
	assert_int_equal(figures().polls, 0);
	assert_int_equal(figures().watch_smps, 0);
	end_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_losses_without_traps), cmocka_unit_test(test_sweeps_between),
	    cmocka_unit_test(test_no_poll_in_a_sweep),	 cmocka_unit_test(test_room_for_a_repair),
	    cmocka_unit_test(test_not_the_master),	 cmocka_unit_test(test_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
