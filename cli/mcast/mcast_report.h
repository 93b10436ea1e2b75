/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle mcast shows of one group. */
#ifndef CLI_MCAST_REPORT_H
#define CLI_MCAST_REPORT_H

#include "common.h"
#include "mcast_tree.h"

struct mcast_view {
	const struct hd_fabric *fabric;
	uint32_t mlid; /* 0: planned */
	const struct hd_mft_group *group;
	const struct hd_mft_report *report;
	const struct mcast_tree *tree;
};

/* The tree, indented; then the summary. */
void cli_mcast_print(const struct mcast_view *view);

/* One line, and one for each fault. */
void cli_mcast_print_summary(const struct mcast_view *view);

/* NULL: no memory. */
json_t *cli_mcast_json(const struct mcast_view *view);

/* "'leaf1' 0x...[3]" as JSON. */
json_t *cli_mcast_port_json(const struct hd_fabric *fabric, uint32_t port);

/* Draws the tree; see cli_graph_draw(). */
int cli_mcast_draw(const struct mcast_view *view, const char *path, struct hd_error *err);

#endif
