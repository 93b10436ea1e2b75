/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which keys the sections of a scenario may have. A file is read with them in mind: [quick] is checked at once. */
#include "scenario_parts.h"

#include <heddle/fabric/generate.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TARGET_SIZE 200

#define COUNT(array) (unsigned)(sizeof(array) / sizeof((array)[0]))

bool hd_scenario_section(unsigned index, struct hd_scenario_section *out)
{
	const struct hd_scenario_section sections[] = {
	    {"scenario", "what reports call it", scenario_title_keys, scenario_title_key_count},
	    {"fabric", "the fabric, from a file or a generator", scenario_fabric_keys,
	     scenario_fabric_key_count},
	    {"subnet NAME", "in place of the fabric: a subnet of several that routers join",
	     scenario_subnet_keys, scenario_subnet_key_count},
	    {"routing", "forwarding tables, adaptive routing, and what routers do",
	     scenario_routing_keys, scenario_routing_key_count},
	    {"model", "links, packets, switches and hosts", scenario_model_keys,
	     scenario_model_key_count},
	    {"traffic NAME", "what is sent; all of these sections at the same time",
	     scenario_traffic_keys, scenario_traffic_key_count},
	    {"ebb NAME", "a pattern whose flows are counted on the links, without packets",
	     scenario_ebb_keys, scenario_ebb_key_count},
	    {"run", "when runs begin to count, when they end, and how many there are",
	     scenario_run_keys, scenario_run_key_count},
	    {"expect NAME", "a figure of a paper", scenario_expect_keys, scenario_expect_key_count},
	};

	if (index >= COUNT(sections))
		return false;
	*out = sections[index];
	return true;
}

/* "traffic" of "traffic NAME" */
static bool find_fixed(const char *kind, struct hd_scenario_section *out)
{
	size_t length = strlen(kind);

	for (unsigned i = 0; hd_scenario_section(i, out); i++)
		if (!strncmp(out->name, kind, length) &&
		    (!out->name[length] || out->name[length] == ' '))
			return true;
	return false;
}

/* The keys that another key of the section decides on. */
struct more {
	const struct hd_option *keys;
	unsigned count;
	bool known;
};

static struct more find_more(const struct scenario_section *section)
{
	const char *kind = section->kind->name;
	bool traffic = !strcmp(kind, "traffic");
	bool fabric = !strcmp(kind, "fabric") || !strcmp(kind, "subnet");
	const struct scenario_entry *entry =
	    scenario_text_entry(section, traffic ? "kind" : "generator");

	if (traffic) {
		const struct hd_traffic_kind *found = entry ? hd_traffic_find(entry->value) : NULL;
		return found ? (struct more){found->options, found->option_count, true}
			     : (struct more){.known = false};
	}
	if (fabric) {
		const struct hd_generator *found = entry ? hd_generator_find(entry->value) : NULL;
		return found ? (struct more){found->options, found->option_count, true}
			     : (struct more){.known = false};
	}
	return (struct more){.known = true};
}

static int check_value(const struct scenario_section *section, const char *key, const char *value,
		       struct hd_error *err)
{
	const struct more more = find_more(section);
	struct hd_scenario_section fixed;
	struct hd_arena arena = {0};
	struct hd_options *options = NULL;

	if (!find_fixed(section->kind->name, &fixed))
		return hd_error_set(err, -EINVAL, "a section [%s] cannot be changed",
				    section->kind->name);
	if (!more.known)
		return 0;
	struct hd_option *keys =
	    hd_arena_alloc(&arena, (size_t)fixed.count + more.count, sizeof(*keys));
	if (keys) {
		memcpy(keys, fixed.keys, fixed.count * sizeof(*keys));
		if (more.count)
			memcpy(keys + fixed.count, more.keys, more.count * sizeof(*keys));
		options = hd_options_new(keys, fixed.count + more.count);
	}
	int rc = options ? hd_options_set(options, key, value, err) : hd_error_no_memory(err);
	hd_options_free(options);
	hd_arena_release(&arena);
	return rc;
}

static int check_target(const struct hd_scenario *scenario, const char *target, const char *value,
			struct hd_error *err);

/* A line of a sweep: each of its values is for the key that it names. */
static int check_line(const struct hd_scenario *scenario, const char *key, const char *line,
		      struct hd_error *err)
{
	struct hd_arena arena = {0};
	uint32_t count = 0;
	const char **values = scenario_sweep_split(line, &arena, &count);
	bool labels = !strcmp(key, "labels");
	int rc = values ? 0 : hd_error_no_memory(err);

	if (!rc && !labels)
		rc = scenario_sweep_check_target(key, err);
	for (uint32_t i = 0; !rc && !labels && i < count; i++)
		rc = check_target(scenario, key, values[i], err);
	hd_arena_release(&arena);
	return rc;
}

static int check_target(const struct hd_scenario *scenario, const char *target, const char *value,
			struct hd_error *err)
{
	struct scenario_target meant;
	char text[TARGET_SIZE];
	int rc = 0;

	snprintf(text, sizeof(text), "%s", target);
	if (!scenario_text_split(scenario, text, &meant) || !meant.kind)
		return hd_error_set(err, -EINVAL, "'%s' is not SECTION[.NAME].KEY", target);
	for (uint32_t i = 0; !rc && i < scenario->count; i++) {
		const struct scenario_section *section = &scenario->sections[i];
		if (!scenario_text_meant(&meant, section))
			continue;
		rc = strcmp(section->kind->name, "sweep")
			 ? check_value(section, meant.key, value, err)
			 : check_line(scenario, meant.key, value, err);
	}
	return rc;
}

static int check_entries(const struct hd_scenario *changed, struct hd_error *err)
{
	const struct scenario_section *quick = scenario_text_find(changed, "quick");
	int rc = 0;

	for (uint32_t i = 0; !rc && i < quick->count; i++) {
		const struct scenario_entry *entry = &quick->entries[i];
		rc = check_target(changed, entry->key, entry->value, err);
		if (rc)
			scenario_text_error(changed, quick, entry, rc, err);
	}
	return rc ? rc : scenario_sweep_check(changed, err);
}

/*
 * Checks sections, keys and values that [quick] names: a run without it would not notice them. The
 * other sections may still be incomplete.
 */
static int check_quick(const struct hd_scenario *scenario, struct hd_error *err)
{
	if (!scenario_text_find(scenario, "quick"))
		return 0;
	struct hd_scenario *changed = scenario_text_copy(scenario);
	int rc = changed ? hd_scenario_quicken(changed, err) : hd_error_no_memory(err);
	if (!rc)
		rc = check_entries(changed, err);
	hd_scenario_free(changed);
	return rc;
}

int hd_scenario_parse(const struct hd_text *text, struct hd_scenario **out, struct hd_error *err)
{
	struct hd_scenario *scenario;
	int rc = scenario_text_read(text, &scenario, err);

	if (rc)
		return rc;
	rc = check_quick(scenario, err);
	if (rc)
		hd_scenario_free(scenario);
	else
		*out = scenario;
	return rc;
}

int hd_scenario_read(const char *path, struct hd_scenario **out, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open_regular(path, HD_SCENARIO_LARGEST, &text, err);

	if (rc)
		return rc;
	rc = hd_scenario_parse(&text, out, err);
	hd_text_close(&text);
	return rc;
}
