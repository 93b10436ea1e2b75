/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The config room: heddle.conf and the files by which an administrator says a policy. */
#ifndef HEDDLE_CONFIG_H
#define HEDDLE_CONFIG_H

#include <heddle/base/error.h>
#include <heddle/base/options.h>
#include <heddle/base/text.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- sections ---- */

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

/* ---- values ---- */

/*
 * The content of heddle.conf: the values of all sections that a program knows. Options that the
 * file does not have get their defaults. An hd_config never changes; after an edit, read the file
 * into another one.
 *
 * The file has lines of `key = value` under a [section]. Lines that begin with # or ; are comments.
 * A comment can also follow a value, after a blank and a semicolon. A section may appear several
 * times: its lines count together.
 */

#define HD_CONFIG_PATH "/etc/heddle/heddle.conf"
#define HD_STATUS_SOCKET "/run/heddle/status.sock" /* [status] socket, if the file names no other */
#define HD_STATUS_SOCKETS "/run/heddle/status-*.sock" /* those of several OpenSMs */
#define HD_DRAIN_SOCKET "/run/heddle/drain.sock" /* [drain] socket, if the file names no other */
#define HD_DRAIN_SOCKETS "/run/heddle/drain-*.sock"
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

/* Takes a fault of a file: `line` counts from 1. */
typedef void hd_config_fault_fn(void *context, unsigned line, const char *reason);

/*
 * hd_config_parse() that goes on after a fault: fault() gets each one, those of lines in their order, then those of
 * whole sections. Keys under a head with a fault are skipped. *out has the values without faults. NULL for `fault`: the
 * first fault is the error. `err` is needed. Errors: as hd_config_parse() for what is no fault of a line.
 */
int hd_config_inspect(const struct hd_config_sections *sections, const struct hd_text *text,
		      hd_config_fault_fn *fault, void *context, struct hd_config **out,
		      struct hd_error *err);

void hd_config_free(struct hd_config *config);

/*
 * The values of the section [name] of the kind HD_CONFIG_ONE. NULL if no such section is
 * registered. Valid as long as `config`. Cost: O(sections).
 */
const struct hd_options *hd_config_options(const struct hd_config *config, const char *name);

/*
 * The line that sets an option of the section [name] of the kind HD_CONFIG_ONE, from 1; 0: none does, or there is no
 * such option. Cost: O(sections + options).
 */
unsigned hd_config_option_line(const struct hd_config *config, const char *name, const char *key);

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
