/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A repair while adaptive routing is on, with each allocation failing in turn, of both threads: the one
 * that repairs and the one of adaptive routing. Here a single thread does the work of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../ar_manager/program_testing.h"
#include "ar_job_testing.h"
#include "ar_tasks.h"
#include "ar_worker.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "repair_ar.h"
#include "repair_paths.h"
#include "routing.h"
#include "routing_testing.h"
#include "short_memory.h"

#include <complib/cl_passivelock.h>
#include <heddle/change/repair.h>
#include <heddle/mad/umad_port.h>

#define SWITCHES 16u
#define TABLE 128u /* bytes */
#define EVENTS 4096u

/* What comes in at one of the two ports: answers at once, and nothing is lost. */
struct instant {
	struct hd_smp_port port;
	struct hd_smp_event events[EVENTS];
	uint32_t count;
};

volatile unsigned int osm_exit_flag;

static struct world {
	osm_opensm_t osm;
	struct part_context context;
	struct repair_shared shared;
	struct repair_start start;
	struct repair_thread thread;
	struct repair repair;
	struct ar_worker worker;
	struct ar_tasks *tasks;
	struct instant ports[2]; /* of repairs, of adaptive routing */
	struct hd_fabric *fabric;
	struct fake_switch able[SWITCHES];
	uint8_t tables[SWITCHES][TABLE]; /* in the switches */
	osm_switch_t switches[SWITCHES];
	struct hd_fabric_change loss;
	bool off; /* of the last repair */
} world;

/* ---- switches ---- */

static uint32_t follow(const struct hd_smp_address *address)
{
	const struct hd_fabric *fabric = world.fabric;
	uint32_t node = fabric->port_node[fabric->host_port[0]];

	for (unsigned hop = 1; hop <= address->hop_count; hop++)
		node =
		    fabric
			->port_node[fabric->peer[hd_port_index(fabric, node, address->path[hop])]];
	assert_true(node < fabric->switch_count);
	return node;
}

static int send_smp(void *context, const struct hd_smp_address *address, const struct hd_smp *smp,
		    uint32_t id, uint32_t timeout_ms)
{
	struct instant *instant = context;
	struct hd_smp_event *event = &instant->events[instant->count++];
	const uint32_t sw = follow(address);

	(void)timeout_ms;
	assert_true(instant->count < EVENTS);
	*event = (struct hd_smp_event){.id = id, .attribute = smp->attribute};
	if (smp->attribute == HD_SMP_LFT) {
		memcpy(world.tables[sw] + smp->modifier * HD_LFT_BLOCK, smp->data, HD_LFT_BLOCK);
		memcpy(event->data, smp->data, HD_LFT_BLOCK);
		return 0;
	}
	struct fake_mad asked = {.set = smp->method == HD_SMP_SET,
				 .mad = {.attribute = smp->attribute, .modifier = smp->modifier}};
	memcpy(asked.mad.data, smp->data, HD_AR_DATA);
	fake_do(&world.able[sw], &asked, event->data);
	return 0;
}

static int receive(void *context, struct hd_smp_event *event)
{
	struct instant *instant = context;

	if (!instant->count)
		return 0;
	*event = instant->events[--instant->count];
	return 1;
}

static void wait_for_event(void *context, int milliseconds)
{
	(void)context;
	(void)milliseconds;
}

static uint64_t no_time(void *context)
{
	(void)context;
	return 1000000;
}

int hd_umad_port_open(const struct hd_umad_choice *choice, struct hd_umad_port **port,
		      struct hd_error *err)
{
	(void)choice;
	(void)err;
	*port = (struct hd_umad_port *)&world.ports[1];
	return 0;
}

void hd_umad_port_close(struct hd_umad_port *port)
{
	(void)port;
}

const struct hd_smp_port *hd_umad_port_smp(const struct hd_umad_port *port)
{
	return &((const struct instant *)port)->port;
}

/* ---- OpenSM ---- */

osm_switch_t *osm_get_switch_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	uint32_t sw = hd_fabric_find_node(world.fabric, cl_ntoh64(guid));

	(void)subn;
	return &world.switches[sw];
}

void repair_start_free(struct repair_start *start)
{
	(void)start;
}

/* ---- the thread of adaptive routing ---- */

uint64_t __wrap_ar_worker_offer(struct ar_worker *worker, struct ar_job *job, unsigned patience);
bool __wrap_ar_worker_wait(struct ar_worker *worker, uint64_t number, unsigned milliseconds);

uint64_t __wrap_ar_worker_offer(struct ar_worker *worker, struct ar_job *job, unsigned patience)
{
	(void)worker;
	(void)patience;
	ar_tasks_do(world.tasks, job);
	ar_job_free(job);
	return 1;
}

bool __wrap_ar_worker_wait(struct ar_worker *worker, uint64_t number, unsigned milliseconds)
{
	(void)worker;
	(void)number;
	(void)milliseconds;
	return true;
}

/* ---- before a repair ---- */

static struct hd_routes *route_from(const struct hd_fabric *fabric, const struct hd_routes *former)
{
	struct hd_routes *routes = NULL;

	CHECK(hd_engine_route(hd_engine_find("dmodk"),
			      &(struct hd_route_request){.fabric = fabric, .previous = former},
			      &routes, &err));
	return routes;
}

static void aim(void)
{
	struct repair_paths paths;

	assert_int_equal(repair_paths_init(&paths, world.fabric, world.start.own_port), 0);
	repair_paths_search(&paths, world.thread.cut, NULL, 0);
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++) {
		struct hd_smp_address address;
		assert_true(repair_paths_address(&paths, sw, 0, &address));
		hd_smp_queue_aim(world.thread.queue, sw, &address);
	}
	repair_paths_release(&paths);
}

/* Addresses as OpenSM's own paths. From malloc(). */
static struct hd_smp_address *addresses(void)
{
	struct hd_smp_address *list = calloc(SWITCHES, sizeof(*list));
	struct repair_paths paths;

	assert_int_equal(repair_paths_init(&paths, world.fabric, world.start.own_port), 0);
	repair_paths_search(&paths, world.thread.cut, NULL, 0);
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		assert_true(repair_paths_address(&paths, sw, 0, &list[sw]));
	repair_paths_release(&paths);
	return list;
}

static uint32_t count_on(void)
{
	uint32_t on = 0;

	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		on += world.able[sw].info.enabled;
	return on;
}

/* The sweep is complete: the switches have its tables, and adaptive routing is on. */
static void sweep(void)
{
	const struct routing *routing = world.start.routing;
	struct ar_job job = *world.start.ar_job;

	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++) {
		memcpy(world.tables[sw], hd_routes_row(routing->routes, sw),
		       routing->routes->stride);
		memcpy(world.switches[sw].lft, world.tables[sw], TABLE);
		memcpy(world.switches[sw].new_lft, world.tables[sw], TABLE);
	}
	job.task = AR_PROGRAM;
	job.fresh = true;
	job.routing = world.start.routing;
	job.addresses = addresses();
	ar_tasks_do(world.tasks, &job);
	free(job.addresses);
	assert_true(world.start.routing->routes->stride <= TABLE);
	assert_int_equal(count_on(), 4); /* the leaves */
}

/* A repair that has a plan and a routing. */
static void plan_repair(void)
{
	const struct routing *swept = world.start.routing;
	struct repair *repair = &world.repair;
	struct hd_repair_base *base;

	*repair = (struct repair){.thread = &world.thread, .turn = world.shared.turn};
	hd_routes_free(world.thread.in_place);
	world.thread.in_place = hd_routes_copy(swept->routes);
	CHECK(hd_fabric_without(world.fabric, &world.loss, 1, HD_NONE, &repair->damaged, &err));
	repair->repaired = route_from(repair->damaged, swept->routes);
	CHECK(hd_repair_base_new(world.fabric, world.thread.in_place, 1, NULL, &base, &err));
	CHECK(hd_repair_plan_new(base, world.thread.in_place, repair->damaged, repair->repaired,
				 NULL, &repair->plan, &err));
	hd_repair_base_free(base);
	assert_true(repair->plan->entries > 0 && !repair->plan->left);
	CHECK(routing_repaired(world.start.routing, repair->damaged, repair->repaired,
			       repair->plan->entries, &repair->routing, &err));
}

static void forget_repair(void)
{
	hd_repair_plan_free(world.repair.plan);
	routing_release(world.repair.routing);
}

static struct ar_job *job_new(void)
{
	struct ar_job *job = calloc(1, sizeof(*job));

	*job = plain_job(AR_REPAIR);
	return job;
}

static void start_switch(uint32_t sw)
{
	world.switches[sw].lft = calloc(1, TABLE);
	world.switches[sw].new_lft = calloc(1, TABLE);
	world.switches[sw].lft_size = TABLE;
	world.able[sw].able = true;
	world.able[sw].info = (struct hd_ar_info){
	    .group_cap = 100, .sub_grps_supported = 2, .by_sl_cap = 1, .by_transp_cap = 1};
}

static void start_world(void)
{
	const struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	struct hd_fabric *fabric = generate("xgft", "children=3,4 parents=1,3");

	world.fabric = fabric;
	assert_true(fabric->switch_count <= SWITCHES);
	world.osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	cl_plock_init(&world.osm.lock);
	world.context = (struct part_context){.osm = &world.osm};
	repair_shared_init(&world.shared, &world.context);
	for (unsigned i = 0; i < 2; i++)
		world.ports[i].port = (struct hd_smp_port){.context = &world.ports[i],
							   .send = send_smp,
							   .receive = receive,
							   .wait = wait_for_event,
							   .now = no_time};
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		start_switch(sw);
	world.worker = (struct ar_worker){.osm = &world.osm,
					  .log = &world.context.log,
					  .go_on = ar_worker_go_on,
					  .note_told = ar_worker_note_told};
	pthread_mutex_init(&world.worker.lock, NULL);
	world.tasks = ar_tasks_new(&world.worker);
	world.start = (struct repair_start){.routing = routing_of(fabric, route_from(fabric, NULL)),
					    .ar_job = job_new(),
					    .ar_worker = &world.worker,
					    .own_port = fabric->port_guid[fabric->host_port[0]]};
	world.thread = (struct repair_thread){.shared = &world.shared,
					      .start = &world.start,
					      .umad = (struct hd_umad_port *)&world.ports[0],
					      .cut = calloc(fabric->port_count, sizeof(bool))};
	world.thread.queue = hd_smp_queue_new(&world.ports[0].port, &limits, SWITCHES);
	const uint32_t link = fabric->isl_base[fabric->host_switch[fabric->host_count - 1]];
	world.loss = (struct hd_fabric_change){
	    .lost = true,
	    .cable = true,
	    .index = hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link])};
	sweep();
	world.thread.cut[world.loss.index] = world.thread.cut[fabric->peer[world.loss.index]] =
	    true;
	aim();
	plan_repair();
}

static void end_world(void)
{
	forget_repair();
	hd_smp_queue_free(world.thread.queue);
	hd_routes_free(world.thread.in_place);
	free(world.thread.cut);
	ar_tasks_free(world.tasks);
	pthread_mutex_destroy(&world.worker.lock);
	ar_job_free(world.start.ar_job);
	repair_shared_release(&world.shared);
	cl_plock_destroy(&world.osm.lock);
	assert_int_equal(atomic_load(&world.start.routing->holders), 1);
	routing_release(world.start.routing);
	for (uint32_t sw = 0; sw < SWITCHES; sw++) {
		free(world.switches[sw].lft);
		free(world.switches[sw].new_lft);
	}
}

/* ---- the test ---- */

static int repair(void *context, struct hd_error *err)
{
	(void)context;
	return repair_ar_program(&world.repair, &world.off, err);
}

/* OpenSM knows what a switch holds, or the next sweep sends it again. */
static void check_known(uint32_t sw)
{
	const osm_switch_t *known = &world.switches[sw];

	for (uint32_t lid = 1; lid < world.fabric->lid_count; lid++) {
		const uint32_t block = lid / HD_LFT_BLOCK * HD_LFT_BLOCK;
		if (world.tables[sw][lid] != known->new_lft[lid])
			assert_memory_not_equal(known->lft + block, known->new_lft + block,
						HD_LFT_BLOCK);
	}
}

/* If all went well, the switches hold what the repair wants. */
static void settle(void *context, int rc)
{
	const struct hd_routes *wanted = world.repair.routing->routes;

	(void)context;
	assert_false(world.off);
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++) {
		check_known(sw);
		if (!rc)
			assert_memory_equal(world.tables[sw] + 1, hd_routes_row(wanted, sw) + 1,
					    wanted->lid_count - 1);
	}
	if (!rc)
		assert_true(count_on() >= 4);
	forget_repair();
	sweep();
	plan_repair();
}

/* Property: a repair, whatever allocation fails. Sweeps put things right again. */
static void repairs(void **state)
{
	(void)state;
	start_world();
	const struct short_memory_case tried = {
	    .what = "a repair", .call = repair, .settle = settle};
	uint64_t count = short_memory_try(&tried);
	print_message("%u allocations\n", (unsigned)count);
	assert_true(count > 50);
	end_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(repairs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
