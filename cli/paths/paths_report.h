/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle paths shows. */
#ifndef CLI_PATHS_REPORT_H
#define CLI_PATHS_REPORT_H

#include "common.h"

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
struct paths_hop cli_paths_hop(const struct paths_view *view, const struct hd_path *path,
			       uint32_t hop);

/* True where another path, which is not the same, crosses the link behind the hop, too. */
bool cli_paths_shared(const struct paths_view *view, const struct hd_path *path, uint32_t hop);

void cli_paths_print(const struct paths_view *view);
json_t *cli_paths_json(const struct paths_view *view);

/* Draws all paths; see cli_graph_draw(). */
int cli_paths_draw(const struct paths_view *view, const char *path, struct hd_error *err);

#endif
