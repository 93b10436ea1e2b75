/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Things that a user chooses by name and that have options: engines, patterns, kinds of fabrics.
 * Each is written NAME[:KEY=VALUE,...].
 */
#ifndef CLI_CATALOGUE_H
#define CLI_CATALOGUE_H

#include <heddle/base/options.h>
#include <heddle/engines.h>
#include <jansson.h>
#include <stddef.h>

/* ---- engines ---- */

/*
 * The engines that commands know: the built-in ones, and those of the modules in the folders of
 * HEDDLE_ENGINE_PATH. The first call loads the modules and says which are refused; it comes while a
 * command reads its arguments, before there are threads. The environment does not count in a program
 * that has more rights than its user.
 */

#define KNOWN_ENGINES_PATH "HEDDLE_ENGINE_PATH"

/* All of them; *count of them. */
const struct hd_engine *const *catalogue_known_engines(unsigned *count);

/* Engine by name, or NULL. */
const struct hd_engine *catalogue_find_engine(const char *name);

/* Unloads the modules; the next call loads them again. For tests. */
void catalogue_forget_engines(void);

/* ---- files that come with heddle ---- */

/* Files that come with heddle: scenarios and examples. */

/*
 * Writes the path of share/heddle/NAME into `path`, cut to `size`. The folder share is found from the place
 * of the executable, so that an installation can lie anywhere. "" if that place is not known.
 */
void catalogue_shipped_path(const char *name, char *path, size_t size);

/* The same for lib/heddle/NAME. */
void catalogue_module_path(const char *name, char *path, size_t size);

struct catalogue_entry {
	const char *name, *summary;
	const struct hd_option *options;
	unsigned option_count;
};

struct catalogue {
	const char *thing; /* "engine" */
	unsigned (*count)(void);
	struct catalogue_entry (*entry)(unsigned index);
};

extern const struct catalogue catalogue_engines, catalogue_patterns, catalogue_fabrics;

/*
 * The entry of that name. Otherwise STATUS_BAD after a message, which suggests the nearest name or
 * lists all names.
 */
int catalogue_find(const struct catalogue *catalogue, const char *name,
		   struct catalogue_entry *entry);

/*
 * Reads "NAME[:KEY=VALUE,...]"; `options` is the caller's, to be released with hd_options_free().
 * 0, or STATUS_BAD after a message.
 */
int catalogue_choose(const struct catalogue *catalogue, const char *text,
		     struct catalogue_entry *entry, struct hd_options **options);

/* What an option takes, for people: "(1..8, default 3)". Returns buffer. */
const char *catalogue_range(const struct hd_option *option, char *buffer, size_t size);

/* The word for an option's value in lists and help: "N". */
const char *catalogue_placeholder(const struct hd_option *option);

/*
 * Print, to standard output: entries with their options, or names one a line. `only` NULL: all
 * entries, or the names of all; else that entry, or the names of its options.
 */
void catalogue_print(const struct catalogue *catalogue, const struct catalogue_entry *only);
void catalogue_print_names(const struct catalogue *catalogue, const struct catalogue_entry *only);

/* [{name, summary, options: [{name, summary, type, default, ...}]}]; NULL: no memory. */
json_t *catalogue_json(const struct catalogue *catalogue, const struct catalogue_entry *only);

#endif
