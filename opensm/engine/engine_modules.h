/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engines of the plugin: the built-in ones, and those of the modules in the folders of
 * engine_path in heddle.conf. OpenSM knows engines by the names that it learns at its start, so they
 * are loaded once, before heddle.conf as a whole can be read: each engine has a section of it.
 */
#ifndef OPENSM_ENGINE_MODULES_H
#define OPENSM_ENGINE_MODULES_H

#include "log.h"

#include <heddle/config.h>
#include <heddle/engines/engine_list.h>
#include <stdbool.h>

/* Zero-initialise before use. */
struct engine_modules {
	struct hd_engine_list *list; /* NULL: only the built-in engines */
	char *path; /* the folders from which it was made; NULL: none */
	bool said; /* the log says that engine_path has changed since */
};

/*
 * Loads the modules and registers the sections of their engines. Never fails: the log says which
 * modules are refused, and why; sections of heddle.conf that no engine has are then ignored. If heddle.conf has an error in [heddle], no module is loaded; the log
 * says what is wrong when the file is read as a whole. event_plugin_options is that of OpenSM.
 * `sections` has all other sections, and must outlive the modules' list.
 */
void engine_modules_load(struct engine_modules *modules, const char *event_plugin_options,
			 struct hd_config_sections *sections, const struct opensm_log *log);

/* Logs once that engine_path has changed since the modules were loaded. */
void engine_modules_watch(struct engine_modules *modules, const struct hd_config *config,
			  const struct opensm_log *log);

/* Unloads the modules. No engine of theirs may be in use. */
void engine_modules_release(struct engine_modules *modules);

#endif
