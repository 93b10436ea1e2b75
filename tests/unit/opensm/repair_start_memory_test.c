/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a sweep leaves to repairs, with each allocation failing in turn: nothing, or all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine_callbacks.h"
#include "engines_state.h"
#include "generate_testing.h"
#include "no_switches.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "policy_options.h"
#include "repair_start.h"
#include "routing.h"
#include "settings.h"
#include "short_memory.h"

#include <complib/cl_passivelock.h>
#include <heddle/ar_manager/site.h>
#include <heddle/config/sections.h>

#define OWN_PORT UINT64_C(0x100001)

/* An OpenSM that has routed a tree with an engine of ours. */
struct manager {
	struct osm_opensm osm;
	struct osm_routing_engine used;
	struct engines engines;
	struct engine_binding binding;
	struct part_context context;
	struct hd_config_sections *sections;
	struct hd_config *config;
	struct repair_start *start;
};

bool engine_callbacks_ours(const struct osm_routing_engine *re)
{
	(void)re;
	return true;
}

static void configure(struct manager *manager, const struct hd_engine *engine)
{
	const struct hd_config_section section = {
	    .name = engine->name, .options = engine->options, .option_count = engine->option_count};
	struct hd_error err = {""};

	manager->sections = hd_config_sections_new();
	assert_int_equal(hd_config_sections_add_heddle(manager->sections, &err), 0);
	assert_int_equal(hd_config_sections_add(manager->sections, &section, &err), 0);
	assert_int_equal(hd_ar_site_sections(manager->sections, &err), 0);
	assert_int_equal(hd_config_defaults(manager->sections, &manager->config, &err), 0);
}

/* A sweep of that tree. */
static struct routing *sweep(struct manager *manager, const struct hd_engine *engine,
			     const char *settings)
{
	const struct hd_policy policy =
	    policy_options_view(&manager->engines.policy, &manager->osm.subn.opt);
	const struct routing_request request = {.engine = engine,
						.policy = &policy,
						.options = settings_engine(manager->config, engine),
						.memory = &manager->engines.memory,
						.lanes = 1};
	struct routing *routing;
	struct hd_error err = {""};

	if (routing_compute(&request, generate("xgft", settings), &routing, &err))
		fail_msg("%s", err.text);
	assert_int_equal(routing_memory_note(&manager->engines.memory, routing, &err), 0);
	return routing;
}

static void begin(struct manager *manager, const char *first, const char *now)
{
	const struct hd_engine *engine = hd_engine_find("updown");

	*manager = (struct manager){0};
	configure(manager, engine);
	assert_int_equal(cl_plock_init(&manager->osm.lock), CL_SUCCESS);
	manager->osm.subn.opt.sweep_on_trap = TRUE;
	manager->osm.subn.sm_port_guid = cl_hton64(OWN_PORT);
	manager->binding = (struct engine_binding){.engines = &manager->engines, .engine = engine};
	manager->used.context = &manager->binding;
	manager->osm.routing_engine_used = &manager->used;
	manager->context = (struct part_context){.osm = &manager->osm, .config = manager->config};
	routing_release(sweep(manager, engine, first)); /* the baseline */
	manager->context.published = sweep(manager, engine, now);
}

static void end(struct manager *manager)
{
	routing_release(manager->context.published);
	routing_memory_clear(&manager->engines.memory);
	hd_config_free(manager->config);
	hd_config_sections_free(manager->sections);
	cl_plock_destroy(&manager->osm.lock);
}

static int call(void *context, struct hd_error *err)
{
	struct manager *manager = context;
	const struct repair_settings settings = {.enable = true, .settle_ms = 1};

	manager->start = repair_start_new(
	    &manager->context, &settings,
	    manager->context.published ? routing_hold(manager->context.published) : NULL);
	return manager->start ? 0 : hd_error_no_memory(err);
}

static void settle(void *context, int rc)
{
	struct manager *manager = context;
	const struct repair_start *start = manager->start;

	if (!rc) {
		assert_string_equal(start->refusal, "");
		assert_ptr_equal(start->routing, manager->context.published);
		assert_non_null(start->options);
		assert_non_null(start->baseline);
		assert_int_equal(start->baseline->switch_count,
				 start->routing->routes->switch_count);
		assert_int_equal(start->own_port, OWN_PORT);
	}
	repair_start_free(manager->start);
	assert_int_equal(atomic_load(&manager->context.published->holders), 1);
}

/* Property: what a sweep leaves is complete, or it leaves nothing and holds nothing. The baseline has the
 * present fabric, or another one. */
static void a_start_without_memory(void **state)
{
	static const char *const fabrics[] = {"children=3,3 parents=1,3",
					      "children=3,4 parents=1,3"};
	struct manager manager;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		begin(&manager, fabrics[i], fabrics[0]);
		const struct short_memory_case tried = {
		    .what = "start", .context = &manager, .call = call, .settle = settle};
		assert_true(short_memory_try(&tried) > 3);
		end(&manager);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_start_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
