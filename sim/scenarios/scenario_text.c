/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inih, which splits the lines of heddle.conf, cannot do so here. A line may have at most 198 bytes,
 * but sweeps list values in longer ones: one of our scenarios has 696. That limit is compiled in; only
 * Debian's library lets a program change it, and then for the whole process. inih also takes ';' alone
 * as a comment after a value, and ends a key at ':'.
 */
#include "scenario_text.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/suggest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 64
#define KEY_SIZE (2 * NAME_SIZE)

static const struct scenario_kind kinds[] = {
    {"scenario", false}, {"fabric", false}, {"subnet", true}, {"routing", false},
    {"model", false},	 {"traffic", true}, {"ebb", true},    {"run", false},
    {"sweep", true},	 {"expect", true},  {"quick", false},
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

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

static int scenario_append(struct scenario_section *section, const struct scenario_entry *entry,
			   struct hd_error *err)
{
	struct scenario_entry *entries =
	    hd_grow(section->entries, section->count, 1, &section->room, sizeof(*entries));

	if (!entries)
		return hd_error_no_memory(err);
	section->entries = entries;
	entries[section->count++] = *entry;
	return 0;
}

static int scenario_put(struct hd_scenario *scenario, struct scenario_section *section,
			const struct scenario_entry *entry, struct hd_error *err)
{
	struct scenario_entry copy = *entry;
	uint32_t i = 0;

	copy.key = hd_arena_strdup(&scenario->arena, entry->key);
	copy.value = hd_arena_strdup(&scenario->arena, entry->value);
	if (!copy.key || !copy.value)
		return hd_error_no_memory(err);
	while (i < section->count && !hd_option_same_name(section->entries[i].key, entry->key))
		i++;
	if (i == section->count)
		return scenario_append(section, &copy, err);
	if (section->entries[i].typed && entry->origin && !entry->typed)
		return hd_error_set(
		    err, -EINVAL, "%s.%s=%s has no effect: a line of the %s has the same key",
		    section->kind->name, entry->key, section->entries[i].value, entry->origin);
	section->entries[i] = copy;
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
		if (hd_option_same_name(section->entries[i].key, key))
			return &section->entries[i];
	return NULL;
}

/* A comment begins the text, or follows a blank. */
static void cut_comment(struct hd_cursor *text)
{
	hd_cursor_trim(text);
	for (const char *at = text->at; at < text->end; at++)
		if ((*at == '#' || *at == ';') &&
		    (at == text->at || at[-1] == ' ' || at[-1] == '\t'))
			text->end = at;
	hd_cursor_trim(text);
}

/* Copies a text of fewer than `size` bytes. */
static int scenario_keep(struct hd_scenario *scenario, const struct hd_cursor *text, size_t size,
			 const char **out, struct hd_error *err)
{
	size_t length = (size_t)(text->end - text->at);
	char *copy;

	if (length >= size)
		return hd_error_set(err, -EINVAL, "longer than %zu characters, the most allowed",
				    size - 1);
	copy = hd_arena_alloc(&scenario->arena, length + 1, 1);
	if (!copy)
		return hd_error_no_memory(err);
	memcpy(copy, text->at, length);
	*out = copy;
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
		     struct hd_error *err)
{
	struct hd_cursor head, word = {NULL, NULL};
	char name[NAME_SIZE];
	const char *label;

	if (!hd_take_until(&line, "]", &head) || !hd_take_word(&head, &word))
		return hd_error_set(err, -EINVAL, "expected [section] or [section NAME]");
	cut_comment(&line);
	if (!hd_cursor_done(&line))
		return hd_error_set(err, -EINVAL, "text after ']'");
	const struct scenario_kind *kind = find_kind(hd_cursor_quote(&word, name, sizeof(name)));
	if (!kind)
		return unknown_section(name, err);
	hd_cursor_trim(&head);
	int rc = scenario_keep(scenario, &head, NAME_SIZE, &label, err);
	if (!rc)
		rc = check_label(kind, label, err);
	if (rc)
		return rc;
	const struct scenario_section *same = find_section(scenario, kind, *label ? label : NULL);
	if (same)
		return hd_error_set(err, -EEXIST, "section [%s%s%s] is there already, in line %u",
				    name, *label ? " " : "", label, same->line);
	return add_section(scenario, kind, *label ? label : NULL, number) ? 0
									  : hd_error_no_memory(err);
}

static int take_key(struct hd_scenario *scenario, struct hd_cursor line, unsigned number,
		    struct hd_error *err)
{
	struct scenario_entry entry = {.line = number};
	struct scenario_section *section;
	struct hd_cursor key;

	if (!scenario->count)
		return hd_error_set(err, -EINVAL, "a scenario begins with a [section]");
	if (!hd_take_until(&line, "=", &key))
		return hd_error_set(err, -EINVAL, "expected [section], key = value or # comment");
	section = &scenario->sections[scenario->count - 1];
	hd_cursor_trim(&key);
	cut_comment(&line);
	int rc = scenario_keep(scenario, &key, KEY_SIZE, &entry.key, err);
	if (!rc)
		rc = scenario_keep(scenario, &line, SIZE_MAX, &entry.value, err);
	if (rc)
		return rc;
	const struct scenario_entry *same = scenario_text_entry(section, entry.key);
	if (same)
		return hd_error_set(err, -EEXIST, "key '%s' is there already, in line %u",
				    entry.key, same->line);
	return scenario_append(section, &entry, err);
}

static int take_lines(struct hd_scenario *scenario, struct hd_lines *lines, struct hd_error *err)
{
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(lines, err)) != 0) {
		struct hd_cursor line = hd_lines_cursor(lines);

		if (more < 0)
			return more;
		cut_comment(&line);
		if (hd_cursor_done(&line))
			continue;
		rc = hd_take_text(&line, "[") ? take_head(scenario, line, lines->number, err)
					      : take_key(scenario, line, lines->number, err);
		if (rc)
			hd_lines_error_prefix(lines, rc, err);
	}
	return rc;
}

int scenario_text_read(const struct hd_text *text, struct hd_scenario **out, struct hd_error *err)
{
	struct hd_lines lines = hd_lines_of(text);
	struct hd_scenario *scenario = calloc(1, sizeof(*scenario));
	int rc = scenario ? hd_text_check(text, err) : hd_error_no_memory(err);

	if (!rc) {
		scenario->path = hd_arena_strdup(&scenario->arena, text->name);
		rc = scenario->path ? take_lines(scenario, &lines, err) : hd_error_no_memory(err);
	}
	if (rc)
		hd_scenario_free(scenario);
	else
		*out = scenario;
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
			failed = scenario_put(copy, to, &from->entries[k], NULL);
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
			rc = scenario_put(scenario, &scenario->sections[i], entry, err);
			found++;
		}
	if (rc || found)
		return rc;
	if (kind->labelled)
		return hd_error_set(err, -ENOENT, "%s has no section [%s NAME]", scenario->path,
				    kind->name);
	struct scenario_section *section = add_section(scenario, kind, NULL, 0);
	return section ? scenario_put(scenario, section, entry, err) : hd_error_no_memory(err);
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
	return scenario_put(scenario, section, &entry, err);
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

/* One of the texts that a value lists. */
static int visit_piece(const struct hd_scenario *scenario, const struct scenario_entry *entry,
		       const struct hd_cursor *piece, struct hd_arena *arena,
		       int (*visit)(void *context, const char *path), void *context)
{
	static const char prefix[] = "file:";
	const size_t length = (size_t)(piece->end - piece->at);
	char *text = hd_arena_alloc(arena, length + 1, 1);
	struct scenario_entry one = *entry;

	if (!text)
		return -ENOMEM;
	memcpy(text, piece->at, length);
	one.value = strncmp(text, prefix, strlen(prefix)) ? text : text + strlen(prefix);
	if (!*one.value)
		return 0;
	const char *path = scenario_text_path(scenario, &one, one.value, arena);
	return path ? visit(context, path) : -ENOMEM;
}

int hd_scenario_visit_paths(const struct hd_scenario *scenario,
			    int (*visit)(void *context, const char *path), void *context)
{
	struct hd_arena arena = {0};
	int rc = 0;

	for (uint32_t i = 0; !rc && i < scenario->count; i++)
		for (uint32_t k = 0; !rc && k < scenario->sections[i].count; k++) {
			const struct scenario_entry *entry = &scenario->sections[i].entries[k];
			struct hd_cursor cursor = {entry->value,
						   entry->value + strlen(entry->value)},
					 piece;
			do {
				if (!hd_take_until(&cursor, "|", &piece)) {
					piece = cursor;
					cursor.at = cursor.end;
				}
				hd_cursor_trim(&piece);
				rc = visit_piece(scenario, entry, &piece, &arena, visit, context);
			} while (!rc && !hd_cursor_done(&cursor));
		}
	hd_arena_release(&arena);
	return rc;
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

/* Reasons get the place in the file, or the option that was typed */
int scenario_text_error_in(const struct hd_scenario *scenario,
			   const struct scenario_section *section, int rc, struct hd_error *err)
{
	/* a section that -O has added has no line */
	if (!section || !section->line)
		return hd_error_prefix(err, rc, "%s%s%s%s", scenario->path, section ? ": [" : "",
				       section ? section->kind->name : "", section ? "]" : "");
	return hd_error_prefix(err, rc, "%s:%u: [%s%s%s]", scenario->path, section->line,
			       section->kind->name, section->label ? " " : "",
			       section->label ? section->label : "");
}

/* "--hosts FILE: reason". A reason that begins with the value, as those about files do, needs it only
 * once. */
static int name_option(const struct scenario_entry *entry, int rc, struct hd_error *err)
{
	static const char prefix[] = "file:";
	bool file = !strncmp(entry->value, prefix, strlen(prefix));
	const char *value = entry->value + (file ? strlen(prefix) : 0);
	size_t length = strlen(value);

	if (!err)
		return rc;
	const struct hd_error reason = *err;
	bool said = length && !strncmp(reason.text, value, length) && reason.text[length] == ':';
	return hd_error_set(err, rc, "%s%s%s%s%s", entry->option, *entry->option ? " " : "",
			    said ? "" : value, said ? "" : ": ", reason.text);
}

int scenario_text_error(const struct hd_scenario *scenario, const struct scenario_section *section,
			const struct scenario_entry *entry, int rc, struct hd_error *err)
{
	const char *label = section->label ? section->label : "";

	if (entry->option)
		return name_option(entry, rc, err);
	if (entry->origin && entry->line)
		return hd_error_prefix(err, rc, "%s:%u: %s %s%s%s.%s=%s", scenario->path,
				       entry->line, entry->origin, section->kind->name,
				       *label ? "." : "", label, entry->key, entry->value);
	if (entry->origin)
		return hd_error_prefix(err, rc, "%s %s%s%s.%s=%s", entry->origin,
				       section->kind->name, *label ? "." : "", label, entry->key,
				       entry->value);
	return hd_error_prefix(err, rc, "%s:%u: [%s%s%s] %s = %s", scenario->path, entry->line,
			       section->kind->name, *label ? " " : "", label, entry->key,
			       entry->value);
}

/* Cuts the words off the front of the reason, if it begins with them. */
static bool cut(struct hd_error *err, const char *words)
{
	size_t length = strlen(words);

	if (strncmp(err->text, words, length) != 0)
		return false;
	memmove(err->text, err->text + length, strlen(err->text + length) + 1);
	return true;
}

/* Traffic names itself and its option: "traffic a: option 'hosts': reason". */
static bool find_option(const struct scenario_section *section, struct hd_error *err,
			const struct scenario_entry **entry)
{
	char words[200];

	snprintf(words, sizeof(words), "traffic %s: ", section->label);
	if (!cut(err, words))
		return false;
	*entry = NULL;
	for (uint32_t i = 0; i < section->count && !*entry; i++) {
		snprintf(words, sizeof(words), "option '%s': ", section->entries[i].key);
		if (cut(err, words))
			*entry = &section->entries[i];
	}
	return true;
}

int scenario_text_error_of_traffic(const struct hd_scenario *scenario, int rc, struct hd_error *err)
{
	const struct scenario_section *section = NULL;
	const struct scenario_entry *entry;

	while (err && (section = scenario_text_next(scenario, "traffic", section)) != NULL) {
		if (!find_option(section, err, &entry))
			continue;
		return entry ? scenario_text_error(scenario, section, entry, rc, err)
			     : scenario_text_error_in(scenario, section, rc, err);
	}
	return scenario_text_error_in(scenario, NULL, rc, err);
}

int scenario_text_options(const struct hd_scenario *scenario,
			  const struct scenario_section *section, const struct hd_option *table,
			  unsigned count, struct hd_options **out, struct hd_error *err)
{
	struct hd_options *options = hd_options_new(table, count);
	int rc = options ? 0 : hd_error_no_memory(err);

	for (uint32_t i = 0; !rc && section && i < section->count; i++) {
		const struct scenario_entry *entry = &section->entries[i];
		rc = hd_options_set(options, entry->key, entry->value, err);
		if (rc)
			scenario_text_error(scenario, section, entry, rc, err);
	}
	if (!rc) {
		rc = hd_options_complete(options, err);
		if (rc)
			scenario_text_error_in(scenario, section, rc, err);
	}
	if (rc)
		hd_options_free(options);
	else
		*out = options;
	return rc;
}

int scenario_text_options_of(const struct hd_scenario *scenario,
			     const struct scenario_section *section, const struct hd_option *first,
			     unsigned first_count, const struct hd_option *second,
			     unsigned second_count, struct hd_arena *arena, struct hd_options **out,
			     struct hd_error *err)
{
	struct hd_option *joined =
	    hd_arena_alloc(arena, (size_t)first_count + second_count, sizeof(*joined));

	if (!joined)
		return hd_error_no_memory(err);
	memcpy(joined, first, first_count * sizeof(*joined));
	if (second_count)
		memcpy(joined + first_count, second, second_count * sizeof(*joined));
	return scenario_text_options(scenario, section, joined, first_count + second_count, out,
				     err);
}

const char *scenario_text_path(const struct hd_scenario *scenario,
			       const struct scenario_entry *entry, const char *path,
			       struct hd_arena *arena)
{
	const char *slash = strrchr(scenario->path, '/');

	if (*path == '/' || !slash || (entry && entry->typed))
		return hd_arena_strdup(arena, path);
	size_t folder = (size_t)(slash - scenario->path) + 1, length = strlen(path) + 1;
	char *joined = hd_arena_alloc(arena, folder + length, 1);
	if (joined) {
		memcpy(joined, scenario->path, folder);
		memcpy(joined + folder, path, length);
	}
	return joined;
}
