/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config_values.h"
#include "config_sections.h"

#include <assert.h>
#include <errno.h>
#include <heddle/base/grow.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_SIZE 96

/* The values of all sections of one name. */
struct values {
	struct config_values_object *objects;
	uint32_t count, room;
};

struct hd_config {
	const struct hd_config_sections *sections;
	struct values *values; /* one for each section */
	unsigned count;
};

static void free_object(struct config_values_object *object)
{
	hd_options_free(object->options);
	free(object->option_lines);
}

static int add_object(const struct hd_config_section *section, struct values *values, uint64_t guid,
		      struct hd_error *err)
{
	struct config_values_object object = {.guid = guid};
	struct config_values_object *objects =
	    hd_grow(values->objects, values->count, 1, &values->room, sizeof(*objects));

	if (!objects)
		return hd_error_no_memory(err);
	values->objects = objects;
	object.options = hd_options_new(section->options, section->option_count);
	object.option_lines = calloc(section->option_count + 1u, sizeof(*object.option_lines));
	if (!object.options || !object.option_lines) {
		free_object(&object);
		return hd_error_no_memory(err);
	}
	values->objects[values->count++] = object;
	return 0;
}

int hd_config_defaults(const struct hd_config_sections *sections, struct hd_config **out,
		       struct hd_error *err)
{
	struct hd_config *config = calloc(1, sizeof(*config));
	int rc = 0;

	if (!config)
		return hd_error_no_memory(err);
	config->sections = sections;
	config->count = sections->count;
	config->values = calloc(sections->count + 1u, sizeof(*config->values));
	if (!config->values)
		rc = hd_error_no_memory(err);
	for (unsigned i = 0; !rc && i < config->count; i++)
		if (sections->items[i].kind == HD_CONFIG_ONE)
			rc = add_object(&sections->items[i], &config->values[i], 0, err);
	if (rc)
		hd_config_free(config);
	else
		*out = config;
	return rc;
}

void hd_config_free(struct hd_config *config)
{
	if (!config)
		return;
	for (unsigned i = 0; config->values && i < config->count; i++) {
		for (unsigned j = 0; j < config->values[i].count; j++)
			free_object(&config->values[i].objects[j]);
		free(config->values[i].objects);
	}
	free(config->values);
	free(config);
}

static struct config_values_object *find_object(const struct values *values, uint64_t guid)
{
	for (unsigned i = 0; i < values->count; i++)
		if (values->objects[i].guid == guid)
			return &values->objects[i];
	return NULL;
}

int config_values_enter(struct hd_config *config, unsigned section, uint64_t guid, unsigned line,
			struct config_values_object **out, struct hd_error *err)
{
	struct values *values = &config->values[section];
	struct config_values_object *object = find_object(values, guid);

	if (!object) {
		int rc = add_object(&config->sections->items[section], values, guid, err);

		if (rc)
			return rc;
		object = &values->objects[values->count - 1];
	}
	if (!object->line)
		object->line = line;
	*out = object;
	return 0;
}

static unsigned find_key(const struct hd_config_section *section, const char *key)
{
	unsigned i = 0;

	while (i < section->option_count && strcmp(section->options[i].name, key))
		i++;
	return i;
}

int config_values_set(const struct hd_config_section *section, struct config_values_object *object,
		      const char *key, const char *text, unsigned line, struct hd_error *err)
{
	unsigned i = find_key(section, key);
	int rc;

	if (i < section->option_count && object->option_lines[i])
		return hd_error_set(err, -EINVAL, "option '%s' is given twice, first in line %u",
				    key, object->option_lines[i]);
	rc = hd_options_set(object->options, key, text, err);
	if (!rc)
		object->option_lines[i] = line;
	return rc;
}

static int check_object(const struct hd_config_section *section,
			const struct config_values_object *object, unsigned *line,
			struct hd_error *err)
{
	const char *key = NULL;
	unsigned at;
	int rc = hd_options_complete(object->options, err);

	if (!rc && section->check)
		rc = section->check(object->options, &key, err);
	if (!rc)
		return 0;
	at = key ? find_key(section, key) : section->option_count;
	*line = at < section->option_count && object->option_lines[at] ? object->option_lines[at]
								       : object->line;
	return rc;
}

int config_values_check(const struct hd_config *config, unsigned *line, struct hd_error *err)
{
	for (unsigned i = 0; i < config->count; i++) {
		const struct hd_config_section *section = &config->sections->items[i];

		for (unsigned j = 0; j < config->values[i].count; j++) {
			const struct config_values_object *object = &config->values[i].objects[j];
			char head[HEAD_SIZE];
			int rc = object->line ? check_object(section, object, line, err) : 0;

			if (rc)
				return hd_error_prefix(
				    err, rc, "%s",
				    config_values_print_head(section, object, head, sizeof(head)));
		}
	}
	return 0;
}

const char *config_values_print_head(const struct hd_config_section *section,
				     const struct config_values_object *object, char *buffer,
				     size_t size)
{
	if (object->guid)
		snprintf(buffer, size, "[%s 0x%016" PRIx64 "]", section->name, object->guid);
	else
		snprintf(buffer, size, "[%s]", section->name);
	return buffer;
}

/* The values of a registered section. NULL if no section has that name. */
static const struct values *values_of(const struct hd_config *config, const char *name)
{
	unsigned section = config_sections_find(config->sections, name);

	assert(config->count == config->sections->count);
	return section < config->count ? &config->values[section] : NULL;
}

const struct hd_options *hd_config_options(const struct hd_config *config, const char *name)
{
	return hd_config_object(config, name, 0);
}

bool hd_config_object_at(const struct hd_config *config, const char *name, unsigned index,
			 struct hd_config_object *out)
{
	const struct values *values = values_of(config, name);
	const struct config_values_object *object;

	if (!values || index >= values->count)
		return false;
	object = &values->objects[index];
	*out = (struct hd_config_object){object->guid, object->options, object->line};
	return true;
}

const struct hd_options *hd_config_object(const struct hd_config *config, const char *name,
					  uint64_t guid)
{
	const struct values *values = values_of(config, name);
	const struct config_values_object *object = values ? find_object(values, guid) : NULL;

	return object ? object->options : NULL;
}
