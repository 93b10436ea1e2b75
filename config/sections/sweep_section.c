/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

static const struct hd_option options[] = {
    {.name = "ordered",
     .summary = "write a sweep's tables in an order that is safe at every moment",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
    {.name = "limit_ms",
     .summary = "how long a sweep may take for that; OpenSM writes the rest in its own order",
     .type = HD_OPTION_INT,
     .fallback = "2000",
     .minimum = 1,
     .maximum = 60000},
    {.name = "max_entries",
     .summary = "leave it to OpenSM if more entries would change; 0: no limit",
     .type = HD_OPTION_INT,
     .fallback = "2000000",
     .minimum = 0,
     .maximum = 2000000000},
    {.name = "window",
     .summary = "SMPs that are under way at the same time",
     .type = HD_OPTION_INT,
     .fallback = "64",
     .minimum = 1,
     .maximum = 1024},
    {.name = "timeout_ms",
     .summary = "how long to wait for the answer of a switch, at first",
     .type = HD_OPTION_INT,
     .fallback = "50",
     .minimum = 1,
     .maximum = 10000},
};

const struct hd_config_section section_sweep = {
    .name = "sweep", .options = options, .option_count = sizeof(options) / sizeof(options[0])};
