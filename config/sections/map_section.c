/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <errno.h>
#include <heddle/config/section_values.h>

static const struct hd_option options[] = {
    {.name = "file",
     .summary = "the map: which router port each destination in other subnets uses",
     .type = HD_OPTION_STRING,
     .fallback = ""},
    {.name = "algorithm",
     .summary = "where the map comes from: the file, or what routers hand over, by ISSR or ISFR",
     .type = HD_OPTION_CHOICE,
     .fallback = "file",
     .choices = "file|issr|isfr"},
    {.name = "router_socket",
     .summary = "where routers connect: a path or ADDRESS:PORT; empty: they cannot",
     .type = HD_OPTION_STRING,
     .fallback = "",
     .validate = hd_value_socket_or_port},
    {.name = "router_group",
     .summary = "the group that may connect to a path; empty: heddle-router if there is one",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};

enum { BY_FILE, BY_ISSR, BY_ISFR };

static int check_options(const struct hd_options *values, const char **key, struct hd_error *err)
{
	if (hd_options_get(values, "algorithm")->number == BY_FILE ||
	    *hd_options_get(values, "router_socket")->text)
		return 0;
	*key = "algorithm";
	return hd_error_set(err, -EINVAL,
			    "algorithm = issr and isfr need router_socket, where routers hand over "
			    "the hosts of other subnets");
}

const struct hd_config_section section_map = {.name = "map",
					      .options = options,
					      .option_count = sizeof(options) / sizeof(options[0]),
					      .check = check_options};
