/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_modules.h"
#include "configuration.h"
#include "settings.h"

#include <heddle/config/sections.h>
#include <stdlib.h>
#include <string.h>

/* ---- engine_path, before the rest of heddle.conf is known ---- */

/* The section [heddle] alone. */
static int read_own_section(const char *path, bool named, char **engine_path, struct hd_error *err)
{
	struct hd_config_sections *sections = hd_config_sections_new();
	struct hd_config *config = NULL;
	int rc = sections ? hd_config_sections_add_heddle(sections, err) : hd_error_no_memory(err);

	if (!rc) {
		hd_config_sections_ignore_others(sections);
		rc = hd_config_read(sections, path, named, &config, err);
	}
	if (!rc) {
		*engine_path = strdup(settings_engine_path(config));
		rc = *engine_path ? 0 : hd_error_no_memory(err);
	}
	hd_config_free(config);
	hd_config_sections_free(sections);
	return rc;
}

/* NULL: none, or heddle.conf has an error. */
static char *find_engine_path(const char *event_plugin_options)
{
	bool named;
	char *path = configuration_path(event_plugin_options, &named), *engine_path = NULL;

	if (path && path[0] == '/')
		read_own_section(path, named, &engine_path, NULL);
	free(path);
	return engine_path;
}

/* ---- loading ---- */

struct remarks {
	const struct opensm_log *log;
	bool refused; /* a module, or a folder */
};

static void write_remark(void *context, enum hd_log_level level, const char *line)
{
	struct remarks *remarks = context;

	if (level > HD_LOG_WARNING) {
		log_info(remarks->log, "%s", line);
		return;
	}
	log_error(remarks->log, LOG_ERROR_LOAD, "%s", line);
	remarks->refused = true;
}

static int add_section(void *context, const struct hd_engine *engine, struct hd_error *err)
{
	return hd_config_sections_add_engine(context, engine, err);
}

void engine_modules_load(struct engine_modules *modules, const char *event_plugin_options,
			 struct hd_config_sections *sections, const struct opensm_log *log)
{
	struct remarks remarks = {.log = log};
	const struct hd_log sink = {.write = write_remark, .context = &remarks};
	struct hd_error err;

	modules->path = find_engine_path(event_plugin_options);
	if (!modules->path || !modules->path[0])
		return;
	const struct hd_engine_source source = {
	    .path = modules->path, .log = &sink, .accept = add_section, .context = sections};
	if (hd_engine_list_new(&source, &modules->list, &err))
		log_error(log, LOG_ERROR_LOAD, "no engine modules are loaded: %s", err.text);
	/* The section of an engine that is missing must not make the rest of the file an error. */
	if (remarks.refused)
		hd_config_sections_ignore_others(sections);
}

void engine_modules_watch(struct engine_modules *modules, const struct hd_config *config,
			  const struct opensm_log *log)
{
	const char *path = settings_engine_path(config);
	bool changed = strcmp(path, modules->path ? modules->path : "") != 0;

	if (changed && !modules->said)
		log_error(log, LOG_ERROR_LOAD,
			  "engine_path has changed; OpenSM must be restarted to load engine "
			  "modules from '%s'",
			  path);
	modules->said = changed;
}

void engine_modules_release(struct engine_modules *modules)
{
	hd_engine_list_free(modules->list);
	free(modules->path);
	*modules = (struct engine_modules){0};
}
