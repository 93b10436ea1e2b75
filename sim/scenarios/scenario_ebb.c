/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections [ebb NAME]: effective bisection bandwidth in a scenario, without packets.
 *
 * scenario_ebb_read() checks pattern and options when the runs are prepared; scenario_ebb_run() is called for each run
 * in place of a simulation, draws patterns with the run's seed, and writes mean, half width and percentiles into the
 * record under the section's name.
 */
#include "scenario_parts.h"

#include <heddle/base/suggest.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct hd_option scenario_ebb_keys[] = {
    {.name = "pattern",
     .summary = "NAME[:KEY=VALUE,...] of a pattern (see heddle ebb --patterns)",
     .type = HD_OPTION_STRING,
     .fallback = "bisect"},
    {.name = "count",
     .summary = "patterns to draw",
     .type = HD_OPTION_INT,
     .fallback = "1000",
     .minimum = 1,
     .maximum = UINT32_MAX},
    {.name = "hosts",
     .summary = "a file with the hosts that take part, one a line, in rank order",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "map",
     .summary = "which host runs which rank: drawn for each pattern, or in order",
     .type = HD_OPTION_CHOICE,
     .fallback = "random",
     .choices = "identity|random"},
    {.name = "lids",
     .summary = "which of a port's LIDs a flow goes to",
     .type = HD_OPTION_CHOICE,
     .fallback = "base",
     .choices = "base|source|random|rotate|spread"},
    {.name = "fair",
     .summary = "max-min fair shares in place of 1/pi",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
};
const unsigned scenario_ebb_key_count = sizeof(scenario_ebb_keys) / sizeof(scenario_ebb_keys[0]);

/* A file that the pattern names is relative to the scenario, as all others. */
static int place_file(const struct hd_scenario *scenario, const struct scenario_section *section,
		      struct hd_arena *arena, struct scenario_ebb *out, struct hd_error *err)
{
	for (unsigned i = 0; i < out->kind->option_count; i++) {
		const char *name = out->kind->options[i].name;
		if (strcmp(name, "file") != 0)
			continue;
		const char *path =
		    scenario_text_path(scenario, scenario_text_entry(section, "pattern"),
				       hd_options_get(out->options, name)->text, arena);
		return path ? hd_options_set(out->options, name, path, err)
			    : hd_error_no_memory(err);
	}
	return 0;
}

static int choose_pattern(const char *text, struct hd_arena *arena, struct scenario_ebb *out,
			  struct hd_error *err)
{
	char *copy = hd_arena_strdup(arena, text);

	if (!copy)
		return hd_error_no_memory(err);
	char *pairs = strchr(copy, ':');
	if (pairs)
		*pairs++ = '\0';
	out->kind = hd_pattern_find(copy);
	if (!out->kind) {
		struct hd_suggestion suggestion = hd_suggestion_for(copy);
		unsigned count;
		const struct hd_pattern_kind *const *kinds = hd_pattern_kinds(&count);
		for (unsigned i = 0; i < count; i++)
			hd_suggestion_offer(&suggestion, kinds[i]->name);
		return hd_error_set(err, -ENOENT, "unknown pattern '%s'; did you mean '%s'?", copy,
				    suggestion.nearest ? suggestion.nearest : kinds[0]->name);
	}
	out->options = hd_options_new(out->kind->options, out->kind->option_count);
	if (!out->options)
		return hd_error_no_memory(err);
	int rc = hd_options_set_pairs(out->options, pairs, err);
	return rc ? rc : hd_options_complete(out->options, err);
}

int scenario_ebb_read(const struct hd_scenario *scenario, const struct scenario_section *section,
		      struct hd_arena *arena, struct scenario_ebb *out, struct hd_error *err)
{
	struct hd_options *options = NULL;
	struct scenario_ebb ebb = {.name = hd_arena_strdup(arena, section->label)};
	int rc = scenario_text_options(scenario, section, scenario_ebb_keys, scenario_ebb_key_count,
				       &options, err);

	if (rc)
		return rc;
	ebb.count = (uint64_t)hd_options_get(options, "count")->number;
	ebb.mapping = (enum hd_mapping)hd_options_get(options, "map")->number;
	ebb.lids = (enum hd_lid_choice)hd_options_get(options, "lids")->number;
	ebb.fair = hd_options_get(options, "fair")->number;
	const char *hosts = hd_options_get(options, "hosts")->text;
	if (*hosts)
		ebb.hosts = scenario_text_path(scenario, scenario_text_entry(section, "hosts"),
					       hosts, arena);
	if (!ebb.name || (*hosts && !ebb.hosts))
		rc = hd_error_no_memory(err);
	if (!rc) {
		rc = choose_pattern(hd_options_get(options, "pattern")->text, arena, &ebb, err);
		if (!rc)
			rc = place_file(scenario, section, arena, &ebb, err);
		if (rc)
			scenario_text_error_in(scenario, section, rc, err);
	}
	hd_options_free(options);
	if (rc)
		scenario_ebb_release(&ebb);
	else
		*out = ebb;
	return rc;
}

void scenario_ebb_release(struct scenario_ebb *ebb)
{
	hd_options_free(ebb->options);
}

static int ebb_progress(void *context, const struct hd_congestion_progress *done)
{
	(void)done;
	return !hd_go_on_ask(context);
}

int scenario_ebb_run(const struct scenario_ebb *ebb, const struct scenario_network *network,
		     uint64_t seed, const struct hd_go_on *go_on, struct hd_record *record,
		     struct hd_error *err)
{
	const struct scenario_subnet *subnet = &network->subnets[0];
	struct hd_go_on asked = *go_on;
	struct hd_congestion_report *report = NULL;
	struct hd_pattern *pattern = NULL;
	struct hd_ranks *ranks = NULL;
	int rc = ebb->hosts ? hd_ranks_read(subnet->source.fabric, ebb->hosts, &ranks, err)
			    : hd_ranks_new(subnet->source.fabric, false, &ranks, err);

	if (!rc)
		rc = hd_ranks_for_pattern(ranks, ebb->kind, err);
	if (!rc)
		rc = hd_pattern_new(ebb->kind, ebb->options, ranks, &pattern, err);
	if (!rc) {
		const struct hd_congestion_request request = {
		    .fabric = ranks->fabric,
		    .routes = subnet->routes,
		    .ranks = ranks,
		    .pattern = pattern,
		    .mapping = ebb->mapping,
		    .lids = ebb->lids,
		    .shares = ebb->fair ? HD_SHARE_MAX_MIN : HD_SHARE_CONGESTION,
		    .seed = seed,
		    .patterns = hd_pattern_varies(pattern, ebb->mapping) ? ebb->count : 1,
		    .progress = ebb_progress,
		    .progress_context = &asked};
		rc = hd_congestion_run(&request, &report, err);
	}
	if (!rc) {
		const struct {
			const char *name, *unit;
			double value;
		} figures[] = {
		    {"mean", "1", report->mean},
		    {"half_width", "1", report->half_width},
		    {"minimum", "1", report->minimum},
		    {"sum_max", "1", report->sum_max},
		    {"sum_avg", "1", report->sum_avg},
		    {"bandwidth_of_mean", "1", report->sum_avg > 0 ? 1 / report->sum_avg : 0},
		    {"patterns", "-", (double)report->patterns},
		    {"broken", "-", (double)report->broken}};
		char name[160];

		for (unsigned i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
			snprintf(name, sizeof(name), "ebb.%s.%s", ebb->name, figures[i].name);
			hd_record_add(record, name, figures[i].unit, figures[i].value);
		}
	} else
		hd_error_prefix(err, rc, "[ebb %s]", ebb->name);
	hd_congestion_report_free(report);
	hd_pattern_free(pattern);
	hd_ranks_free(ranks);
	return rc;
}
