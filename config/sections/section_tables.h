/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of the sections of heddle.conf, one file each. Those of engines and of adaptive routing are in their
 * rooms. */
#ifndef CONFIG_SECTION_TABLES_H
#define CONFIG_SECTION_TABLES_H

#include <heddle/config.h>

/* The plugin. */
extern const struct hd_config_section section_heddle, section_map, section_keys,
    section_certificate, section_repair, section_sweep, section_status, section_metrics,
    section_drain;
/* heddle-keyd. */
extern const struct hd_config_section section_keyd;
/* heddle-router. */
extern const struct hd_config_section section_router, section_router_subnet, section_router_prefix;

#endif
