/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of hd_config_sections, for the reader and the values. */
#ifndef CONFIG_SECTIONS_H
#define CONFIG_SECTIONS_H

#include <heddle/config/sections.h>
#include <stddef.h>

struct hd_config_sections {
	struct hd_config_section *items; /* in the order of registration */
	uint32_t count, room;
};

/* Index of a section; sections->count when there is none of that name. Cost: O(sections). */
unsigned config_sections_find(const struct hd_config_sections *sections, const char *name);

/* Writes the head of a section into buffer, "[spf]" or "[ar.switch GUID]"; cut to `size` bytes,
 * always terminated. Returns buffer. */
const char *config_sections_print(const struct hd_config_section *section, char *buffer,
				  size_t size);

/*
 * "unknown section [NAME]; did you mean [NEAREST]?", or "...; sections are ..." where none is near.
 * The empty name stands for a key before any section. Returns -ENOENT.
 */
int config_sections_unknown(const struct hd_config_sections *sections, const char *name,
			    struct hd_error *err);

#endif
