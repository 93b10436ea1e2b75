/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_source.h"
#include "interrupt.h"
#include "message.h"
#include "need.h"
#include "survive.h"

#include <errno.h>
#include <heddle/base/clock.h>
#include <heddle/base/grow.h>
#include <heddle/base/random.h>
#include <heddle/change/repair.h>
#include <heddle/change/repair_mfts.h>
#include <heddle/engines/multicast.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the repair of multicast trees takes after a single loss. */

int survive_groups_refuse(const struct survive_groups *groups, uint32_t repairs)
{
	if (groups->size && !groups->random)
		return message_error("--size is for --groups");
	if (groups->random && groups->tables_path)
		return message_error("--groups draws its members: give it no --mcfdbs");
	if ((groups->random || groups->tables_path) && !repairs)
		return message_error("--groups and --mcfdbs are for --repair");
	return 0;
}

/* Room for `count` groups. */
static void allocate(struct survive_groups *groups, uint32_t count)
{
	groups->mlids = need(calloc(count + 1u, sizeof(*groups->mlids)));
	groups->first = need(calloc(count + 1u, sizeof(*groups->first)));
}

static int draw(struct survive_groups *groups, const struct hd_fabric *fabric, uint64_t seed,
		struct hd_error *err)
{
	const uint32_t size = (uint32_t)(groups->size ? groups->size : RANDOM_GROUP_SIZE);
	const uint32_t count = (uint32_t)groups->random;

	if (size > fabric->host_count)
		return hd_error_set(err, -EINVAL,
				    "option '--size': %" PRIu32 " members, but only %" PRIu32
				    " hosts",
				    size, fabric->host_count);
	uint32_t *hosts = need(calloc(fabric->host_count + 1u, sizeof(*hosts)));
	allocate(groups, count);
	groups->members = need(calloc((size_t)count * size, sizeof(*groups->members)));
	for (uint32_t host = 0; host < fabric->host_count; host++)
		hosts[host] = host;
	for (uint32_t i = 0; i < count; i++) {
		groups->mlids[i] = HD_MLID_FIRST + i;
		fabric_source_draw_group(fabric, size, &seed, hosts,
					 groups->members + (size_t)i * size);
		groups->first[i + 1] = (i + 1) * size;
	}
	groups->count = count;
	free(hosts);
	return 0;
}

/* Adds the members that the entries of a group name. */
static int add_group(struct survive_groups *groups, const struct hd_fabric *fabric,
		     const struct hd_mft_entry *entries, uint32_t count, struct hd_error *err)
{
	const struct hd_mft_group group = {
	    .entries = entries, .entry_count = count, .source = HD_NONE};
	const uint32_t before = groups->first[groups->count];
	struct hd_mft_report *report;
	int rc = hd_mft_check(fabric, &group, &report, err);

	if (rc)
		return rc;
	groups->members =
	    need(realloc(groups->members,
			 ((size_t)before + report->member_count + 1) * sizeof(*groups->members)));
	memcpy(groups->members + before, report->members,
	       report->member_count * sizeof(*groups->members));
	groups->mlids[groups->count++] = entries->mlid;
	groups->first[groups->count] = before + report->member_count;
	hd_mft_report_free(report);
	return 0;
}

static int add_groups(struct survive_groups *groups, const struct hd_fabric *fabric,
		      const struct hd_mfts *mfts, struct hd_error *err)
{
	int rc = 0;

	allocate(groups, mfts->count);
	for (uint32_t begin = 0, end; !rc && begin < mfts->count; begin = end) {
		for (end = begin;
		     end < mfts->count && mfts->entries[end].mlid == mfts->entries[begin].mlid;
		     end++)
			continue;
		rc = add_group(groups, fabric, mfts->entries + begin, end - begin, err);
	}
	return rc;
}

int survive_groups_find(struct survive_groups *groups, const struct hd_fabric *fabric,
			uint64_t seed, const struct hd_log *log, struct hd_error *err)
{
	if (groups->tables_path) {
		struct hd_mfts *mfts = NULL;
		int rc = hd_mfts_read(groups->tables_path, fabric, log, &mfts, err);
		if (!rc)
			rc = add_groups(groups, fabric, mfts, err);
		hd_mfts_free(mfts);
		return rc;
	}
	return groups->random ? draw(groups, fabric, seed, err) : 0;
}

struct planning {
	const struct survive_trees *trees;
	const struct hd_fabric *fabric; /* before the loss, or what is left */
	struct hd_multicast *planner;
	struct hd_mfts *mfts; /* entries from malloc() */
	uint32_t room;
};

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
	uint32_t *members = need(malloc((most + 1u) * sizeof(*members)));

	const struct hd_multicast_group planned = {members, find_members(planning, group, members),
						   HD_NONE};
	int rc = hd_multicast_plan(planning->planner, &planned, &tree, err);
	if (!rc) {
		struct hd_mfts *mfts = planning->mfts;
		mfts->entries = need(hd_grow(mfts->entries, mfts->count, tree->branch_count + 1,
					     &planning->room, sizeof(*mfts->entries)));
		for (uint32_t i = 0; i < tree->branch_count; i++)
			mfts->entries[mfts->count++] = (struct hd_mft_entry){
			    groups->mlids[group], tree->branches[i].sw, tree->branches[i].ports};
		hd_multicast_add(planning->planner, tree);
	}
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

static int plan_trees(const struct survive_trees *trees, const struct hd_fabric *damaged,
		      struct hd_mfts *repaired, struct survive_multicast *out, struct hd_error *err)
{
	const struct hd_repair_mfts_request request = {.fabric = trees->fabric,
						       .damaged = damaged,
						       .in_place = &trees->in_place,
						       .repaired = repaired,
						       .mlids = trees->groups->mlids,
						       .group_count = trees->groups->count};
	const double begin = hd_clock_ms();
	struct hd_repair_mfts *plan = NULL;
	int rc = plan_all(trees, damaged, repaired, err);

	if (!rc)
		rc = hd_repair_mfts_plan(&request, &plan, err);
	out->plan_ms = hd_clock_ms() - begin;
	if (!rc) {
		out->hit = plan->hit;
		out->moved = plan->groups - plan->hit;
		out->writes = plan->write_count;
		out->steps = plan->steps;
		for (uint32_t i = 0; !rc && i < trees->groups->count; i++) {
			const struct hd_repair_mfts_group group = {
			    trees->groups->mlids[i],
			    trees->groups->members + trees->groups->first[i],
			    trees->groups->first[i + 1] - trees->groups->first[i]};
			enum hd_repair_mfts_verdict verdict = HD_REPAIR_MFTS_SOUND;
			rc = hd_repair_mfts_follow(&request, plan, &group, &verdict, err);
			if (verdict == HD_REPAIR_MFTS_LOOP && !out->loop)
				out->loop = group.mlid;
			if (verdict == HD_REPAIR_MFTS_MISSED && !out->missed)
				out->missed = group.mlid;
		}
	}
	hd_repair_mfts_free(plan);
	return rc;
}

bool survive_multicast_has_fault(const struct survive_multicast *multicast)
{
	return *multicast->refusal || multicast->loop || multicast->missed;
}

struct repairing {
	const struct table_source *source;
	const struct table_request *request;
	struct hd_repair_base *base;
	struct survive_trees trees;
};

/* The tables of the engine for what is left, and the plan. */
static int plan_repair(struct repairing *repairing, const struct hd_fabric *damaged,
		       struct hd_repair_plan **plan, struct hd_error *err)
{
	const struct hd_fabric *fabric = repairing->request->fabric;
	const struct hd_routes *in_place = repairing->request->previous;
	struct table_request request = *repairing->request;
	struct hd_routes *carried = NULL, *repaired = NULL;
	int rc = 0;

	request.fabric = damaged;
	if (damaged->node_count < fabric->node_count) {
		rc = hd_routes_rebase(fabric, in_place, damaged, &carried, err);
		request.previous = carried;
	}
	if (!rc)
		rc = table_source_route(repairing->source, &request, &repaired, err);
	if (!rc)
		rc = hd_repair_plan_new(repairing->base, in_place, damaged, repaired,
					&interrupt_go_on, plan, err);
	hd_routes_free(repaired);
	hd_routes_free(carried);
	return rc;
}

/* The repair counts if it is planned to its end. */
static int repair_one(struct repairing *repairing, const struct hd_fabric_change *loss,
		      struct survive_repairs *repairs, struct hd_error *err)
{
	const struct hd_fabric *fabric = repairing->request->fabric;
	struct survive_repair *out = &repairs->list[repairs->count];
	struct hd_fabric *damaged = NULL;
	struct hd_repair_plan *plan = NULL;
	double begin = hd_clock_ms();
	int rc = hd_fabric_without(fabric, loss, 1, HD_NONE, &damaged, err);

	if (rc)
		return rc;
	out->is_switch = !loss->cable;
	rc = plan_repair(repairing, damaged, &plan, err);
	out->plan_ms = hd_clock_ms() - begin;
	if (need_enough(rc) && !(rc == -ECANCELED && interrupt_came())) {
		snprintf(out->refusal, sizeof(out->refusal), "%s", err->text);
		rc = 0;
	}
	if (!rc && plan) {
		out->entries = plan->entries;
		out->switches = plan->switches;
		out->writes = plan->write_count;
		out->steps = plan->steps;
		out->left = plan->left;
		rc = hd_repair_find_loop(fabric, repairing->request->previous, damaged, plan,
					 &out->loop, err);
		if (!rc && repairing->trees.groups->count) {
			/* Plans the repair on what is left of the fabric, and follows packets through it. */
			struct hd_mfts repaired = {.entries = NULL};
			rc =
			    plan_trees(&repairing->trees, damaged, &repaired, &out->multicast, err);
			free(repaired.entries);
			out->multicast.tried = true;
			if (need_enough(rc)) {
				snprintf(out->multicast.refusal, sizeof(out->multicast.refusal),
					 "%s", err->text);
				rc = 0;
			}
		}
	}
	if (!rc)
		rc = hd_fabric_changes_print(fabric, damaged, 1, out->lost, sizeof(out->lost), err);
	repairs->count += !rc;
	hd_repair_plan_free(plan);
	hd_fabric_free(damaged);
	return rc;
}

/* Chooses `wanted` of the numbers below `count`: the first of a random permutation. */
static uint32_t choose(uint32_t *numbers, uint32_t count, uint32_t wanted, uint64_t *random)
{
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = i;
	for (uint32_t i = 0; i < wanted && i < count; i++) {
		uint32_t other = i + (uint32_t)hd_random_below(random, count - i);
		uint32_t kept = numbers[i];
		numbers[i] = numbers[other];
		numbers[other] = kept;
	}
	return wanted < count ? wanted : count;
}

static int repair_all(struct repairing *repairing, uint64_t seed, struct survive_repairs *repairs,
		      struct hd_error *err)
{
	const struct hd_fabric *fabric = repairing->request->fabric;
	const uint32_t most = fabric->isl_count + fabric->switch_count;
	uint32_t *cables = need(malloc((most + 1u) * sizeof(*cables)));
	uint32_t *chosen = need(malloc((most + 1u) * sizeof(*chosen)));
	int rc = 0;

	uint32_t count = 0;
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (link < fabric->isl_reverse[link])
			cables[count++] = hd_port_index(fabric, hd_isl_from(fabric, link),
							fabric->isl_port[link]);
	count = choose(chosen, count, repairs->each, &seed);
	for (uint32_t i = 0; !rc && i < count && !interrupt_came(); i++)
		rc =
		    repair_one(repairing, &(struct hd_fabric_change){true, true, cables[chosen[i]]},
			       repairs, err);
	/* without its only switch a fabric is none */
	count = fabric->switch_count > 1 ? fabric->switch_count : 0;
	count = choose(chosen, count, repairs->each, &seed);
	for (uint32_t i = 0; !rc && i < count && !interrupt_came(); i++)
		rc = repair_one(repairing, &(struct hd_fabric_change){true, false, chosen[i]},
				repairs, err);
	free(cables);
	free(chosen);
	return rc;
}

int survive_repair_run(const struct table_source *source, const struct table_request *request,
		       uint64_t seed, struct survive_repairs *repairs, struct hd_error *err)
{
	struct repairing repairing = {.source = source, .request = request};
	double begin = hd_clock_ms();
	int rc = hd_repair_base_new(request->fabric, request->previous, request->threads,
				    &interrupt_go_on, &repairing.base, err);

	repairs->base_ms = hd_clock_ms() - begin;
	if (rc)
		return rc;
	/* Plans the trees, one group after the other as a sweep does. */
	const struct hd_fabric *fabric = request->fabric;
	repairing.trees = (struct survive_trees){.fabric = fabric, .groups = &repairs->groups};
	rc = plan_all(&repairing.trees, fabric, &repairing.trees.in_place, err);
	repairs->list = need(calloc(2 * (size_t)repairs->each, sizeof(*repairs->list)));
	if (!rc)
		rc = repair_all(&repairing, seed, repairs, err);
	free(repairing.trees.in_place.entries);
	hd_repair_base_free(repairing.base);
	return rc;
}

void survive_repair_release(struct survive_repairs *repairs)
{
	free(repairs->groups.mlids);
	free(repairs->groups.first);
	free(repairs->groups.members);
	free(repairs->list);
}

bool survive_repair_has_fault(const struct survive_repairs *repairs)
{
	for (uint32_t i = 0; i < repairs->count; i++)
		if (*repairs->list[i].refusal || repairs->list[i].loop ||
		    survive_multicast_has_fault(&repairs->list[i].multicast))
			return true;
	return false;
}
