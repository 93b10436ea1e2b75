/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The trees of multicast groups: those that are in the switches, and those that Heddle plans. */
#include "fabric_source.h"
#include "json_value.h"
#include "mcast_report.h"
#include "message.h"
#include "need.h"
#include "progress.h"

#include <heddle/engines/multicast.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The trees of groups that are in the switches. */

/* Checks a group and makes its tree. The caller releases report and tree. */
static int look_at(const struct mcast_job *job, const struct hd_mft_group *group, uint32_t root,
		   struct hd_mft_report **report, struct mcast_tree *tree, struct hd_error *err)
{
	int rc = hd_mft_check(job->fabric, group, report, err);

	if (!rc)
		mcast_tree_make(job->fabric, group, root, tree);
	return rc;
}

static int status_of(const struct hd_mft_report *report)
{
	return report->fault_count ? STATUS_FAULTS : STATUS_CLEAN;
}

/* Checks and shows one group. The root of its tree is switch `root`; HD_NONE: to be found. */
static int mcast_tables_show_group(const struct mcast_job *job, const struct hd_mft_group *group,
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
		/* One group of several. */
		struct hd_error err = {""};
		struct hd_mft_report *report = NULL;
		struct mcast_tree tree = {.steps = NULL};
		int rc = look_at(job, &group, HD_NONE, &report, &tree, &err);
		const struct mcast_view view = {job->fabric, mlid, &group, report, &tree};
		int status = rc ? message_fail(&err) : status_of(report);
		if (!rc && job->json)
			list = json_value_append(list, mcast_report_json(&view));
		else if (!rc)
			mcast_report_print_summary(&view);
		mcast_tree_release(&tree);
		hd_mft_report_free(report);
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

/* Trees that Heddle plans: of one group, or of many random groups. */

static int by_switch(const void *left, const void *right)
{
	const struct hd_mft_entry *a = left, *b = right;

	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

static int show_tree(const struct mcast_job *job, const struct hd_multicast_tree *tree)
{
	/* The entries that a tree gives to switches. */
	struct hd_mft_entry *entries =
	    need(calloc((size_t)tree->branch_count + 1, sizeof(*entries)));
	for (uint32_t i = 0; i < tree->branch_count; i++) {
		entries[i].sw = tree->branches[i].sw;
		entries[i].ports = tree->branches[i].ports;
	}
	qsort(entries, tree->branch_count, sizeof(*entries), by_switch);

	const struct hd_mft_group group = {.entries = entries,
					   .entry_count = tree->branch_count,
					   .members = job->members,
					   .member_count = job->member_count,
					   .source = tree->one_way ? job->source : HD_NONE};
	int status = mcast_tables_show_group(job, &group, 0,
					     tree->branch_count ? tree->branches[0].sw : HD_NONE);
	free(entries);
	return status;
}

int mcast_plan(const struct mcast_job *job)
{
	struct hd_multicast *multicast = NULL;
	struct hd_multicast_tree *tree = NULL;
	struct hd_error err = {""};
	const struct hd_multicast_group group = {job->members, job->member_count, job->source};
	int rc = hd_multicast_new(job->fabric, NULL, &multicast, &err);

	if (!rc)
		rc = hd_multicast_plan(multicast, &group, &tree, &err);
	int status = rc ? message_fail(&err) : show_tree(job, tree);
	free(tree);
	hd_multicast_free(multicast);
	return status;
}

struct sums {
	uint64_t links, left_out;
	uint32_t most_links, loaded, least, most, busiest;
};

static int plan_one(struct hd_multicast *multicast, const uint32_t *members, uint32_t size,
		    struct sums *sums, struct hd_error *err)
{
	const struct hd_multicast_group group = {members, size, HD_NONE};
	struct hd_multicast_tree *tree = NULL;
	int rc = hd_multicast_plan(multicast, &group, &tree, err);

	if (rc)
		return rc;
	uint32_t links = tree->branch_count ? tree->branch_count - 1 : 0;
	sums->links += links;
	sums->left_out += tree->left_out;
	sums->most_links = links > sums->most_links ? links : sums->most_links;
	hd_multicast_add(multicast, tree);
	free(tree);
	return 0;
}

static double mean_load(const struct hd_fabric *fabric, const struct sums *sums)
{
	return fabric->isl_count ? 2.0 * (double)sums->links / fabric->isl_count : 0.0;
}

/* The port at the near end of the busiest link; HD_NONE without links. */
static uint32_t busiest_port(const struct hd_fabric *fabric, const struct sums *sums)
{
	if (sums->busiest == HD_NONE)
		return HD_NONE;
	uint32_t from = hd_isl_from(fabric, sums->busiest);
	return hd_port_index(fabric, from, fabric->isl_port[sums->busiest]);
}

static json_t *busiest_json(const struct hd_fabric *fabric, const struct sums *sums)
{
	uint32_t port = busiest_port(fabric, sums);

	if (port == HD_NONE)
		return json_null();
	return json_pack("{s:o, s:o}", "from", mcast_report_port_json(fabric, port), "to",
			 mcast_report_port_json(fabric, fabric->peer[port]));
}

static json_t *loads_json(const struct hd_fabric *fabric, const struct sums *sums)
{
	return json_pack("{s:I, s:f, s:I, s:I, s:I, s:o}", "min", (json_int_t)sums->least, "mean",
			 mean_load(fabric, sums), "max", (json_int_t)sums->most, "used",
			 (json_int_t)sums->loaded, "links", (json_int_t)fabric->isl_count,
			 "busiest", busiest_json(fabric, sums));
}

static json_t *sums_json(const struct mcast_job *job, const struct sums *sums)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:{s:f, s:I}, s:o}", "groups",
			 (json_int_t)job->groups, "size", (json_int_t)job->size, "seed",
			 (json_int_t)job->seed, "left_out", (json_int_t)sums->left_out,
			 "links_a_tree", "mean", (double)sums->links / (double)job->groups, "max",
			 (json_int_t)sums->most_links, "trees_a_link",
			 loads_json(job->fabric, sums));
}

static int show_sums(const struct mcast_job *job, const struct sums *sums)
{
	int status = sums->left_out ? STATUS_FAULTS : STATUS_CLEAN;

	if (job->json)
		return json_value_print(sums_json(job, sums), status);
	const struct hd_fabric *fabric = job->fabric;
	uint32_t port = busiest_port(fabric, sums);
	char label[HD_LABEL_SIZE];
	printf("groups          %" PRId64 " of %" PRId64 " hosts each\n", job->groups, job->size);
	printf("links a tree    mean %.2f, most %" PRIu32 "\n",
	       (double)sums->links / (double)job->groups, sums->most_links);
	printf("trees a link    min %" PRIu32 ", mean %.2f, max %" PRIu32 "; %" PRIu32
	       " of %" PRIu32 " links in use\n",
	       sums->least, mean_load(fabric, sums), sums->most, sums->loaded, fabric->isl_count);
	if (port != HD_NONE) {
		printf("busiest link    %s", hd_port_label(fabric, port, label, sizeof(label)));
		printf(" -> %s\n", hd_port_label(fabric, fabric->peer[port], label, sizeof(label)));
	}
	if (sums->left_out)
		printf("left out        %" PRIu64 " members that cannot be reached\n",
		       sums->left_out);
	return status;
}

int mcast_plan_random(const struct mcast_job *job)
{
	const struct hd_fabric *fabric = job->fabric;
	struct hd_multicast *multicast = NULL;
	struct hd_error err = {""};
	struct sums sums = {.links = 0};

	if (job->size > fabric->host_count)
		return message_error("option '--size': %" PRId64 " members, but only %" PRIu32
				     " hosts",
				     job->size, fabric->host_count);
	uint32_t *hosts = need(calloc((size_t)fabric->host_count + 1, sizeof(*hosts)));
	uint32_t *members = need(calloc((size_t)job->size + 1, sizeof(*members)));
	int rc = hd_multicast_new(fabric, NULL, &multicast, &err);
	if (!rc) {
		progress_begin("planning %" PRId64 " trees", job->groups);
		uint64_t seed = (uint64_t)job->seed;
		for (uint32_t host = 0; host < job->fabric->host_count; host++)
			hosts[host] = host;
		for (int64_t i = 0; !rc && i < job->groups; i++) {
			fabric_source_draw_group(job->fabric, (uint32_t)job->size, &seed, hosts,
						 members);
			rc = plan_one(multicast, members, (uint32_t)job->size, &sums, &err);
		}
		progress_end();
	}
	if (!rc) {
		sums.least = UINT32_MAX;
		sums.busiest = HD_NONE;
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t load = hd_multicast_load(multicast, link);
			sums.loaded += load > 0;
			sums.least = load < sums.least ? load : sums.least;
			if (load > sums.most || link == 0) {
				sums.most = load;
				sums.busiest = link;
			}
		}
		if (!fabric->isl_count)
			sums.least = 0;
	}
	int status = rc ? message_fail(&err) : show_sums(job, &sums);
	hd_multicast_free(multicast);
	free(members);
	free(hosts);
	return status;
}
