/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a scenario to its runs.
 *
 * hd_scenario_prepare() expands the sweeps to points (scenario_sweep.c), reads model, run, traffic and expectations of
 * each point, makes or shares the networks (scenario_network.c), and walks all paths of the traffic, so that what
 * cannot arrive is refused before anything runs. hd_scenario_run() then does one run; run r is point r / seeds, seed r
 * % seeds, and needs nothing of other runs, so threads and machines may share them out. The digest is of all that
 * decides on results: text of the points, seeds, fabrics and tables.
 */
#include "scenario_parts.h"

#include <errno.h>
#include <heddle/base/digest.h>
#include <heddle/base/suggest.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
	if (!kind) {
		struct hd_suggestion suggestion = hd_suggestion_for(entry->value);
		unsigned count;
		const struct hd_traffic_kind *const *kinds = hd_traffic_kinds(&count);
		char names[240] = "";

		for (unsigned i = 0; i < count; i++) {
			size_t used = strlen(names);
			hd_suggestion_offer(&suggestion, kinds[i]->name);
			snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
				 kinds[i]->name);
		}
		if (suggestion.nearest)
			hd_error_set(err, -ENOENT, "unknown kind; did you mean %s?",
				     suggestion.nearest);
		else
			hd_error_set(err, -ENOENT, "unknown kind; the kinds are %s", names);
		return scenario_text_error(scenario, section, entry, -ENOENT, err);
	}
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

/* Reads all but the network. What it needs belongs to `arena`, except options, which
 * scenario_point_release() frees. Errors: with the place. */
static int scenario_point_read(const struct hd_scenario *scenario, struct hd_arena *arena,
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

const struct hd_option scenario_title_keys[] = {
    {.name = "title", .summary = "in a few words", .type = HD_OPTION_STRING, .fallback = ""},
    {.name = "summary",
     .summary = "what the scenario shows",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "source",
     .summary = "the paper or other text that it follows",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};
const unsigned scenario_title_key_count =
    sizeof(scenario_title_keys) / sizeof(scenario_title_keys[0]);

const struct hd_option scenario_expect_keys[] = {
    {.name = "figure", .summary = "name of a figure of the runs", .type = HD_OPTION_STRING},
    {.name = "value",
     .summary = "one for all points, or V | V | ..., one for each point; - for none",
     .type = HD_OPTION_STRING},
    {.name = "tolerance",
     .summary = "share of the value",
     .type = HD_OPTION_STRING,
     .fallback = "3%",
     .validate = scenario_settings_number_check},
    {.name = "at",
     .summary = "LABEL | LABEL ...: only points that have all of these labels",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "relative_to",
     .summary = "a label: the figure is divided by that of the point with this label in place of "
		"its own",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "judge",
     .summary = "within the tolerance; on the same side of 1 (0 if not relative) as the value; "
		"below or above the value",
     .type = HD_OPTION_CHOICE,
     .fallback = "within",
     .choices = "within|sign|below|above"},
    {.name = "statistic",
     .summary = "of the seeds",
     .type = HD_OPTION_CHOICE,
     .fallback = "mean",
     .choices = "mean|least|greatest"},
    {.name = "unit", .summary = "of the value", .type = HD_OPTION_STRING, .fallback = ""},
    {.name = "scale",
     .summary = "by which the figure is multiplied to have that unit",
     .type = HD_OPTION_STRING,
     .fallback = "1",
     .validate = scenario_settings_number_check},
    {.name = "source",
     .summary = "where the value is from",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "note",
     .summary = "a remark for the report",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};
const unsigned scenario_expect_key_count =
    sizeof(scenario_expect_keys) / sizeof(scenario_expect_keys[0]);

/* A label that no point has is a mistake. */
static int check_expected_label(const struct scenario_runs *runs, const char *label,
				struct hd_error *err)
{
	for (uint32_t i = 0; i < runs->shown.point_count; i++)
		if (scenario_runs_has_label(&runs->shown.points[i], label))
			return 0;
	return hd_error_set(err, -ENOENT, "no point has the label '%s'", label);
}

static const char *runs_copy(struct scenario_runs *runs, const struct hd_options *options,
			     const char *key)
{
	return hd_arena_strdup(&runs->arena, hd_options_get(options, key)->text);
}

static int read_expect(struct scenario_runs *runs, const char *name,
		       const struct hd_options *options, struct scenario_expect *expect,
		       struct hd_error *err)
{
	const char *at = hd_options_get(options, "at")->text;
	int rc = 0;

	expect->name = hd_arena_strdup(&runs->arena, name);
	expect->figure = runs_copy(runs, options, "figure");
	expect->source = runs_copy(runs, options, "source");
	expect->note = runs_copy(runs, options, "note");
	expect->unit = runs_copy(runs, options, "unit");
	expect->relative_to = runs_copy(runs, options, "relative_to");
	expect->judge = (enum hd_judge)hd_options_get(options, "judge")->number;
	expect->statistic = (enum hd_statistic)hd_options_get(options, "statistic")->number;
	scenario_settings_number(hd_options_get(options, "tolerance")->text, &expect->tolerance,
				 NULL);
	scenario_settings_number(hd_options_get(options, "scale")->text, &expect->scale, NULL);
	expect->values = scenario_sweep_split(hd_options_get(options, "value")->text, &runs->arena,
					      &expect->value_count);
	if (*at)
		expect->at = scenario_sweep_split(at, &runs->arena, &expect->at_count);
	if (hd_arena_check(&runs->arena))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < expect->at_count; i++)
		rc = check_expected_label(runs, expect->at[i], err);
	if (!rc && *expect->relative_to)
		rc = check_expected_label(runs, expect->relative_to, err);
	if (rc)
		return rc;
	uint32_t points = 0;
	double value;
	for (uint32_t i = 0; i < runs->shown.point_count; i++)
		points += scenario_runs_match(expect, &runs->shown.points[i]);
	if (!points)
		return hd_error_set(err, -EINVAL, "no point has all of the labels");
	if (expect->value_count != 1 && expect->value_count != points)
		return hd_error_set(err, -EINVAL, "%u values for %u points", expect->value_count,
				    points);
	for (uint32_t i = 0; !rc && i < expect->value_count; i++)
		if (strcmp(expect->values[i], "-") != 0)
			rc = scenario_settings_number(expect->values[i], &value, err);
	return rc;
}

static int read_titles(const struct hd_scenario *scenario, struct scenario_runs *runs,
		       struct hd_error *err)
{
	struct hd_options *options = NULL;
	int rc =
	    scenario_text_options(scenario, scenario_text_find(scenario, "scenario"),
				  scenario_title_keys, scenario_title_key_count, &options, err);

	if (rc)
		return rc;
	runs->shown.title = hd_arena_strdup(&runs->arena, hd_options_get(options, "title")->text);
	runs->shown.summary =
	    hd_arena_strdup(&runs->arena, hd_options_get(options, "summary")->text);
	runs->shown.source = hd_arena_strdup(&runs->arena, hd_options_get(options, "source")->text);
	hd_options_free(options);
	return hd_arena_check(&runs->arena) ? hd_error_no_memory(err) : 0;
}

/* A file can change while its name stays. One that cannot be read counts by its name. */
static uint64_t mix_value(uint64_t digest, const char *value)
{
	static const char prefix[] = "file:";

	digest = hd_digest_text(digest, value);
	return strncmp(value, prefix, strlen(prefix)) != 0
		   ? digest
		   : hd_digest_file(digest, value + strlen(prefix));
}

/* Titles and expectations do not change results. */
static uint64_t digest(const struct hd_scenario *scenario, uint64_t before)
{
	for (uint32_t i = 0; i < scenario->count; i++) {
		const struct scenario_section *section = &scenario->sections[i];
		const char *kind = section->kind->name;
		if (!strcmp(kind, "scenario") || !strcmp(kind, "expect") || !strcmp(kind, "quick"))
			continue;
		before = hd_digest_text(hd_digest_text(before, kind),
					section->label ? section->label : "");
		for (uint32_t k = 0; k < section->count; k++)
			before = mix_value(hd_digest_text(before, section->entries[k].key),
					   section->entries[k].value);
	}
	return before;
}

/* The files of fabric and tables can change while their names stay. */
static uint64_t network_digest(const struct scenario_network *network, uint64_t before)
{
	for (uint32_t i = 0; i < network->subnet_count; i++) {
		const struct hd_fabric *fabric = network->subnets[i].source.fabric;
		const struct hd_routes *routes = network->subnets[i].routes;
		size_t ports = fabric->port_count;
		before = hd_digest_bytes(before, fabric->peer, ports * sizeof(*fabric->peer));
		before = hd_digest_bytes(before, fabric->lid, ports * sizeof(*fabric->lid));
		before = hd_digest_bytes(before, fabric->width, ports);
		before = hd_digest_bytes(before, fabric->speed, ports);
		before = hd_digest_bytes(before, routes->sl2vl, sizeof(routes->sl2vl));
		for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
			size_t row = (size_t)sw * routes->stride;
			before = hd_digest_bytes(before, routes->lft + row, routes->lid_count);
			before = hd_digest_bytes(before, routes->sl ? routes->sl + row : NULL,
						 routes->lid_count);
		}
	}
	return before;
}

/* The network of an earlier point with the same sections, or a new one. */
static int find_network(struct scenario_runs *runs, uint32_t number,
			const struct hd_scenario_request *request, struct hd_error *err)
{
	const struct hd_scenario *scenario = runs->sweep.scenarios[number];
	struct scenario_point *point = &runs->ready[number];
	char *text = scenario_network_digest(scenario);

	if (!text)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < number && !point->network; i++)
		if (!strcmp(runs->ready[i].network->digest, text)) {
			point->network = runs->ready[i].network;
			point->network->users++;
		}
	free(text);
	return point->network ? 0 : scenario_network_new(scenario, request, &point->network, err);
}

/* Values that depend on the fabric, and all paths, are found out by preparing the first run. */
static int runs_check(const struct scenario_runs *runs, uint32_t number,
		      const struct hd_go_on *go_on, struct hd_error *err)
{
	struct scenario_point *point = &runs->ready[number];
	struct scenario_simulation simulation;

	if (!point->traffic_count)
		return 0;
	int rc = scenario_simulation_open(&simulation, point, runs->seeds[0], err);
	if (!rc)
		rc = hd_traffic_check(simulation.traffic, simulation.sim, go_on, err);
	if (!rc && !hd_traffic_host_count(simulation.traffic, &point->host_count))
		rc = hd_error_no_memory(err);
	scenario_simulation_close(&simulation);
	return rc;
}

/* Whether a reason begins with a line of a file: "FILE:LINE: ". */
static bool names_line(const char *text)
{
	const char *at = text + strcspn(text, ":");
	const size_t digits = *at ? strspn(at + 1, "0123456789") : 0;

	return at > text && digits && !strncmp(at + 1 + digits, ": ", 2);
}

/* Says at which point it was. A line of a file comes first. */
static int name_point(const char *label, int rc, struct hd_error *err)
{
	const size_t length = err ? strlen(err->text) : 0;

	if (!err || !names_line(err->text))
		return hd_error_prefix(err, rc, "point '%s'", label);
	snprintf(err->text + length, sizeof(err->text) - length, " (point '%s')", label);
	return rc;
}

static int prepare_point(struct scenario_runs *runs, uint32_t number,
			 const struct hd_scenario_request *request, struct hd_error *err)
{
	const char *label = runs->shown.points[number].label;
	int rc = scenario_point_read(runs->sweep.scenarios[number], &runs->arena,
				     &runs->ready[number], err);

	if (!rc)
		rc = find_network(runs, number, request, err);
	if (!rc) {
		rc = runs_check(runs, number, &request->go_on, err);
		if (rc)
			scenario_text_error_of_traffic(runs->sweep.scenarios[number], rc, err);
	}
	/* An option or a file that was typed names the point well enough. */
	bool named = rc && err && (*err->text == '-' || !strncmp(err->text, label, strlen(label)));
	return rc && *label && !named ? name_point(label, rc, err) : rc;
}

static int runs_prepare(const struct hd_scenario *scenario,
			const struct hd_scenario_request *request, struct scenario_runs *runs,
			struct hd_error *err)
{
	int rc = read_titles(scenario, runs, err);

	if (!rc)
		rc = scenario_sweep_expand(scenario, &runs->arena, &runs->sweep, err);
	if (!rc)
		rc = scenario_settings_seeds(scenario, request->seed, request->seed_given,
					     &runs->seeds, &runs->shown.seed_count, err);
	if (rc)
		return rc;
	runs->counters = request->counters;
	runs->shown.seeds = runs->seeds;
	runs->shown.points = runs->sweep.points;
	runs->shown.point_count = runs->sweep.point_count;
	runs->shown.sweeps = runs->sweep.names;
	runs->shown.sweep_count = runs->sweep.sweep_count;
	runs->shown.count = runs->shown.point_count * runs->shown.seed_count;
	if ((uint64_t)runs->shown.point_count * runs->shown.seed_count > HD_SCENARIO_RUNS_MAX)
		return hd_error_set(err, -ERANGE, "%s: more than %u runs", scenario->path,
				    HD_SCENARIO_RUNS_MAX);
	runs->ready = hd_arena_alloc(&runs->arena, runs->shown.point_count, sizeof(*runs->ready));
	if (!runs->ready)
		return hd_error_no_memory(err);
	const struct scenario_section *section = NULL;
	rc = 0;
	runs->expects = hd_arena_alloc(&runs->arena, scenario->count, sizeof(*runs->expects));
	if (!runs->expects)
		return hd_error_no_memory(err);
	while (!rc && (section = scenario_text_next(scenario, "expect", section)) != NULL) {
		struct hd_options *options = NULL;
		rc = scenario_text_options(scenario, section, scenario_expect_keys,
					   scenario_expect_key_count, &options, err);
		if (rc)
			return rc;
		rc = read_expect(runs, section->label, options,
				 &runs->expects[runs->expect_count++], err);
		if (rc)
			scenario_text_error_in(scenario, section, rc, err);
		hd_options_free(options);
	}

	for (uint32_t i = 0; !rc && i < runs->shown.point_count; i++)
		rc = prepare_point(runs, i, request, err);
	if (!rc) {
		/* The networks must be ready. */
		uint64_t value = HD_DIGEST_BEGIN;
		char text[24];

		for (uint32_t i = 0; i < runs->shown.point_count; i++)
			value = digest(runs->sweep.scenarios[i], value);
		for (uint32_t i = 0; i < runs->shown.seed_count; i++) {
			snprintf(text, sizeof(text), "%" PRIu64, runs->seeds[i]);
			value = hd_digest_text(value, text);
		}
		for (uint32_t i = 0; i < runs->shown.point_count; i++)
			if (!i || runs->ready[i].network != runs->ready[i - 1].network)
				value = network_digest(runs->ready[i].network, value);
		runs->shown.digest = runs->counters ? hd_digest_text(value, "counters") : value;
	}
	return rc;
}

int hd_scenario_prepare(const struct hd_scenario *scenario,
			const struct hd_scenario_request *request, struct hd_scenario_runs **out,
			struct hd_error *err)
{
	struct scenario_runs *runs = calloc(1, sizeof(*runs));
	int rc = runs ? runs_prepare(scenario, request, runs, err) : hd_error_no_memory(err);

	if (rc)
		hd_scenario_runs_free(runs ? &runs->shown : NULL);
	else
		*out = &runs->shown;
	return rc;
}

void hd_scenario_runs_free(struct hd_scenario_runs *shown)
{
	struct scenario_runs *runs = (struct scenario_runs *)(void *)shown;

	if (!runs)
		return;
	for (uint32_t i = 0; runs->ready && i < runs->shown.point_count; i++) {
		struct scenario_point *point = &runs->ready[i];
		for (uint32_t j = 0; j < point->traffic_count; j++)
			hd_options_free(point->traffics[j].options);
		for (uint32_t j = 0; j < point->ebb_count; j++)
			scenario_ebb_release(&point->ebbs[j]);
		scenario_network_free(point->network);
	}
	scenario_sweep_release(&runs->sweep);
	free(runs->seeds);
	hd_arena_release(&runs->arena);
	free(runs);
}

const struct hd_fabric *hd_scenario_fabric(const struct hd_scenario_runs *runs, uint32_t point)
{
	return scenario_runs_of(runs)->ready[point].network->subnets[0].source.fabric;
}

const char *hd_scenario_describe(const struct hd_scenario_runs *runs, uint32_t point, char *buffer,
				 size_t size)
{
	const struct scenario_network *network = scenario_runs_of(runs)->ready[point].network;
	uint32_t hosts = 0, switches = 0;

	for (uint32_t i = 0; i < network->subnet_count; i++) {
		hosts += network->subnets[i].source.fabric->host_count;
		switches += network->subnets[i].source.fabric->switch_count;
	}
	snprintf(buffer, size, "%" PRIu32 " hosts, %" PRIu32 " switches, %s", hosts, switches,
		 network->name);
	return buffer;
}

uint32_t hd_scenario_host_count(const struct hd_scenario_runs *runs, uint32_t point)
{
	return scenario_runs_of(runs)->ready[point].host_count;
}

struct asking {
	uint32_t run;
	const struct hd_scenario_watch *watch;
};

static bool runs_ask(void *context)
{
	const struct asking *asking = context;
	const struct hd_scenario_progress progress = {.now = 0, .until = HD_SIM_NEVER};

	return !asking->watch || !asking->watch->progress ||
	       asking->watch->progress(asking->watch->context, asking->run, &progress);
}

static int run_ebbs(const struct scenario_point *point, uint64_t seed, struct asking *asking,
		    struct hd_record *record, struct hd_error *err)
{
	const struct hd_go_on go_on = {runs_ask, asking};

	for (uint32_t i = 0; i < point->ebb_count; i++) {
		int rc =
		    scenario_ebb_run(&point->ebbs[i], point->network, seed, &go_on, record, err);
		record->partial |= rc == -ECANCELED;
		if (rc)
			return rc == -ECANCELED ? 0 : rc;
	}
	return 0;
}

static int simulate(const struct scenario_runs *runs, uint32_t run, struct asking *asking,
		    struct hd_record *record, struct hd_error *err)
{
	const struct scenario_point *point = &runs->ready[run / runs->shown.seed_count];
	const struct hd_go_on go_on = {runs_ask, asking};
	const uint64_t seed = runs->seeds[run % runs->shown.seed_count];
	const bool lists = run % runs->shown.seed_count == 0;
	struct scenario_simulation simulation;

	if (!point->traffic_count)
		return 0;
	int rc = scenario_simulation_open(&simulation, point, seed, err);
	if (!rc && lists)
		scenario_load_record(&simulation, &go_on, record);
	if (!rc)
		rc = scenario_simulation_run(&simulation, asking->run, asking->watch, err);
	if (!rc)
		scenario_simulation_record(&simulation, lists, record);
	if (!rc && runs->counters)
		scenario_simulation_record_counters(&simulation, record);
	scenario_simulation_close(&simulation);
	return rc;
}

int hd_scenario_run(const struct hd_scenario_runs *shown, uint32_t run,
		    const struct hd_scenario_watch *watch, struct hd_record **out,
		    struct hd_error *err)
{
	const struct scenario_runs *runs = scenario_runs_of(shown);
	const struct scenario_point *point = &runs->ready[run / shown->seed_count];
	uint32_t number = run % shown->seed_count;
	struct asking asking = {run, watch};
	struct hd_record *record = hd_record_new();
	int rc = record ? 0 : hd_error_no_memory(err);

	if (!rc)
		rc = simulate(runs, run, &asking, record, err);
	if (!rc && !record->partial)
		rc = run_ebbs(point, shown->seeds[number], &asking, record, err);
	if (!rc && hd_record_check(record))
		rc = hd_error_no_memory(err);
	if (rc)
		hd_record_free(record);
	else
		*out = record;
	return rc;
}
