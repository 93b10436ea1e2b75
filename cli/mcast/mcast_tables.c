/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The trees of groups that are in the switches. */
#include "json_value.h"
#include "mcast_job.h"
#include "mcast_report.h"
#include "message.h"
#include "progress.h"
#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Checks a group and makes its tree. The caller releases report and tree. */
static int look_at(const struct mcast_job *job, const struct hd_mft_group *group, uint32_t root,
		   struct hd_mft_report **report, struct mcast_tree *tree, struct hd_error *err)
{
	int rc = hd_mft_check(job->fabric, group, report, err);

	if (!rc && mcast_tree_make(job->fabric, group, root, tree))
		rc = hd_error_no_memory(err);
	return rc;
}

static int status_of(const struct hd_mft_report *report)
{
	return report->fault_count ? STATUS_FAULTS : STATUS_CLEAN;
}

int mcast_tables_show_group(const struct mcast_job *job, const struct hd_mft_group *group,
			    uint32_t mlid, uint32_t root)
{
	struct hd_error err = {""};
	struct hd_mft_report *report = NULL;
	struct mcast_tree tree = {.steps = NULL};
	int rc = look_at(job, group, root, &report, &tree, &err), status;
	const struct mcast_view view = {job->fabric, mlid, group, report, &tree};

	if (!rc && job->graph)
		rc = mcast_graph_draw(&view, job->graph, &err);
	if (rc) {
		status = message_fail(&err);
	} else if (job->json) {
		status = json_value_print(mcast_report_json(&view), status_of(report));
	} else {
		mcast_report_print(&view);
		status = status_of(report);
	}
	mcast_tree_release(&tree);
	hd_mft_report_free(report);
	return status;
}

/* ---- all groups ---- */

/* One group of several: its summary goes to standard output or to `list`. */
static int list_group(const struct mcast_job *job, const struct hd_mft_group *group, uint32_t mlid,
		      json_t **list)
{
	struct hd_error err = {""};
	struct hd_mft_report *report = NULL;
	struct mcast_tree tree = {.steps = NULL};
	int rc = look_at(job, group, HD_NONE, &report, &tree, &err);
	const struct mcast_view view = {job->fabric, mlid, group, report, &tree};
	int status = rc ? message_fail(&err) : status_of(report);

	if (!rc && job->json)
		*list = json_value_append(*list, mcast_report_json(&view));
	else if (!rc)
		mcast_report_print_summary(&view);
	mcast_tree_release(&tree);
	hd_mft_report_free(report);
	return status;
}

static int list_all(const struct mcast_job *job, const struct hd_mfts *mfts)
{
	json_t *list = job->json ? json_array() : NULL;
	int worst = STATUS_CLEAN;

	for (uint32_t first = 0; first < mfts->count && worst != STATUS_BAD;) {
		uint32_t mlid = mfts->entries[first].mlid;
		struct hd_mft_group group = {.entries = mfts->entries + first, .source = HD_NONE};
		while (first < mfts->count && mfts->entries[first].mlid == mlid) {
			group.entry_count++;
			first++;
		}
		int status = list_group(job, &group, mlid, &list);
		worst = status > worst ? status : worst;
	}
	if (worst == STATUS_BAD) {
		json_decref(list);
		return STATUS_BAD;
	}
	if (job->json)
		return json_value_print(json_pack("{s:o}", "groups", list), worst);
	if (!mfts->count)
		puts("no multicast groups");
	return worst;
}

static int show_one(const struct mcast_job *job, const struct hd_mfts *mfts)
{
	struct hd_mft_group group = {
	    .members = job->members, .member_count = job->member_count, .source = job->source};
	uint32_t root = HD_NONE, port = job->source;

	group.entries = hd_mfts_group(mfts, job->mlid, &group.entry_count);
	if (!group.entry_count && !job->members)
		return message_error("%s: no switch has an entry for 0x%04" PRIX32,
				     job->tables_path, job->mlid);
	if (port != HD_NONE && !hd_is_switch(job->fabric, job->fabric->port_node[port]))
		port = job->fabric->peer[port];
	if (port != HD_NONE)
		root = job->fabric->port_node[port];
	return mcast_tables_show_group(job, &group, job->mlid, root);
}

int mcast_tables(const struct mcast_job *job)
{
	struct hd_mfts *mfts = NULL;
	struct hd_error err = {""};

	progress_begin("reading multicast tables");
	int rc = hd_mfts_read(job->tables_path, job->fabric, &job->log, &mfts, &err);
	progress_end();
	int status = rc		 ? message_fail(&err)
		     : job->mlid ? show_one(job, mfts)
				 : list_all(job, mfts);
	hd_mfts_free(mfts);
	return status;
}
