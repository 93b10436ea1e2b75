/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <heddle/config/section_values.h>

static const struct hd_option options[] = {
    {.name = "file",
     .summary = "where a certificate of the tables in force is written; empty: nowhere",
     .type = HD_OPTION_STRING,
     .fallback = "",
     .validate = hd_value_path},
    {.name = "tables",
     .summary = "write the tables that it proves, too, beside it",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
};

const struct hd_config_section section_certificate = {.name = "certificate",
						      .options = options,
						      .option_count =
							  sizeof(options) / sizeof(options[0])};
