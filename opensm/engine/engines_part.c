/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that registers our routing engines with OpenSM and publishes their routings. It reads
 * the policy files and the engines' sections of heddle.conf, and writes the dumps.
 */
#include "dump.h"
#include "engine_callbacks.h"
#include "engines_state.h"
#include "engines_stored.h"
#include "opensm_headers.h"
#include "parts.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/engines/engine_list.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool register_one(struct engine_binding *binding)
{
	external_routing_engine_module_t module = {.name = binding->name,
						   .setup = engine_callbacks_set};
	struct part_context *context = binding->engines->context;

	if (osm_register_external_routing_engine(context->osm, &module, binding) == CL_SUCCESS)
		return true;
	log_error(&context->log, LOG_ERROR_LOAD,
		  "OpenSM did not register the engine '%s': another engine has that name, or "
		  "memory is short",
		  binding->name);
	return false;
}

/* Each engine by its name, by its name with ar_ before it, and by the foreign names. */
static unsigned make_bindings(struct engines *engines, struct engine_binding *bindings)
{
	unsigned count, made = 0;
	const struct hd_engine *const *all = hd_engine_list_all(engines->context->engines, &count);

	for (unsigned i = 0; i < 2 * count; i++) {
		const struct hd_engine *engine = all[i / 2];
		struct engine_binding *binding = &bindings[made++];
		*binding = (struct engine_binding){
		    .engines = engines, .engine = engine, .adaptive = i % 2};
		snprintf(binding->name, sizeof(binding->name), "%s%s", i % 2 ? "ar_" : "",
			 engine->name);
	}
	const struct hd_engine_alias *aliases = hd_engine_aliases(&count);
	for (unsigned i = 0; i < count; i++) {
		struct engine_binding *binding = &bindings[made++];
		*binding = (struct engine_binding){.engines = engines,
						   .engine = hd_engine_find(aliases[i].engine),
						   .adaptive = true,
						   .foreign = true};
		snprintf(binding->name, sizeof(binding->name), "%s", aliases[i].name);
	}
	return made;
}

/* Fails only if OpenSM registers none: once OpenSM knows one engine, the plugin must stay loaded.
 */
static int register_all(struct engines *engines, struct hd_error *err)
{
	unsigned count, aliases, registered = 0;

	hd_engine_list_all(engines->context->engines, &count);
	hd_engine_aliases(&aliases);
	engines->bindings = calloc(2 * count + aliases, sizeof(*engines->bindings));
	if (!engines->bindings)
		return hd_error_no_memory(err);
	count = make_bindings(engines, engines->bindings);
	for (unsigned i = 0; i < count; i++)
		registered += register_one(&engines->bindings[i]);
	return registered ? 0 : hd_error_set(err, -EEXIST, "OpenSM registered none of the engines");
}

/* This line shows that the plugin is loaded; so a wrong name in routing_engine is misspelt. */
static void say_loaded(const struct part_context *context)
{
	unsigned count;
	const struct hd_engine *const *engines = hd_engine_list_all(context->engines, &count);
	char names[HD_ERROR_TEXT] = "";

	for (unsigned i = 0; i < count; i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, " %s", engines[i]->name);
	}
	log_info(&context->log, "Heddle " HEDDLE_VERSION " is loaded; names for routing_engine:%s",
		 names);
}

static void destroy(void *state)
{
	struct engines *engines = state;

	engine_callbacks_forget(engines);
	routing_memory_clear(&engines->memory);
	hd_policy_files_release(&engines->policy);
	engines_report_release(&engines->report);
	free(engines->bindings);
	free(engines->stored);
	free(engines);
}

static int create(struct part_context *context, void **state, struct hd_error *err)
{
	struct engines *engines = calloc(1, sizeof(*engines));
	int rc;

	if (!engines)
		return hd_error_no_memory(err);
	engines->context = context;
	engines_report_init(&engines->report);
	rc = register_all(engines, err);
	if (rc) {
		destroy(engines);
		return rc;
	}
	say_loaded(context);
	*state = engines;
	return 0;
}

static void discovered(void *state)
{
	struct engines *engines = state;

	engines->fresh = false;
	engines_report_begin(&engines->report);
	engines_report_conf(&engines->report, engines->context->osm, &engines->context->log);
	engines_stored_load(engines);
}

static void idle(void *state)
{
	engines_stored_save(state);
}

/* If another engine replaced our tables, nothing that we know is in place. */
static void routed(void *state)
{
	struct engines *engines = state;
	struct osm_opensm *osm = engines->context->osm;
	const struct osm_routing_engine *used = osm->routing_engine_used;

	engines_report_routed(&engines->report, osm, used && engine_callbacks_ours(used));
	if (!used || !engine_callbacks_ours(used)) {
		cl_plock_excl_acquire(&osm->lock);
		engine_callbacks_forget(engines);
		cl_plock_release(&osm->lock);
		routing_memory_note_other(&engines->memory);
		return;
	}
	/* OpenSM 3.3.23 never calls ucast_dump_tables itself. */
	if (dump_is_wanted(osm))
		engine_callbacks_dump(engines);
}

static void status(void *state, struct status_report *report)
{
	struct engines *engines = state;

	engines_report_add(&engines->report, report);
}

const struct part engines_part = {
    .name = "engines",
    .essential = true,
    .create = create,
    .discovered = discovered,
    .routed = routed,
    .idle = idle,
    .status = status,
    .destroy = destroy,
};
