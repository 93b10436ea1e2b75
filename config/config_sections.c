/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config_sections.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/suggest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_SIZE 96

struct hd_config_sections *hd_config_sections_new(void)
{
	return calloc(1, sizeof(struct hd_config_sections));
}

void hd_config_sections_free(struct hd_config_sections *sections)
{
	if (!sections)
		return;
	free(sections->items);
	free(sections);
}

static unsigned find_name(const struct hd_config_sections *sections, const char *name)
{
	unsigned i = 0;

	while (i < sections->count && strcmp(sections->items[i].name, name))
		i++;
	return i;
}

/* Whether a name begins as one of the program's own sections does, up to the dot: "ar.swich". */
static bool has_own_beginning(const struct hd_config_sections *sections, const char *name)
{
	size_t length = strcspn(name, ".");

	for (unsigned i = 0; i < sections->count; i++) {
		const struct hd_config_section *own = &sections->items[i];

		if (own->kind != HD_CONFIG_OTHER_PROGRAM && strcspn(own->name, ".") == length &&
		    !strncmp(own->name, name, length))
			return true;
	}
	return false;
}

unsigned config_sections_find(const struct hd_config_sections *sections, const char *name)
{
	unsigned found = find_name(sections, name);

	if (found < sections->count || !*name || has_own_beginning(sections, name))
		return found;
	return find_name(sections, HD_CONFIG_ANY_OTHER);
}

static int make_room(struct hd_config_sections *sections, struct hd_error *err)
{
	struct hd_config_section *items =
	    hd_grow(sections->items, sections->count, 1, &sections->room, sizeof(*items));

	if (!items)
		return hd_error_no_memory(err);
	sections->items = items;
	return 0;
}

int hd_config_sections_add(struct hd_config_sections *sections,
			   const struct hd_config_section *section, struct hd_error *err)
{
	int rc;

	if (find_name(sections, section->name) < sections->count)
		return hd_error_set(err, -EEXIST, "two sections of heddle.conf have the name [%s]",
				    section->name);
	rc = make_room(sections, err);
	if (!rc)
		sections->items[sections->count++] = *section;
	return rc;
}

void hd_config_sections_ignore_others(struct hd_config_sections *sections)
{
	sections->ignore_others = true;
}

bool config_sections_ignores(const struct hd_config_sections *sections, const char *name)
{
	const size_t family = strcspn(name, ".");

	if (!sections->ignore_others)
		return false;
	for (unsigned i = 0; i < sections->count; i++)
		if (strlen(sections->items[i].name) == family &&
		    !strncmp(sections->items[i].name, name, family))
			return false;
	return true;
}

const char *config_sections_print(const struct hd_config_section *section, char *buffer,
				  size_t size)
{
	snprintf(buffer, size, section->kind == HD_CONFIG_BY_GUID ? "[%s GUID]" : "[%s]",
		 section->name);
	return buffer;
}

static void print_all(const struct hd_config_sections *sections, char *buffer, size_t size)
{
	char head[HEAD_SIZE];

	*buffer = '\0';
	for (unsigned i = 0; i < sections->count; i++) {
		size_t used = strlen(buffer);

		config_sections_print(&sections->items[i], head, sizeof(head));
		snprintf(buffer + used, size - used, "%s%s", i ? " " : "", head);
	}
}

static const struct hd_config_section *nearest(const struct hd_config_sections *sections,
					       const char *name)
{
	struct hd_suggestion suggestion = hd_suggestion_for(name);

	for (unsigned i = 0; i < sections->count; i++)
		hd_suggestion_offer(&suggestion, sections->items[i].name);
	return suggestion.nearest
		   ? &sections->items[config_sections_find(sections, suggestion.nearest)]
		   : NULL;
}

int config_sections_unknown(const struct hd_config_sections *sections, const char *name,
			    struct hd_error *err)
{
	char known[HD_ERROR_TEXT / 2], head[HEAD_SIZE];
	const struct hd_config_section *near = nearest(sections, name);

	if (near)
		return hd_error_set(err, -ENOENT, "unknown section [%s]; did you mean %s?", name,
				    config_sections_print(near, head, sizeof(head)));
	print_all(sections, known, sizeof(known));
	if (*name)
		return hd_error_set(err, -ENOENT, "unknown section [%s]; the sections are %s", name,
				    known);
	return hd_error_set(err, -ENOENT, "key before the first section; the sections are %s",
			    known);
}
