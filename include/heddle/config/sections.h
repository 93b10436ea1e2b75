/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All sections that heddle.conf can have, in one place: the plugin, the daemons and `heddle config check` register them
 * here, so that no program knows a section that another one takes for a mistake. Library: heddle_config_sections.
 */
#ifndef HEDDLE_CONFIG_SECTIONS_H
#define HEDDLE_CONFIG_SECTIONS_H

#include <heddle/config.h>

/* Who reads heddle.conf: the plugin only what it needs, and `heddle config check` all of it. */
enum hd_config_reader { HD_CONFIG_PLUGIN, HD_CONFIG_CHECK };

/*
 * Registers all sections. Those that the program does not read are HD_CONFIG_OTHER_PROGRAM. Modules of engines may have
 * more. Errors: as hd_config_sections_add(). Cost: O(sections^2).
 */
int hd_config_sections_add_all(struct hd_config_sections *sections, enum hd_config_reader reader,
			       struct hd_error *err);

/* For a daemon, which does not know the engines of the plugin: its own sections, and HD_CONFIG_ANY_OTHER. Errors: as
 * hd_config_sections_add(). */
int hd_config_sections_add_keyd(struct hd_config_sections *sections, struct hd_error *err);
int hd_config_sections_add_router(struct hd_config_sections *sections, struct hd_error *err);

/* Registers [heddle] alone: it says where engine modules are, whose sections come before the rest. */
int hd_config_sections_add_heddle(struct hd_config_sections *sections, struct hd_error *err);

/* Registers the section of an engine of a module. `engine` must outlive `sections`. */
struct hd_engine;
int hd_config_sections_add_engine(struct hd_config_sections *sections,
				  const struct hd_engine *engine, struct hd_error *err);

/*
 * What heddle-router needs of its sections together: 1 to HD_CONFIG_ROUTER_SUBNETS_MAX subnets with global prefixes,
 * and a node GUID. Errors: -EINVAL with the reason, without a line. Cost: O(subnets).
 */
int hd_config_router_check(const struct hd_config *config, struct hd_error *err);

/* Defaults and bounds that the programs need, too. */
#define HD_ROUTER_AGENT_SOCKET "/run/heddle/router.sock"
#define HD_ROUTER_AGENT_CONTROL "/run/heddle/router/control.sock"
#define HD_CONFIG_ROUTER_PORTS_MAX 254u
#define HD_CONFIG_ROUTER_SUBNETS_MAX 64u
#define HD_CONFIG_ROUTER_LID_MAX 0xBFFFu
#define HD_KEYD_SOCKET "/run/heddle/keyd.sock"
#define HD_KEYD_MANAGER "/run/heddle/sm.sock"
#define HD_KEYD_STATE "/var/lib/heddle/keyd"
#define HD_KEYD_MANAGERS_MAX 16u
#define HD_KEYD_SCHEDULERS_MAX 32u

#endif
