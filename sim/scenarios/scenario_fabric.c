/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_fabric.h"
#include "scenario_settings.h"

#include <heddle/base/suggest.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/generate.h>
#include <heddle/fabric/read.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LMC_OF_FILE (-1)

#define FABRIC_KEYS                                                                                \
	{.name = "file",                                                                           \
	 .summary = "a fabric: an ibnetdiscover listing or the like; replaces the generator",      \
	 .type = HD_OPTION_STRING,                                                                 \
	 .fallback = ""},                                                                          \
	    {.name = "generator",                                                                  \
	     .summary = "a kind of fabric; its options are keys of this section",                  \
	     .type = HD_OPTION_STRING,                                                             \
	     .fallback = ""},                                                                      \
	    {.name = "lmc",                                                                        \
	     .summary = "give each host 2^N LIDs; -1: the LIDs of the file, if it has any",        \
	     .type = HD_OPTION_INT,                                                                \
	     .fallback = "-1",                                                                     \
	     .minimum = LMC_OF_FILE,                                                               \
	     .maximum = HD_LMC_MAX},                                                               \
	    {.name = "remove_links",                                                               \
	     .summary = "remove that share of the links between switches",                         \
	     .type = HD_OPTION_STRING,                                                             \
	     .fallback = "0",                                                                      \
	     .validate = scenario_settings_number_check},                                          \
	    {.name = "remove_seed",                                                                \
	     .summary = "chooses the links to remove",                                             \
	     .type = HD_OPTION_INT,                                                                \
	     .fallback = "1",                                                                      \
	     .minimum = 0,                                                                         \
	     .maximum = INT64_MAX},                                                                \
	{                                                                                          \
		.name = "aggregation_nodes",                                                       \
		.summary = "put an aggregation node into every switch", .type = HD_OPTION_BOOL,    \
		.fallback = "no"                                                                   \
	}

const struct hd_option scenario_fabric_keys[] = {FABRIC_KEYS};
const struct hd_option scenario_subnet_keys[] = {
    FABRIC_KEYS,
    {.name = "prefix",
     .summary = "of the subnet, such as 0xfec0000000000001",
     .type = HD_OPTION_STRING},
    {.name = "tables",
     .summary = "forwarding tables, in place of an engine",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
const unsigned scenario_fabric_key_count = COUNT(scenario_fabric_keys);
const unsigned scenario_subnet_key_count = COUNT(scenario_subnet_keys);

static int find_generator(const struct hd_scenario *scenario,
			  const struct scenario_section *section, const struct hd_generator **out,
			  struct hd_error *err)
{
	const struct scenario_entry *entry = scenario_text_entry(section, "generator");
	const struct scenario_entry *file = scenario_text_entry(section, "file");
	bool from_file = file && *file->value;
	unsigned count;

	/* A file typed over a scenario's generator leaves the generator's keys there. */
	*out = entry && *entry->value ? hd_generator_find(entry->value) : NULL;
	if (*out || from_file)
		return 0;
	if (!entry || !*entry->value)
		return scenario_text_error_in(
		    scenario, section,
		    hd_error_set(err, -EINVAL, "expected a key 'file' or 'generator'"), err);
	struct hd_suggestion suggestion = hd_suggestion_for(entry->value);
	const struct hd_generator *const *list = hd_generators(&count);
	char names[200] = "";
	for (unsigned i = 0; i < count; i++) {
		size_t used = strlen(names);
		hd_suggestion_offer(&suggestion, list[i]->name);
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", list[i]->name);
	}
	hd_error_set(err, -ENOENT,
		     suggestion.nearest ? "unknown generator; did you mean %s?"
					: "unknown generator; they are %s",
		     suggestion.nearest ? suggestion.nearest : names);
	return scenario_text_error(scenario, section, entry, -ENOENT, err);
}

/* Puts the fabric that a step made into the place of the one before. */
static int replace(struct hd_fabric **fabric, struct hd_fabric *changed, int rc)
{
	if (!rc) {
		hd_fabric_free(*fabric);
		*fabric = changed;
	}
	return rc;
}

/* Reports name switches. */
static int tell_apart(struct hd_fabric **fabric, struct hd_error *err)
{
	struct hd_fabric *apart;
	int rc = hd_fabric_tell_apart(*fabric, &apart, err);

	return rc || !apart ? rc : replace(fabric, apart, 0);
}

static int change(const struct hd_options *options, struct hd_fabric **fabric, struct hd_error *err)
{
	struct hd_fabric *changed = NULL;
	double removed = 0;
	int rc = 0;

	scenario_settings_number(hd_options_get(options, "remove_links")->text, &removed, NULL);
	if (hd_options_get(options, "aggregation_nodes")->number)
		rc = replace(fabric, changed, hd_fabric_add_aggregation(*fabric, &changed, err));
	if (!rc && removed > 0) {
		rc = removed <= 1 ? 0 : hd_error_set(err, -ERANGE, "remove_links is above 100%%");
		if (!rc)
			rc = hd_fabric_remove_links(
			    *fabric, 100 * removed,
			    (uint64_t)hd_options_get(options, "remove_seed")->number, &changed,
			    err);
		rc = replace(fabric, changed, rc);
	}
	return rc;
}

static bool needs_lids(const struct hd_fabric *fabric, int64_t lmc)
{
	bool other = fabric->lid_count == 1;

	for (uint32_t host = 0; lmc != LMC_OF_FILE && host < fabric->host_count; host++)
		other |= fabric->lmc[fabric->host_port[host]] != lmc;
	return other;
}

static int settle_lids(int64_t lmc, struct hd_fabric **fabric, struct hd_error *err)
{
	struct hd_fabric *changed = NULL;

	if (!needs_lids(*fabric, lmc))
		return 0;
	int rc =
	    hd_fabric_assign_lids(*fabric, lmc == LMC_OF_FILE ? 0 : (unsigned)lmc, &changed, err);
	return replace(fabric, changed, rc);
}

static int make(const struct hd_scenario *scenario, const struct scenario_section *section,
		const struct hd_options *options, const struct hd_generator *generator,
		const struct hd_log *log, struct hd_arena *arena, struct hd_fabric **out,
		struct hd_error *err)
{
	const struct scenario_entry *entry = scenario_text_entry(section, "file");
	const char *file = hd_options_get(options, "file")->text;
	struct hd_fabric *fabric = NULL;
	int rc = 0;

	if (*file) {
		file = scenario_text_path(scenario, entry, file, arena);
		rc = file ? hd_fabric_read(file, log, &fabric, err) : hd_error_no_memory(err);
		if (rc)
			return scenario_text_error(scenario, section, entry, rc, err);
	} else {
		rc = generator->generate(options, &fabric, err);
	}
	if (!rc)
		rc = tell_apart(&fabric, err);
	if (!rc)
		rc = change(options, &fabric, err);
	if (!rc)
		rc = settle_lids(hd_options_get(options, "lmc")->number, &fabric, err);
	if (rc) {
		hd_fabric_free(fabric);
		return scenario_text_error_in(scenario, section, rc, err);
	}
	*out = fabric;
	return 0;
}

static int read_subnet(const struct hd_scenario *scenario, const struct scenario_section *section,
		       const struct hd_options *options, struct hd_arena *arena,
		       struct scenario_fabric *out, struct hd_error *err)
{
	const char *text = hd_options_get(options, "prefix")->text;
	const char *tables = hd_options_get(options, "tables")->text;
	struct hd_cursor cursor = {text, text + strlen(text)};

	if (!hd_take_hex(&cursor, &out->prefix) || !hd_cursor_done(&cursor))
		return scenario_text_error(
		    scenario, section, scenario_text_entry(section, "prefix"),
		    hd_error_set(err, -EINVAL, "expected a prefix such as 0xfec0000000000001"),
		    err);
	if (*tables) {
		out->tables = scenario_text_path(scenario, scenario_text_entry(section, "tables"),
						 tables, arena);
		return out->tables ? 0 : hd_error_no_memory(err);
	}
	return 0;
}

int scenario_fabric_read(const struct hd_scenario *scenario, const struct scenario_section *section,
			 const struct hd_log *log, struct hd_arena *arena,
			 struct scenario_fabric *out, struct hd_error *err)
{
	bool subnet = section && section->label;
	const struct hd_generator *generator = NULL;
	struct hd_options *options = NULL;
	int rc = find_generator(scenario, section, &generator, err);

	*out = (struct scenario_fabric){.fabric = NULL};
	if (!rc)
		rc = scenario_text_options_of(
		    scenario, section, subnet ? scenario_subnet_keys : scenario_fabric_keys,
		    subnet ? scenario_subnet_key_count : scenario_fabric_key_count,
		    generator ? generator->options : NULL, generator ? generator->option_count : 0,
		    arena, &options, err);
	if (!rc && subnet)
		rc = read_subnet(scenario, section, options, arena, out, err);
	if (!rc)
		rc = make(scenario, section, options, generator, log, arena, &out->fabric, err);
	hd_options_free(options);
	return rc;
}
