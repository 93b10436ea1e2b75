/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reasons get the place in the file, or the option that was typed. */
#include "scenario_text.h"

#include <stdio.h>
#include <string.h>

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
