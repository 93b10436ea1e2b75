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

#include "generate_testing.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "repair_thread.h"
#include "routing.h"
#include "routing_memory.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/mad/umad_port.h>
#include <time.h>

#define EVENTS 8192
#define SWITCHES 64
#define TABLE 256 /* bytes */
#define ACTIVE 4
#define DOWN 1

struct kind {
	const char *generator, *settings, *engine;
};

static const struct kind tree = {"xgft", "children=4,4,4 parents=1,4,4", "dmodk"};
static const struct kind with_lanes = {"irregular", "switches=24 radix=10 seed=7", "spf"};

/* OpenSM, and the switches. */
static struct world {
	osm_opensm_t osm;
	struct part_context context;
	struct repair_shared shared;
	struct repair_thread *thread;
	const struct kind *kind;
	struct hd_fabric *fabric; /* of the last sweep */
	uint32_t own; /* port */
	uint32_t timeout_ms; /* of SMPs */
	unsigned log_ms; /* between two lines */
	bool refused; /* no sweep leaves anything to repair */
	osm_switch_t switches[SWITCHES];
	pthread_mutex_t lock; /* of what follows */
	uint8_t tables[SWITCHES][TABLE]; /* in the switches */
	bool *dead; /* [port_count] */
	bool sweeping, master; /* false, true: the thread may write tables */
	unsigned loss; /* percent of all SMPs */
	unsigned late; /* ms at most */
	uint32_t mute; /* switch that takes no table; HD_NONE: none */
	uint32_t sends, writes, forbidden; /* forbidden: writes when the thread may not */
	atomic_uint slow_us; /* that a send takes */
	atomic_bool sending;
	uint64_t random;
	struct {
		uint64_t due;
		struct hd_smp_event event;
	} events[EVENTS];
	uint32_t count;
} world;

static void pause_us(unsigned microseconds)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000L * microseconds}, NULL);
}

/* ---- the switches ---- */

static uint32_t follow(const struct hd_smp_address *address)
{
	const struct hd_fabric *fabric = world.fabric;
	uint32_t node = fabric->port_node[world.own];

	for (unsigned hop = 1; hop <= address->hop_count; hop++) {
		uint32_t port = hd_port_index(fabric, node, address->path[hop]);
		if (fabric->peer[port] == HD_NONE || world.dead[port])
			return HD_NONE;
		node = fabric->port_node[fabric->peer[port]];
	}
	return node;
}

static void answer(uint32_t node, const struct hd_smp *smp, struct hd_smp_event *event)
{
	for (unsigned i = 0; smp->attribute == HD_SMP_NODE_INFO && i < 8; i++)
		event->data[12 + i] = (uint8_t)(world.fabric->node_guid[node] >> (56 - 8 * i));
	if (smp->attribute == HD_SMP_PORT_INFO)
		event->data[32] =
		    world.dead[hd_port_index(world.fabric, node, smp->modifier)] ? DOWN : ACTIVE;
	if (smp->attribute != HD_SMP_LFT)
		return;
	/* no assert: this is not the thread of the test */
	world.forbidden += world.sweeping || !world.master;
	memcpy(world.tables[node] + smp->modifier * HD_LFT_BLOCK, smp->data, HD_LFT_BLOCK);
	memcpy(event->data, smp->data, HD_LFT_BLOCK);
	world.writes++;
}

static int send_smp(void *context, const struct hd_smp_address *address, const struct hd_smp *smp,
		    uint32_t id, uint32_t timeout_ms)
{
	(void)context;
	(void)timeout_ms;
	atomic_store(&world.sending, true);
	if (atomic_load(&world.slow_us))
		pause_us(atomic_load(&world.slow_us));
	pthread_mutex_lock(&world.lock);
	uint32_t node = follow(address);
	world.sends++;
	bool lost = node == HD_NONE || hd_random_below(&world.random, 100) < world.loss ||
		    (node == world.mute && smp->attribute == HD_SMP_LFT);
	if (!lost && world.count < EVENTS) {
		struct hd_smp_event *event = &world.events[world.count].event;
		*event = (struct hd_smp_event){.id = id, .attribute = smp->attribute};
		answer(node, smp, event);
		/* an answer can be lost, too */
		world.events[world.count].due =
		    (uint64_t)monotonic_ms() + hd_random_below(&world.random, world.late + 1);
		world.count += hd_random_below(&world.random, 100) >= world.loss;
	}
	pthread_mutex_unlock(&world.lock);
	return 0;
}

static int receive(void *context, struct hd_smp_event *event)
{
	const uint64_t now = (uint64_t)monotonic_ms();
	int found = 0;

	(void)context;
	pthread_mutex_lock(&world.lock);
	for (uint32_t i = 0; !found && i < world.count; i++) {
		if (world.events[i].due > now)
			continue;
		*event = world.events[i].event;
		world.events[i] = world.events[--world.count];
		found = 1;
	}
	pthread_mutex_unlock(&world.lock);
	return found;
}

static void wait_for_event(void *context, int milliseconds)
{
	(void)context;
	pause_us(milliseconds ? 200 : 0);
}

static uint64_t now(void *context)
{
	(void)context;
	return (uint64_t)monotonic_ms();
}

static const struct hd_smp_port port = {
    .send = send_smp, .receive = receive, .wait = wait_for_event, .now = now};

int hd_umad_port_open(const struct hd_umad_choice *choice, struct hd_umad_port **out,
		      struct hd_error *err)
{
	(void)choice;
	(void)err;
	*out = (struct hd_umad_port *)&world;
	return 0;
}

void hd_umad_port_close(struct hd_umad_port *closed)
{
	(void)closed;
}

const struct hd_smp_port *hd_umad_port_smp(const struct hd_umad_port *opened)
{
	(void)opened;
	return &port;
}

/* ---- OpenSM ---- */

volatile unsigned int osm_exit_flag;

osm_switch_t *osm_get_switch_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	(void)subn;
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		if (world.fabric->node_guid[sw] == cl_ntoh64(guid))
			return &world.switches[sw];
	return NULL;
}

void osm_sm_signal(osm_sm_t *sm, osm_signal_t signal)
{
	(void)sm;
	(void)signal;
}

/* OpenSM has no groups here: repair_multicast_test.c */
ib_api_status_t osm_mcast_tbl_set_block(osm_mcast_tbl_t *table, const ib_net16_t *block,
					int16_t number, uint8_t position)
{
	(void)table;
	(void)block;
	(void)number;
	(void)position;
	return IB_ERROR;
}

void repair_start_free(struct repair_start *start)
{
	if (!start)
		return;
	routing_release(start->routing);
	hd_options_free(start->options);
	free(start);
}

#define REFUSAL "there is nothing to repair"

static struct repair_start *make_start(void)
{
	struct repair_start *start = calloc(1, sizeof(*start));

	start->routing = routing_hold(world.context.published);
	start->settings = (struct repair_settings){
	    .enable = true, .settle_ms = 1, .window = 32, .log_ms = world.log_ms};
	if (world.refused)
		snprintf(start->refusal, sizeof(start->refusal), REFUSAL);
	start->options = hd_engine_options(start->routing->engine);
	start->lanes = 8;
	start->threads = 1;
	start->own_port = world.fabric->port_guid[world.own];
	start->timeout_ms = world.timeout_ms;
	return start;
}

static void lock_osm(void)
{
	cl_plock_excl_acquire(&world.osm.lock);
}

static void unlock_osm(void)
{
	cl_plock_release(&world.osm.lock);
}

/* What OpenSM takes a switch to hold is what it holds, or OpenSM sends it: `lft` is what a switch has
 * acknowledged, `new_lft` what it is to have. */
static void check_tables(void)
{
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < world.fabric->lid_count; lid++) {
			const osm_switch_t *known = &world.switches[sw];
			if (world.tables[sw][lid] == known->new_lft[lid])
				continue;
			uint32_t block = lid / HD_LFT_BLOCK * HD_LFT_BLOCK;
			assert_memory_not_equal(known->lft + block, known->new_lft + block,
						HD_LFT_BLOCK);
		}
}

/* The thread has the turn no longer; a sweep finds all cables up again, and gives the turn. */
static void sweep(void)
{
	struct hd_fabric *fabric = generate(world.kind->generator, world.kind->settings);
	const struct hd_engine *engine = hd_engine_find(world.kind->engine);
	struct hd_options *options = hd_engine_options(engine);
	const struct hd_policy policy = {0};
	struct routing_memory memory = {0};
	struct routing *routing;
	struct hd_error err = {""};

	assert_int_equal(routing_compute(&(struct routing_request){.engine = engine,
								   .options = options,
								   .policy = &policy,
								   .memory = &memory,
								   .lanes = 8},
					 fabric, &routing, &err),
			 0);
	hd_options_free(options);
	lock_osm();
	repair_shared_take_turn(&world.shared);
	pthread_mutex_lock(&world.lock);
	world.sweeping = true;
	if (world.context.published)
		check_tables();
	assert_true(fabric->switch_count <= SWITCHES && routing->routes->stride <= TABLE);
	const size_t size = routing->routes->stride;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		memcpy(world.tables[sw], hd_routes_row(routing->routes, sw), size);
		memcpy(world.switches[sw].lft, world.tables[sw], size);
		memcpy(world.switches[sw].new_lft, world.tables[sw], size);
	}
	memset(world.dead, 0, fabric->port_count * sizeof(bool));
	world.fabric = fabric;
	pthread_mutex_unlock(&world.lock);
	part_publish(&world.context, routing);
	unlock_osm();
	pause_us(300); /* OpenSM's own writing */
	pthread_mutex_lock(&world.lock);
	world.sweeping = false;
	pthread_mutex_unlock(&world.lock);
	repair_shared_give_turn(&world.shared, make_start());
}

static void start_world(const struct kind *kind, uint64_t seed)
{
	struct hd_error err = {""};

	world.kind = kind;
	world.random = seed;
	world.timeout_ms = 4;
	world.mute = HD_NONE;
	world.master = true;
	world.refused = false;
	world.slow_us = 0;
	world.sending = false;
	world.log_ms = 0;
	world.loss = world.late = world.count = world.sends = world.writes = world.forbidden = 0;
	*logged = '\0';
	pthread_mutex_init(&world.lock, NULL);
	cl_plock_init(&world.osm.lock);
	world.osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	world.context = (struct part_context){.osm = &world.osm};
	world.context.log = (struct opensm_log){.log = &world.osm.log, .threshold = HD_LOG_INFO};
	for (uint32_t sw = 0; sw < SWITCHES; sw++)
		world.switches[sw] = (osm_switch_t){
		    .lft = calloc(1, TABLE), .new_lft = calloc(1, TABLE), .lft_size = TABLE};
	world.fabric = generate(world.kind->generator, world.kind->settings);
	world.own = world.fabric->host_port[0];
	world.dead = calloc(world.fabric->port_count, sizeof(bool));
	hd_fabric_free(world.fabric);
	repair_shared_init(&world.shared, &world.context);
	assert_int_equal(repair_thread_start(&world.shared, &world.thread, &err), 0);
	sweep();
}

/* As OpenSM ends: its threads are gone, but the thread that repairs is not. */
static void end_world(void)
{
	lock_osm();
	part_publish(&world.context, NULL);
	unlock_osm();
	const double begin = monotonic_ms();
	repair_thread_end(world.thread);
	assert_int_equal(world.forbidden, 0);
	assert_true(monotonic_ms() - begin < 500);
	repair_shared_release(&world.shared);
	for (uint32_t sw = 0; sw < SWITCHES; sw++) {
		free(world.switches[sw].lft);
		free(world.switches[sw].new_lft);
	}
	free(world.dead);
	cl_plock_destroy(&world.osm.lock);
	pthread_mutex_destroy(&world.lock);
}

static void trap(uint16_t lid)
{
	cl_plock_acquire(&world.osm.lock);
	repair_shared_note_trap(&world.shared, lid);
	unlock_osm();
}

/* Both ends report the loss. */
static void lose_cable(void)
{
	const struct hd_fabric *fabric = world.fabric;

	pthread_mutex_lock(&world.lock);
	uint32_t link = (uint32_t)hd_random_below(&world.random, fabric->isl_count);
	uint32_t near = hd_isl_from(fabric, link), far = fabric->isl_to[link];
	uint32_t end = hd_port_index(fabric, near, fabric->isl_port[link]);
	world.dead[end] = world.dead[fabric->peer[end]] = true;
	pthread_mutex_unlock(&world.lock);
	trap(fabric->lid[hd_port_index(fabric, near, 0)]);
	trap(fabric->lid[hd_port_index(fabric, far, 0)]);
}

static struct repair_figures figures(void)
{
	return repair_shared_figures(&world.shared);
}

/* ---- tests ---- */

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
	repair_shared_wait(&world.shared, 2000);
	assert_int_equal(figures().repairs, 1);
	assert_logged("repaired lost cable");
	check_repaired();
	const struct repair_figures sum = figures();
	/* to know what is published, to check a block, to begin and to end its flight, to take it, to publish */
	assert_true(sum.locks.count >= 6);
	assert_true(sum.locks.wall_us_most >= sum.locks.cpu_us_most || sum.locks.wall_us_most < 10);
	assert_true(sum.sends.count > 0);
	end_world();
}

/* Times above the limit are counted; a thread that sleeps takes no CPU time. */
static void test_times_with_the_lock(void **state)
{
	(void)state;
	start_world(&tree, 11);
	const struct repair_figures before = figures();
	struct repair_hold hold = repair_lock_take(&world.shared, true);
	pause_us(20000);
	repair_lock_release(&world.shared, hold);
	hold = repair_lock_take(&world.shared, false);
	repair_lock_release(&world.shared, hold);
	const struct repair_figures after = figures();
	assert_true(after.locks.count >= before.locks.count + 2);
	assert_true(after.locks.over > before.locks.over);
	assert_true(after.locks.wall_us_most >= 20000);
	assert_true(after.locks.cpu_us_most < 10000);
	end_world();
}

/* A sweep that stops a repair waits until the thread has sent what it is sending, and only then takes
 * OpenSM's lock. The thread sends nothing after that. */
static void test_a_sweep_waits_without_the_lock(void **state)
{
	(void)state;
	start_world(&tree, 12);
	atomic_store(&world.slow_us, 100000);
	lose_cable();
	while (!atomic_load(&world.sending))
		pause_us(100);
	const double begin = monotonic_ms();
	repair_shared_stop(&world.shared);
	const double stopped = monotonic_ms();
	pthread_mutex_lock(&world.lock);
	const uint32_t sends = world.sends;
	pthread_mutex_unlock(&world.lock);
	assert_true(stopped - begin > 90);
	assert_true((double)figures().waits.wall_us_most / 1000 < (stopped - begin) / 2);
	atomic_store(&world.slow_us, 0);
	repair_shared_wait(&world.shared, 2000);
	assert_int_equal(figures().repairs, 0);
	assert_int_equal(world.sends, sends);
	sweep();
	end_world();
}

/* The SA gives the same service level for a pair of LIDs before a repair and after it. */
static void test_service_levels_stay(void **state)
{
	unsigned levels = 0;

	(void)state;
	start_world(&with_lanes, 6);
	struct routing *before = routing_hold(world.context.published);
	lose_cable();
	repair_shared_wait(&world.shared, 2000);
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
			repair_shared_wait(&world.shared, 100);
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

/* A sweep that takes the turn and keeps OpenSM's lock does not keep the thread waiting: it ends the repair
 * without the lock. With adaptive routing the sweep waits for that. */
static void test_a_repair_ends_while_a_sweep_has_the_lock(void **state)
{
	(void)state;
	start_world(&tree, 7);
	world.timeout_ms = 5000;
	sweep();
	pause_us(20000);
	lose_cable();
	for (bool begun = false; !begun;) {
		pause_us(20);
		pthread_mutex_lock(&world.lock);
		begun = world.writes > 0;
		world.loss = begun ? 100 : 0; /* so that the repair does not end by itself */
		pthread_mutex_unlock(&world.lock);
	}
	lock_osm();
	repair_shared_take_turn(&world.shared);
	repair_shared_wait(&world.shared, 2000);
	pthread_mutex_lock(&world.shared.lock);
	const bool working = world.shared.working;
	pthread_mutex_unlock(&world.shared.lock);
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
	repair_shared_wait(&world.shared, 2000);
	assert_int_equal(figures().repairs, 0);
	assert_int_equal(figures().stopped, 1);
	assert_int_equal(world.writes, 0);
	end_world();
}

/* OpenSM that ends does not wait until a silent switch has been tried often enough. */
static void test_the_end_stops_a_repair(void **state)
{
	(void)state;
	start_world(&tree, 4);
	world.timeout_ms = 5000;
	sweep();
	pause_us(20000);
	pthread_mutex_lock(&world.lock);
	world.loss = 100;
	pthread_mutex_unlock(&world.lock);
	lose_cable();
	pause_us(5000);
	end_world();
	assert_int_equal(world.writes, 0);
}

/* Nor does the sweep that waits for the repair. */
static void test_the_end_stops_a_sweep_that_waits(void **state)
{
	(void)state;
	start_world(&tree, 8);
	world.timeout_ms = 5000;
	sweep();
	pause_us(20000);
	pthread_mutex_lock(&world.lock);
	world.loss = 100;
	pthread_mutex_unlock(&world.lock);
	lose_cable();
	double begin = monotonic_ms();
	repair_shared_wait(&world.shared, 200);
	assert_true(monotonic_ms() - begin >= 200); /* it is under way for so long */
	osm_exit_flag = 1;
	begin = monotonic_ms();
	repair_shared_wait(&world.shared, 60000);
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
		repair_shared_wait(&world.shared, 2000);
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
	repair_shared_wait(&world.shared, 2000);
	print_message("%u traps, %u questions, %u times\n", traps, world.sends,
		      (unsigned)world.shared.finished);
	assert_int_equal(figures().traps, traps);
	assert_int_equal(world.writes, 0);
	assert_true(world.shared.finished <= 30);
	lose_cable();
	repair_shared_wait(&world.shared, 2000);
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
	unsigned sweeps = 0;

	(void)state;
	start_world(&tree, 8);
	world.log_ms = 200;
	sweep();
	const double begin = monotonic_ms();
	while (monotonic_ms() - begin < 1000) {
		for (unsigned i = 0; i < 30; i++) {
			lose_cable();
			pause_us(2000);
		}
		repair_shared_wait(&world.shared, 1000);
		sweeps++;
		sweep();
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
		repair_shared_wait(&world.shared, 1000);
	}
	const double begin = monotonic_ms();
	while (logged_lines < before + 2 && monotonic_ms() - begin < 5000)
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
	repair_shared_wait(&world.shared, 2000);
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
	    cmocka_unit_test(test_a_sweep_waits_without_the_lock),
	    cmocka_unit_test(test_service_levels_stay),
	    cmocka_unit_test(test_sweeps_at_any_moment),
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
