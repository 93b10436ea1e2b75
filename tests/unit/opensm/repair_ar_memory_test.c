/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A repair while adaptive routing is on, which leads it, with each allocation failing in turn. */
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
#include "repair_lead.h"
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

/* What comes in at the port: answers at once, and nothing is lost. */
struct instant {
	struct hd_smp_port port;
	struct hd_smp_event events[EVENTS];
	uint32_t count;
};

volatile unsigned int osm_exit_flag;

static struct world {
	osm_opensm_t osm;
	struct part_context context;
	struct writer writer;
	struct repair_shared shared;
	struct repair_start start;
	struct repairs repairs;
	struct repair repair;
	struct ar_worker worker;
	struct ar_job *job; /* of repairs; to be copied */
	struct instant port;
	struct hd_fabric *fabric;
	struct fake_switch able[SWITCHES];
	uint8_t tables[SWITCHES][TABLE]; /* in the switches */
	osm_switch_t switches[SWITCHES];
	struct hd_fabric_change loss;
	struct part_instance instance;
	bool done; /* adaptive routing has led the last repair */
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
	*port = (struct hd_umad_port *)&world.port;
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

void osm_sm_signal(osm_sm_t *sm, osm_signal_t signal)
{
	(void)sm;
	(void)signal;
}

void repair_start_free(struct repair_start *start)
{
	(void)start;
}

/* ---- the part of adaptive routing ---- */

static int lead(void *state, struct repair_change *change, bool *done, struct hd_error *err)
{
	struct ar_job *job = ar_job_copy(world.job);

	(void)state;
	return job ? ar_worker_lead(&world.worker, job, change, done, err)
		   : hd_error_no_memory(err);
}

static const struct part ar = {.name = "ar", .repair_programs = lead};

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
	repair_paths_search(&paths, world.repairs.cut, NULL, 0);
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++) {
		struct hd_smp_address address;
		assert_true(repair_paths_address(&paths, sw, 0, &address));
		hd_smp_queue_aim(world.repairs.queue, sw, &address);
	}
	repair_paths_release(&paths);
}

/* Addresses as OpenSM's own paths. From malloc(). */
static struct hd_smp_address *addresses(void)
{
	struct hd_smp_address *list = calloc(SWITCHES, sizeof(*list));
	struct repair_paths paths;

	assert_int_equal(repair_paths_init(&paths, world.fabric, world.start.own_port), 0);
	repair_paths_search(&paths, world.repairs.cut, NULL, 0);
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
	struct ar_job job = *world.job;

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
	ar_tasks_do(world.worker.tasks, &job);
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

	*repair = (struct repair){.repairs = &world.repairs, .turn = world.writer.turn};
	hd_routes_free(world.repairs.in_place);
	world.repairs.in_place = hd_routes_copy(swept->routes);
	CHECK(hd_fabric_without(world.fabric, &world.loss, 1, HD_NONE, &repair->damaged, &err));
	repair->repaired = route_from(repair->damaged, swept->routes);
	CHECK(hd_repair_base_new(world.fabric, world.repairs.in_place, 1, NULL, &base, &err));
	CHECK(hd_repair_plan_new(base, world.repairs.in_place, repair->damaged, repair->repaired,
				 NULL, &repair->plan, &err));
	hd_repair_base_free(base);
	assert_true(repair->plan->entries > 0 && !repair->plan->left);
	CHECK(routing_repaired(world.start.routing, repair->damaged, repair->repaired,
			       repair->plan->entries, &repair->routing, &err));
	repair->change.routing = repair->routing;
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
	world.context = (struct part_context){
	    .osm = &world.osm, .writer = &world.writer, .instances = &world.instance, .count = 1};
	world.instance = (struct part_instance){.part = &ar, .alive = true};
	writer_init(&world.writer, &world.osm);
	repair_shared_init(&world.shared, &world.context);
	world.port.port = (struct hd_smp_port){.context = &world.port,
					       .send = send_smp,
					       .receive = receive,
					       .wait = wait_for_event,
					       .now = no_time};
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		start_switch(sw);
	world.worker = (struct ar_worker){.caller = {.writer = &world.writer,
						     .log = &world.context.log,
						     .go_on = ar_worker_go_on,
						     .note_told = ar_worker_note_told},
					  .osm = &world.osm};
	world.worker.tasks = ar_tasks_new(&world.worker.caller);
	world.job = job_new();
	world.start = (struct repair_start){.routing = routing_of(fabric, route_from(fabric, NULL)),
					    .own_port = fabric->port_guid[fabric->host_port[0]]};
	world.repairs = (struct repairs){.shared = &world.shared,
					 .writer = &world.writer,
					 .start = &world.start,
					 .cut = calloc(fabric->port_count, sizeof(bool))};
	world.repairs.queue = hd_smp_queue_new(&world.port.port, &limits, SWITCHES);
	const uint32_t link = fabric->isl_base[fabric->host_switch[fabric->host_count - 1]];
	world.loss = (struct hd_fabric_change){
	    .lost = true,
	    .cable = true,
	    .index = hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link])};
	sweep();
	world.repairs.cut[world.loss.index] = world.repairs.cut[fabric->peer[world.loss.index]] =
	    true;
	aim();
	plan_repair();
}

static void end_world(void)
{
	forget_repair();
	hd_smp_queue_free(world.repairs.queue);
	hd_routes_free(world.repairs.in_place);
	free(world.repairs.cut);
	ar_tasks_free(world.worker.tasks);
	routing_release(world.worker.repaired);
	ar_job_free(world.job);
	repair_shared_release(&world.shared);
	writer_release(&world.writer);
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
	return repair_lead(&world.repair, &world.done, err);
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
	assert_true(rc || world.done);
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
