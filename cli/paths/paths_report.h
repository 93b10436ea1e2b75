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

/* The ports of hop `hop` of a path, 0 .. switch_count - 1: where it enters a switch and where it
 * leaves the switch. HD_NONE: it ends there, or the entry is a port that the switch lacks. */
struct paths_hop {
	uint32_t in,
	    out; /* port indices; the index of port 0 if the path begins at the switch itself */
};
struct paths_hop paths_report_hop(const struct paths_view *view, const struct hd_path *path,
				  uint32_t hop);

/* True if a different path also crosses the link after the hop. */
bool paths_report_shared(const struct paths_view *view, const struct hd_path *path, uint32_t hop);

void paths_report_print(const struct paths_view *view);
json_t *paths_report_json(const struct paths_view *view);

/* Draws all paths; see graphviz_draw(). */
int paths_graph_draw(const struct paths_view *view, const char *path, struct hd_error *err);

#endif
