/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle paths shows. */
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

/* The ports of hop `hop` of a path, 0 .. switch_count - 1: where it enters a switch and where it
 * leaves it (HD_NONE: nowhere, by no port, or by one that the switch does not have). */
struct paths_hop {
	uint32_t in, out; /* port indices; of port 0: the path begins at the switch itself */
};
struct paths_hop paths_report_hop(const struct paths_view *view, const struct hd_path *path,
				  uint32_t hop);

/* True where another path, which is not the same, crosses the link behind the hop, too. */
bool paths_report_shared(const struct paths_view *view, const struct hd_path *path, uint32_t hop);

void paths_report_print(const struct paths_view *view);
json_t *paths_report_json(const struct paths_view *view);

/* Draws all paths; see graphviz_draw(). */
int paths_graph_draw(const struct paths_view *view, const char *path, struct hd_error *err);

#endif
