/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <heddle/config/section_values.h>
#include <string.h>

static int check_file(const char *text, struct hd_error *err)
{
	return strcmp(text, "none") != 0 ? hd_value_path(text, err) : 0;
}

static const struct hd_option options[] = {
    {.name = "socket",
     .summary = "where heddle drain asks; empty: nowhere",
     .type = HD_OPTION_STRING,
     .fallback = HD_DRAIN_SOCKET,
     .validate = hd_value_socket},
    {.name = "group",
     .summary = "the group that may drain, besides root; empty: none",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "state",
     .summary =
	 "file of what is drained, for a restarted OpenSM; empty: beside guid2lid, none: no file",
     .type = HD_OPTION_STRING,
     .fallback = "",
     .validate = check_file},
};

const struct hd_config_section section_drain = {
    .name = "drain", .options = options, .option_count = sizeof(options) / sizeof(options[0])};
