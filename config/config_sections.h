/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The content of hd_config_sections, for the reader and the values. */
#ifndef CONFIG_SECTIONS_H
#define CONFIG_SECTIONS_H

#include <heddle/config/sections.h>
#include <stdbool.h>
#include <stddef.h>

struct hd_config_sections {
	struct hd_config_section *items; /* in the order of registration */
	uint32_t count, room;
	bool ignore_others;
};

/* The index of a section; sections->count if no section has that name. Cost: O(sections). */
unsigned config_sections_find(const struct hd_config_sections *sections, const char *name);

/* Whether a section that is not registered is to be ignored. */
bool config_sections_ignores(const struct hd_config_sections *sections, const char *name);

/* Prints the head of a section, "[spf]" or "[ar.switch GUID]", in at most `size` bytes, always
 * terminated. Returns buffer. */
const char *config_sections_print(const struct hd_config_section *section, char *buffer,
				  size_t size);

/*
 * Sets the error "unknown section [NAME]; did you mean [NEAREST]?". If no name is near, it lists
 * all sections instead. An empty name means a key before the first section. Returns -ENOENT.
 */
int config_sections_unknown(const struct hd_config_sections *sections, const char *name,
			    struct hd_error *err);

#endif
