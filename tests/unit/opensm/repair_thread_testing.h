/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An OpenSM and simulated switches, for tests of repairs: cables are lost, SMPs are lost
 * or late, and sweeps take the turn. Include after <cmocka.h>, in one file of a program.
 */
#ifndef REPAIR_THREAD_TESTING_H
#define REPAIR_THREAD_TESTING_H

#include "generate_testing.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "repairs.h"
#include "routing.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/mad/umad_port.h>
#include <time.h>

#define EVENTS 8192
#define SWITCHES 64
#define TABLE 256 /* bytes */
#define DOORS 8
#define ACTIVE 4
#define DOWN 1
#define PATIENCE_MS 600000 /* for what happens soon, so that a test ends that would hang */

struct kind {
	const char *generator, *settings, *engine;
};

static const struct kind tree = {"xgft", "children=4,4,4 parents=1,4,4", "dmodk"};
static const struct kind with_lanes = {"irregular", "switches=24 radix=10 seed=7", "spf"};

/* The port of one thread. */
struct door {
	struct hd_smp_port port;
	bool open;
};

/* OpenSM, and the switches. */
static struct world {
	osm_opensm_t osm;
	struct part_context context;
	struct writer writer;
	struct repair_shared shared;
	struct repairs *repairs;
	const struct kind *kind;
	struct hd_fabric *fabric; /* of the last sweep */
	uint32_t own; /* port */
	uint32_t timeout_ms; /* of SMPs */
	unsigned log_ms; /* between two lines */
	unsigned watch_ms; /* between two polls; 0: none */
	bool refused; /* no sweep leaves anything to repair */
	osm_switch_t switches[SWITCHES];
	pthread_mutex_t lock; /* of what follows */
	uint8_t tables[SWITCHES][TABLE]; /* in the switches */
	bool *dead; /* [port_count] */
	bool sweeping, master; /* false, true: the thread may write tables */
	unsigned loss; /* percent of all SMPs */
	bool last_write; /* the next write is the last SMP that arrives, and nobody answers it */
	unsigned late; /* ms at most */
	uint32_t mute; /* switch that takes no table; HD_NONE: none */
	uint32_t weak; /* switch that passes no table on, and takes none; HD_NONE: none */
	uint32_t sends, writes, forbidden; /* forbidden: writes when the thread may not */
	atomic_uint slow_us; /* that a send takes */
	atomic_bool sending;
	uint64_t random;
	struct {
		uint64_t due;
		const void *door;
		struct hd_smp_event event;
	} events[EVENTS];
	uint32_t count;
	struct door doors[DOORS];
	/* Answers what is not forwarding tables and ports; NULL: nobody asks. With the lock held */
	void (*answer)(uint32_t node, const struct hd_smp *smp, struct hd_smp_event *event);
	/* Ends the other threads, after the one that repairs; NULL: there are none */
	void (*end_others)(void);
} world;

static inline void pause_us(unsigned microseconds)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000L * microseconds}, NULL);
}

/* ---- the switches ---- */

static inline uint32_t follow(const struct hd_smp_address *address, uint16_t attribute)
{
	const struct hd_fabric *fabric = world.fabric;
	uint32_t node = fabric->port_node[world.own];

	for (unsigned hop = 1; hop <= address->hop_count; hop++) {
		uint32_t port = hd_port_index(fabric, node, address->path[hop]);
		if (fabric->peer[port] == HD_NONE || world.dead[port])
			return HD_NONE;
		node = fabric->port_node[fabric->peer[port]];
		if (node == world.weak && attribute == HD_SMP_LFT)
			return HD_NONE;
	}
	return node;
}

static inline void answer(uint32_t node, const struct hd_smp *smp, struct hd_smp_event *event)
{
	switch (smp->attribute) {
	case HD_SMP_NODE_INFO:
		for (unsigned i = 0; i < 8; i++)
			event->data[12 + i] =
			    (uint8_t)(world.fabric->node_guid[node] >> (56 - 8 * i));
		return;
	case HD_SMP_PORT_INFO:
		event->data[32] =
		    world.dead[hd_port_index(world.fabric, node, smp->modifier)] ? DOWN : ACTIVE;
		return;
	case HD_SMP_LFT:
		/* no assert: this is not the thread of the test */
		world.forbidden += world.sweeping || !world.master;
		memcpy(world.tables[node] + smp->modifier * HD_LFT_BLOCK, smp->data, HD_LFT_BLOCK);
		memcpy(event->data, smp->data, HD_LFT_BLOCK);
		world.writes++;
		world.loss = world.last_write ? 100 : world.loss;
		return;
	default:
		if (world.answer)
			world.answer(node, smp, event);
	}
}

static inline int send_smp(void *context, const struct hd_smp_address *address,
			   const struct hd_smp *smp, uint32_t id, uint32_t timeout_ms)
{
	(void)timeout_ms;
	atomic_store(&world.sending, true);
	if (atomic_load(&world.slow_us))
		pause_us(atomic_load(&world.slow_us));
	pthread_mutex_lock(&world.lock);
	uint32_t node = follow(address, smp->attribute);
	world.sends++;
	bool lost = node == HD_NONE || hd_random_below(&world.random, 100) < world.loss ||
		    (node == world.mute && smp->attribute == HD_SMP_LFT);
	if (!lost && world.count < EVENTS) {
		struct hd_smp_event *event = &world.events[world.count].event;
		*event = (struct hd_smp_event){.id = id, .attribute = smp->attribute};
		answer(node, smp, event);
		/* an answer can be lost, too */
		world.events[world.count].door = context;
		world.events[world.count].due =
		    (uint64_t)monotonic_ms() + hd_random_below(&world.random, world.late + 1);
		world.count += hd_random_below(&world.random, 100) >= world.loss;
	}
	pthread_mutex_unlock(&world.lock);
	return 0;
}

static inline int receive(void *context, struct hd_smp_event *event)
{
	const uint64_t now = (uint64_t)monotonic_ms();
	int found = 0;

	pthread_mutex_lock(&world.lock);
	for (uint32_t i = 0; !found && i < world.count; i++) {
		if (world.events[i].due > now || world.events[i].door != context)
			continue;
		*event = world.events[i].event;
		world.events[i] = world.events[--world.count];
		found = 1;
	}
	pthread_mutex_unlock(&world.lock);
	return found;
}

static inline void wait_for_event(void *context, int milliseconds)
{
	(void)context;
	pause_us(milliseconds ? 200 : 0);
}

static inline uint64_t now(void *context)
{
	(void)context;
	return (uint64_t)monotonic_ms();
}

int hd_umad_port_open(const struct hd_umad_choice *choice, struct hd_umad_port **out,
		      struct hd_error *err)
{
	struct door *door = world.doors;

	(void)choice;
	(void)err;
	pthread_mutex_lock(&world.lock);
	while (door->open && door < world.doors + DOORS - 1)
		door++;
	assert_false(door->open);
	*door = (struct door){.port = {.send = send_smp,
				       .receive = receive,
				       .wait = wait_for_event,
				       .now = now,
				       .context = door},
			      .open = true};
	pthread_mutex_unlock(&world.lock);
	*out = (struct hd_umad_port *)door;
	return 0;
}

/* What is still under way never arrives. */
void hd_umad_port_close(struct hd_umad_port *closed)
{
	struct door *door = (struct door *)closed;

	if (!door)
		return;
	pthread_mutex_lock(&world.lock);
	for (uint32_t i = 0; i < world.count; i++)
		if (world.events[i].door == door)
			world.events[i--] = world.events[--world.count];
	door->open = false;
	pthread_mutex_unlock(&world.lock);
}

const struct hd_smp_port *hd_umad_port_smp(const struct hd_umad_port *opened)
{
	return &((const struct door *)opened)->port;
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

static inline struct repair_start *make_start(void)
{
	struct repair_start *start = calloc(1, sizeof(*start));

	start->routing = routing_hold(world.context.published);
	start->settings = (struct repair_settings){.enable = true,
						   .settle_ms = 1,
						   .window = 32,
						   .timeout_ms = world.timeout_ms,
						   .log_ms = world.log_ms,
						   .watch_ms = world.watch_ms,
						   .watch_mads = 50000};
	if (world.refused)
		snprintf(start->refusal, sizeof(start->refusal), REFUSAL);
	start->options = hd_engine_options(start->routing->engine);
	start->lanes = 8;
	start->threads = 1;
	start->own_port = world.fabric->port_guid[world.own];
	return start;
}

static inline void lock_osm(void)
{
	cl_plock_excl_acquire(&world.osm.lock);
}

static inline void unlock_osm(void)
{
	cl_plock_release(&world.osm.lock);
}

/* What OpenSM takes a switch to hold is what it holds, or OpenSM sends it: `lft` is what a switch has
 * acknowledged, `new_lft` what it is to have. */
static inline void check_tables(void)
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

/* The tables of a sweep. Takes over the fabric. */
static inline struct routing *compute_tables(struct hd_fabric *fabric)
{
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
	assert_true(fabric->switch_count <= SWITCHES && routing->routes->stride <= TABLE);
	return routing;
}

/* OpenSM writes the tables. */
static inline void write_tables(const struct routing *routing)
{
	struct hd_fabric *fabric = routing->fabric;
	const size_t size = routing->routes->stride;

	pthread_mutex_lock(&world.lock);
	world.sweeping = true;
	if (world.context.published)
		check_tables();
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		memcpy(world.tables[sw], hd_routes_row(routing->routes, sw), size);
		memcpy(world.switches[sw].lft, world.tables[sw], size);
		memcpy(world.switches[sw].new_lft, world.tables[sw], size);
	}
	world.fabric = fabric;
	pthread_mutex_unlock(&world.lock);
}

/* All cables are up again. */
static inline void mend_cables(void)
{
	pthread_mutex_lock(&world.lock);
	memset(world.dead, 0, world.fabric->port_count * sizeof(bool));
	pthread_mutex_unlock(&world.lock);
}

/* The thread has the turn no longer; a sweep finds all cables up again, and gives the turn. */
static inline void sweep(void)
{
	struct routing *routing =
	    compute_tables(generate(world.kind->generator, world.kind->settings));

	lock_osm();
	writer_take_turn(&world.writer);
	write_tables(routing);
	mend_cables();
	part_publish(&world.context, routing);
	unlock_osm();
	pause_us(300); /* OpenSM's own writing */
	pthread_mutex_lock(&world.lock);
	world.sweeping = false;
	pthread_mutex_unlock(&world.lock);
	repair_shared_give(&world.shared, make_start());
	writer_give_turn(&world.writer);
}

static inline void start_world(const struct kind *kind, uint64_t seed)
{
	struct hd_error err = {""};

	world.kind = kind;
	world.random = seed;
	world.timeout_ms = 4;
	world.mute = world.weak = HD_NONE;
	world.master = true;
	world.refused = false;
	world.slow_us = 0;
	world.sending = world.last_write = false;
	world.log_ms = 0;
	world.loss = world.late = world.count = world.sends = world.writes = world.forbidden = 0;
	*logged = '\0';
	pthread_mutex_init(&world.lock, NULL);
	cl_plock_init(&world.osm.lock);
	world.osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	world.context = (struct part_context){.osm = &world.osm, .writer = &world.writer};
	world.context.log = (struct opensm_log){.log = &world.osm.log, .threshold = HD_LOG_INFO};
	for (uint32_t sw = 0; sw < SWITCHES; sw++)
		world.switches[sw] = (osm_switch_t){
		    .lft = calloc(1, TABLE), .new_lft = calloc(1, TABLE), .lft_size = TABLE};
	world.fabric = generate(world.kind->generator, world.kind->settings);
	world.own = world.fabric->host_port[0];
	world.dead = calloc(world.fabric->port_count, sizeof(bool));
	hd_fabric_free(world.fabric);
	writer_init(&world.writer, &world.osm);
	repair_shared_init(&world.shared, &world.context);
	assert_int_equal(repairs_start(&world.shared, &world.repairs, &err), 0);
	sweep();
}

/* As OpenSM ends: its threads are gone, but the thread that repairs is not. */
static inline void end_world(void)
{
	lock_osm();
	part_publish(&world.context, NULL);
	unlock_osm();
	const double begin = monotonic_ms();
	repairs_end(world.repairs);
	assert_true(monotonic_ms() - begin < 30000); /* not until a time-out */
	if (world.end_others)
		world.end_others();
	assert_int_equal(world.forbidden, 0);
	repair_shared_release(&world.shared);
	writer_release(&world.writer);
	for (uint32_t sw = 0; sw < SWITCHES; sw++) {
		free(world.switches[sw].lft);
		free(world.switches[sw].new_lft);
	}
	free(world.dead);
	cl_plock_destroy(&world.osm.lock);
	pthread_mutex_destroy(&world.lock);
}

static inline void trap(uint16_t lid)
{
	cl_plock_acquire(&world.osm.lock);
	repair_shared_note_trap(&world.shared, lid);
	unlock_osm();
}

/* Nobody reports the loss. Returns one end of the cable. */
static inline uint32_t lose_cable_unnoticed(void)
{
	const struct hd_fabric *fabric = world.fabric;

	pthread_mutex_lock(&world.lock);
	uint32_t link = (uint32_t)hd_random_below(&world.random, fabric->isl_count);
	uint32_t end = hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
	world.dead[end] = world.dead[fabric->peer[end]] = true;
	pthread_mutex_unlock(&world.lock);
	return end;
}

/* Both ends report the loss. */
static inline void lose_cable(void)
{
	const struct hd_fabric *fabric = world.fabric;
	const uint32_t end = lose_cable_unnoticed();
	const uint32_t near = fabric->port_node[end], far = fabric->port_node[fabric->peer[end]];

	trap(fabric->lid[hd_port_index(fabric, near, 0)]);
	trap(fabric->lid[hd_port_index(fabric, far, 0)]);
}

static inline struct repair_figures figures(void)
{
	return repair_shared_figures(&world.shared);
}

static inline void wait_for_repairs(unsigned milliseconds)
{
	const char *blocked;

	repair_shared_wait(&world.shared, milliseconds, &blocked);
}

#endif
