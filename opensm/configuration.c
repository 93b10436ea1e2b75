/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "configuration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN_WORDS " \t,"
#define KEY "heddle="
#define NO_OPTIONS "(null)" /* what OpenSM writes for an option that is not set */

static bool is_lone_path(const char *text)
{
	return text[0] == '/' && !text[strcspn(text, BETWEEN_WORDS)];
}

/* Finds the PATH of the word heddle=PATH. Returns NULL if there is no such word. */
static const char *named_path(const char *text, size_t *length)
{
	for (;;) {
		text += strspn(text, BETWEEN_WORDS);
		*length = strcspn(text, BETWEEN_WORDS);
		if (!*length)
			return NULL;
		if (*length > strlen(KEY) && !strncmp(text, KEY, strlen(KEY))) {
			*length -= strlen(KEY);
			return text + strlen(KEY);
		}
		text += *length;
	}
}

/* Whether a word can only be meant for us: no other plugin is loaded, or it names our file. */
static bool is_ours(const char *word, size_t length, bool alone)
{
	static const char file[] = "heddle.conf";
	size_t tail = strlen(file);

	return alone || (length >= tail && !strncmp(word + length - tail, file, tail));
}

/* Plugins in a list of names, up to 2. */
static unsigned count_names(const char *names)
{
	unsigned count = 0;

	while (names && count < 2) {
		names += strspn(names, BETWEEN_WORDS);
		if (!*names)
			break;
		names += strcspn(names, BETWEEN_WORDS);
		count++;
	}
	return count;
}

void configuration_check_options(const char *event_plugin_options, const char *event_plugin_name,
				 const struct opensm_log *log)
{
	const char *text = event_plugin_options ? event_plugin_options : "";
	bool alone = count_names(event_plugin_name) == 1;

	if (is_lone_path(text) || !strcmp(text, NO_OPTIONS))
		return;
	for (;;) {
		text += strspn(text, BETWEEN_WORDS);
		size_t length = strcspn(text, BETWEEN_WORDS);
		if (!length)
			return;
		if ((length <= strlen(KEY) || strncmp(text, KEY, strlen(KEY))) &&
		    is_ours(text, length, alone))
			log_error(log, LOG_ERROR_CONFIG,
				  "event_plugin_options: Heddle ignores the word '%.*s'; to name "
				  "Heddle's configuration, write " KEY HD_CONFIG_PATH,
				  (int)length, text);
		text += length;
	}
}

char *configuration_path(const char *event_plugin_options, bool *named)
{
	const char *text = event_plugin_options ? event_plugin_options : "";
	size_t length = strlen(text);
	const char *path = is_lone_path(text) ? text : named_path(text, &length);

	*named = path != NULL;
	return path ? strndup(path, length) : strdup(HD_CONFIG_PATH);
}

int configuration_start(struct configuration *configuration, struct hd_config_sections *sections,
			const char *event_plugin_options, struct hd_error *err)
{
	bool named;
	char *path = configuration_path(event_plugin_options, &named);
	struct hd_config *values;
	int rc = path ? hd_config_defaults(sections, &values, err) : hd_error_no_memory(err);

	if (rc) {
		free(path);
		return rc;
	}
	*configuration = (struct configuration){
	    .sections = sections, .path = path, .named = named, .values = values};
	return 0;
}

void configuration_read(struct configuration *configuration, const struct opensm_log *log)
{
	struct hd_config *values;
	struct hd_error err;

	/* OpenSM's working directory is not what an administrator has in mind. */
	int rc = configuration->path[0] == '/'
		     ? hd_config_read(configuration->sections, configuration->path,
				      configuration->named, &values, &err)
		     : hd_error_set(&err, -EINVAL,
				    "event_plugin_options: " KEY "%s: not an absolute path",
				    configuration->path);

	if (rc) {
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
