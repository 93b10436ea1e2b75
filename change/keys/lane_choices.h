/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What packets to one LID depend on if a switch may send them by any of several ports: those of its entries in several
 * tables, and those of the group that a plan has for the LID. For graphs that are ordered.
 */
#ifndef CHANGE_LANE_CHOICES_H
#define CHANGE_LANE_CHOICES_H

#include "lane_graphs.h"

struct hd_ar_switch;

struct lane_choices {
	struct lane_graphs *graphs;
	const struct hd_ar_switch **planned; /* [switch_count] NULL: it has no groups */
	uint32_t words; /* of a set of links */
	uint64_t *links; /* [switch_count * words] by which packets to the LID at hand may leave */
	uint32_t *queue; /* [switch_count] a ring of switches whose lanes have changed */
	bool *queued; /* [switch_count] */
};

/* Memory from the arena of the graphs. The plan, whose switches are matched by GUID, must outlive it. Errors: -ENOMEM,
 * without a reason. */
int lane_choices_init(struct lane_choices *choices, struct lane_graphs *graphs,
		      const struct hd_ar_plan *plan);

/*
 * Adds the dependencies of packets to a LID, by the entries in tables[count] and the groups. Lanes are those of the first
 * table. False: one would close a cycle. Without a cycle no packet goes in a circle either. Cost: O(links + ports of
 * groups), and what the order of the graphs takes.
 */
bool lane_choices_add(struct lane_choices *choices, const struct hd_routes *const *tables,
		      unsigned count, uint32_t lid);

#endif
