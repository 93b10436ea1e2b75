/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle.conf in a running OpenSM: where it is, and the values of the last reading that was good.
 */
#ifndef OPENSM_CONFIGURATION_H
#define OPENSM_CONFIGURATION_H

#include "log.h"

#include <heddle/config/sections.h>
#include <heddle/config/values.h>
#include <stdbool.h>

/* Zero-initialise before use. */
struct configuration {
	struct hd_config_sections *sections; /* that the plugin knows */
	char *path;
	bool named; /* by the administrator: then the file must exist */
	struct hd_config *values; /* in force: the last good ones */
	bool was_read; /* and not just the defaults */
};

/*
 * Finds the path in OpenSM's event_plugin_options, which all plugins share: the word
 * `heddle=PATH`, or the whole text when it is a path. Otherwise HD_CONFIG_PATH. NULL options are
 * allowed. `sections` is taken over on success; the defaults are in force then. Errors: -ENOMEM.
 */
int configuration_start(struct configuration *configuration, struct hd_config_sections *sections,
			const char *event_plugin_options, struct hd_error *err);

/* Reads the file again. A bad file changes nothing, and the log says what is wrong with it. */
void configuration_read(struct configuration *configuration, const struct opensm_log *log);

void configuration_end(struct configuration *configuration);

#endif
