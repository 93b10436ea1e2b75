/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sections that heddle.conf may have. The owner of a section describes it as a constant. A
 * program registers all sections that it knows before it reads the file:
 *
 *	static const struct hd_config_section section = {
 *	    .name = "ar.switch", .kind = HD_CONFIG_BY_GUID, .options = options, .option_count = 2};
 *
 * Several programs share heddle.conf. A program registers the sections of the others as
 * HD_CONFIG_OTHER_PROGRAM. A section that is not registered is an error. A program that need not
 * know the sections of the others registers HD_CONFIG_ANY_OTHER instead: then all sections are
 * allowed whose names do not begin like its own, up to the first dot.
 */
#ifndef HEDDLE_CONFIG_SECTIONS_H
#define HEDDLE_CONFIG_SECTIONS_H

#include <heddle/base/error.h>
#include <heddle/base/options.h>

enum hd_config_kind {
	HD_CONFIG_ONE, /* [name] */
	HD_CONFIG_BY_GUID, /* [name GUID], one section for each switch or port */
	HD_CONFIG_OTHER_PROGRAM /* [name] or [name TEXT]; its options are ignored */
};

#define HD_CONFIG_ANY_OTHER "*" /* a name for a section of the kind HD_CONFIG_OTHER_PROGRAM */

struct hd_config_section {
	const char *name; /* as in the file: "spf", "ar.switch"; no blanks and no brackets */
	enum hd_config_kind kind;
	const struct hd_option *options; /* the options that the section may have */
	unsigned option_count;
	/*
	 * Checks how the options depend on each other; may be NULL. It is called for each section
	 * of the file after the complete file is read. Returns 0, or a negative errno with a
	 * reason. *key is NULL before. A failing check may set it to the option with the error; the
	 * message then has the line of that option.
	 */
	int (*check)(const struct hd_options *options, const char **key, struct hd_error *err);
};

/* The sections that a program knows. */
struct hd_config_sections;

/* Returns an empty set, or NULL if memory is short. */
struct hd_config_sections *hd_config_sections_new(void);
void hd_config_sections_free(struct hd_config_sections *sections);

/*
 * Registers a copy of the struct. Whatever it points to must outlive `sections`. Errors: -EEXIST
 * the name is already registered; -ENOMEM. Cost: O(sections).
 */
int hd_config_sections_add(struct hd_config_sections *sections,
			   const struct hd_config_section *section, struct hd_error *err);

/*
 * From now on, sections that are not registered are ignored, for a program that needs a few of them
 * only. Names with a dot remain errors if the word before it is registered: [ar.swich GUID] is a
 * mistake where [ar] is known.
 */
void hd_config_sections_ignore_others(struct hd_config_sections *sections);

#endif
