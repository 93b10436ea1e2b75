/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "catalogue.h"
#include "arguments.h"
#include "json_value.h"
#include "message.h"
#include "need.h"

#include <heddle/analysis.h>
#include <heddle/base/suggest.h>
#include <heddle/engines/engine_list.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static struct hd_engine_list *loaded; /* NULL: not loaded yet, or no memory */
static bool tried;

static const struct hd_engine_list *load(void)
{
	const struct hd_log log = message_log(false);
	const struct hd_engine_source source = {.path = secure_getenv(KNOWN_ENGINES_PATH),
						.log = &log};
	struct hd_error err;

	if (!tried && hd_engine_list_new(&source, &loaded, &err))
		message_fail(&err);
	tried = true;
	return loaded;
}

const struct hd_engine *const *catalogue_known_engines(unsigned *count)
{
	return hd_engine_list_all(load(), count);
}

const struct hd_engine *catalogue_find_engine(const char *name)
{
	return hd_engine_list_find(load(), name);
}

void catalogue_forget_engines(void)
{
	hd_engine_list_free(loaded);
	loaded = NULL;
	tried = false;
}

static void path_from_program(const char *folder, const char *name, char *path, size_t size)
{
	char program[PATH_MAX];

	*path = '\0';
	/* The path of the executable, without symbolic links. A chroot may have no /proc: then as exec() got it. */
	const char *started = (const char *)getauxval(AT_EXECFN);
	if (!realpath("/proc/self/exe", program) && !(started && realpath(started, program)))
		return;
	*strrchr(program, '/') = '\0';
	snprintf(path, size, "%s/%s/heddle/%s", program, folder, name);
}

void catalogue_shipped_path(const char *name, char *path, size_t size)
{
	path_from_program(HEDDLE_DATA_FROM_PROGRAM, name, path, size);
}

void catalogue_module_path(const char *name, char *path, size_t size)
{
	path_from_program(HEDDLE_LIBRARIES_FROM_PROGRAM, name, path, size);
}

#define NAMES_SIZE 512

/* Engines, patterns and generators have the members of an entry under the same names. */
#define ENTRY_OF(item)                                                                             \
	(struct catalogue_entry)                                                                   \
	{                                                                                          \
		(item)->name, (item)->summary, (item)->options, (item)->option_count               \
	}

static unsigned count_engines(void)
{
	unsigned count;

	catalogue_known_engines(&count);
	return count;
}

static struct catalogue_entry engine_entry(unsigned index)
{
	unsigned count;

	return ENTRY_OF(catalogue_known_engines(&count)[index]);
}

static unsigned count_patterns(void)
{
	unsigned count;

	hd_pattern_kinds(&count);
	return count;
}

static struct catalogue_entry pattern_entry(unsigned index)
{
	unsigned count;

	return ENTRY_OF(hd_pattern_kinds(&count)[index]);
}

static unsigned count_fabrics(void)
{
	unsigned count;

	hd_generators(&count);
	return count;
}

static struct catalogue_entry fabric_entry(unsigned index)
{
	unsigned count;

	return ENTRY_OF(hd_generators(&count)[index]);
}

const struct catalogue catalogue_engines = {"engine", count_engines, engine_entry};
const struct catalogue catalogue_patterns = {"pattern", count_patterns, pattern_entry};
const struct catalogue catalogue_fabrics = {"kind of fabric", count_fabrics, fabric_entry};

int catalogue_find(const struct catalogue *catalogue, const char *name,
		   struct catalogue_entry *entry)
{
	for (unsigned i = 0; i < catalogue->count(); i++) {
		struct catalogue_entry one = catalogue->entry(i);
		if (!strcmp(one.name, name)) {
			*entry = one;
			return 0;
		}
	}
	struct hd_suggestion suggestion = hd_suggestion_for(name);
	char names[NAMES_SIZE] = "";
	size_t used = 0;
	for (unsigned i = 0; i < catalogue->count(); i++) {
		const char *known = catalogue->entry(i).name;
		hd_suggestion_offer(&suggestion, known);
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 i ? ", " : "", known);
	}
	if (suggestion.nearest)
		return message_error("unknown %s '%s'; did you mean '%s'?", catalogue->thing, name,
				     suggestion.nearest);
	return message_error("unknown %s '%s'; there are: %s", catalogue->thing, name, names);
}

static int set_options(const struct catalogue *catalogue, const struct catalogue_entry *entry,
		       char *pairs, struct hd_options **out)
{
	struct hd_error err = {""};
	struct hd_options *options = need(hd_options_new(entry->options, entry->option_count));
	int rc = hd_options_set_pairs(options, pairs, &err);

	if (!rc)
		rc = hd_options_complete(options, &err);
	if (rc) {
		hd_options_free(options);
		return message_error("%s '%s': %s", catalogue->thing, entry->name, err.text);
	}
	*out = options;
	return 0;
}

int catalogue_choose(const struct catalogue *catalogue, const char *text,
		     struct catalogue_entry *entry, struct hd_options **options)
{
	char *copy = need(strdup(text)), *pairs = copy;
	int status = catalogue_find(catalogue, strsep(&pairs, ":"), entry);

	if (!status)
		status = set_options(catalogue, entry, pairs, options);
	free(copy);
	return status;
}

const char *catalogue_range(const struct hd_option *option, char *buffer, size_t size)
{
	char range[300] = "";

	if (option->type == HD_OPTION_INT || option->type == HD_OPTION_INT_LIST)
		snprintf(range, sizeof(range), "%" PRId64 "..%" PRId64 "%s", option->minimum,
			 option->maximum, option->type == HD_OPTION_INT_LIST ? " each" : "");
	else if (option->type == HD_OPTION_BOOL)
		snprintf(range, sizeof(range), "yes|no");
	else if (option->type == HD_OPTION_CHOICE)
		snprintf(range, sizeof(range), "%s", option->choices);
	snprintf(buffer, size, "(%s%s%s%s)", range, *range ? ", " : "",
		 option->fallback ? "default " : "required",
		 option->fallback ? (*option->fallback ? option->fallback : "none") : "");
	return buffer;
}

const char *catalogue_placeholder(const struct hd_option *option)
{
	static const char *const words[] = {[HD_OPTION_INT] = "N",
					    [HD_OPTION_BOOL] = "yes|no",
					    [HD_OPTION_CHOICE] = "VALUE",
					    [HD_OPTION_INT_LIST] = "N,N...",
					    [HD_OPTION_STRING] = "VALUE"};

	return words[option->type];
}

static void print_entry(const struct catalogue_entry *entry)
{
	char range[400], text[80];

	printf("%s\n  %s\n", entry->name, entry->summary);
	for (unsigned i = 0; i < entry->option_count; i++) {
		const struct hd_option *option = &entry->options[i];
		snprintf(text, sizeof(text), "    %s=%s", option->name,
			 catalogue_placeholder(option));
		arguments_print_row(text, option->summary);
		arguments_print_row("", catalogue_range(option, range, sizeof(range)));
	}
}

void catalogue_print(const struct catalogue *catalogue, const struct catalogue_entry *only)
{
	if (only) {
		print_entry(only);
		return;
	}
	for (unsigned i = 0; i < catalogue->count(); i++) {
		struct catalogue_entry entry = catalogue->entry(i);
		if (i)
			putchar('\n');
		print_entry(&entry);
	}
}

void catalogue_print_names(const struct catalogue *catalogue, const struct catalogue_entry *only)
{
	if (only)
		for (unsigned i = 0; i < only->option_count; i++)
			puts(only->options[i].name);
	else
		for (unsigned i = 0; i < catalogue->count(); i++)
			puts(catalogue->entry(i).name);
}

static const char *type_name(enum hd_option_type type)
{
	static const char *const names[] = {[HD_OPTION_INT] = "integer",
					    [HD_OPTION_BOOL] = "boolean",
					    [HD_OPTION_CHOICE] = "choice",
					    [HD_OPTION_INT_LIST] = "integer list",
					    [HD_OPTION_STRING] = "string"};

	return names[type];
}

static json_t *option_json(const struct hd_option *option)
{
	json_t *value =
	    json_pack("{s:s, s:s, s:s, s:s?}", "name", option->name, "summary", option->summary,
		      "type", type_name(option->type), "default", option->fallback);

	if (option->type == HD_OPTION_INT || option->type == HD_OPTION_INT_LIST) {
		value = json_value_set(value, "minimum", json_integer(option->minimum));
		value = json_value_set(value, "maximum", json_integer(option->maximum));
	}
	if (option->type == HD_OPTION_CHOICE)
		value = json_value_set(value, "choices", json_string(option->choices));
	return value;
}

static json_t *entry_json(const struct catalogue_entry *entry)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < entry->option_count; i++)
		list = json_value_append(list, option_json(&entry->options[i]));
	return json_pack("{s:s, s:s, s:o}", "name", entry->name, "summary", entry->summary,
			 "options", list);
}

json_t *catalogue_json(const struct catalogue *catalogue, const struct catalogue_entry *only)
{
	json_t *list = json_array();

	if (only)
		return json_value_append(list, entry_json(only));
	for (unsigned i = 0; i < catalogue->count(); i++) {
		struct catalogue_entry entry = catalogue->entry(i);
		list = json_value_append(list, entry_json(&entry));
	}
	return list;
}
