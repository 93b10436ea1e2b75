/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The values in heddle.conf: those of [heddle], which is about the plugin itself, and those that
 * every engine has in its own section. */
#ifndef OPENSM_SETTINGS_H
#define OPENSM_SETTINGS_H

#include "vlarb_shares.h"

#include <heddle/config.h>
#include <heddle/engines.h>
#include <heddle/engines/lanes.h>

/* The number of threads to compute with, at least 1. */
unsigned settings_threads(const struct hd_config *config);

/* The least important level of remarks that the log shows. */
enum hd_log_level settings_log_level(const struct hd_config *config);

/* File of adapters to be set aside, NULL = none. */
const char *settings_aggregation_file(const struct hd_config *config);

/* HOQLife of ports between switches, and of ports to hosts. -1 = OpenSM's own. */
int settings_lifetime(const struct hd_config *config);
int settings_leaf_lifetime(const struct hd_config *config);

/* The file for the tables in the switches: a path, "" for the default one, NULL for none. */
const char *settings_state(const struct hd_config *config);

/* The folders of engine modules, separated by colons; "" = none. */
const char *settings_engine_path(const struct hd_config *config);

/* The share of multicast, and the service level of its groups. Only with SHARE_SAME it can be 0. */
enum multicast_share settings_multicast_share(const struct hd_config *config);
unsigned settings_multicast_sl(const struct hd_config *config);

/* All options of an engine, from the section that has its name. */
const struct hd_options *settings_engine(const struct hd_config *config,
					 const struct hd_engine *engine);

/* The options that every engine has: `deadlock`, and `vls` (0 = no limit). */
enum hd_deadlock settings_deadlock(const struct hd_config *config, const struct hd_engine *engine);
unsigned settings_vls(const struct hd_config *config, const struct hd_engine *engine);

#endif
