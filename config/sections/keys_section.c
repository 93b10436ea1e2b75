/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <heddle/config/section_values.h>

static const struct hd_option options[] = {
    {.name = "socket",
     .summary = "where heddle-keyd connects to hand over routing keys; empty: nowhere",
     .type = HD_OPTION_STRING,
     .fallback = "",
     .validate = hd_value_socket},
    {.name = "group",
     .summary = "the group that may connect; empty: the group of OpenSM",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};

const struct hd_config_section section_keys = {
    .name = "keys", .options = options, .option_count = sizeof(options) / sizeof(options[0])};
