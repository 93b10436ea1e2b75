/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "configuration.h"

#include <stdlib.h>
#include <string.h>

#define BETWEEN_WORDS " \t,"

static bool is_lone_path(const char *text)
{
	return text[0] == '/' && !text[strcspn(text, BETWEEN_WORDS)];
}

/* Finds the PATH of the word heddle=PATH. Returns NULL if there is no such word. */
static const char *named_path(const char *text, size_t *length)
{
	static const char key[] = "heddle=";

	for (;;) {
		text += strspn(text, BETWEEN_WORDS);
		*length = strcspn(text, BETWEEN_WORDS);
		if (!*length)
			return NULL;
		if (*length > strlen(key) && !strncmp(text, key, strlen(key))) {
			*length -= strlen(key);
			return text + strlen(key);
		}
		text += *length;
	}
}

int configuration_start(struct configuration *configuration, struct hd_config_sections *sections,
			const char *event_plugin_options, struct hd_error *err)
{
	const char *text = event_plugin_options ? event_plugin_options : "";
	size_t length = strlen(text);
	const char *path = is_lone_path(text) ? text : named_path(text, &length);
	char *copy = path ? strndup(path, length) : strdup(HD_CONFIG_PATH);
	struct hd_config *values;
	int rc = copy ? hd_config_defaults(sections, &values, err) : hd_error_no_memory(err);

	if (rc) {
		free(copy);
		return rc;
	}
	*configuration = (struct configuration){
	    .sections = sections, .path = copy, .named = path != NULL, .values = values};
	return 0;
}

void configuration_read(struct configuration *configuration, const struct opensm_log *log)
{
	struct hd_config *values;
	struct hd_error err;

	if (hd_config_read(configuration->sections, configuration->path, configuration->named,
			   &values, &err)) {
		log_error(log, LOG_ERROR_CONFIG, "%s (going on with %s)", err.text,
			  configuration->was_read ? "the last good configuration" : "the defaults");
		return;
	}
	hd_config_free(configuration->values);
	configuration->values = values;
	configuration->was_read = true;
}

void configuration_end(struct configuration *configuration)
{
	hd_config_free(configuration->values);
	hd_config_sections_free(configuration->sections);
	free(configuration->path);
	*configuration = (struct configuration){0};
}
