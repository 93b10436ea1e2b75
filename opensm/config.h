/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle.conf: INI, one section a part of Heddle. [heddle] is about the plugin itself, the
 * other sections are named after the engines and take the engines' own options.
 */
#ifndef OPENSM_CONFIG_H
#define OPENSM_CONFIG_H

#include "vlarb_shares.h"

#include <heddle/engines.h>
#include <heddle/engines/lanes.h>
#include <stdbool.h>

#define CONFIG_DEFAULT_PATH "/etc/heddle/heddle.conf"

struct config {
	struct hd_options *plugin; /* section [heddle] */
	struct hd_options **engines; /* in the order of hd_engines() */
	unsigned engine_count;
};

/* Where heddle.conf is. */
struct config_place {
	char *path;
	bool named; /* by the administrator: then it must exist */
};

/*
 * Finds the path in OpenSM's event_plugin_options, which all plugins share: the word
 * `heddle=PATH`, or the whole text when it is a path. Otherwise the default. place->path is
 * malloc'ed. NULL options are allowed. Errors: -ENOMEM.
 */
int config_place_find(const char *event_plugin_options, struct config_place *place,
		      struct hd_error *err);

/* The defaults. NULL: no memory. */
struct config *config_defaults(void);

/*
 * Reads the file; a default place without a file gives the defaults. Errors: errno of open and
 * read, -EINVAL what is not INI or stands twice, -ENOENT unknown section or key, -ERANGE and
 * -EINVAL bad values (all with file:line), -ENOMEM.
 */
int config_read(const struct config_place *place, struct config **out, struct hd_error *err);

void config_free(struct config *config);

/* Options of an engine; NULL when it is not one of hd_engines(). */
const struct hd_options *config_engine(const struct config *config, const struct hd_engine *engine);

/* Threads to compute with, at least 1. */
unsigned config_threads(const struct config *config);

/* Gravest-but-shown level of remarks. */
enum hd_log_level config_log_level(const struct config *config);

/* HOQLife of ports between switches, and of ports to hosts; -1 = OpenSM's own. */
int config_lifetime(const struct config *config);
int config_leaf_lifetime(const struct config *config);

/* What multicast gets, and the service level that tells it; 0 with SHARE_SAME only. */
enum multicast_share config_multicast_share(const struct config *config);
unsigned config_multicast_sl(const struct config *config);

/* What every engine has: its options `deadlock`, and `vls`, 0 = no limit. */
enum hd_deadlock config_deadlock(const struct config *config, const struct hd_engine *engine);
unsigned config_vls(const struct config *config, const struct hd_engine *engine);

#endif
