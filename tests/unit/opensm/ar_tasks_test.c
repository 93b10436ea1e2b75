/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the thread of adaptive routing does with its jobs: with switches that are simulated, and that
 * OpenSM stops at the worst moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../ar_manager/program_testing.h"
#include "ar_held.h"
#include "ar_job_testing.h"
#include "ar_key.h"
#include "ar_report.h"
#include "ar_tasks.h"
#include "ar_worker.h"
#include "key_change.h"
#include "monotonic.h"
#include "no_switches.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "routing.h"
#include "simulated_port.h"

#include <heddle/mad/umad_port.h>

#define SWITCHES_MOST 64u

struct scene {
	struct hd_fabric *fabric;
	struct simulated_port port;
	struct fake_switch switches[SWITCHES_MOST];
	struct osm_opensm osm;
	struct opensm_log log;
	struct part_context context;
	struct writer writer;
	struct ar_worker worker;
	struct ar_job newer; /* that stops the job being done */
	struct ar_tasks *tasks;
	struct hd_smp_limits limits;
	enum hd_ar_algorithm algorithm;
	unsigned opened; /* times that the port was */
	/* When a MAD like that comes, OpenSM stops the job, or the port breaks. 0: never. */
	uint32_t stop_at, break_at;
	bool of_set;
	unsigned stop_after; /* so many of them */
};

static struct scene *in_use;

int hd_umad_port_open(const struct hd_umad_choice *choice, struct hd_umad_port **port,
		      struct hd_error *err)
{
	(void)choice;
	(void)err;
	in_use->opened++;
	in_use->port.broken = 0;
	*port = (struct hd_umad_port *)in_use;
	return 0;
}

void hd_umad_port_close(struct hd_umad_port *port)
{
	(void)port;
}

const struct hd_smp_port *hd_umad_port_smp(const struct hd_umad_port *port)
{
	return &((const struct scene *)port)->port.port;
}

/* The plugin's clock is that of the simulated port, so that no test depends on the machine. */
double monotonic_ms(void)
{
	return (double)in_use->port.now;
}

struct timespec monotonic_timespec(double milliseconds)
{
	return (struct timespec){.tv_sec = (time_t)(milliseconds / 1000)};
}

void monotonic_condition(pthread_cond_t *condition)
{
	pthread_cond_init(condition, NULL);
}

static uint16_t answer(void *context, uint32_t node, const struct hd_smp *smp, uint8_t *data)
{
	struct scene *scene = context;
	struct fake_mad asked = {.set = smp->method == HD_SMP_SET,
				 .mad = {.attribute = smp->attribute, .modifier = smp->modifier}};

	if (scene->of_set == asked.set && smp->attribute == scene->stop_at && !scene->stop_after--)
		scene->worker.next = &scene->newer;
	if (scene->of_set == asked.set && smp->attribute == scene->break_at)
		scene->port.broken = -EIO;
	memcpy(asked.mad.data, smp->data, HD_AR_DATA);
	fake_do(&scene->switches[node], &asked, data);
	return 0;
}

static void begin(struct scene *scene, struct hd_fabric *fabric)
{
	memset(scene, 0, sizeof(*scene));
	in_use = scene;
	logged[0] = '\0';
	scene->fabric = fabric;
	assert_true(fabric->switch_count <= SWITCHES_MOST);
	assert_true(simulated_port_start(&scene->port, fabric->switch_count, 1));
	scene->port.answer = answer;
	scene->port.context = scene;
	scene->osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	scene->context = (struct part_context){.osm = &scene->osm, .writer = &scene->writer};
	writer_init(&scene->writer, &scene->osm);
	scene->worker = (struct ar_worker){.caller = {.writer = &scene->writer,
						      .log = &scene->log,
						      .go_on = ar_worker_go_on,
						      .note_told = ar_worker_note_told},
					   .osm = &scene->osm};
	scene->limits = (struct hd_smp_limits)HD_SMP_LIMITS_DEFAULT;
	scene->algorithm = HD_AR_TREE;
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		scene->switches[i].able = true;
		scene->switches[i].info = (struct hd_ar_info){
		    .group_cap = 100, .sub_grps_supported = 2, .by_sl_cap = 1, .by_transp_cap = 1};
	}
	scene->tasks = ar_tasks_new(&scene->worker.caller);
	assert_non_null(scene->tasks);
}

static void end(struct scene *scene)
{
	ar_tasks_free(scene->tasks);
	writer_release(&scene->writer);
	simulated_port_end(&scene->port);
	hd_fabric_free(scene->fabric);
}

/* A routing of the fabric without some of its links. */
static struct routing *routing_new(const struct hd_fabric *fabric, const char *engine,
				   uint64_t seed)
{
	struct routing *routing = calloc(1, sizeof(*routing));

	assert_non_null(routing);
	routing->holders = 1;
	CHECK(hd_fabric_remove_links(fabric, seed ? 3 : 0, seed, &routing->fabric, &err));
	routing->routes = route(engine, routing->fabric);
	return routing;
}

static struct ar_job job_of(const struct scene *scene, enum ar_task task, struct routing *routing,
			    struct routing *before)
{
	struct ar_job job = plain_job(task);

	job.routing = routing;
	job.before = before;
	job.limits = scene->limits;
	job.settings.config.algorithm = scene->algorithm;
	return job;
}

/* Does a job; true: it was stopped. */
static bool do_job(struct scene *scene, struct ar_job *job)
{
	struct hd_smp_address addresses[SWITCHES_MOST];
	bool stopped;

	for (uint32_t i = 0; i < scene->fabric->switch_count; i++)
		addresses[i] = simulated_address(i);
	job->addresses = job->routing ? addresses : NULL;
	ar_tasks_do(scene->tasks, job);
	stopped = scene->worker.next != NULL;
	scene->worker.next = NULL;
	scene->stop_at = scene->break_at = 0;
	return stopped;
}

static bool program(struct scene *scene, struct routing *routing, bool fresh)
{
	struct ar_job job = job_of(scene, AR_PROGRAM, routing, NULL);

	job.fresh = fresh;
	return do_job(scene, &job);
}

static bool prepare(struct scene *scene, struct routing *routing, struct routing *before)
{
	struct ar_job job = job_of(scene, AR_PREPARE, routing, before);

	return do_job(scene, &job);
}

static uint32_t count_on(const struct scene *scene)
{
	uint32_t on = 0;

	for (uint32_t i = 0; i < scene->fabric->switch_count; i++)
		on += scene->switches[i].info.enabled;
	return on;
}

static struct hd_fabric *tree(void)
{
	return generate("xgft", "children=3,4,4 parents=1,4,4");
}

/* Property: while tables change, AR stays on where it is safe. */
static void narrows(void **state)
{
	struct scene scene;
	struct routing *a, *b;

	(void)state;
	begin(&scene, tree());
	a = routing_new(scene.fabric, "dmodk", 0);
	b = routing_new(scene.fabric, "dmodk", 3);
	program(&scene, a, true);
	assert_true(count_on(&scene) > 10);
	prepare(&scene, b, a);
	assert_true(count_on(&scene) > 10);
	program(&scene, b, false);
	assert_true(count_on(&scene) > 10);
	end(&scene);
	routing_release(a);
	routing_release(b);
}

/* Property: OpenSM stops the first programming in the middle, and a switch whose AR is on refuses to
 * switch it off. The next jobs take the switch for one that keeps it, and the others get the plan. */
static void survives_a_stopped_first_programming(void **state)
{
	(void)state;
	for (unsigned stop = 1; stop < 20; stop += 6) {
		struct scene scene;
		struct routing *a, *b;
		uint32_t stuck = 0;
		begin(&scene, tree());
		a = routing_new(scene.fabric, "dmodk", 0);
		b = routing_new(scene.fabric, "dmodk", 3);
		scene.stop_at = HD_AR_INFO;
		scene.of_set = true;
		scene.stop_after = stop;
		assert_true(program(&scene, a, true));
		assert_true(count_on(&scene) > 0);
		while (!scene.switches[stuck].info.enabled)
			stuck++;
		scene.switches[stuck].fault = FAKE_IGNORES;
		prepare(&scene, b, a);
		assert_int_equal(count_on(&scene), 1);
		assert_logged("does not answer and keeps its old adaptive routing");
		program(&scene, b, false);
		assert_true(scene.switches[stuck].info.enabled);
		scene.switches[stuck].fault = FAKE_NONE;
		scene.port.now += 10000;
		program(&scene, b, true);
		assert_true(count_on(&scene) > 10);
		end(&scene);
		routing_release(a);
		routing_release(b);
	}
}

/* Property: if tables have changed, but AR tables still have older static ports, the proof of the
 * next change does not know these. So AR is off before the tables change again: when the programming
 * was stopped, or was never begun. */
static void forgets_no_older_ports(void **state)
{
	(void)state;
	for (unsigned begun = 0; begun < 2; begun++) {
		struct scene scene;
		struct routing *routings[3];
		begin(&scene, tree());
		for (unsigned i = 0; i < 3; i++)
			routings[i] = routing_new(scene.fabric, "dmodk", 3 * i);
		scene.switches[0].able = false;
		scene.port.nodes[0].silent = SIMULATED_FOREVER;
		program(&scene, routings[0], true);
		prepare(&scene, routings[1], routings[0]);
		assert_true(count_on(&scene) > 10);
		scene.port.nodes[0].silent = 0;
		scene.stop_at = HD_AR_GENERAL_INFO;
		struct ar_job job = job_of(&scene, AR_PREPARE, routings[2], routings[1]);
		if (begun)
			assert_true(program(&scene, routings[1], false));
		job.unfinished = !begun;
		scene.stop_at = 0;
		do_job(&scene, &job);
		assert_int_equal(count_on(&scene), 0);
		program(&scene, routings[2], false);
		assert_true(count_on(&scene) > 10);
		end(&scene);
		for (unsigned i = 0; i < 3; i++)
			routing_release(routings[i]);
	}
}

/* Property: a port that breaks is opened again by the next job, whatever that is. */
static void opens_a_broken_port_again(void **state)
{
	struct scene scene;
	struct routing *a;

	(void)state;
	begin(&scene, tree());
	a = routing_new(scene.fabric, "dmodk", 0);
	scene.break_at = HD_AR_LFT_REV1;
	scene.of_set = true;
	program(&scene, a, true);
	assert_logged("the port is broken");
	assert_int_equal(scene.opened, 1);
	program(&scene, a, false);
	assert_int_equal(scene.opened, 2);
	assert_true(count_on(&scene) > 10);
	scene.break_at = HD_AR_INFO;
	program(&scene, a, true);
	struct ar_job off = job_of(&scene, AR_DISABLE, NULL, NULL);
	do_job(&scene, &off);
	assert_int_equal(scene.opened, 3);
	assert_int_equal(count_on(&scene), 0);
	end(&scene);
	routing_release(a);
}

/* Property: the time-out and the retries of opensm.conf have an effect while OpenSM runs. */
static void takes_new_limits(void **state)
{
	struct scene scene;
	struct routing *a;

	(void)state;
	begin(&scene, tree());
	a = routing_new(scene.fabric, "dmodk", 0);
	program(&scene, a, true);
	program(&scene, a, false);
	assert_int_equal(scene.opened, 1);
	scene.limits.retries = 0;
	program(&scene, a, false);
	assert_int_equal(scene.opened, 1); /* the port is that of all jobs */
	scene.port.nodes[0].silent = SIMULATED_FOREVER;
	uint32_t seen = scene.port.nodes[0].seen;
	program(&scene, a, true);
	assert_int_equal(scene.port.nodes[0].seen - seen, 1);
	end(&scene);
	routing_release(a);
}

/* Property: a plan that is refused switches AR off; the log does not say so if that fails. */
static void says_what_a_refusal_did(void **state)
{
	(void)state;
	for (unsigned breaks = 0; breaks < 2; breaks++) {
		struct scene scene;
		struct routing *a;
		begin(&scene, generate("torus", "dims=4,4 hosts=2 parallel=2"));
		a = routing_new(scene.fabric, "updown", 0);
		scene.algorithm = HD_AR_LAG;
		program(&scene, a, true);
		assert_true(count_on(&scene) > 10);
		scene.algorithm = HD_AR_TREE;
		scene.of_set = true;
		scene.break_at = breaks ? HD_AR_INFO : 0;
		program(&scene, a, false);
		assert_logged("no plan: ");
		assert_int_equal(!strstr(logged, "it is off: no plan"), breaks);
		assert_int_equal(!strstr(logged, "it could not be switched off (the port is "),
				 !breaks);
		end(&scene);
		routing_release(a);
	}
}

static int detect_and_plan(struct fake_net *net, const struct routing *routing,
			   struct hd_ar_plan **plan)
{
	const struct hd_fabric *fabric = routing->fabric;
	struct hd_ar_capability *can;
	int rc = hd_ar_program_set_switches(net->program, fabric->node_guid, fabric->switch_count);

	hd_ar_program_detect(net->program);
	fake_work(net);
	can = hd_ar_program_capabilities(net->program, fabric->lid_count);
	if (!rc)
		rc = hd_ar_plan_new(&(struct hd_ar_request){.fabric = fabric,
							    .routes = routing->routes,
							    .capabilities = can,
							    .algorithm = HD_AR_TREE,
							    .mode = HD_AR_FREE},
				    plan, NULL, NULL);
	free(can);
	return rc;
}

/* Property: a switch that is stuck stays so while it is skipped, and until it has answered. */
static void a_skipped_switch_stays_stuck(void **state)
{
	struct hd_fabric *fabric = tree();
	struct routing *routing = routing_new(fabric, "dmodk", 0);
	struct fake_net *net = fake_net_new(fabric, 1);
	struct ar_held held = {0};
	struct hd_ar_plan *plan = NULL;
	bool skip[SWITCHES_MOST] = {[5] = true};

	(void)state;
	assert_int_equal(detect_and_plan(net, routing, &plan), 0);
	hd_ar_program_apply(net->program, plan, false);
	fake_work(net);
	assert_int_equal(ar_held_update(&held, plan, net->program, fabric), 0);
	assert_int_equal(held.stuck_count, 0);
	hd_ar_program_apply(net->program, plan, true);
	hd_ar_program_stop(net->program);
	fake_work(net);
	assert_int_equal(ar_held_update(&held, plan, net->program, fabric), 0);
	assert_true(held.stuck_count > 10 && held.stuck[5]);
	hd_ar_program_skip(net->program, skip);
	hd_ar_program_apply(net->program, plan, true);
	fake_work(net);
	hd_ar_program_skip(net->program, NULL);
	assert_int_equal(ar_held_update(&held, plan, net->program, fabric), 0);
	assert_true(held.stuck_count == 1 && held.stuck[5]);
	hd_ar_program_apply(net->program, plan, true);
	fake_work(net);
	assert_int_equal(ar_held_update(&held, plan, net->program, fabric), 0);
	assert_int_equal(held.stuck_count, 0);
	ar_held_release(&held);
	hd_ar_plan_free(plan);
	fake_net_free(net);
	routing_release(routing);
	hd_fabric_free(fabric);
}

static int send_but_one(void *context, uint32_t sw, uint32_t slot, bool set,
			const struct hd_ar_mad *mad)
{
	return sw == 5 && set ? -ENOTSUP : fake_send(context, sw, slot, set, mad);
}

/* Property: the log names each switch that answers, but could not be given the plan, once. */
static void names_switches_without_the_plan(void **state)
{
	struct hd_fabric *fabric = tree();
	struct routing *routing = routing_new(fabric, "dmodk", 0);
	struct fake_net *net = fake_net_new(fabric, 1);
	struct hd_ar_plan *plan = NULL;
	struct ar_report report = {0};
	struct opensm_log log = {0};
	const char *line;

	(void)state;
	logged[0] = '\0';
	hd_ar_program_free(net->program);
	net->program = hd_ar_program_new(&(struct hd_ar_sender){send_but_one, NULL, fake_now, net});
	assert_int_equal(detect_and_plan(net, routing, &plan), 0);
	hd_ar_program_apply(net->program, plan, false);
	fake_work(net);
	ar_report_switches(&report, net->program, &log);
	ar_report_switches(&report, net->program, &log);
	line = strstr(logged, "does not hold the plan of adaptive routing: it has no room");
	assert_non_null(line);
	assert_null(strstr(line + 1, "does not hold"));
	ar_report_release(&report);
	hd_ar_plan_free(plan);
	fake_net_free(net);
	routing_release(routing);
	hd_fabric_free(fabric);
}

/* ---- switches that go silent ---- */

/* A switch with AR that is to get other tables. */
static uint32_t find_used(const struct scene *scene)
{
	uint32_t sw = 0;

	while (!scene->switches[sw].info.enabled)
		sw++;
	return sw;
}

static bool prepare_fresh(struct scene *scene, struct routing *routing, struct routing *before)
{
	struct ar_job job = job_of(scene, AR_PREPARE, routing, before);

	job.fresh = true;
	return do_job(scene, &job);
}

struct silence {
	struct scene scene;
	struct routing *a, *b;
	uint32_t sw;
};

static void begin_silence(struct silence *silence)
{
	begin(&silence->scene, tree());
	silence->a = routing_new(silence->scene.fabric, "dmodk", 0);
	silence->b = routing_new(silence->scene.fabric, "dmodk", 3);
	program(&silence->scene, silence->a, true);
	silence->sw = find_used(&silence->scene);
}

static void end_silence(struct silence *silence)
{
	end(&silence->scene);
	routing_release(silence->a);
	routing_release(silence->b);
}

/* Milliseconds that OpenSM waits until its tables may change. `known`: it knows the tables before. */
static uint64_t wait_of(struct silence *silence, bool known)
{
	const uint64_t now = silence->scene.port.now;

	prepare(&silence->scene, silence->b, known ? silence->a : NULL);
	return silence->scene.port.now - now;
}

/* Property: tables do not change before a switch that is busy for a while has said that its AR is off, if it could be
 * unsafe: whether it has no answer while groups are narrowed, or is not known yet what it can do. */
static void waits_for_a_busy_switch(void **state)
{
	(void)state;
	for (unsigned fresh = 0; fresh < 3; fresh++) {
		struct silence silence;
		begin_silence(&silence);
		struct simulated_node *busy = &silence.scene.port.nodes[silence.sw];
		busy->silent = 12;
		if (fresh == 2)
			prepare_fresh(&silence.scene, silence.b, silence.a);
		else
			wait_of(&silence, fresh);
		assert_int_equal(busy->silent, 0);
		assert_false(silence.scene.switches[silence.sw].info.enabled);
		end_silence(&silence);
	}
}

/* Property: a switch that never answers holds OpenSM up for 20 s, once; one that answers, but refuses, does not. It is
 * the switch that counts, not how many are stuck: a second one that is busy is waited for although the first one has
 * come back meanwhile. */
static void waits_once_for_a_dead_switch(void **state)
{
	struct silence silence;

	(void)state;
	begin_silence(&silence);
	struct scene *scene = &silence.scene;
	struct simulated_node *nodes = scene->port.nodes;
	uint32_t other = silence.sw + 1;
	while (!scene->switches[other].info.enabled)
		other++;
	scene->switches[other].fault = FAKE_IGNORES;
	assert_true(wait_of(&silence, false) < 1000);
	scene->switches[other].fault = FAKE_NONE;
	program(scene, silence.a, true);
	nodes[silence.sw].silent = SIMULATED_FOREVER;
	const uint64_t first = wait_of(&silence, false);
	assert_true(first >= 20000 && first < 21000);
	assert_true(wait_of(&silence, false) < 10000);
	program(scene, silence.a, false);
	assert_true(scene->switches[other].info.enabled);
	nodes[silence.sw].silent = 0;
	nodes[other].silent = 12;
	wait_of(&silence, false);
	assert_false(scene->switches[silence.sw].info.enabled);
	assert_false(scene->switches[other].info.enabled);
	end_silence(&silence);
}

/* ---- routing keys ---- */

/* A key at up to 8 switches that choose among ports for the LID: the last of these ports. */
static struct routing *with_key(struct routing *routing, const struct hd_ar_plan *plan,
				uint16_t lid, struct key_change *change)
{
	struct routing *after = routing_with_keys(routing, hd_routes_copy(routing->routes));
	struct hd_ar_pins pins = {.list = calloc(8, sizeof(*pins.list))};

	change->places.list = calloc(8, sizeof(*pins.list));
	for (uint32_t sw = 0; sw < plan->switch_count && pins.count < 8; sw++) {
		uint32_t group = hd_ar_plan_group(plan, sw, 0, lid);
		struct hd_ar_pin pin = {.sw = sw, .lid = lid};
		if (group == HD_AR_NO_GROUP)
			continue;
		HD_PORT_SET_FOREACH(port, &plan->switches[sw].groups[group].ports[0])
			hd_routes_row(after->routes, sw)[lid] = (uint8_t)port;
		pins.list[pins.count++] = change->places.list[change->places.count++] = pin;
	}
	assert_int_equal(pins.count, 8);
	routing_take_pins(after, &pins);
	change->after = after;
	return after;
}

static bool is_static_at(const struct scene *scene, uint32_t sw, uint16_t lid, uint8_t port)
{
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {{0}};

	hd_ar_rev1_decode(scene->switches[sw].lft[lid / HD_AR_REV1_BLOCK], entries);
	return entries[lid % HD_AR_REV1_BLOCK].state == HD_AR_STATIC &&
	       entries[lid % HD_AR_REV1_BLOCK].port == port;
}

static uint32_t count_static(const struct scene *scene, const struct key_change *change)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < change->places.count; i++)
		count +=
		    is_static_at(scene, change->places.list[i].sw, change->places.list[i].lid,
				 hd_routes_port(change->after->routes, change->places.list[i].sw,
						change->places.list[i].lid));
	return count;
}

/* Property: the entries of a key become static with its ports, and nothing else changes. Programming again, as after a
 * sweep of the same tables, changes nothing. What is proved for keys is the plan without them, all the time. */
static void follows_a_key(void **state)
{
	static struct fake_switch before[SWITCHES_MOST];
	struct scene scene;
	struct key_change change = {.published = true};
	struct ar_key key = {NULL};
	struct hd_ar_plan *plan, *same;
	struct hd_error err;

	(void)state;
	begin(&scene, tree());
	struct routing *a = routing_new(scene.fabric, "dmodk", 0);
	struct ar_job job = job_of(&scene, AR_REPAIR, NULL, NULL);
	program(&scene, a, true);
	assert_int_equal(ar_tasks_adaptive(scene.tasks, &plan), ADAPTIVE_ON);
	const uint16_t lid = (uint16_t)scene.fabric->lid[scene.fabric->host_port[20]];
	struct routing *b = with_key(a, plan, lid, &change);
	memcpy(before, scene.switches, sizeof(before));
	assert_true(ar_key_concerns(scene.tasks));
	assert_int_equal(ar_key_program(scene.tasks, &job, &change, &key, &err), 0);
	ar_key_end(scene.tasks, &change, &key);
	assert_int_equal(count_static(&scene, &change), 8);
	assert_int_equal(ar_tasks_adaptive(scene.tasks, &same), ADAPTIVE_ON);
	assert_ptr_equal(plan, same);
	for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++)
		for (uint32_t block = 0; block < FAKE_BLOCKS; block++)
			if (!hd_ar_pins_has(&change.places, sw, lid) ||
			    block != lid / HD_AR_REV1_BLOCK)
				assert_memory_equal(before[sw].lft[block],
						    scene.switches[sw].lft[block], HD_AR_DATA);
	program(&scene, b, false);
	assert_int_equal(count_static(&scene, &change), 8);
	struct key_change gone = {.after = routing_with_keys(b, hd_routes_copy(a->routes)),
				  .places = change.places,
				  .published = true};
	assert_int_equal(ar_key_program(scene.tasks, &job, &gone, &key, &err), 0);
	ar_key_end(scene.tasks, &gone, &key);
	for (uint32_t sw = 0; sw < scene.fabric->switch_count; sw++)
		assert_memory_equal(before[sw].lft, scene.switches[sw].lft, sizeof(before[sw].lft));
	prepare(&scene, gone.after, b);
	assert_true(count_on(&scene) > 10);
	hd_ar_pins_release(&change.places);
	routing_release(gone.after);
	end(&scene);
	routing_release(b);
	routing_release(a);
}

/* Property: a key that is not published, or that a switch refuses, is taken back. If that is not sure, AR is off before
 * tables change. */
static void takes_a_key_back(void **state)
{
	(void)state;
	for (unsigned refused = 0; refused < 2; refused++) {
		struct scene scene;
		struct key_change change = {.published = false};
		struct ar_key key = {NULL};
		struct hd_ar_plan *plan;
		struct hd_error err;
		begin(&scene, tree());
		struct routing *a = routing_new(scene.fabric, "dmodk", 0);
		struct ar_job job = job_of(&scene, AR_REPAIR, NULL, NULL);
		program(&scene, a, true);
		const uint16_t lid = (uint16_t)scene.fabric->lid[scene.fabric->host_port[20]];
		assert_int_equal(ar_tasks_adaptive(scene.tasks, &plan), ADAPTIVE_ON);
		with_key(a, plan, lid, &change);
		const uint32_t bad = change.places.list[7].sw;
		scene.writer.sweeping = true; /* one is demanded, and comes */
		scene.port.nodes[bad].refuse = refused ? 0x1C : 0;
		int rc = ar_key_program(scene.tasks, &job, &change, &key, &err);
		assert_int_equal(rc, refused ? -EIO : 0);
		ar_key_end(scene.tasks, &change, &key);
		assert_int_equal(ar_tasks_adaptive(scene.tasks, &plan), ADAPTIVE_UNKNOWN);
		assert_int_equal(count_static(&scene, &change), 0);
		scene.port.nodes[bad].refuse = 0;
		scene.port.now += 10000;
		prepare(&scene, a, a);
		assert_int_equal(count_on(&scene), 0);
		program(&scene, a, false);
		assert_true(count_on(&scene) > 10);
		assert_int_equal(ar_tasks_adaptive(scene.tasks, &plan), ADAPTIVE_ON);
		hd_ar_pins_release(&change.places);
		routing_release(change.after);
		end(&scene);
		routing_release(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(follows_a_key),
	    cmocka_unit_test(takes_a_key_back),
	    cmocka_unit_test(narrows),
	    cmocka_unit_test(waits_for_a_busy_switch),
	    cmocka_unit_test(waits_once_for_a_dead_switch),
	    cmocka_unit_test(survives_a_stopped_first_programming),
	    cmocka_unit_test(forgets_no_older_ports),
	    cmocka_unit_test(opens_a_broken_port_again),
	    cmocka_unit_test(takes_new_limits),
	    cmocka_unit_test(names_switches_without_the_plan),
	    cmocka_unit_test(a_skipped_switch_stays_stuck),
	    cmocka_unit_test(says_what_a_refusal_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
