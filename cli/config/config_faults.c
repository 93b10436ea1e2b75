/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config_faults.h"
#include "arguments.h"
#include "json_value.h"
#include "need.h"

#include <heddle/ar_manager/site.h>
#include <heddle/config/sections.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* `line` 0: of the whole file. */
static void note(void *context, unsigned line, const char *reason)
{
	struct config_faults *found = context;
	json_t *fault = json_object();

	if (line)
		fault = json_value_set(fault, "line", json_integer(line));
	fault = json_value_set(fault, "reason", json_value_text(reason));
	found->list = json_value_append(found->list, fault);
	found->count++;
}

static void ignore(void *context, unsigned line, const char *reason)
{
	(void)context;
	(void)line;
	(void)reason;
}

static void note_remark(void *context, enum hd_log_level level, const char *line)
{
	if (level <= HD_LOG_WARNING)
		note(context, 0, line);
}

/* Of the engine modules. */
static void note_module(void *context, enum hd_log_level level, const char *line)
{
	const struct config_faults *found = context;

	if (level <= HD_LOG_WARNING)
		note(context, found->modules_line, line);
}

static int add_engine(void *context, const struct hd_engine *engine, struct hd_error *err)
{
	struct config_faults *found = context;

	return hd_config_sections_add_engine(found->sections, engine, err);
}

/* Sockets on which programs listen, each of which needs a path of its own. */
static const struct {
	const char *section, *option;
} sockets[] = {{"status", "socket"}, {"keys", "socket"},    {"drain", "socket"},
	       {"keyd", "socket"},   {"router", "control"}, {"map", "router_socket"}};

#define SOCKETS (sizeof(sockets) / sizeof(sockets[0]))

/* What no single section says. */
static int check_together(struct config_faults *found, struct hd_error *err)
{
	const struct hd_log log = {.write = note_remark, .context = found};
	struct hd_ar_site site = {.legacy = false};
	int rc = hd_ar_site_from(found->config, false, &log, &site, err);

	if (need_enough(rc))
		note(found, 0, err->text);
	hd_ar_site_release(&site);
	const char *paths[SOCKETS];
	unsigned lines[SOCKETS];
	char reason[HD_ERROR_TEXT];
	for (unsigned i = 0; i < SOCKETS; i++) {
		const struct hd_options *options =
		    hd_config_options(found->config, sockets[i].section);
		paths[i] = options ? hd_options_get(options, sockets[i].option)->text : "";
		lines[i] =
		    hd_config_option_line(found->config, sockets[i].section, sockets[i].option);
		for (unsigned j = 0; j < i; j++) {
			if (*paths[i] != '/' || strcmp(paths[i], paths[j]) != 0)
				continue;
			snprintf(reason, sizeof(reason),
				 "[%s] and [%s] have the same socket, %s; each needs its own",
				 sockets[j].section, sockets[i].section, paths[i]);
			note(found, lines[i] > lines[j] ? lines[i] : lines[j], reason);
			break;
		}
	}
	struct hd_config_object object;
	if (((hd_config_object_at(found->config, "router", 0, &object) && object.line) ||
	     hd_config_object_at(found->config, "router.subnet", 0, &object) ||
	     hd_config_object_at(found->config, "router.prefix", 0, &object)) &&
	    hd_config_router_check(found->config, err))
		note(found, 0, err->text);
	return 0;
}

static bool is_pipe(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISFIFO(about.st_mode);
}

int config_faults_find(struct config_faults *found, const char *path, bool pipes,
		       struct hd_error *err)
{
	int rc = strcmp(path, "-") && !(pipes && is_pipe(path))
		     ? hd_text_open_regular(path, HD_CONFIG_LARGEST, &found->text, err)
		     : hd_text_open(arguments_path(path), &found->text, err);

	if (rc)
		return rc;
	found->text.name = path;
	found->sections = need(hd_config_sections_new());
	found->list = json_array();
	rc = hd_config_sections_add_all(found->sections, HD_CONFIG_CHECK, err);
	if (!rc) {
		/* The engines of modules have sections, too. Faults are noted later. */
		struct hd_config_sections *sections = need(hd_config_sections_new());
		struct hd_config *config = NULL;
		rc = hd_config_sections_add_heddle(sections, err);
		if (!rc) {
			hd_config_sections_ignore_others(sections);
			rc = hd_config_inspect(sections, &found->text, ignore, NULL, &config, err);
		}
		if (!rc) {
			found->modules_line =
			    hd_config_option_line(config, "heddle", "engine_path");
			const struct hd_log log = {.write = note_module, .context = found};
			const struct hd_engine_source source = {
			    .path =
				hd_options_get(hd_config_options(config, "heddle"), "engine_path")
				    ->text,
			    .log = &log,
			    .accept = add_engine,
			    .context = found};
			rc = *source.path ? hd_engine_list_new(&source, &found->engines, err) : 0;
			/* A missing module must not make its section an error, too; the plugin does the same. */
			if (!rc && found->count)
				hd_config_sections_ignore_others(found->sections);
		}
		hd_config_free(config);
		hd_config_sections_free(sections);
	}
	if (!rc)
		rc = hd_config_inspect(found->sections, &found->text, note, found, &found->config,
				       err);
	if (!rc)
		rc = check_together(found, err);
	need(found->list);
	return rc;
}

void config_faults_release(struct config_faults *found)
{
	hd_config_free(found->config);
	hd_config_sections_free(found->sections);
	hd_engine_list_free(found->engines);
	json_decref(found->list);
	hd_text_close(&found->text);
	*found = (struct config_faults){.count = 0};
}
