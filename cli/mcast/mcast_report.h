/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle mcast on one group, as text, as JSON and as a picture. */
#ifndef CLI_MCAST_REPORT_H
#define CLI_MCAST_REPORT_H

#include "json_value.h"
#include "mcast_tree.h"

struct mcast_view {
	const struct hd_fabric *fabric;
	uint32_t mlid; /* 0: planned */
	const struct hd_mft_group *group;
	const struct hd_mft_report *report;
	const struct mcast_tree *tree;
};

/* The tree, indented; then the summary. */
void mcast_report_print(const struct mcast_view *view);

/* One line, and one for each fault. */
void mcast_report_print_summary(const struct mcast_view *view);

/* NULL: no memory. */
json_t *mcast_report_json(const struct mcast_view *view);

/* "'leaf1' 0x...[3]" as JSON. */
json_t *mcast_report_port_json(const struct hd_fabric *fabric, uint32_t port);

/* Draws the tree; see graphviz_draw(). */
int mcast_graph_draw(const struct mcast_view *view, const char *path, struct hd_error *err);

#endif
