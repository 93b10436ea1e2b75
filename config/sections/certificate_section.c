/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <errno.h>
#include <string.h>

static int check_path(const char *text, struct hd_error *err)
{
	if (*text && *text != '/')
		return hd_error_set(err, -EINVAL, "expected an absolute path");
	if (strlen(text) >= HD_ERROR_TEXT)
		return hd_error_set(err, -EINVAL, "the path is too long");
	return 0;
}

static const struct hd_option options[] = {
    {.name = "file",
     .summary = "where a certificate of the tables in force is written; empty: nowhere",
     .type = HD_OPTION_STRING,
     .fallback = "",
     .validate = check_path},
    {.name = "tables",
     .summary = "write the tables that it proves, too, beside it",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
};

const struct hd_config_section section_certificate = {.name = "certificate",
						      .options = options,
						      .option_count =
							  sizeof(options) / sizeof(options[0])};
