/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sections that heddle.conf may have. Each owner describes its section as a constant, and a
 * program registers all that it knows before it reads the file:
 *
 *	static const struct hd_config_section section = {
 *	    .name = "ar.switch", .kind = HD_CONFIG_BY_GUID, .options = options, .option_count = 2};
 *
 * Several programs share heddle.conf. A program registers the sections of the others as
 * HD_CONFIG_OTHER_PROGRAM; any section that nobody registered is an error.
 */
#ifndef HEDDLE_CONFIG_SECTIONS_H
#define HEDDLE_CONFIG_SECTIONS_H

#include <heddle/base/error.h>
#include <heddle/base/options.h>

enum hd_config_kind {
	HD_CONFIG_ONE, /* [name] */
	HD_CONFIG_BY_GUID, /* [name GUID], one for each of several switches or ports */
	HD_CONFIG_OTHER_PROGRAM /* [name] or [name TEXT]: accepted, and its options ignored */
};

struct hd_config_section {
	const char *name; /* as in the file: "spf", "ar.switch"; no blanks and no brackets */
	enum hd_config_kind kind;
	const struct hd_option *options; /* what may stand in the section */
	unsigned option_count;
	/*
	 * NULL, or says what one option alone cannot: which options need one another. Called for
	 * each section that stands in the file, after all of the file is read. 0, or a negative
	 * errno with a reason. *key is NULL; a failing check may set it to the option that is at
	 * fault, whose line then stands in the message.
	 */
	int (*check)(const struct hd_options *options, const char **key, struct hd_error *err);
};

/* The sections that a program knows. */
struct hd_config_sections;

/* None yet. NULL: no memory. */
struct hd_config_sections *hd_config_sections_new(void);
void hd_config_sections_free(struct hd_config_sections *sections);

/*
 * Registers a section. The struct is copied; what it points to must outlive `sections`. Errors:
 * -EEXIST the name is registered already; -ENOMEM. Cost: O(sections).
 */
int hd_config_sections_add(struct hd_config_sections *sections,
			   const struct hd_config_section *section, struct hd_error *err);

#endif
