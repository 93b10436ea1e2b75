/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of heddle mcast share: its arguments and its members, and the report on one
 * group, as text, as JSON and as a picture. */
#ifndef CLI_MCAST_REPORT_H
#define CLI_MCAST_REPORT_H

#include "json_value.h"

#include <heddle/fabric.h>

/* ---- the job ---- */

struct mcast_job {
	/* as typed */
	const char *fabric_path, *members_path, *source_name, *tables_path, *graph, *name_map;
	char *const *names; /* members */
	int name_count;
	int64_t groups, size, seed; /* groups 0: no random groups */
	uint32_t mlid; /* 0: all */
	bool json, verbose;
	/* after they are read */
	struct hd_log log;
	struct hd_fabric *fabric;
	uint32_t *members; /* port indices; NULL: no member is named */
	uint32_t member_count, member_room;
	uint32_t source; /* port index; HD_NONE: all members send */
};

/* The three forms of the command. The exit status. */
int mcast_plan(const struct mcast_job *job); /* the tree of the members */
int mcast_plan_random(const struct mcast_job *job); /* trees of random groups */
int mcast_tables(const struct mcast_job *job); /* the trees in the switches */

/* ---- the report ---- */

/* The report of heddle mcast on one group, as text, as JSON and as a picture. */

enum mcast_end {
	MCAST_SWITCH, /* a switch; its own steps follow */
	MCAST_AGAIN, /* a switch that the tree has reached before */
	MCAST_NO_ENTRY, /* a switch that drops the copy */
	MCAST_HOST, /* a host, or the switch itself (port 0) */
	MCAST_NOTHING /* no cable */
};

/* Steps in the order in which a tree is written: a switch, then the steps from its ports. */
struct mcast_step {
	enum mcast_end end;
	uint32_t depth;
	uint32_t from; /* port index where the copy leaves; HD_NONE: a root */
	uint32_t node; /* the node that it reaches; HD_NONE for NOTHING */
};

struct mcast_tree {
	struct mcast_step *steps;
	uint32_t count;
};

/*
 * The steps from `root` (a switch; HD_NONE: the switch that is nearest to the others), then those
 * from switches that are not reached from there. Released with mcast_tree_release().
 */
void mcast_tree_make(const struct hd_fabric *fabric, const struct hd_mft_group *group,
		     uint32_t root, struct mcast_tree *tree);

void mcast_tree_release(struct mcast_tree *tree);

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
