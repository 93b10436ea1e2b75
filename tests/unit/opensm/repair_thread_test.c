/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread that repairs, with threads that do what OpenSM's do at the same time: traps come in,
 * sweeps take the turn at any moment, OpenSM leaves the master state and ends. The switches are
 * simulated; some lose SMPs, answer late, or take no table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "repair_thread_testing.h"

static void check_repaired(void)
{
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++) {
		assert_memory_equal(world.switches[sw].lft + 1, world.tables[sw] + 1, TABLE - 1);
		for (uint32_t lid = 1; lid < world.fabric->lid_count; lid++) {
			uint8_t out = world.tables[sw][lid];
			if (out && out != HD_NO_PORT)
				assert_false(world.dead[hd_port_index(world.fabric, sw, out)]);
		}
	}
}

/* A loss is repaired: no entry leads into the dead cable, and OpenSM knows all of it. */
static void test_a_loss_is_repaired(void **state)
{
	(void)state;
	start_world(&tree, 1);
	lose_cable();
	wait_for_repairs(PATIENCE_MS);
	assert_int_equal(figures().repairs, 1);
	assert_logged("repaired lost cable");
	check_repaired();
	const struct writer_figures times = writer_figures(&world.writer);
	/* to know what is published, to check a block, to begin and to end its flight, to take it, to publish */
	assert_true(times.locks.count >= 6);
	assert_true(times.locks.wall_us_most >= times.locks.cpu_us_most ||
		    times.locks.wall_us_most < 10);
	assert_true(times.sends.count > 0);
	end_world();
}

/* Times above the limit are counted; a thread that sleeps takes no CPU time. */
static void test_times_with_the_lock(void **state)
{
	(void)state;
	start_world(&tree, 11);
	const struct writer_figures before = writer_figures(&world.writer);
	struct writer_hold hold = writer_lock_take(&world.writer, true);
	pause_us(20000);
	writer_lock_release(&world.writer, hold);
	hold = writer_lock_take(&world.writer, false);
	writer_lock_release(&world.writer, hold);
	const struct writer_figures after = writer_figures(&world.writer);
	assert_true(after.locks.count >= before.locks.count + 2);
	assert_true(after.locks.over > before.locks.over);
	assert_true(after.locks.wall_us_most >= 20000);
	assert_true(after.locks.cpu_us_most < 10000);
	end_world();
}

/* A sweep that takes the turn holds OpenSM's lock once, and that is counted once. */
static void test_a_sweep_holds_the_lock_once(void **state)
{
	(void)state;
	start_world(&tree, 13);
	const struct writer_figures before = writer_figures(&world.writer);
	writer_stop(&world.writer);
	assert_int_equal(writer_figures(&world.writer).locks.count, before.locks.count + 1);
	assert_int_equal(writer_figures(&world.writer).waits.count, before.waits.count + 1);
	end_world();
}

/* A sweep that stops a repair waits until the thread has sent what it is sending, and the thread sends
 * nothing after that. Returns whether the sweep had OpenSM's lock for less than half of that time. */
static bool wait_without_the_lock(uint64_t seed)
{
	start_world(&tree, seed);
	atomic_store(&world.slow_us, 100000);
	lose_cable();
	while (!atomic_load(&world.sending))
		pause_us(100);
	const double begin = monotonic_ms();
	writer_stop(&world.writer);
	const double stopped = monotonic_ms();
	pthread_mutex_lock(&world.lock);
	const uint32_t sends = world.sends;
	pthread_mutex_unlock(&world.lock);
	const bool waited = stopped - begin > 20; /* of 100; this thread may see the send late */
	const bool shortly =
	    (double)writer_figures(&world.writer).waits.wall_us_most / 1000 < (stopped - begin) / 2;
	atomic_store(&world.slow_us, 0);
	wait_for_repairs(PATIENCE_MS);
	assert_int_equal(figures().repairs, 0);
	assert_int_equal(world.sends, sends);
	sweep();
	end_world();
	return waited && shortly;
}

/* A busy machine can take the processor from a thread that has the lock, but not every time. */
static void test_a_sweep_waits_without_the_lock(void **state)
{
	bool shortly = false;

	(void)state;
	for (uint64_t seed = 12; seed < 32 && !shortly; seed++)
		shortly = wait_without_the_lock(seed);
	assert_true(shortly);
}

/* The traps of all neighbours of a switch, which has lost its first cables. */
static void lose_cables_of(uint32_t sw, uint32_t count)
{
	const struct hd_fabric *fabric = world.fabric;
	const uint32_t first = fabric->isl_base[sw];

	pthread_mutex_lock(&world.lock);
	for (uint32_t link = first; link < first + count; link++) {
		uint32_t end = hd_port_index(fabric, sw, fabric->isl_port[link]);
		world.dead[end] = world.dead[fabric->peer[end]] = true;
	}
	pthread_mutex_unlock(&world.lock);
	for (uint32_t link = first; link < first + count; link++)
		trap(fabric->lid[hd_port_index(fabric, fabric->isl_to[link], 0)]);
}

/* OpenSM knows what all switches hold but one. */
static void check_known_but(uint32_t unknown)
{
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		if (sw != unknown)
			assert_memory_equal(world.switches[sw].lft + 1, world.tables[sw] + 1,
					    TABLE - 1);
}

/* A switch dies after it has answered: only one of its cables is known to be lost. The tables of switches
 * behind it go round it. When more of its cables are known to be lost, another repair does the rest. */
static void test_tables_go_round_a_dying_switch(void **state)
{
	uint32_t middle = 0, switches = 1;

	(void)state;
	for (uint32_t sw = 0; sw < switches; sw++) {
		start_world(&tree, sw + 1);
		const struct hd_fabric *fabric = world.fabric;
		switches = fabric->switch_count;
		const uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		const bool dies = !hd_has_adapters(fabric, sw) &&
				  hd_has_adapters(fabric, fabric->isl_to[fabric->isl_base[sw]]);
		if (dies) {
			world.weak = sw; /* nothing is sent yet */
			lose_cables_of(sw, 1);
			wait_for_repairs(PATIENCE_MS);
			check_known_but(sw);
			lose_cables_of(sw, links);
			for (unsigned i = 0; !figures().repairs && i < 20; i++)
				wait_for_repairs(500);
			assert_true(figures().repairs >= 1);
			check_known_but(sw);
			middle++;
		}
		end_world();
	}
	assert_int_equal(middle, 16);
}

/* The SA gives the same service level for a pair of LIDs before a repair and after it. */
static void test_service_levels_stay(void **state)
{
	unsigned levels = 0;

	(void)state;
	start_world(&with_lanes, 6);
	struct routing *before = routing_hold(world.context.published);
	lose_cable();
	wait_for_repairs(PATIENCE_MS);
	assert_int_equal(figures().repairs, 1);
	lock_osm();
	const struct routing *after = world.context.published;
	assert_ptr_not_equal(before, after);
	for (uint32_t slid = 1; slid < world.fabric->lid_count; slid++)
		for (uint32_t dlid = 1; dlid < world.fabric->lid_count; dlid++) {
			uint8_t level = routing_path_sl(before, slid, dlid, 0);
			assert_int_equal(routing_path_sl(after, slid, dlid, 0), level);
			levels |= 1u << level;
		}
	unlock_osm();
	assert_true(levels > 1); /* not all the same */
	routing_release(before);
	end_world();
}

/* Sweeps take the turn at any moment of a repair: the thread writes nothing after that, and OpenSM
 * sends again what it does not know. SMPs are lost and late, and switches take no table. */
static void test_sweeps_at_any_moment(void **state)
{
	(void)state;
	start_world(&tree, 2);
	for (uint64_t round = 0; round < 150; round++) {
		pthread_mutex_lock(&world.lock);
		world.loss = round % 3 ? 0 : 10;
		world.late = round % 5 ? 0 : 6;
		world.mute = round % 7 ? HD_NONE : (uint32_t)(round % world.fabric->switch_count);
		unsigned delay = (unsigned)hd_random_below(&world.random, 6000);
		pthread_mutex_unlock(&world.lock);
		for (uint64_t i = 0; i <= round % 3; i++)
			lose_cable();
		if (round % 4 == 3)
			wait_for_repairs(PATIENCE_MS);
		else
			pause_us(delay);
		sweep();
	}
	lose_cable(); /* OpenSM ends in a repair */
	pause_us(2500);
	end_world();
	assert_true(world.shared.figures.repairs > 10);
	assert_true(world.writes > 20);
}

static bool is_working(void)
{
	writer_lock(&world.writer);
	const bool working = world.shared.working;
	writer_unlock(&world.writer);
	return working;
}

/* A repair has written something, and its other SMPs are lost: it does not end by itself. */
static void begin_endless_repair(void)
{
	world.timeout_ms = 60000;
	sweep();
	wait_for_repairs(PATIENCE_MS);
	pthread_mutex_lock(&world.lock);
	world.last_write = true;
	pthread_mutex_unlock(&world.lock);
	lose_cable();
	for (bool begun = false; !begun;) {
		pause_us(20);
		pthread_mutex_lock(&world.lock);
		begun = world.writes > 0;
		pthread_mutex_unlock(&world.lock);
	}
}

/* A sweep takes the turn, and has no core before it looks at what is under way. Until then the repair
 * does not release that. */
static void test_a_repair_ends_after_the_sweep_has_looked(void **state)
{
	(void)state;
	start_world(&tree, 8);
	begin_endless_repair();
	lock_osm();
	atomic_fetch_add(&world.writer.turn_wanted, 1);
	pthread_mutex_lock(&world.writer.turn_lock);
	world.writer.turn++;
	for (unsigned i = 0; i < 200 && is_working(); i++)
		pause_us(1000);
	const bool working = is_working();
	writer_forget_flight(&world.writer);
	pthread_mutex_unlock(&world.writer.turn_lock);
	atomic_fetch_sub(&world.writer.turn_wanted, 1);
	unlock_osm();
	wait_for_repairs(PATIENCE_MS);
	sweep();
	end_world();
	assert_true(working);
}

/* A sweep that takes the turn and keeps OpenSM's lock does not keep the thread waiting: it ends the repair
 * without the lock. With adaptive routing the sweep waits for that. */
static void test_a_repair_ends_while_a_sweep_has_the_lock(void **state)
{
	(void)state;
	start_world(&tree, 7);
	begin_endless_repair();
	lock_osm();
	writer_take_turn(&world.writer);
	wait_for_repairs(PATIENCE_MS);
	const bool working = is_working();
	unlock_osm();
	assert_false(working);
	assert_true(figures().repairs + figures().stopped > 0);
	sweep();
	end_world();
}

/* OpenSM that is no longer the master writes no table. */
static void test_leaving_the_master_state(void **state)
{
	(void)state;
	start_world(&tree, 3);
	pthread_mutex_lock(&world.lock);
	world.master = false;
	pthread_mutex_unlock(&world.lock);
	__atomic_store_n(&world.osm.subn.sm_state, IB_SMINFO_STATE_STANDBY, __ATOMIC_RELAXED);
	lose_cable();
	wait_for_repairs(PATIENCE_MS);
	assert_int_equal(figures().repairs, 0);
	assert_int_equal(figures().stopped, 1);
	assert_int_equal(world.writes, 0);
	end_world();
}

/* No switch answers it. */
static void start_repair_in_vain(uint64_t seed)
{
	start_world(&tree, seed);
	world.timeout_ms = 60000;
	sweep();
	pause_us(20000);
	pthread_mutex_lock(&world.lock);
	world.loss = 100;
	pthread_mutex_unlock(&world.lock);
	lose_cable();
}

/* OpenSM that ends does not wait until a silent switch has been tried often enough. */
static void test_the_end_stops_a_repair(void **state)
{
	(void)state;
	start_repair_in_vain(4);
	pause_us(5000);
	end_world();
	assert_int_equal(world.writes, 0);
}

/* Nor does the sweep that waits for the repair. */
static void test_the_end_stops_a_sweep_that_waits(void **state)
{
	(void)state;
	start_repair_in_vain(8);
	double begin = monotonic_ms();
	wait_for_repairs(200);
	assert_true(monotonic_ms() - begin >= 200); /* it is under way for so long */
	osm_exit_flag = 1;
	begin = monotonic_ms();
	wait_for_repairs(PATIENCE_MS);
	assert_true(monotonic_ms() - begin < 10000);
	osm_exit_flag = 0;
	end_world();
}

static unsigned holders(struct routing *routing)
{
	return atomic_load(&routing->holders);
}

/* A repair keeps no routing in memory but the one in force and that of the sweep. */
static void test_repairs_release_what_is_no_longer_in_force(void **state)
{
	struct routing *published[4] = {NULL};
	unsigned count = 0;

	(void)state;
	start_world(&tree, 9);
	for (unsigned tries = 0; count < 4 && tries < 100; tries++) {
		const uint64_t repairs = figures().repairs;
		lose_cable();
		wait_for_repairs(PATIENCE_MS);
		if (figures().repairs == repairs)
			continue; /* the cable was lost already */
		lock_osm();
		published[count++] = routing_hold(world.context.published);
		unlock_osm();
	}
	assert_int_equal(count, 4);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(holders(published[i]), 1); /* the test */
	assert_int_equal(holders(published[3]), 3); /* the test, the thread, and the context */
	for (unsigned i = 0; i < 4; i++)
		routing_release(published[i]);
	end_world();
}

/* A second of 5,000 traps from all switches, when nothing is lost: few questions. A loss is repaired
 * soon all the same. */
static void test_a_storm_of_traps(void **state)
{
	(void)state;
	start_world(&tree, 5);
	const double begin = monotonic_ms();
	uint32_t traps = 0;
	while (monotonic_ms() - begin < 1000) {
		uint32_t sw = traps++ % world.fabric->switch_count;
		trap(world.fabric->lid[hd_port_index(world.fabric, sw, 0)]);
		pause_us(100);
	}
	wait_for_repairs(PATIENCE_MS);
	print_message("%u traps, %u questions, %u times\n", traps, world.sends,
		      (unsigned)world.shared.finished);
	assert_int_equal(figures().traps, traps);
	assert_int_equal(world.writes, 0);
	assert_true(world.shared.finished <= 30);
	lose_cable();
	wait_for_repairs(PATIENCE_MS);
	assert_int_equal(figures().repairs, 1);
	end_world();
}

/* What the lines in the log say: of repairs, and of losses that were left to the sweep. */
struct told {
	unsigned lines, repairs, stopped;
};

static struct told read_lines(void)
{
	struct told told = {0};
	unsigned repairs, stopped;

	for (char *line = strtok(logged, "\n"); line; line = strtok(NULL, "\n")) {
		const char *also = strstr(line, "; in the last ");
		told.lines++;
		told.repairs += strstr(line, "heddle: repaired lost") != NULL;
		told.stopped += strstr(line, "heddle: no repair before") != NULL;
		if (!also)
			continue;
		assert_int_equal(
		    sscanf(also, "; in the last %*f s also %u other repairs, and %u without repair",
			   &repairs, &stopped),
		    2);
		told.repairs += repairs;
		told.stopped += stopped;
	}
	return told;
}

/* Cables die all the time, and sweeps bring them back. There is a line for each 200 ms at most, and the
 * lines together count each repair and each loss that was left to the sweep. */
static void test_a_storm_of_losses(void **state)
{
	unsigned sweeps = 0, losses = 30;

	(void)state;
	start_world(&tree, 8);
	world.log_ms = 200;
	sweep();
	const double begin = monotonic_ms();
	while (monotonic_ms() - begin < 1000 || figures().repairs <= 10) {
		const uint64_t before = figures().repairs;
		for (unsigned i = 0; i < losses; i++) {
			lose_cable();
			pause_us(2000);
		}
		wait_for_repairs(PATIENCE_MS);
		sweeps++;
		sweep();
		if (figures().repairs == before && losses > 1)
			losses--; /* there is no time for a repair between them */
	}
	const double seconds = (monotonic_ms() - begin) / 1000;
	end_world();
	const struct repair_figures sum = world.shared.figures;
	const struct told told = read_lines();
	print_message("%u repairs, %u not done, %u sweeps in %.1f s: %u lines\n",
		      (unsigned)sum.repairs, (unsigned)sum.stopped, sweeps, seconds, told.lines);
	assert_true(sum.repairs > 10);
	assert_true(told.lines <= seconds / 0.2 + 2); /* the first, and one at the end */
	assert_int_equal(told.repairs, sum.repairs);
	assert_int_equal(told.stopped, sum.stopped);
}

/* A line that is held back is written when it is time, though nothing else happens. */
static void test_the_last_line_of_a_storm_is_written(void **state)
{
	(void)state;
	start_world(&tree, 9);
	world.log_ms = 100;
	sweep();
	const unsigned before = logged_lines;
	while (figures().repairs + figures().stopped < 3) {
		lose_cable();
		wait_for_repairs(PATIENCE_MS);
	}
	const double begin = monotonic_ms();
	while (logged_lines < before + 2 && monotonic_ms() - begin < PATIENCE_MS)
		pause_us(1000);
	assert_true(logged_lines >= before + 2);
	end_world();
}

/* Traps count although there is nothing to repair. */
static void test_what_cannot_be_repaired_counts(void **state)
{
	(void)state;
	start_world(&tree, 10);
	world.refused = true;
	sweep();
	lose_cable();
	wait_for_repairs(PATIENCE_MS);
	assert_int_equal(figures().repairs, 0);
	assert_true(figures().stopped > 0);
	end_world();
	assert_logged(REFUSAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_loss_is_repaired),
	    cmocka_unit_test(test_times_with_the_lock),
	    cmocka_unit_test(test_a_sweep_holds_the_lock_once),
	    cmocka_unit_test(test_a_sweep_waits_without_the_lock),
	    cmocka_unit_test(test_tables_go_round_a_dying_switch),
	    cmocka_unit_test(test_service_levels_stay),
	    cmocka_unit_test(test_sweeps_at_any_moment),
	    cmocka_unit_test(test_a_repair_ends_after_the_sweep_has_looked),
	    cmocka_unit_test(test_a_repair_ends_while_a_sweep_has_the_lock),
	    cmocka_unit_test(test_leaving_the_master_state),
	    cmocka_unit_test(test_the_end_stops_a_repair),
	    cmocka_unit_test(test_the_end_stops_a_sweep_that_waits),
	    cmocka_unit_test(test_repairs_release_what_is_no_longer_in_force),
	    cmocka_unit_test(test_a_storm_of_traps),
	    cmocka_unit_test(test_a_storm_of_losses),
	    cmocka_unit_test(test_the_last_line_of_a_storm_is_written),
	    cmocka_unit_test(test_what_cannot_be_repaired_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
