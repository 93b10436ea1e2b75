/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A scenario as sections of keys and values, with the place of each: what a file says, and what
 * options and sweeps put over it. */
#ifndef SIM_SCENARIO_TEXT_H
#define SIM_SCENARIO_TEXT_H

#include <heddle/base/arena.h>
#include <heddle/base/options.h>
#include <heddle/sim/scenario.h>

struct scenario_entry {
	const char *key, *value;
	const char *origin; /* "-O": what put it over the file; NULL: the file itself */
	const char *option; /* "--hosts": what was typed for it; NULL: the key itself */
	unsigned line; /* of the file, or 0 */
	bool typed; /* on the command line: paths are relative to the working folder */
};

/* What a file may have. */
struct scenario_kind {
	const char *name;
	bool labelled; /* [name LABEL], any number of them; else one [name] */
};

struct scenario_section {
	const struct scenario_kind *kind;
	const char *label; /* NULL: none */
	unsigned line;
	uint32_t count, room;
	struct scenario_entry *entries;
};

struct hd_scenario {
	const char *path;
	uint32_t count, room;
	struct scenario_section *sections;
	struct hd_arena arena; /* of the texts */
};

/* What "SECTION[.LABEL].KEY" names. */
struct scenario_target {
	const struct scenario_kind *kind; /* NULL: there is no such section */
	const char *label; /* NULL: all sections of the kind */
	const char *key;
};

/* Reads a file; hd_scenario_parse() also checks what it says. Errors: as there. */
int scenario_text_read(const struct hd_text *text, struct hd_scenario **out, struct hd_error *err);

/* Cuts the text into pieces, to which *out points. False: it has no dot. */
bool scenario_text_split(const struct hd_scenario *scenario, char *text,
			 struct scenario_target *out);

/* Whether the target names that section. */
bool scenario_text_meant(const struct scenario_target *target,
			 const struct scenario_section *section);

/* A copy, to be changed. NULL: no memory. */
struct hd_scenario *scenario_text_copy(const struct hd_scenario *scenario);

/* The section of that name, which has no label; NULL: the file has none. */
const struct scenario_section *scenario_text_find(const struct hd_scenario *scenario,
						  const char *name);

/* The next section of that name behind `after` (NULL: the first), or NULL. */
const struct scenario_section *scenario_text_next(const struct hd_scenario *scenario,
						  const char *name,
						  const struct scenario_section *after);

/* The entry with that key, or NULL. `section` may be NULL. */
const struct scenario_entry *scenario_text_entry(const struct scenario_section *section,
						 const char *key);

/* Sets "SECTION[.LABEL].KEY" (the key of `like` is ignored) to the value of `like`; without a label, in
 * all sections of that name. Errors: -EINVAL, -ENOENT no such section; -ENOMEM. */
int scenario_text_set(struct hd_scenario *scenario, const char *target,
		      const struct scenario_entry *like, struct hd_error *err);

/* Puts "FILE:LINE: [SECTION LABEL] KEY = VALUE" before a reason, or the option that was typed with its
 * value. Returns rc. */
int scenario_text_error(const struct hd_scenario *scenario, const struct scenario_section *section,
			const struct scenario_entry *entry, int rc, struct hd_error *err);

/* The same for what is missing in a section. */
int scenario_text_error_in(const struct hd_scenario *scenario,
			   const struct scenario_section *section, int rc, struct hd_error *err);

/* The same for a reason of hd_traffic_new() or hd_traffic_check(), which names traffic and option. */
int scenario_text_error_of_traffic(const struct hd_scenario *scenario, int rc,
				   struct hd_error *err);

/*
 * The values of a section by a table, which must outlive them; `section` NULL: the defaults.
 * Freed with hd_options_free(). Errors: with the place, those of hd_options_set() and
 * hd_options_complete().
 */
int scenario_text_options(const struct hd_scenario *scenario,
			  const struct scenario_section *section, const struct hd_option *table,
			  unsigned count, struct hd_options **out, struct hd_error *err);

/* The same by two tables, of which the second depends on what the section is about. The joined
 * table belongs to `arena`. */
int scenario_text_options_of(const struct hd_scenario *scenario,
			     const struct scenario_section *section, const struct hd_option *first,
			     unsigned first_count, const struct hd_option *second,
			     unsigned second_count, struct hd_arena *arena, struct hd_options **out,
			     struct hd_error *err);

/* The path that a value names: one that the file has is relative to the file's folder. Belongs to
 * `arena`; NULL: no memory. */
const char *scenario_text_path(const struct hd_scenario *scenario,
			       const struct scenario_entry *entry, const char *path,
			       struct hd_arena *arena);

#endif
