/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values while the reader fills them. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <heddle/config/values.h>
#include <stddef.h>

/* The values of one section of the file, [name] or [name GUID]. */
struct config_values_object {
	uint64_t guid; /* 0 in [name] */
	unsigned line; /* line of its head; 0 = not in the file */
	struct hd_options *options;
	unsigned *option_lines; /* line of each option of the section; 0 = not given */
};

/*
 * Finds the object of a section of the kind HD_CONFIG_ONE (guid 0) or HD_CONFIG_BY_GUID, or makes
 * it. `line` is the line of the head. *out is valid until the next call. Errors: -ENOMEM.
 */
int config_values_enter(struct hd_config *config, unsigned section, uint64_t guid, unsigned line,
			struct config_values_object **out, struct hd_error *err);

/* Sets an option. Errors: as hd_options_set(); -EINVAL the option was set before. */
int config_values_set(const struct hd_config_section *section, struct config_values_object *object,
		      const char *key, const char *text, unsigned line, struct hd_error *err);

/*
 * Checks all sections of the file: their required options, and their own checks. Errors: -EINVAL,
 * and those of the checks; then *line is the line with the error.
 */
int config_values_check(const struct hd_config *config, unsigned *line, struct hd_error *err);

/* Prints "[spf]" or "[ar.switch 0x0002c90300001234]", always terminated. Returns buffer. */
const char *config_values_print_head(const struct hd_config_section *section,
				     const struct config_values_object *object, char *buffer,
				     size_t size);

#endif
