/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sweeps: sections [sweep NAME] whose values, V | V | ..., are put over other keys, point by point.
 *
 * scenario_sweep_expand() makes a scenario for each point: all combinations of the lines of all sweeps, the last sweep
 * changing first. A line may set several keys; labels name its values. scenario_sweep_check() tells what a sweep may
 * not name. [quick] is put over the scenario in the same way by hd_scenario_quicken().
 */
#include "scenario_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELS "labels"
#define LABEL_SIZE 400

/* One section. */
struct axis {
	const struct scenario_section *section;
	uint32_t steps;
	const char ***values; /* [entries][steps] */
	const char **labels; /* [steps] */
};

const char **scenario_sweep_split(const char *text, struct hd_arena *arena, uint32_t *count)
{
	uint32_t pieces = 1, i = 0;

	for (const char *at = text; *at; at++)
		pieces += *at == '|';
	const char **list = hd_arena_alloc(arena, pieces, sizeof(*list));
	char *copy = hd_arena_strdup(arena, text);
	if (!list || !copy)
		return NULL;
	for (char *at = copy, *bar; at; at = bar) {
		bar = strchr(at, '|');
		if (bar)
			*bar++ = '\0';
		at += strspn(at, " \t");
		for (size_t length = strlen(at); length && strchr(" \t", at[length - 1]);)
			at[--length] = '\0';
		list[i++] = at;
	}
	*count = pieces;
	return list;
}

int scenario_sweep_check_target(const char *target, struct hd_error *err)
{
	static const char *const whole[] = {"scenario.", "sweep.", "quick.", "expect."};
	bool idle = !strcmp(target, "run.seeds");

	for (unsigned i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		idle |= !strncmp(target, whole[i], strlen(whole[i]));
	return idle ? hd_error_set(err, -EINVAL,
				   "'%s' is the same for all points: a sweep cannot change it",
				   target)
		    : 0;
}

static int read_line(const struct hd_scenario *scenario, struct axis *axis, uint32_t line,
		     struct hd_arena *arena, struct hd_error *err)
{
	const struct scenario_entry *entry = &axis->section->entries[line];
	int rc = strcmp(entry->key, LABELS) ? scenario_sweep_check_target(entry->key, err) : 0;
	uint32_t count;

	if (rc)
		return scenario_text_error(scenario, axis->section, entry, rc, err);
	axis->values[line] = scenario_sweep_split(entry->value, arena, &count);
	if (!axis->values[line])
		return hd_error_no_memory(err);
	if (axis->steps && count != axis->steps)
		return scenario_text_error(scenario, axis->section, entry,
					   hd_error_set(err, -EINVAL,
							"%" PRIu32
							" values; the lines above have %" PRIu32
							"; lines of one sweep go together",
							count, axis->steps),
					   err);
	axis->steps = count;
	if (!strcmp(entry->key, LABELS) || !axis->labels)
		axis->labels = axis->values[line];
	return 0;
}

static int read_axis(const struct hd_scenario *scenario, const struct scenario_section *section,
		     struct hd_arena *arena, struct axis *axis, struct hd_error *err)
{
	int rc = 0;

	*axis = (struct axis){.section = section};
	axis->values = hd_arena_alloc(arena, section->count, sizeof(*axis->values));
	if (!axis->values)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < section->count; i++)
		rc = read_line(scenario, axis, i, arena, err);
	if (!rc && !axis->steps)
		rc = scenario_text_error_in(
		    scenario, section,
		    hd_error_set(err, -EINVAL, "expected lines SECTION.KEY = VALUE | VALUE"), err);
	return rc;
}

/* A name for readers: the sweep's own, or that of what it changes. */
static const char *name_of(const struct axis *axis, struct hd_arena *arena)
{
	const struct scenario_section *section = axis->section;
	uint32_t line = 0;

	if (section->label && *section->label)
		return hd_arena_strdup(arena, section->label);
	while (line + 1 < section->count && !strcmp(section->entries[line].key, LABELS))
		line++;
	return hd_arena_strdup(arena, section->entries[line].key);
}

static int make_point(const struct hd_scenario *scenario, const struct axis *axes,
		      struct scenario_sweep *sweep, uint32_t number, struct hd_arena *arena,
		      struct hd_error *err)
{
	const char **labels = hd_arena_alloc(arena, sweep->sweep_count, sizeof(*labels));
	uint32_t left = number, behind = sweep->point_count;
	char label[LABEL_SIZE] = "";
	int rc = 0;

	sweep->scenarios[number] = scenario_text_copy(scenario);
	if (!sweep->scenarios[number] || !labels)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < sweep->sweep_count; i++) {
		size_t used = strlen(label);
		behind /= axes[i].steps;
		uint32_t step = left / behind;
		left %= behind;
		labels[i] = axes[i].labels[step];
		snprintf(label + used, sizeof(label) - used, "%s%s", i ? ", " : "", labels[i]);
		struct hd_scenario *point = sweep->scenarios[number];
		const struct axis *axis = &axes[i];

		for (uint32_t j = 0; !rc && j < axis->section->count; j++) {
			const struct scenario_entry *entry = &axis->section->entries[j];
			if (!strcmp(entry->key, LABELS))
				continue;
			const struct scenario_entry value = {.value = axis->values[j][step],
							     .origin = "sweep",
							     .option = entry->option,
							     .line = entry->line,
							     .typed = entry->typed};
			rc = scenario_text_set(point, entry->key, &value, err);
			if (rc)
				scenario_text_error(scenario, axis->section, entry, rc, err);
		}
	}
	sweep->points[number] =
	    (struct hd_scenario_point){hd_arena_strdup(arena, label), labels, sweep->sweep_count};
	return rc ? rc : sweep->points[number].label ? 0 : hd_error_no_memory(err);
}

int scenario_sweep_expand(const struct hd_scenario *scenario, struct hd_arena *arena,
			  struct scenario_sweep *out, struct hd_error *err)
{
	struct axis *axes = hd_arena_alloc(arena, scenario->count, sizeof(*axes));
	struct scenario_sweep sweep = {
	    .point_count = 1, .names = hd_arena_alloc(arena, scenario->count, sizeof(char *))};
	const struct scenario_section *section = NULL;
	uint64_t points = 1;
	int rc = axes && sweep.names ? 0 : hd_error_no_memory(err);

	while (!rc && (section = scenario_text_next(scenario, "sweep", section)) != NULL) {
		struct axis *axis = &axes[sweep.sweep_count++];
		rc = read_axis(scenario, section, arena, axis, err);
		if (!rc)
			sweep.names[sweep.sweep_count - 1] = name_of(axis, arena);
		points *= axis->steps;
		if (!rc && points > HD_SCENARIO_RUNS_MAX)
			rc = hd_error_set(err, -ERANGE, "%s: the sweeps have more than %u points",
					  scenario->path, HD_SCENARIO_RUNS_MAX);
	}
	if (rc)
		return rc;
	sweep.point_count = (uint32_t)points;
	sweep.points = hd_arena_alloc(arena, points, sizeof(*sweep.points));
	sweep.scenarios = calloc(points, sizeof(struct hd_scenario *));
	if (!sweep.points || !sweep.scenarios || hd_arena_check(arena))
		rc = hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < sweep.point_count; i++)
		rc = make_point(scenario, axes, &sweep, i, arena, err);
	if (rc)
		scenario_sweep_release(&sweep);
	else
		*out = sweep;
	return rc;
}

int scenario_sweep_check(const struct hd_scenario *scenario, struct hd_error *err)
{
	const struct scenario_section *section = NULL;
	struct hd_arena arena = {0};
	struct axis axis;
	int rc = 0;

	while (!rc && (section = scenario_text_next(scenario, "sweep", section)) != NULL)
		rc = read_axis(scenario, section, &arena, &axis, err);
	hd_arena_release(&arena);
	return rc;
}

void scenario_sweep_release(struct scenario_sweep *sweep)
{
	for (uint32_t i = 0; sweep->scenarios && i < sweep->point_count; i++)
		hd_scenario_free(sweep->scenarios[i]);
	free(sweep->scenarios);
	sweep->scenarios = NULL;
}

int hd_scenario_quicken(struct hd_scenario *scenario, struct hd_error *err)
{
	const struct scenario_section *quick = scenario_text_find(scenario, "quick");
	uint32_t index = quick ? (uint32_t)(quick - scenario->sections) : 0;
	int rc = 0;

	/* A target may be a new section, which moves all others. */
	for (uint32_t i = 0; !rc && quick && i < scenario->sections[index].count; i++) {
		const struct scenario_entry entry = scenario->sections[index].entries[i];
		const struct scenario_entry value = {
		    .value = entry.value, .origin = "quick", .line = entry.line};
		rc = scenario_text_set(scenario, entry.key, &value, err);
		if (rc)
			scenario_text_error(scenario, &scenario->sections[index], &entry, rc, err);
	}
	return rc;
}
