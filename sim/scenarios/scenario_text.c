/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_text.h"
#include "scenario_keys.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/suggest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 64

static const struct scenario_kind kinds[] = {
    {"scenario", false}, {"fabric", false}, {"subnet", true}, {"routing", false},
    {"model", false},	 {"traffic", true}, {"ebb", true},    {"run", false},
    {"sweep", true},	 {"expect", true},  {"quick", false},
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

/* ---- sections and entries ---- */

static const struct scenario_kind *find_kind(const char *name)
{
	for (unsigned i = 0; i < KIND_COUNT; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

static int unknown_section(const char *name, struct hd_error *err)
{
	struct hd_suggestion suggestion = hd_suggestion_for(name);
	char all[160] = "";

	for (unsigned i = 0; i < KIND_COUNT; i++) {
		size_t used = strlen(all);

		hd_suggestion_offer(&suggestion, kinds[i].name);
		snprintf(all + used, sizeof(all) - used, "%s[%s%s]", i ? " " : "", kinds[i].name,
			 kinds[i].labelled ? " NAME" : "");
	}
	if (suggestion.nearest)
		return hd_error_set(err, -ENOENT, "unknown section [%s]; did you mean [%s]?", name,
				    suggestion.nearest);
	return hd_error_set(err, -ENOENT, "unknown section [%s]; the sections are %s", name, all);
}

static bool same_label(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct scenario_section *find_section(const struct hd_scenario *scenario,
					     const struct scenario_kind *kind, const char *label)
{
	for (uint32_t i = 0; i < scenario->count; i++)
		if (scenario->sections[i].kind == kind &&
		    same_label(scenario->sections[i].label, label))
			return &scenario->sections[i];
	return NULL;
}

static struct scenario_section *add_section(struct hd_scenario *scenario,
					    const struct scenario_kind *kind, const char *label,
					    unsigned line)
{
	struct scenario_section *sections =
	    hd_grow(scenario->sections, scenario->count, 1, &scenario->room, sizeof(*sections));
	char *copy = label ? hd_arena_strdup(&scenario->arena, label) : NULL;

	if (sections)
		scenario->sections = sections;
	if (!sections || (label && !copy))
		return NULL;
	sections[scenario->count] =
	    (struct scenario_section){.kind = kind, .label = copy, .line = line};
	return &sections[scenario->count++];
}

static int put(struct hd_scenario *scenario, struct scenario_section *section,
	       const struct scenario_entry *entry, struct hd_error *err)
{
	struct scenario_entry copy = *entry;
	uint32_t i = 0;

	copy.key = hd_arena_strdup(&scenario->arena, entry->key);
	copy.value = hd_arena_strdup(&scenario->arena, entry->value);
	if (!copy.key || !copy.value)
		return hd_error_no_memory(err);
	while (i < section->count && strcmp(section->entries[i].key, entry->key))
		i++;
	if (i < section->count && section->entries[i].typed && entry->origin && !entry->typed)
		return hd_error_set(
		    err, -EINVAL, "%s.%s=%s has no effect: a line of the %s has the same key",
		    section->kind->name, entry->key, section->entries[i].value, entry->origin);
	if (i < section->count) {
		section->entries[i] = copy;
		return 0;
	}
	struct scenario_entry *entries =
	    hd_grow(section->entries, section->count, 1, &section->room, sizeof(*entries));
	if (!entries)
		return hd_error_no_memory(err);
	section->entries = entries;
	entries[section->count++] = copy;
	return 0;
}

const struct scenario_section *scenario_text_find(const struct hd_scenario *scenario,
						  const char *name)
{
	return find_section(scenario, find_kind(name), NULL);
}

const struct scenario_section *scenario_text_next(const struct hd_scenario *scenario,
						  const char *name,
						  const struct scenario_section *after)
{
	const struct scenario_section *end = scenario->sections + scenario->count;
	const struct scenario_kind *kind = find_kind(name);

	for (after = after ? after + 1 : scenario->sections; after < end; after++)
		if (after->kind == kind)
			return after;
	return NULL;
}

const struct scenario_entry *scenario_text_entry(const struct scenario_section *section,
						 const char *key)
{
	for (uint32_t i = 0; section && i < section->count; i++)
		if (!strcmp(section->entries[i].key, key))
			return &section->entries[i];
	return NULL;
}

/* ---- reading ---- */

static bool comment(const struct hd_cursor *line)
{
	return hd_cursor_done(line) || *line->at == '#' || *line->at == ';';
}

/* A comment may follow a value, after a blank. */
static void cut_comment(struct hd_cursor *line)
{
	for (const char *at = line->at; at + 1 < line->end; at++)
		if ((at[0] == ' ' || at[0] == '\t') && (at[1] == '#' || at[1] == ';'))
			line->end = at;
	hd_cursor_trim(line);
}

static int copy_text(const struct hd_cursor *cursor, char *buffer, size_t size,
		     struct hd_error *err)
{
	size_t length = (size_t)(cursor->end - cursor->at);

	if (length >= size)
		return hd_error_set(err, -EINVAL, "longer than %zu characters, the most allowed",
				    size - 1);
	memcpy(buffer, cursor->at, length);
	buffer[length] = '\0';
	return 0;
}

static int check_label(const struct scenario_kind *kind, const char *label, struct hd_error *err)
{
	if (!*label && (!kind->labelled || !strcmp(kind->name, "sweep")))
		return 0;
	if (!*label)
		return hd_error_set(err, -EINVAL, "[%s] needs a name, such as [%s a]", kind->name,
				    kind->name);
	if (!kind->labelled)
		return hd_error_set(err, -EINVAL, "section [%s] takes no name: '%s'", kind->name,
				    label);
	if (strpbrk(label, ".= \t"))
		return hd_error_set(err, -EINVAL,
				    "the name '%s' has a blank, a dot or an equals sign", label);
	return 0;
}

static int take_head(struct hd_scenario *scenario, struct hd_cursor line, unsigned number,
		     uint32_t *section, struct hd_error *err)
{
	char name[NAME_SIZE], label[NAME_SIZE];
	struct hd_cursor head, word = {NULL, NULL};

	if (!hd_take_until(&line, "]", &head) || !hd_take_word(&head, &word))
		return hd_error_set(err, -EINVAL, "expected [section] or [section NAME]");
	cut_comment(&line);
	if (!comment(&line))
		return hd_error_set(err, -EINVAL, "text after ']'");
	hd_cursor_trim(&head);
	int rc = copy_text(&word, name, sizeof(name), err);
	if (!rc)
		rc = copy_text(&head, label, sizeof(label), err);
	if (rc)
		return rc;
	const struct scenario_kind *kind = find_kind(name);
	if (!kind)
		return unknown_section(name, err);
	rc = check_label(kind, label, err);
	if (rc)
		return rc;
	const char *given = *label ? label : NULL;
	const struct scenario_section *same = find_section(scenario, kind, given);
	if (same)
		return hd_error_set(err, -EEXIST, "section [%s%s%s] is there already, in line %u",
				    name, given ? " " : "", label, same->line);
	*section = scenario->count;
	return add_section(scenario, kind, given, number) ? 0 : hd_error_no_memory(err);
}

static int take_key(struct hd_scenario *scenario, struct hd_cursor line, unsigned number,
		    uint32_t section, struct hd_error *err)
{
	char key[NAME_SIZE * 2];
	struct hd_cursor left;

	if (section == UINT32_MAX)
		return hd_error_set(err, -EINVAL, "key before the first [section]");
	if (!hd_take_until(&line, "=", &left))
		return hd_error_set(err, -EINVAL, "expected [section], key = value or # comment");
	hd_cursor_trim(&left);
	int rc = copy_text(&left, key, sizeof(key), err);
	if (rc)
		return rc;
	const struct scenario_entry *same = scenario_text_entry(&scenario->sections[section], key);
	if (same)
		return hd_error_set(err, -EEXIST, "key '%s' is there already, in line %u", key,
				    same->line);
	hd_cursor_trim(&line);
	if (!comment(&line))
		cut_comment(&line);
	else
		line.end = line.at;
	char *value = strndup(line.at, (size_t)(line.end - line.at));
	const struct scenario_entry entry = {.key = key, .value = value, .line = number};
	rc = value ? put(scenario, &scenario->sections[section], &entry, err)
		   : hd_error_no_memory(err);
	free(value);
	return rc;
}

static int take_lines(struct hd_scenario *scenario, struct hd_lines *lines, struct hd_error *err)
{
	uint32_t section = UINT32_MAX;
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(lines, err)) != 0) {
		struct hd_cursor line = hd_lines_cursor(lines);

		if (more < 0)
			return more;
		hd_cursor_trim(&line);
		if (comment(&line))
			continue;
		rc = hd_take_text(&line, "[")
			 ? take_head(scenario, line, lines->number, &section, err)
			 : take_key(scenario, line, lines->number, section, err);
		if (rc)
			hd_lines_error_prefix(lines, rc, err);
	}
	return rc;
}

int hd_scenario_parse(const struct hd_text *text, struct hd_scenario **out, struct hd_error *err)
{
	struct hd_lines lines = hd_lines_of(text);
	struct hd_scenario *scenario = calloc(1, sizeof(*scenario));
	int rc = scenario ? hd_text_check(text, err) : hd_error_no_memory(err);

	if (!rc) {
		scenario->path = hd_arena_strdup(&scenario->arena, text->name);
		rc = scenario->path ? take_lines(scenario, &lines, err) : hd_error_no_memory(err);
	}
	if (!rc)
		rc = scenario_keys_check_quick(scenario, err);
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

void hd_scenario_free(struct hd_scenario *scenario)
{
	if (!scenario)
		return;
	for (uint32_t i = 0; i < scenario->count; i++)
		free(scenario->sections[i].entries);
	free(scenario->sections);
	hd_arena_release(&scenario->arena);
	free(scenario);
}

/* ---- changes ---- */

struct hd_scenario *scenario_text_copy(const struct hd_scenario *scenario)
{
	struct hd_scenario *copy = calloc(1, sizeof(*copy));
	bool failed = !copy;

	if (copy) {
		copy->path = hd_arena_strdup(&copy->arena, scenario->path);
		failed = !copy->path;
	}
	for (uint32_t i = 0; !failed && i < scenario->count; i++) {
		const struct scenario_section *from = &scenario->sections[i];
		struct scenario_section *to =
		    add_section(copy, from->kind, from->label, from->line);
		failed = !to;
		for (uint32_t k = 0; !failed && k < from->count; k++)
			failed = put(copy, to, &from->entries[k], NULL);
	}
	if (!failed)
		return copy;
	hd_scenario_free(copy);
	return NULL;
}

static int set_all(struct hd_scenario *scenario, const struct scenario_kind *kind,
		   const struct scenario_entry *entry, struct hd_error *err)
{
	uint32_t found = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < scenario->count; i++)
		if (scenario->sections[i].kind == kind) {
			rc = put(scenario, &scenario->sections[i], entry, err);
			found++;
		}
	if (rc || found)
		return rc;
	if (kind->labelled)
		return hd_error_set(err, -ENOENT, "%s has no section [%s NAME]", scenario->path,
				    kind->name);
	struct scenario_section *section = add_section(scenario, kind, NULL, 0);
	return section ? put(scenario, section, entry, err) : hd_error_no_memory(err);
}

/* Keys may have dots. */
bool scenario_text_split(const struct hd_scenario *scenario, char *text,
			 struct scenario_target *out)
{
	char *dot = strchr(text, '.');

	if (!dot || dot == text || !dot[1])
		return false;
	*dot++ = '\0';
	*out = (struct scenario_target){.kind = find_kind(text), .key = dot};
	char *second = strchr(dot, '.');
	if (!out->kind || !out->kind->labelled || !second)
		return true;
	/* [sweep] may have no label, and its keys have dots. */
	*second = '\0';
	if (find_section(scenario, out->kind, dot) || !find_section(scenario, out->kind, NULL)) {
		out->label = dot;
		out->key = second + 1;
	} else {
		*second = '.';
	}
	return true;
}

bool scenario_text_meant(const struct scenario_target *target,
			 const struct scenario_section *section)
{
	return section->kind == target->kind &&
	       (!target->label || same_label(section->label, target->label));
}

int scenario_text_set(struct hd_scenario *scenario, const char *target,
		      const struct scenario_entry *like, struct hd_error *err)
{
	char text[3 * NAME_SIZE];
	struct scenario_entry entry = *like;
	struct scenario_target meant;

	snprintf(text, sizeof(text), "%s", target);
	if (strlen(target) >= sizeof(text) || !scenario_text_split(scenario, text, &meant))
		return hd_error_set(err, -EINVAL, "%s '%s' is not SECTION[.NAME].KEY", like->origin,
				    target);
	if (!meant.kind)
		return hd_error_prefix(err, unknown_section(text, err), "%s %s", like->origin,
				       target);
	entry.key = meant.key;
	if (!meant.label)
		return set_all(scenario, meant.kind, &entry, err);
	struct scenario_section *section = find_section(scenario, meant.kind, meant.label);
	if (!section)
		return hd_error_set(err, -ENOENT, "%s %s: %s has no section [%s %s]", like->origin,
				    target, scenario->path, text, meant.label);
	return put(scenario, section, &entry, err);
}

const char *hd_scenario_value(const struct hd_scenario *scenario, const char *target)
{
	char text[3 * NAME_SIZE];
	struct scenario_target meant;

	snprintf(text, sizeof(text), "%s", target);
	if (!scenario_text_split(scenario, text, &meant) || !meant.kind)
		return NULL;
	for (uint32_t i = 0; i < scenario->count; i++) {
		const struct scenario_entry *entry =
		    scenario_text_entry(&scenario->sections[i], meant.key);
		if (entry && scenario_text_meant(&meant, &scenario->sections[i]))
			return entry->value;
	}
	return NULL;
}

int hd_scenario_set(struct hd_scenario *scenario, const char *assignment, struct hd_error *err)
{
	return hd_scenario_set_by(scenario, NULL, assignment, err);
}

int hd_scenario_set_by(struct hd_scenario *scenario, const char *option, const char *assignment,
		       struct hd_error *err)
{
	const char *equals = strchr(assignment, '=');
	char target[3 * NAME_SIZE];

	if (!equals || (size_t)(equals - assignment) >= sizeof(target))
		return hd_error_set(err, -EINVAL, "'%s' is not SECTION[.NAME].KEY=VALUE",
				    assignment);
	const struct scenario_entry like = {
	    .value = equals + 1, .origin = "-O", .option = option, .typed = true};
	memcpy(target, assignment, (size_t)(equals - assignment));
	target[equals - assignment] = '\0';
	if (!strncmp(target, "quick.", 6))
		return hd_error_set(err, -EINVAL,
				    "-O %s has no effect: set the key itself, without 'quick.'",
				    assignment);
	return scenario_text_set(scenario, target, &like, err);
}
