/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config.h"
#include "hoq.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_PLUGIN "heddle"
#define SAME_LIFETIME "same"

static int check_lifetime(const char *text, struct hd_error *err)
{
	int value;

	return hoq_parse(text, &value, err);
}

static int check_leaf_lifetime(const char *text, struct hd_error *err)
{
	return strcmp(text, SAME_LIFETIME) ? check_lifetime(text, err) : 0;
}

static const struct hd_option plugin_options[] = {
    {.name = "threads",
     .summary = "threads to compute with, 0 = one for each core",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = HD_THREADS_MAX},
    /* In the order of enum hd_log_level. */
    {.name = "log",
     .summary = "what of the engines' remarks OpenSM's log shows by default",
     .type = HD_OPTION_CHOICE,
     .fallback = "info",
     .choices = "error|warning|info|debug"},
    {.name = "hoq_lifetime_us",
     .summary = "head-of-queue lifetime between switches; 0 = as opensm.conf says",
     .type = HD_OPTION_STRING,
     .fallback = "0",
     .validate = check_lifetime},
    {.name = "leaf_hoq_lifetime_us",
     .summary = "head-of-queue lifetime from switches to hosts",
     .type = HD_OPTION_STRING,
     .fallback = SAME_LIFETIME,
     .validate = check_leaf_lifetime},
    /* In the order of enum multicast_share. */
    {.name = "multicast_share",
     .summary = "bandwidth of multicast on a virtual lane of its own, same = on unicast's",
     .type = HD_OPTION_CHOICE,
     .fallback = "same",
     .choices = "same|equal|linear|log"},
    {.name = "multicast_sl",
     .summary = "service level that multicast groups carry, 0 = not told",
     .type = HD_OPTION_INT,
     .fallback = "0",
     .minimum = 0,
     .maximum = 15},
};

#define PLUGIN_OPTION_COUNT (sizeof(plugin_options) / sizeof(plugin_options[0]))

/* One reading of one file. */
struct reading {
	struct config *config;
	const char *path;
	FILE *stream;
	unsigned line;
	unsigned share_line; /* of multicast_share */
	int error; /* first one; everything after it is passed over */
	struct hd_error *err;
};

struct config *config_defaults(void)
{
	unsigned count;

	const struct hd_engine *const *engines = hd_engines(&count);
	struct config *config = calloc(1, sizeof(*config));

	if (!config)
		return NULL;
	config->plugin = hd_options_new(plugin_options, PLUGIN_OPTION_COUNT);
	config->engines = calloc(count ? count : 1, sizeof(*config->engines));
	if (!config->plugin || !config->engines)
		goto fail;
	for (config->engine_count = 0; config->engine_count < count; config->engine_count++) {
		struct hd_options *options = hd_engine_options(engines[config->engine_count]);
		if (!options)
			goto fail;
		config->engines[config->engine_count] = options;
	}
	return config;
fail:
	config_free(config);
	return NULL;
}

void config_free(struct config *config)
{
	if (!config)
		return;
	for (unsigned i = 0; i < config->engine_count; i++)
		hd_options_free(config->engines[i]);
	free(config->engines);
	hd_options_free(config->plugin);
	free(config);
}

/* What may stand in one section of the file. */
struct section {
	struct hd_options *options; /* NULL: there is no such section */
	const struct hd_option *table;
	unsigned count;
};

static struct section find_section(const struct config *config, const char *name)
{
	unsigned count;

	const struct hd_engine *const *engines = hd_engines(&count);

	if (!strcmp(name, SECTION_PLUGIN))
		return (struct section){config->plugin, plugin_options, PLUGIN_OPTION_COUNT};
	for (unsigned i = 0; i < config->engine_count; i++)
		if (!strcmp(name, engines[i]->name))
			return (struct section){config->engines[i], engines[i]->options,
						engines[i]->option_count};
	return (struct section){0};
}

static int unknown_section(const char *name, struct hd_error *err)
{
	unsigned count;

	const struct hd_engine *const *engines = hd_engines(&count);
	char known[HD_ERROR_TEXT / 2] = "[" SECTION_PLUGIN "]";
	size_t used = strlen(known);

	for (unsigned i = 0; i < count && used + strlen(engines[i]->name) + 4 < sizeof(known); i++)
		used += (size_t)sprintf(known + used, " [%s]", engines[i]->name);
	if (!*name)
		return hd_error_set(err, -ENOENT, "a key before any section; sections are %s",
				    known);
	return hd_error_set(err, -ENOENT, "unknown section [%s]; sections are %s", name, known);
}

static bool stands_already(const struct section *section, const char *name)
{
	for (unsigned i = 0; i < section->count; i++)
		if (!strcmp(section->table[i].name, name))
			return hd_options_get(section->options, name)->given;
	return false;
}

static int set_option(const struct config *config, const char *section_name, const char *name,
		      const char *value, struct hd_error *err)
{
	struct section section = find_section(config, section_name);
	int rc;

	if (!section.options)
		return unknown_section(section_name, err);
	if (stands_already(&section, name))
		return hd_error_set(err, -EINVAL, "[%s] '%s' stands twice", section_name, name);
	rc = hd_options_set(section.options, name, value, err);
	return rc ? hd_error_prefix(err, rc, "[%s]", section_name) : 0;
}

/* Keeps the first error only: what follows a broken line is often broken by it. */
static void fail_at_line(struct reading *reading, int error)
{
	reading->error =
	    hd_error_prefix(reading->err, error, "%s:%u", reading->path, reading->line);
}

static int take_pair(void *context, const char *section, const char *name, const char *value)
{
	struct reading *reading = context;
	int rc;

	if (reading->error)
		return 0;
	rc = set_option(reading->config, section, name, value, reading->err);
	if (rc)
		fail_at_line(reading, rc);
	else if (!strcmp(section, SECTION_PLUGIN) && !strcmp(name, "multicast_share"))
		reading->share_line = reading->line;
	return !rc;
}

/* inih silently takes the rest of a line that is too long for the next one, and does not say
 * where it is: hence lines are counted and measured here. */
static char *read_line(char *buffer, int size, void *context)
{
	struct reading *reading = context;

	if (reading->error || !fgets(buffer, size, reading->stream))
		return NULL;
	reading->line++;
	if (strchr(buffer, '\n') || feof(reading->stream))
		return buffer;
	if (strlen(buffer) + 1 < (size_t)size)
		hd_error_set(reading->err, -EINVAL, "a zero byte: this is no text file");
	else
		hd_error_set(reading->err, -EINVAL, "line is longer than %d characters", size - 2);
	fail_at_line(reading, -EINVAL);
	return NULL;
}

static int parse_stream(struct reading *reading)
{
	int first_bad = ini_parse_stream(read_line, reading, take_pair, reading);

	/* Reading stops at the first error of ours; what is no INI may stand before it. */
	if (first_bad > 0 && (!reading->error || (unsigned)first_bad < reading->line))
		return hd_error_set(reading->err, -EINVAL,
				    "%s:%d: neither [section] nor key = value nor # comment",
				    reading->path, first_bad);
	if (reading->error)
		return reading->error;
	if (ferror(reading->stream))
		return hd_error_set(reading->err, -EIO, "%s: cannot be read", reading->path);
	return first_bad < 0 ? hd_error_no_memory(reading->err) : 0;
}

/* What no option can tell by itself. */
static int check_combinations(const struct reading *reading)
{
	const struct config *config = reading->config;

	if (config_multicast_share(config) == SHARE_SAME || config_multicast_sl(config))
		return 0;
	return hd_error_set(reading->err, -EINVAL,
			    "%s:%u: [" SECTION_PLUGIN "] multicast_share = %s needs multicast_sl, "
			    "the service level 1..15 that the groups carry (sl= in OpenSM's "
			    "partitions.conf)",
			    reading->path, reading->share_line,
			    hd_options_get(config->plugin, "multicast_share")->text);
}

static int read_file(const struct config_place *place, struct config *config, struct hd_error *err)
{
	struct reading reading = {.config = config, .path = place->path, .err = err};
	int rc;

	reading.stream = fopen(place->path, "re");
	if (!reading.stream && errno == ENOENT && !place->named)
		return 0;
	if (!reading.stream) {
		rc = -errno;
		return hd_error_set(err, rc, "%s: %s", place->path, strerror(-rc));
	}
	rc = parse_stream(&reading);
	if (!rc)
		rc = check_combinations(&reading);
	fclose(reading.stream);
	return rc;
}

int config_read(const struct config_place *place, struct config **out, struct hd_error *err)
{
	struct config *config = config_defaults();
	int rc;

	if (!config)
		return hd_error_no_memory(err);
	rc = read_file(place, config, err);
	if (rc) {
		config_free(config);
		return rc;
	}
	*out = config;
	return 0;
}

static bool is_lone_path(const char *text)
{
	return text[0] == '/' && !text[strcspn(text, " \t,")];
}

/* The PATH of the word heddle=PATH, or NULL. */
static const char *named_path(const char *text, size_t *length)
{
	static const char key[] = "heddle=";

	for (;;) {
		text += strspn(text, " \t,");
		*length = strcspn(text, " \t,");
		if (!*length)
			return NULL;
		if (*length > strlen(key) && !strncmp(text, key, strlen(key))) {
			*length -= strlen(key);
			return text + strlen(key);
		}
		text += *length;
	}
}

int config_place_find(const char *event_plugin_options, struct config_place *place,
		      struct hd_error *err)
{
	const char *text = event_plugin_options ? event_plugin_options : "";
	size_t length = strlen(text);
	const char *path = is_lone_path(text) ? text : named_path(text, &length);
	char *copy = path ? strndup(path, length) : strdup(CONFIG_DEFAULT_PATH);

	if (!copy)
		return hd_error_no_memory(err);
	*place = (struct config_place){.path = copy, .named = path != NULL};
	return 0;
}

const struct hd_options *config_engine(const struct config *config, const struct hd_engine *engine)
{
	return find_section(config, engine->name).options;
}

unsigned config_threads(const struct config *config)
{
	unsigned threads = (unsigned)hd_options_get(config->plugin, "threads")->number;

	return threads ? threads : hd_parallel_cores();
}

enum hd_log_level config_log_level(const struct config *config)
{
	return (enum hd_log_level)hd_options_get(config->plugin, "log")->number;
}

static int lifetime_of(const struct config *config, const char *name)
{
	int value = -1;

	hoq_parse(hd_options_get(config->plugin, name)->text, &value, NULL);
	return value;
}

int config_lifetime(const struct config *config)
{
	return lifetime_of(config, "hoq_lifetime_us");
}

int config_leaf_lifetime(const struct config *config)
{
	const char *text = hd_options_get(config->plugin, "leaf_hoq_lifetime_us")->text;

	return strcmp(text, SAME_LIFETIME) ? lifetime_of(config, "leaf_hoq_lifetime_us")
					   : config_lifetime(config);
}

enum multicast_share config_multicast_share(const struct config *config)
{
	return (enum multicast_share)hd_options_get(config->plugin, "multicast_share")->number;
}

unsigned config_multicast_sl(const struct config *config)
{
	return (unsigned)hd_options_get(config->plugin, "multicast_sl")->number;
}

enum hd_deadlock config_deadlock(const struct config *config, const struct hd_engine *engine)
{
	return (enum hd_deadlock)hd_options_get(config_engine(config, engine), "deadlock")->number;
}

unsigned config_vls(const struct config *config, const struct hd_engine *engine)
{
	return (unsigned)hd_options_get(config_engine(config, engine), "vls")->number;
}
