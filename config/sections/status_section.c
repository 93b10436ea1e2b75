/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <heddle/config/section_values.h>

static const struct hd_option status_options[] = {
    {.name = "socket",
     .summary = "where heddle status and heddle metrics ask; empty: nowhere",
     .type = HD_OPTION_STRING,
     .fallback = HD_STATUS_SOCKET,
     .validate = hd_value_socket},
    {.name = "group",
     .summary = "the group that may ask; empty: the group of OpenSM",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};

static const struct hd_option metrics_options[] = {
    {.name = "textfile",
     .summary = "file for the node exporter of Prometheus, written after each sweep; empty: none",
     .type = HD_OPTION_STRING,
     .fallback = "",
     .validate = hd_value_path},
};

const struct hd_config_section section_status = {.name = "status",
						 .options = status_options,
						 .option_count = sizeof(status_options) /
								 sizeof(status_options[0])};

const struct hd_config_section section_metrics = {.name = "metrics",
						  .options = metrics_options,
						  .option_count = sizeof(metrics_options) /
								  sizeof(metrics_options[0])};
