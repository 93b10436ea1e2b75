/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle paths, as text, as JSON and as a picture. */
#ifndef CLI_PATHS_REPORT_H
#define CLI_PATHS_REPORT_H

#include "json_value.h"

#include <heddle/fabric.h>

struct paths_view {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_path_set *set;
	const char *tables_name;
};

void paths_report_print(const struct paths_view *view);
json_t *paths_report_json(const struct paths_view *view);

/* Draws all paths; see graphviz_draw(). */
int paths_graph_draw(const struct paths_view *view, const char *path, struct hd_error *err);

#endif
