/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_facts.h"
#include "json_value.h"
#include "known_engines.h"

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
	    json_pack("{s:s, s:b, s:b, s:b, s:b}", "description", engine->description, "needs_tree",
		      engine->needs_tree, "one_lane", engine->one_lane, "shortest_paths",
		      engine->shortest_paths, "keeps_entries", engine->keeps_entries);

	return json_value_set(object, "policies", policies(engine));
}

json_t *engine_facts_add(json_t *list)
{
	for (size_t i = 0; list && i < json_array_size(list); i++) {
		json_t *object = json_array_get(list, i);
		const char *name = json_string_value(json_object_get(object, "name"));
		json_t *more = facts(known_engines_find(name));
		if (!more || json_object_update(object, more)) {
			json_decref(list);
			list = NULL;
		}
		json_decref(more);
	}
	return list;
}
