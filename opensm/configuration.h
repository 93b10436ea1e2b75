/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle.conf in a running OpenSM: its path, and the values of the last good reading. */
#ifndef OPENSM_CONFIGURATION_H
#define OPENSM_CONFIGURATION_H

#include "log.h"

#include <heddle/config.h>
#include <stdbool.h>

/* Zero-initialise before use. */
struct configuration {
	struct hd_config_sections *sections; /* those that the plugin knows */
	char *path;
	bool named; /* the administrator gave the path, so the file must exist */
	struct hd_config *values; /* the last good ones, which are in force */
	bool was_read; /* `values` come from the file; false: they are the defaults */
};

/*
 * Finds the path in OpenSM's event_plugin_options, which all plugins share and which may be NULL:
 * the word `heddle=PATH`, or the complete text if it is a path; then *named. Otherwise the path is
 * HD_CONFIG_PATH. The caller frees it with free(). NULL: no memory.
 */
char *configuration_path(const char *event_plugin_options, bool *named);

/* Finds the path. On success the defaults are in force, and `configuration` owns `sections`. Errors:
 * -ENOMEM. */
int configuration_start(struct configuration *configuration, struct hd_config_sections *sections,
			const char *event_plugin_options, struct hd_error *err);

/*
 * Logs an error for each word of event_plugin_options that Heddle ignores, although it seems to be
 * for Heddle: heddle is the only plugin of event_plugin_name, or the word names heddle.conf.
 * Both texts may be NULL.
 */
void configuration_check_options(const char *event_plugin_options, const char *event_plugin_name,
				 const struct opensm_log *log);

/* Reads the file again. A bad file, or a path that is not absolute, changes nothing, and the log
 * says what is wrong with it. */
void configuration_read(struct configuration *configuration, const struct opensm_log *log);

void configuration_end(struct configuration *configuration);

#endif
