/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What heddle.conf says: the values of all sections that a program knows, with defaults for what
 * the file leaves out. The values never change; a file that was edited gives another hd_config.
 *
 * The file has lines of `key = value` under a [section]; lines that begin with # or ; are
 * comments, and so is what follows a blank and a semicolon. A section may stand in several places:
 * its lines count together.
 */
#ifndef HEDDLE_CONFIG_VALUES_H
#define HEDDLE_CONFIG_VALUES_H

#include <heddle/base/error.h>
#include <heddle/base/options.h>
#include <heddle/base/text.h>
#include <heddle/config/sections.h>
#include <stdbool.h>
#include <stdint.h>

#define HD_CONFIG_PATH "/etc/heddle/heddle.conf"
#define HD_CONFIG_LARGEST ((size_t)1 << 20) /* bytes */
#define HD_CONFIG_LINE_LONGEST 198 /* bytes */

struct hd_config;

/*
 * The defaults of all sections. `sections` must outlive the result, and gets no more sections
 * while there is one. *out is the caller's, to be freed with hd_config_free(). Errors: -ENOMEM.
 */
int hd_config_defaults(const struct hd_config_sections *sections, struct hd_config **out,
		       struct hd_error *err);

/*
 * Reads the file; a file that is missing gives the defaults, unless it must exist. Never waits on
 * a FIFO or a device. Messages begin with "PATH:LINE: " where a line is at fault. Errors: errno
 * of open and read; -EINVAL not a regular file, not INI, a bad value, an option that is given twice
 * or that is required and missing, a section that is not of the form that was registered; -ENOENT
 * an unknown section or option; -ERANGE a value out of range; -EFBIG a file of more than
 * HD_CONFIG_LARGEST bytes; those of the sections' checks; -ENOMEM. Cost: O(bytes), and for each
 * section by GUID O(sections of that name).
 */
int hd_config_read(const struct hd_config_sections *sections, const char *path, bool must_exist,
		   struct hd_config **out, struct hd_error *err);

/* The same from a text in memory, which may go away after the call. */
int hd_config_parse(const struct hd_config_sections *sections, const struct hd_text *text,
		    struct hd_config **out, struct hd_error *err);

void hd_config_free(struct hd_config *config);

/*
 * The values of the section [name], of the kind HD_CONFIG_ONE. NULL: no such section is
 * registered. Valid as long as `config`. Cost: O(sections).
 */
const struct hd_options *hd_config_options(const struct hd_config *config, const char *name);

/* One section [name GUID]. */
struct hd_config_object {
	uint64_t guid;
	const struct hd_options *options; /* valid as long as the hd_config */
	unsigned line; /* where it stands first */
};

/*
 * The sections [name GUID] of the file, in its order: writes the one at `index`, from 0, and
 * returns true, or returns false behind the last. Cost: O(registered sections).
 */
bool hd_config_object_at(const struct hd_config *config, const char *name, unsigned index,
			 struct hd_config_object *out);

/*
 * The values of the section [name GUID], NULL where the file has none for that GUID. Cost:
 * O(sections of that name).
 */
const struct hd_options *hd_config_object(const struct hd_config *config, const char *name,
					  uint64_t guid);

#endif
