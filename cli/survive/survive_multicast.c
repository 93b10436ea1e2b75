/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "survive_multicast.h"
#include "survive_clock.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/engines/multicast.h>
#include <heddle/fabric/repair_mfts.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- trees ---- */

struct planning {
	const struct survive_trees *trees;
	const struct hd_fabric *fabric; /* before the loss, or what is left */
	struct hd_multicast *planner;
	struct hd_mfts *mfts; /* entries from malloc() */
	uint32_t room;
};

static int add_tree(struct planning *planning, uint32_t mlid, const struct hd_multicast_tree *tree)
{
	struct hd_mfts *mfts = planning->mfts;
	struct hd_mft_entry *entries = hd_grow(mfts->entries, mfts->count, tree->branch_count + 1,
					       &planning->room, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	mfts->entries = entries;
	for (uint32_t i = 0; i < tree->branch_count; i++)
		mfts->entries[mfts->count++] =
		    (struct hd_mft_entry){mlid, tree->branches[i].sw, tree->branches[i].ports};
	hd_multicast_add(planning->planner, tree);
	return 0;
}

/* The members of a group that are cabled to a switch. members[] has room for all. */
static uint32_t find_members(const struct planning *planning, uint32_t group, uint32_t *members)
{
	const struct hd_fabric *before = planning->trees->fabric, *fabric = planning->fabric;
	const struct survive_groups *groups = planning->trees->groups;
	uint32_t count = 0;

	for (uint32_t i = groups->first[group]; i < groups->first[group + 1]; i++) {
		const uint32_t port = groups->members[i];
		uint32_t node =
		    hd_fabric_find_node(fabric, before->node_guid[before->port_node[port]]);
		if (node == HD_NONE)
			continue;
		members[count] = hd_port_index(fabric, node, hd_port_number(before, port));
		count += hd_fabric_entry(fabric, members[count]) != HD_NONE;
	}
	return count;
}

static int plan_group(struct planning *planning, uint32_t group, struct hd_error *err)
{
	const struct survive_groups *groups = planning->trees->groups;
	struct hd_multicast_tree *tree = NULL;
	uint32_t most = groups->first[group + 1] - groups->first[group];
	uint32_t *members = malloc((most + 1u) * sizeof(*members));

	if (!members)
		return hd_error_no_memory(err);
	const struct hd_multicast_group planned = {members, find_members(planning, group, members),
						   HD_NONE};
	int rc = hd_multicast_plan(planning->planner, &planned, &tree, err);
	if (!rc && add_tree(planning, groups->mlids[group], tree))
		rc = hd_error_no_memory(err);
	free(tree);
	free(members);
	return rc;
}

/* The trees of all groups on a fabric. All switches do multicast. */
static int plan_all(const struct survive_trees *trees, const struct hd_fabric *fabric,
		    struct hd_mfts *mfts, struct hd_error *err)
{
	struct planning planning = {.trees = trees, .fabric = fabric, .mfts = mfts};
	int rc = hd_multicast_new(fabric, NULL, &planning.planner, err);

	for (uint32_t group = 0; !rc && group < trees->groups->count; group++)
		rc = plan_group(&planning, group, err);
	hd_mfts_sort(mfts);
	hd_multicast_free(planning.planner);
	return rc;
}

int survive_multicast_begin(struct survive_trees *trees, const struct hd_fabric *fabric,
			    const struct survive_groups *groups, struct hd_error *err)
{
	*trees = (struct survive_trees){.fabric = fabric, .groups = groups};
	return plan_all(trees, fabric, &trees->in_place, err);
}

void survive_multicast_end(struct survive_trees *trees)
{
	free(trees->in_place.entries);
}

/* ---- a repair ---- */

static int follow_all(const struct hd_repair_mfts_request *request,
		      const struct hd_repair_mfts *plan, const struct survive_groups *groups,
		      struct survive_multicast *out, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < groups->count; i++) {
		const struct hd_repair_mfts_group group = {groups->mlids[i],
							   groups->members + groups->first[i],
							   groups->first[i + 1] - groups->first[i]};
		enum hd_repair_mfts_verdict verdict = HD_REPAIR_MFTS_SOUND;
		rc = hd_repair_mfts_follow(request, plan, &group, &verdict, err);
		if (verdict == HD_REPAIR_MFTS_LOOP && !out->loop)
			out->loop = group.mlid;
		if (verdict == HD_REPAIR_MFTS_MISSED && !out->missed)
			out->missed = group.mlid;
	}
	return rc;
}

static int plan_repair(const struct survive_trees *trees, const struct hd_fabric *damaged,
		       struct hd_mfts *repaired, struct survive_multicast *out,
		       struct hd_error *err)
{
	const struct hd_repair_mfts_request request = {.fabric = trees->fabric,
						       .damaged = damaged,
						       .in_place = &trees->in_place,
						       .repaired = repaired,
						       .mlids = trees->groups->mlids,
						       .group_count = trees->groups->count};
	const double begin = survive_clock_ms();
	struct hd_repair_mfts *plan = NULL;
	int rc = plan_all(trees, damaged, repaired, err);

	if (!rc)
		rc = hd_repair_mfts_plan(&request, &plan, err);
	out->plan_ms = survive_clock_ms() - begin;
	if (!rc) {
		out->hit = plan->hit;
		out->moved = plan->groups - plan->hit;
		out->writes = plan->write_count;
		out->steps = plan->steps;
		rc = follow_all(&request, plan, trees->groups, out, err);
	}
	hd_repair_mfts_free(plan);
	return rc;
}

int survive_multicast_repair(const struct survive_trees *trees, const struct hd_fabric *damaged,
			     struct survive_multicast *out, struct hd_error *err)
{
	struct hd_mfts repaired = {.entries = NULL};
	int rc = plan_repair(trees, damaged, &repaired, out, err);

	free(repaired.entries);
	out->tried = true;
	if (rc && rc != -ENOMEM) {
		snprintf(out->refusal, sizeof(out->refusal), "%s", err->text);
		rc = 0;
	}
	return rc;
}

bool survive_multicast_has_fault(const struct survive_multicast *multicast)
{
	return *multicast->refusal || multicast->loop || multicast->missed;
}
