/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of heddle.conf: the values of all sections that a program knows. Options that the
 * file does not have get their defaults. An hd_config never changes; after an edit, read the file
 * into another one.
 *
 * The file has lines of `key = value` under a [section]. Lines that begin with # or ; are comments.
 * A comment can also follow a value, after a blank and a semicolon. A section may appear several
 * times: its lines count together.
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
#define HD_STATUS_SOCKET "/run/heddle/status.sock" /* [status] socket, if the file names no other */
#define HD_STATUS_SOCKETS "/run/heddle/status-*.sock" /* those of several OpenSMs */
#define HD_CONFIG_LARGEST ((size_t)1 << 20) /* bytes */
#define HD_CONFIG_LINE_LONGEST 198 /* bytes */

struct hd_config;

/*
 * Makes a configuration of defaults. `sections` must outlive it, and must not change while it
 * exists. The caller frees *out with hd_config_free(). Errors: -ENOMEM.
 */
int hd_config_defaults(const struct hd_config_sections *sections, struct hd_config **out,
		       struct hd_error *err);

/*
 * Reads the file. If it is missing and need not exist, the result is the defaults. Never waits for
 * a FIFO or a device. If a line has an error, the message begins with "PATH:LINE: ". Errors: the
 * errno of open and read; -EINVAL the file is not regular or not INI, a value is bad, an option is
 * given twice, a required option is missing, or a section does not have its registered form;
 * -ENOENT an unknown section or option; -ERANGE a value is out of range; -EFBIG the file is larger
 * than HD_CONFIG_LARGEST bytes; the errors of the sections' checks; -ENOMEM. Cost: O(bytes), and
 * for each section by GUID O(sections of that name).
 */
int hd_config_read(const struct hd_config_sections *sections, const char *path, bool must_exist,
		   struct hd_config **out, struct hd_error *err);

/* Reads a text in memory instead, which the result does not refer to. */
int hd_config_parse(const struct hd_config_sections *sections, const struct hd_text *text,
		    struct hd_config **out, struct hd_error *err);

void hd_config_free(struct hd_config *config);

/*
 * The values of the section [name] of the kind HD_CONFIG_ONE. NULL if no such section is
 * registered. Valid as long as `config`. Cost: O(sections).
 */
const struct hd_options *hd_config_options(const struct hd_config *config, const char *name);

/* One section [name GUID]. */
struct hd_config_object {
	uint64_t guid;
	const struct hd_options *options; /* valid as long as the hd_config */
	unsigned line; /* of its first head in the file */
};

/*
 * Writes section number `index`, from 0, of the sections [name GUID] in the order of the file.
 * Returns false if there are not so many. Cost: O(registered sections).
 */
bool hd_config_object_at(const struct hd_config *config, const char *name, unsigned index,
			 struct hd_config_object *out);

/*
 * The values of the section [name GUID]. NULL if the file has no section for that GUID. Cost:
 * O(sections of that name).
 */
const struct hd_options *hd_config_object(const struct hd_config *config, const char *name,
					  uint64_t guid);

#endif
