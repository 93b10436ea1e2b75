/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the thread of adaptive routing does with its jobs: with switches that are simulated, and that
 * OpenSM stops at the worst moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ar_tasks_testing.h"

/* Property: AR leads a change step by step and stays on, and when the forwarding tables are written, nothing is left to be
 * programmed. If OpenSM writes them in an order of its own, or a step is not written, AR is off before, and the log says
 * why. */
static void leads(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		struct scene scene;
		struct routing *a, *b;
		begin(&scene, tree());
		a = routing_new(scene.fabric, "dmodk", 0);
		b = routing_new(scene.fabric, "dmodk", 3);
		program(&scene, a, true);
		const uint32_t on = count_on(&scene);
		struct ar_job unled = job_of(&scene, AR_PREPARE, b, a);
		scene.refused = way == 1 ? 2 : 0;
		if (way == 2)
			do_job(&scene, &unled);
		else
			prepare(&scene, b, a);
		assert_true(way ? !count_on(&scene) : count_on(&scene) >= on);
		assert_int_equal(!strstr(logged, "stay adaptive while the tables change"),
				 way == 2);
		assert_int_equal(!strstr(logged, "is off while the tables change: "), way == 0);
		assert_true(way == 2 || scene.written >= (way ? 1 : 2));
		const uint32_t sent = scene.port.sent_count;
		program(&scene, b, false);
		assert_int_equal(scene.port.sent_count == sent, !way);
		assert_true(count_on(&scene) >= on);
		end(&scene);
		routing_release(a);
		routing_release(b);
	}
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

/* Property: if tables have changed, but AR tables may still have older static ports, since the programming after the change
 * was never begun, the proof of the next change does not know these. So AR is off before the tables change again. If the
 * programming was stopped, AR tables have the ports all the same: they changed with the tables. */
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
		do_prepare(&scene, &job);
		assert_int_equal(count_on(&scene) > 10, begun);
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

/* Property: a switch that is stuck stays so until it has answered. */
static void a_switch_stays_stuck(void **state)
{
	struct hd_fabric *fabric = tree();
	struct routing *routing = routing_new(fabric, "dmodk", 0);
	struct fake_net *net = fake_net_new(fabric, 1);
	struct ar_held held = {0};
	struct hd_ar_plan *plan = NULL;

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
	return do_prepare(scene, &job);
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
 * unsafe: whether it has no answer while AR goes off, or is not known yet what it can do. */
static void waits_for_a_busy_switch(void **state)
{
	(void)state;
	for (unsigned fresh = 0; fresh < 3; fresh++) {
		struct silence silence;
		begin_silence(&silence);
		struct simulated_node *busy = &silence.scene.port.nodes[silence.sw];
		busy->silent = 6;
		if (fresh == 2)
			prepare_fresh(&silence.scene, silence.b, silence.a);
		else
			wait_of(&silence, fresh);
		assert_int_equal(busy->silent, 0);
		assert_false(silence.scene.switches[silence.sw].info.enabled);
		end_silence(&silence);
	}
}

/* Property: a switch that never answers holds OpenSM up for 8 s, once; one that answers, but refuses, does not. It is
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
	assert_true(first >= 8000 && first < 9000);
	assert_true(wait_of(&silence, false) < 8000);
	program(scene, silence.a, false);
	assert_true(scene->switches[other].info.enabled);
	nodes[silence.sw].silent = 0;
	nodes[other].silent = 6;
	wait_of(&silence, false);
	assert_false(scene->switches[silence.sw].info.enabled);
	assert_false(scene->switches[other].info.enabled);
	end_silence(&silence);
}

/* Property: nobody waits for a switch whose links are all down. */
static void waits_for_no_switch_without_a_link(void **state)
{
	struct silence silence;

	(void)state;
	begin_silence(&silence);
	silence.scene.port.nodes[silence.sw].silent = SIMULATED_FOREVER;
	silence.scene.unreachable = silence.sw + 1;
	assert_true(wait_of(&silence, false) < 1000);
	end_silence(&silence);
}

/* Property: where AR is not wanted, one that does not answer is not taken for one without AR. It is asked again by each
 * job, and what it has on goes off. */
static void unknown_is_not_off(void **state)
{
	struct hd_ar_plan *plan;
	struct scene scene;

	(void)state;
	begin(&scene, tree());
	struct routing *a = routing_new(scene.fabric, "dmodk", 0);
	struct ar_job off = job_of(&scene, AR_DISABLE, a, NULL);
	off.settings.config.enable = false;
	scene.switches[2].info.enabled = scene.switches[3].info.enabled = true;
	scene.port.nodes[2].silent = SIMULATED_FOREVER;
	assert_int_equal(adaptive_of(&scene, &plan), ADAPTIVE_UNKNOWN);
	for (unsigned i = 0; i < 2; i++) {
		do_job(&scene, &off);
		assert_int_equal(adaptive_of(&scene, &plan), ADAPTIVE_UNKNOWN);
		assert_int_equal(count_on(&scene), 1);
	}
	assert_logged("does not say whether it has adaptive routing");
	scene.port.nodes[2].silent = 0;
	do_job(&scene, &off);
	assert_int_equal(count_on(&scene), 0);
	assert_int_equal(adaptive_of(&scene, &plan), ADAPTIVE_OFF);
	end(&scene);
	routing_release(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(leads),
	    cmocka_unit_test(waits_for_a_busy_switch),
	    cmocka_unit_test(waits_once_for_a_dead_switch),
	    cmocka_unit_test(waits_for_no_switch_without_a_link),
	    cmocka_unit_test(unknown_is_not_off),
	    cmocka_unit_test(survives_a_stopped_first_programming),
	    cmocka_unit_test(forgets_no_older_ports),
	    cmocka_unit_test(opens_a_broken_port_again),
	    cmocka_unit_test(takes_new_limits),
	    cmocka_unit_test(names_switches_without_the_plan),
	    cmocka_unit_test(a_switch_stays_stuck),
	    cmocka_unit_test(says_what_a_refusal_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
