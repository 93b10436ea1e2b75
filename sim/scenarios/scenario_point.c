/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_point.h"
#include "scenario_ebb.h"

#include <heddle/base/suggest.h>

#include <errno.h>
#include <string.h>

const struct hd_option scenario_traffic_keys[] = {
    {.name = "kind",
     .summary = "what is sent; its options are keys of this section",
     .type = HD_OPTION_STRING},
    {.name = "active",
     .summary = "no: leave this traffic out",
     .type = HD_OPTION_BOOL,
     .fallback = "yes"},
};
const unsigned scenario_traffic_key_count =
    sizeof(scenario_traffic_keys) / sizeof(scenario_traffic_keys[0]);

static int unknown_kind(const struct hd_scenario *scenario, const struct scenario_section *section,
			const struct scenario_entry *entry, struct hd_error *err)
{
	struct hd_suggestion suggestion = hd_suggestion_for(entry->value);
	unsigned count;
	const struct hd_traffic_kind *const *kinds = hd_traffic_kinds(&count);
	char names[240] = "";

	for (unsigned i = 0; i < count; i++) {
		size_t used = strlen(names);
		hd_suggestion_offer(&suggestion, kinds[i]->name);
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", kinds[i]->name);
	}
	if (suggestion.nearest)
		hd_error_set(err, -ENOENT, "unknown kind; did you mean %s?", suggestion.nearest);
	else
		hd_error_set(err, -ENOENT, "unknown kind; the kinds are %s", names);
	return scenario_text_error(scenario, section, entry, -ENOENT, err);
}

/* Files that values name, as "file:PATH", are relative to the scenario. */
static int place_files(const struct hd_scenario *scenario, const struct scenario_section *section,
		       const struct hd_traffic_kind *kind, struct hd_arena *arena,
		       struct hd_options *options, struct hd_error *err)
{
	static const char prefix[] = "file:";
	const size_t length = sizeof(prefix) - 1;
	int rc = 0;

	for (unsigned i = 0; !rc && i < kind->option_count; i++) {
		const char *name = kind->options[i].name;
		const char *text = hd_options_get(options, name)->text;
		if (strncmp(text, prefix, length) != 0)
			continue;
		const char *path = scenario_text_path(scenario, scenario_text_entry(section, name),
						      text + length, arena);
		char *value = path ? hd_arena_alloc(arena, length + strlen(path) + 1, 1) : NULL;
		if (!value)
			return hd_error_no_memory(err);
		memcpy(value, prefix, length);
		memcpy(value + length, path, strlen(path) + 1);
		rc = hd_options_set(options, name, value, err);
	}
	return rc;
}

/* Adds the traffic of a section to the point, unless it is switched off. */
static int read_traffic(const struct hd_scenario *scenario, const struct scenario_section *section,
			struct hd_arena *arena, struct scenario_point *point, struct hd_error *err)
{
	const struct scenario_entry *entry = scenario_text_entry(section, "kind");
	struct hd_options *options = NULL;

	if (!entry)
		return scenario_text_error_in(
		    scenario, section, hd_error_set(err, -EINVAL, "expected a key 'kind'"), err);
	const struct hd_traffic_kind *kind = hd_traffic_find(entry->value);
	if (!kind)
		return unknown_kind(scenario, section, entry, err);
	int rc = scenario_text_options_of(scenario, section, scenario_traffic_keys,
					  scenario_traffic_key_count, kind->options,
					  kind->option_count, arena, &options, err);
	if (rc)
		return rc;
	rc = place_files(scenario, section, kind, arena, options, err);
	if (rc || !hd_options_get(options, "active")->number) {
		hd_options_free(options);
		return rc;
	}
	point->traffics[point->traffic_count++] =
	    (struct hd_traffic_request){hd_arena_strdup(arena, section->label), kind, options};
	return hd_arena_check(arena) ? hd_error_no_memory(err) : 0;
}

int scenario_point_read(const struct hd_scenario *scenario, struct hd_arena *arena,
			struct scenario_point *point, struct hd_error *err)
{
	const struct scenario_section *section = NULL;
	int rc = scenario_settings_read(scenario, &point->run, err);

	point->traffics = hd_arena_alloc(arena, scenario->count, sizeof(*point->traffics));
	point->ebbs = hd_arena_alloc(arena, scenario->count, sizeof(*point->ebbs));
	if (!rc && hd_arena_check(arena))
		return hd_error_no_memory(err);
	while (!rc && (section = scenario_text_next(scenario, "traffic", section)) != NULL)
		rc = read_traffic(scenario, section, arena, point, err);
	section = NULL;
	while (!rc && (section = scenario_text_next(scenario, "ebb", section)) != NULL) {
		rc = scenario_ebb_read(scenario, section, arena, &point->ebbs[point->ebb_count],
				       err);
		point->ebb_count += !rc;
	}
	if (!rc && !point->traffic_count && !point->ebb_count)
		rc = hd_error_set(err, -EINVAL,
				  "%s: no [traffic NAME] and no [ebb NAME], so there is nothing to "
				  "simulate",
				  scenario->path);
	return rc;
}

void scenario_point_release(struct scenario_point *point)
{
	for (uint32_t i = 0; i < point->traffic_count; i++)
		hd_options_free(point->traffics[i].options);
	for (uint32_t i = 0; i < point->ebb_count; i++)
		scenario_ebb_release(&point->ebbs[i]);
	scenario_network_free(point->network);
}
