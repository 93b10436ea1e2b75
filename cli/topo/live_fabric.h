/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric as it is now: from the plugin in a running OpenSM, or from ibnetdiscover. */
#ifndef CLI_LIVE_FABRIC_H
#define CLI_LIVE_FABRIC_H

#include "arguments.h"
#include "plugin_answer.h"

#include <heddle/fabric.h>

enum live_source { LIVE_NONE, LIVE_OPENSM, LIVE_IBNETDISCOVER };

/* Stores the source that was typed, an enum live_source. */
arguments_take_fn live_fabric_take;

/* As it is typed: "opensm". */
const char *live_fabric_name(enum live_source source);

/* What the plugin at `address` answers, a netlist, to be freed. Errors: those of plugin_answer_get(); -ENODATA it has no
 * fabric, or is one of before this request. */
int live_fabric_ask(const struct plugin_address *address, char **text, struct hd_error *err);

/*
 * Asks the plugin at `address`, or runs ibnetdiscover(8) from the path of programs with this machine's default port.
 * Nodes get the names of the name map; NULL: no map. Errors: those of live_fabric_ask() and
 * hd_fabric_parse(); -ENOENT ibnetdiscover is not installed; -EIO it failed.
 */
int live_fabric_load(enum live_source source, const struct plugin_address *address,
		     const char *name_map, const struct hd_log *log, struct hd_fabric **out,
		     struct hd_error *err);

#endif
