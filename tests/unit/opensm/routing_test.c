/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From which tables a routing starts: those in place, those of an earlier run, or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "routing.h"

#include <errno.h>

#define TREE "children=3,3 parents=1,3"

/* What the sweeps of one OpenSM have in common. */
struct run {
	struct hd_policy policy;
	struct routing_memory memory;
	struct routing *routing; /* the last one */
	bool keep, takes_over;
	unsigned lanes;
};

static const struct run first_run = {.keep = true, .lanes = 8};

static struct hd_options *options_of(const struct hd_engine *engine, const char *option,
				     const char *value)
{
	struct hd_options *options = hd_engine_options(engine);

	assert_non_null(options);
	if (option)
		assert_int_equal(hd_options_set(options, option, value, NULL), 0);
	return options;
}

/* One sweep: routes the fabric, which the run takes over. */
static const struct routing *sweep_with(struct run *run, const struct hd_engine *engine,
					const char *option, const char *value,
					struct hd_fabric *fabric)
{
	struct hd_options *options = options_of(engine, option, value);
	struct routing *routing = NULL;
	struct hd_error err = {""};
	int rc = routing_compute(&(struct routing_request){.engine = engine,
							   .options = options,
							   .policy = &run->policy,
							   .before = run->routing,
							   .memory = &run->memory,
							   .keep = run->keep,
							   .takes_over = run->takes_over,
							   .lanes = run->lanes},
				 fabric, &routing, &err);

	if (rc)
		fail_msg("%s: %s", engine->name, err.text);
	hd_options_free(options);
	assert_int_equal(routing_memory_note(&run->memory, routing, NULL), 0);
	routing_release(run->routing);
	run->routing = routing;
	return routing;
}

static const struct routing *sweep(struct run *run, const char *engine, const char *option,
				   const char *value, struct hd_fabric *fabric)
{
	return sweep_with(run, hd_engine_find(engine), option, value, fabric);
}

static void end_run(struct run *run)
{
	routing_release(run->routing);
	run->routing = NULL;
	routing_memory_clear(&run->memory);
}

static uint64_t all_entries(const struct hd_fabric *fabric)
{
	return (uint64_t)fabric->switch_count * hd_fabric_lids_in_use(fabric);
}

static struct hd_fabric *without_switch(const char *name)
{
	struct hd_fabric *whole = generate("xgft", TREE), *fabric = NULL;
	struct hd_builder *builder = hd_builder_from(whole);

	for (uint32_t sw = 0; sw < whole->switch_count; sw++)
		for (uint32_t port = 1;
		     !strcmp(whole->node_name[sw], name) && port <= hd_node_ports(whole, sw);
		     port++)
			if (whole->peer[hd_port_index(whole, sw, port)] != HD_NONE)
				hd_builder_unlink(builder, sw, port);
	assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
	hd_builder_free(builder);
	hd_fabric_free(whole);
	return fabric;
}

/* A restart: the tables of the run become those of an earlier one. */
static void restart(struct run *run)
{
	struct hd_stored_tables *stored = hd_stored_tables_new();
	bool grown;

	assert_int_equal(
	    hd_stored_tables_add(stored, run->routing->fabric, run->routing->routes, &grown, NULL),
	    0);
	stored->policy = run->routing->policy;
	end_run(run);
	run->memory = (struct routing_memory){.in_place = stored};
}

/* Property: the first routing counts every entry, a second one of the same fabric none. */
static void the_second_sweep_changes_nothing(void **state)
{
	static const char *const engines[] = {"dmodk", "updown", "spf", "multipath", "auto"};

	(void)state;
	for (unsigned i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		struct run run = first_run;
		const struct routing *routing =
		    sweep(&run, engines[i], NULL, NULL, generate("xgft", TREE));
		assert_true(routing->afresh);
		assert_int_equal(routing->changes, all_entries(routing->fabric));
		routing = sweep(&run, engines[i], NULL, NULL, generate("xgft", TREE));
		assert_false(routing->afresh || routing->other_shape);
		assert_int_equal(routing->changes, 0);
		end_run(&run);
	}
}

static unsigned asked; /* how often the engine below has routed */

static int count_and_route(const struct hd_route_request *request, struct hd_routes **out,
			   struct hd_error *err)
{
	asked++;
	return hd_engine_find("spf")->route(request, out, err);
}

/* The tree with other rates. */
static struct hd_fabric *faster(void)
{
	struct hd_fabric *slow = generate("xgft", TREE), *fabric = NULL;
	struct hd_builder *builder = hd_builder_from(slow);
	uint32_t port = hd_port_index(slow, 0, 1), peer = slow->peer[port];

	hd_builder_unlink(builder, 0, 1);
	assert_int_equal(hd_builder_link(builder, 0, 1, slow->port_node[peer],
					 hd_port_number(slow, peer), 4, HD_SPEED_NDR, NULL),
			 0);
	assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
	hd_builder_free(builder);
	hd_fabric_free(slow);
	return fabric;
}

/* Property: the engine is not asked if nothing has changed since the last sweep. It is asked after any
 * change of what it routes from, and if another engine has routed since. */
static void an_idle_sweep_asks_no_engine(void **state)
{
	struct hd_engine engine = *hd_engine_find("spf");
	struct run run = first_run;
	unsigned before;

	(void)state;
	engine.route = count_and_route;
	for (unsigned sweeps = 0; sweeps < 3; sweeps++)
		sweep_with(&run, &engine, NULL, NULL, generate("xgft", TREE));
	assert_int_equal(asked, 1);
	before = asked;
	sweep_with(&run, &engine, NULL, NULL, faster());
	assert_true(asked > before);
	before = asked;
	sweep_with(&run, &engine, NULL, NULL, faster());
	assert_int_equal(asked, before);
	run.lanes = 4;
	sweep_with(&run, &engine, NULL, NULL, faster());
	assert_true(asked > before);
	before = asked;
	sweep_with(&run, &engine, "deadlock", "drop", faster());
	assert_true(asked > before);
	before = asked;
	run.memory.replaced = true;
	sweep_with(&run, &engine, "deadlock", "drop", faster());
	assert_true(asked > before);
	end_run(&run);
}

/* Property: the same after a restart. */
static void nor_does_a_restart(void **state)
{
	struct run run = first_run;

	(void)state;
	sweep(&run, "spf", NULL, NULL, generate("irregular", "switches=14 radix=8 seed=5"));
	restart(&run);
	const struct routing *routing =
	    sweep(&run, "spf", NULL, NULL, generate("irregular", "switches=14 radix=8 seed=5"));
	assert_false(routing->afresh);
	assert_int_equal(routing->changes, 0);
	end_run(&run);
}

/* Property: tables of another subnet give nothing to keep; every entry changes. */
static void tables_of_another_subnet(void **state)
{
	struct run run = first_run;
	struct hd_fabric *mine = generate("xgft", TREE), *other = NULL;
	struct hd_builder *builder = hd_builder_new();
	uint32_t sw, host;

	(void)state;
	assert_int_equal(
	    hd_builder_add_node(
		builder,
		&(struct hd_node_spec){.type = HD_SWITCH, .guid = 0x99999, .port_count = 4}, &sw,
		NULL),
	    0);
	assert_int_equal(
	    hd_builder_add_node(
		builder, &(struct hd_node_spec){.type = HD_CA, .guid = 0x88888, .port_count = 1},
		&host, NULL),
	    0);
	assert_int_equal(hd_builder_link(builder, sw, 1, host, 1, 4, HD_SPEED_EDR, NULL), 0);
	assert_int_equal(hd_builder_set_lid(builder, sw, 0, 2, 0, NULL), 0);
	assert_int_equal(hd_builder_set_lid(builder, host, 1, 1, 0, NULL), 0);
	assert_int_equal(hd_builder_build(builder, &other, NULL), 0);
	hd_builder_free(builder);
	sweep(&run, "updown", NULL, NULL, other);
	restart(&run);
	const struct routing *routing = sweep(&run, "updown", NULL, NULL, mine);
	assert_true(routing->other_shape);
	assert_int_equal(routing->changes, all_entries(routing->fabric));
	end_run(&run);
}

/* Property: another option, another policy or the command `reroute` would have no effect if the
 * entries in place stayed. */
static void what_is_new_takes_effect(void **state)
{
	const uint64_t order[] = {0x100080};

	(void)state;
	for (unsigned what = 0; what < 3; what++) {
		struct run run = first_run;
		sweep(&run, "spf", NULL, NULL, generate("xgft", TREE));
		if (what == 0)
			run.policy = (struct hd_policy){.order_guids = order, .order_count = 1};
		if (what == 1)
			run.keep = false;
		const struct routing *routing =
		    sweep(&run, "spf", what == 2 ? "passes" : NULL, "1", generate("xgft", TREE));
		assert_true(routing->afresh);
		assert_false(routing->other_shape);
		assert_true(routing->changes < all_entries(routing->fabric));
		end_run(&run);
	}
}

/* Property: if OpenSM's own MinHop routes for a while, all entries change when our engine comes back,
 * but it does not route afresh: what comes later goes back to where it was at first. */
static void another_engine_in_between(void **state)
{
	static const char *const engines[] = {"dmodk", "updown", "spf"};

	(void)state;
	for (unsigned i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		struct run run = first_run;
		sweep(&run, engines[i], NULL, NULL, generate("xgft", TREE));
		struct routing *first = routing_hold(run.routing);
		routing_memory_note_other(&run.memory);
		routing_release(run.routing);
		run.routing = NULL;
		const struct routing *routing =
		    sweep(&run, engines[i], NULL, NULL, without_switch("S2_1"));
		assert_false(routing->afresh);
		assert_int_equal(routing->changes, all_entries(routing->fabric));
		routing = sweep(&run, engines[i], NULL, NULL, generate("xgft", TREE));
		assert_true(routing->changes < all_entries(routing->fabric));
		assert_int_equal(hd_routes_count_changes(first->routes, routing->routes), 0);
		routing_release(first);
		end_run(&run);
	}
}

/* Property: an engine starts from another one's tables only if that one refuses now, or if it
 * refused before itself and has its own baseline. */
static void engines_hand_over(void **state)
{
	struct run run = first_run;

	(void)state;
	sweep(&run, "updown", NULL, NULL, generate("xgft", TREE));
	run.takes_over = true;
	assert_false(sweep(&run, "spf", NULL, NULL, generate("xgft", TREE))->afresh);
	run.takes_over = false;
	const struct routing *routing = sweep(&run, "updown", NULL, NULL, generate("xgft", TREE));
	assert_false(routing->afresh);
	assert_int_equal(routing->changes, 0);
	assert_true(sweep(&run, "dmodk", NULL, NULL, generate("xgft", TREE))->afresh);
	end_run(&run);
}

/* Property: after a restart with another list of engines, another engine's tables are not kept. */
static void another_list_routes_afresh(void **state)
{
	(void)state;
	for (unsigned other = 0; other < 2; other++) {
		struct run run = first_run;
		sweep(&run, "updown", NULL, NULL, generate("xgft", TREE));
		restart(&run);
		run.memory.other_list = other;
		run.takes_over = true;
		assert_int_equal(sweep(&run, "spf", NULL, NULL, generate("xgft", TREE))->afresh,
				 other);
		end_run(&run);
	}
}

/* Property: when all is up again, so is the first routing, entry by entry. */
static void everything_goes_back(void **state)
{
	struct run run = first_run;

	(void)state;
	sweep(&run, "dmodk", NULL, NULL, generate("xgft", TREE));
	struct routing *first = routing_hold(run.routing);
	assert_true(sweep(&run, "dmodk", NULL, NULL, without_switch("S2_1"))->changes > 0);
	const struct routing *routing = sweep(&run, "dmodk", NULL, NULL, generate("xgft", TREE));
	assert_int_equal(hd_routes_count_changes(first->routes, routing->routes), 0);
	routing_release(first);
	end_run(&run);
}

/* Property: a packet gets the level of its source's switch; an unknown source gets the hint. */
static void levels_are_those_of_the_source(void **state)
{
	struct run run = first_run;
	uint32_t found = 0;

	(void)state;
	const struct routing *routing = sweep(&run, "spf", NULL, NULL, generate("torus", "dims=5"));
	const struct hd_fabric *fabric = routing->fabric;
	const struct hd_routes *routes = routing->routes;
	assert_non_null(routes->sl);
	for (uint32_t from = 0; from < fabric->host_count; from++) {
		uint32_t slid = fabric->lid[fabric->host_port[from]],
			 sw = fabric->host_switch[from];
		for (uint32_t to = 0; to < fabric->host_count; to++) {
			uint32_t dlid = fabric->lid[fabric->host_port[to]];
			uint8_t level = routes->sl[(size_t)sw * routes->stride + dlid];
			assert_int_equal(routing_path_sl(routing, slid, dlid, 9), level);
			found |= 1u << level;
		}
	}
	assert_true(found & (found - 1)); /* several levels: the test compares something */
	assert_int_equal(routing_path_sl(routing, 0, 1, 9), 9);
	assert_int_equal(routing_path_sl(routing, 1, HD_LID_LAST, 9), 9);
	assert_int_equal(routing_path_sl(routing, HD_LID_LAST, 1, 9), 9);
	end_run(&run);
}

/* Property: on an error the fabric still belongs to the caller, and there is a reason. */
static void a_refusal_leaves_the_fabric(void **state)
{
	const struct routing_memory nothing = {0};
	const struct hd_policy policy = {0};
	struct hd_fabric *fabric = generate("torus", "dims=3,3");
	struct hd_options *options = options_of(hd_engine_find("dmodk"), NULL, NULL);
	struct routing *routing = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(
	    routing_compute(&(struct routing_request){.engine = hd_engine_find("dmodk"),
						      .options = options,
						      .policy = &policy,
						      .memory = &nothing},
			    fabric, &routing, &err),
	    -ENOTSUP);
	assert_null(routing);
	assert_true(strlen(err.text) > 0);
	hd_options_free(options);
	hd_fabric_free(fabric);
}

/* Turns each entry of the tables around, as no engine would route. */
static struct hd_routes *scrambled(const struct routing *routing)
{
	struct hd_routes *routes = hd_routes_copy(routing->routes);

	assert_non_null(routes);
	for (uint32_t sw = 0; sw < routes->switch_count; sw++)
		for (uint32_t lid = 1; lid < routes->lid_count; lid++)
			hd_routes_row(routes, sw)[lid] ^= 1;
	return routes;
}

/* Property: whatever keys do to the tables, later sweeps, restarts included, route as if there were
 * none. */
static void keys_are_never_kept(void **state)
{
	struct run plain = first_run, keyed = first_run;
	const struct routing *expected, *routing;

	(void)state;
	sweep(&plain, "nrk", NULL, NULL, generate("xgft", TREE));
	sweep(&keyed, "nrk", NULL, NULL, generate("xgft", TREE));
	routing_take_keys(keyed.routing, scrambled(keyed.routing));
	struct routing *between = routing_with_keys(keyed.routing, scrambled(keyed.routing));
	routing_release(keyed.routing);
	keyed.routing = routing_with_keys(between, scrambled(between));
	routing_release(between);
	assert_ptr_equal(routing_base(keyed.routing), keyed.routing->origin->base);
	for (int damaged = 1; damaged >= 0; damaged--) {
		expected = sweep(&plain, "nrk", NULL, NULL,
				 damaged ? without_switch("S2_0") : generate("xgft", TREE));
		routing = sweep(&keyed, "nrk", NULL, NULL,
				damaged ? without_switch("S2_0") : generate("xgft", TREE));
		assert_true(hd_routes_equal(routing->routes, expected->routes));
		assert_int_equal(routing->changes, expected->changes);
		routing_take_keys(keyed.routing, scrambled(routing));
	}
	const struct hd_stored_tables *baseline = routing_memory_find(&keyed.memory, "nrk");
	assert_true(hd_routes_equal(baseline->routes, expected->routes));
	end_run(&plain);
	end_run(&keyed);
}

/* The tables of a routing with keys come back from its last holder only. */
static void tables_with_keys_are_recycled(void **state)
{
	struct run run = first_run;

	(void)state;
	sweep(&run, "nrk", NULL, NULL, generate("xgft", TREE));
	assert_null(routing_recycle(routing_hold(run.routing)));
	struct hd_routes *routes = scrambled(run.routing);
	struct routing *with = routing_with_keys(run.routing, routes);
	assert_null(routing_recycle(routing_hold(with)));
	assert_ptr_equal(routing_recycle(with), routes);
	hd_routes_free(routes);
	end_run(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys_are_never_kept),
	    cmocka_unit_test(tables_with_keys_are_recycled),
	    cmocka_unit_test(the_second_sweep_changes_nothing),
	    cmocka_unit_test(an_idle_sweep_asks_no_engine),
	    cmocka_unit_test(nor_does_a_restart),
	    cmocka_unit_test(tables_of_another_subnet),
	    cmocka_unit_test(what_is_new_takes_effect),
	    cmocka_unit_test(another_engine_in_between),
	    cmocka_unit_test(engines_hand_over),
	    cmocka_unit_test(another_list_routes_afresh),
	    cmocka_unit_test(everything_goes_back),
	    cmocka_unit_test(levels_are_those_of_the_source),
	    cmocka_unit_test(a_refusal_leaves_the_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
