/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_text.h"

#include <string.h>

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
