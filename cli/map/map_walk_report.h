/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle map walk prints: one path, or the summary of all. */
#ifndef CLI_MAP_WALK_REPORT_H
#define CLI_MAP_WALK_REPORT_H

#include "json_value.h"
#include "subnets.h"

/* A path and its ends. */
struct map_walk_view {
	const struct hd_interconnect *interconnect;
	const struct hd_fabric *joined;
	uint32_t from, source, to, destination; /* as for hd_walk() */
};

void map_walk_print_path(const struct map_walk_view *view, const struct hd_journey *journey);
json_t *map_walk_path_json(const struct map_walk_view *view, const struct hd_journey *journey);

/* `view` without ends. */
void map_walk_print_report(const struct map_walk_view *view,
			   const struct hd_journey_report *report);
json_t *map_walk_report_json(const struct map_walk_view *view,
			     const struct hd_journey_report *report);

#endif
