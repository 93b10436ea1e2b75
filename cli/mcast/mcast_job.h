/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of heddle mcast share: its arguments, and the members of the group. */
#ifndef CLI_MCAST_JOB_H
#define CLI_MCAST_JOB_H

#include <heddle/fabric.h>

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

/* Finds the ports of the members and of the source. 0 or a negative errno with a reason. */
int mcast_members_find(struct mcast_job *job, struct hd_error *err);

/* The three forms of the command. The exit status. */
int mcast_plan(const struct mcast_job *job); /* the tree of the members */
int mcast_plan_random(const struct mcast_job *job); /* trees of random groups */
int mcast_tables(const struct mcast_job *job); /* the trees in the switches */

/* Checks and shows one group. The root of its tree is switch `root`; HD_NONE: to be found. */
int mcast_tables_show_group(const struct mcast_job *job, const struct hd_mft_group *group,
			    uint32_t mlid, uint32_t root);

#endif
