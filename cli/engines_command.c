/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle engines: the routing engines and their options. */
#include "catalogue.h"
#include "commands.h"
#include "json_value.h"
#include "shared_arguments.h"

#include <jansson.h>

/* What `heddle engines --json` says of engines beyond their names and options. */

static json_t *policies(const struct hd_engine *engine)
{
	unsigned count;
	const struct hd_policy_option *options = hd_policy_options(&count);
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++)
		list = json_value_append(
		    list, json_pack("{s:s, s:s, s:b}", "name", options[i].name, "summary",
				    options[i].summary, "used",
				    (engine->policies & HD_POLICY_BIT(options[i].file)) != 0));
	return list;
}

static json_t *facts(const struct hd_engine *engine)
{
	json_t *object =
	    json_pack("{s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:b}", "description",
		      engine->description, "needs_tree", engine->needs_tree, "needs_grid",
		      engine->needs_grid, "one_lane", engine->one_lane, "own_lanes",
		      engine->own_lanes, "shortest_paths", engine->shortest_paths, "keeps_entries",
		      engine->keeps_entries, "takes_keys", engine->takes_keys != 0);

	return json_value_set(object, "policies", policies(engine));
}

/*
 * Adds to each engine of a catalogue_json() list: description, needs_tree, needs_grid, one_lane, own_lanes,
 * shortest_paths, keeps_entries, takes_keys, policies: [{name, summary, used}]. Takes over the
 * list; NULL: no memory.
 */
static json_t *engine_facts_add(json_t *list)
{
	for (size_t i = 0; list && i < json_array_size(list); i++) {
		json_t *object = json_array_get(list, i);
		const char *name = json_string_value(json_object_get(object, "name"));
		json_t *more = facts(catalogue_find_engine(name));
		if (!more || json_object_update(object, more)) {
			json_decref(list);
			list = NULL;
		}
		json_decref(more);
	}
	return list;
}

struct engines_job {
	bool json, names;
};

static const struct argument arguments[] = {
    SHARED_JSON(struct engines_job, json),
    {0, "names", NULL, "print only names, of engines or of ENGINE's options, for scripts",
     ARGUMENT_FLAG(struct engines_job, names)},
};

static const struct usage usage = {
    .synopsis = "heddle engines [--json|--names] [ENGINE]",
    .summary = "Lists the routing engines, or one of them, with their options.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "Commands that compute tables take -e ENGINE[:KEY=VALUE,...].",
    .statuses = {"done", NULL, "bad usage, or there is no such engine"},
};

static int run(void *context, const struct operands *operands)
{
	const struct engines_job *job = context;
	struct catalogue_entry entry, *only = operands->count ? &entry : NULL;
	int status = arguments_expect(&usage, operands, "at most one ENGINE", 0, 1);

	if (!status && only)
		status = catalogue_find(&catalogue_engines, operands->items[0], only);
	if (status)
		return status;
	if (job->json)
		return json_value_print(engine_facts_add(catalogue_json(&catalogue_engines, only)),
					STATUS_CLEAN);
	if (job->names)
		catalogue_print_names(&catalogue_engines, only);
	else
		catalogue_print(&catalogue_engines, only);
	return STATUS_CLEAN;
}

int engines_command(int argc, char **argv)
{
	struct engines_job job = {.json = false};

	return arguments_run(&usage, argc, argv, &job, run);
}
