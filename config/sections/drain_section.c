/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <errno.h>
#include <heddle/config/section_values.h>
#include <string.h>

#define PATH_SIZE HD_ERROR_TEXT

static int check_path(const char *text, struct hd_error *err)
{
	if (*text && *text != '/')
		return hd_error_set(err, -EINVAL, "expected an absolute path");
	if (strlen(text) >= PATH_SIZE)
		return hd_error_set(err, -EINVAL, "the path is too long");
	return 0;
}

static int check_socket(const char *text, struct hd_error *err)
{
	int rc = check_path(text, err);

	return rc ? rc : hd_value_socket_path(text, err);
}

static int check_file(const char *text, struct hd_error *err)
{
	return strcmp(text, "none") != 0 ? check_path(text, err) : 0;
}

static const struct hd_option options[] = {
    {.name = "socket",
     .summary = "where heddle drain asks; empty: nowhere",
     .type = HD_OPTION_STRING,
     .fallback = HD_DRAIN_SOCKET,
     .validate = check_socket},
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
