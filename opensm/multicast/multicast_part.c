/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that plans multicast trees and writes them into OpenSM's multicast forwarding tables,
 * for OpenSM's mcast_build_stree.
 *
 * OpenSM asks for one MLID at a time: in a sweep for all of them in ascending order, after a join
 * or leave only for that group. The part plans the tree of a group with the loads of the groups
 * with lower MLIDs. So the tree does not depend on the order in which the groups came.
 */
#include "engine_drained.h"
#include "multicast_members.h"
#include "opensm_headers.h"
#include "parts.h"
#include "routing.h"
#include "snapshot.h"
#include "stale.h"

#include <errno.h>
#include <heddle/engines/multicast.h>
#include <inttypes.h>
#include <opensm/osm_mcast_tbl.h>
#include <opensm/osm_multicast.h>
#include <stdlib.h>

#define MLIDS (IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO + 1)

/* What we keep from group to group: the fabric, the trees, the loads of its links. */
struct plans {
	struct routing *routing; /* the routing that owns the fabric; we hold it */
	struct hd_fabric
	    *snapshot; /* our own fabric, if that of the published routing is outdated */
	const struct hd_fabric *fabric;
	struct hd_multicast *planner;
	struct hd_multicast_tree *trees[MLIDS];
	uint32_t counted; /* the loads contain the trees below this index */
	bool said_left_out;
};

/* Only the hooks of the sweeper thread use it. */
struct multicast {
	struct part_context *context;
	struct plans *plans; /* NULL until a group is routed */
	bool outdated; /* the subnet may have changed since the routing was published */
};

static void free_plans(struct plans *plans)
{
	if (!plans)
		return;
	for (uint32_t i = 0; i < MLIDS; i++)
		free(plans->trees[i]);
	hd_multicast_free(plans->planner);
	hd_fabric_free(plans->snapshot);
	routing_release(plans->routing);
	free(plans);
}

/* Forgets trees and loads. We plan the next group on the fabric of the published routing. */
static void forget(struct multicast *multicast)
{
	free_plans(multicast->plans);
	multicast->plans = NULL;
	multicast->outdated = false;
}

/* Forgets trees and loads. We plan the next group on a new snapshot. */
static void expect_change(struct multicast *multicast)
{
	forget(multicast);
	multicast->outdated = true;
}

/* The unicast tables use nothing that a repair found lost after this sweep had begun, and trees should not
 * either. */
static void leave_out_lost(const struct part_context *context, struct plans *plans)
{
	struct stale_rest rest;
	struct hd_error err;

	if (stale_leave_out(context, plans->snapshot, &rest, &err))
		return;
	hd_fabric_free(plans->snapshot);
	plans->snapshot = rest.fabric;
}

static int choose_fabric(struct multicast *multicast, struct plans *plans, struct hd_error *err)
{
	struct part_context *context = multicast->context;
	struct hd_log remarks = log_sink(&context->log);
	int rc;

	if (context->published && !multicast->outdated) {
		plans->routing = routing_hold(context->published);
		plans->fabric = plans->routing->fabric;
		return 0;
	}
	rc = snapshot_take(context->osm, &remarks, &plans->snapshot, err);
	if (!rc) {
		engine_drained_leave_out(context, &plans->snapshot);
		leave_out_lost(context, plans);
	}
	plans->fabric = plans->snapshot;
	return rc;
}

static int make_planner(struct osm_opensm *osm, struct plans *plans, struct hd_error *err)
{
	const struct hd_fabric *fabric = plans->fabric;
	struct osm_switch **switches = snapshot_osm_switches(fabric, osm);
	bool *forwards = calloc(fabric->switch_count, sizeof(*forwards));
	int rc;

	for (uint32_t sw = 0; switches && forwards && sw < fabric->switch_count; sw++)
		forwards[sw] = switches[sw] && osm_switch_supports_mcast(switches[sw]);
	rc = switches && forwards ? hd_multicast_new(fabric, forwards, &plans->planner, err)
				  : hd_error_no_memory(err);
	free(forwards);
	free(switches);
	return rc;
}

static int start(struct multicast *multicast, struct hd_error *err)
{
	struct plans *plans;
	int rc;

	if (multicast->plans)
		return 0;
	plans = calloc(1, sizeof(*plans));
	if (!plans)
		return hd_error_no_memory(err);
	rc = choose_fabric(multicast, plans, err);
	if (!rc)
		rc = make_planner(multicast->context->osm, plans, err);
	if (rc) {
		free_plans(plans);
		return rc;
	}
	multicast->plans = plans;
	return 0;
}

/* Finds the members. If the fabric lacks some, takes a new snapshot and finds them there. */
static int find_members(struct multicast *multicast, const osm_mgrp_box_t *box,
			struct multicast_members *members, struct hd_error *err)
{
	int rc = start(multicast, err);

	if (!rc)
		rc = multicast_members_find(multicast->plans->fabric, box, members, err);
	if (rc || !members->unknown_count || multicast->plans->snapshot)
		return rc;
	free(members->ports);
	expect_change(multicast);
	rc = start(multicast, err);
	return rc ? rc : multicast_members_find(multicast->plans->fabric, box, members, err);
}

/* Makes the loads those of all groups below `index`. */
static void count_below(struct plans *plans, const osm_subn_t *subn, uint32_t index)
{
	for (; plans->counted > index; plans->counted--)
		if (plans->trees[plans->counted - 1])
			hd_multicast_remove(plans->planner, plans->trees[plans->counted - 1]);
	for (; plans->counted < index; plans->counted++) {
		struct hd_multicast_tree **tree = &plans->trees[plans->counted];

		if (*tree && !subn->mboxes[plans->counted]) {
			free(*tree);
			*tree = NULL;
		}
		if (*tree)
			hd_multicast_add(plans->planner, *tree);
	}
}

static void say_left_out(const struct multicast *multicast, const osm_mgrp_box_t *box,
			 const struct multicast_members *members,
			 const struct hd_multicast_tree *tree)
{
	if (multicast->plans->said_left_out || members->unknown_count + tree->left_out == 0)
		return;
	multicast->plans->said_left_out = true;
	log_error(
	    &multicast->context->log, LOG_ERROR_MULTICAST,
	    "MLID 0x%X: left out %u members behind switches that do not support multicast or "
	    "that no cable joins to the others, and %u members that are not in the fabric (the "
	    "last of them 0x%016" PRIx64 "); the log names only the first such group of a sweep",
	    box->mlid, tree->left_out, members->unknown_count, members->unknown);
}

/* The table of a branch's switch. NULL if OpenSM has no table there that has room for the MLID. */
static osm_mcast_tbl_t *find_table(const struct multicast *multicast,
				   const struct hd_multicast_branch *branch, uint16_t mlid)
{
	uint64_t guid = multicast->plans->fabric->node_guid[branch->sw];
	osm_switch_t *sw = osm_get_switch_by_guid(&multicast->context->osm->subn, cl_hton64(guid));
	osm_mcast_tbl_t *table = sw ? osm_switch_get_mcast_tbl_ptr(sw) : NULL;

	return table && table->p_mask_tbl && mlid <= table->max_mlid_ho ? table : NULL;
}

static int check_tables(const struct multicast *multicast, const struct hd_multicast_tree *tree,
			uint16_t mlid, struct hd_error *err)
{
	for (uint32_t i = 0; i < tree->branch_count; i++)
		if (!find_table(multicast, &tree->branches[i], mlid))
			return hd_error_set(
			    err, -ENOENT,
			    "OpenSM has no multicast table for MLID 0x%X at switch 0x%016" PRIx64,
			    mlid, multicast->plans->fabric->node_guid[tree->branches[i].sw]);
	return 0;
}

static void write_tables(const struct multicast *multicast, const struct hd_multicast_tree *tree,
			 uint16_t mlid)
{
	for (uint32_t i = 0; i < tree->branch_count; i++) {
		const struct hd_multicast_branch *branch = &tree->branches[i];
		osm_mcast_tbl_t *table = find_table(multicast, branch, mlid);

		HD_PORT_SET_FOREACH(port, &branch->ports)
			osm_mcast_tbl_set(table, mlid, (uint8_t)port);
	}
}

static int build(struct multicast *multicast, const osm_mgrp_box_t *box, struct hd_error *err)
{
	uint32_t index = box->mlid - IB_LID_MCAST_START_HO;
	struct multicast_members members = {0};
	struct hd_multicast_tree *tree;
	struct hd_multicast_group group;
	struct plans *plans;
	int rc = find_members(multicast, box, &members, err);

	if (rc)
		return rc;
	plans = multicast->plans;
	group = (struct hd_multicast_group){members.ports, members.count, members.source};
	count_below(plans, &multicast->context->osm->subn, index);
	rc = hd_multicast_plan(plans->planner, &group, &tree, err);
	free(members.ports);
	if (rc)
		return rc;
	free(plans->trees[index]);
	plans->trees[index] = tree;
	say_left_out(multicast, box, &members, tree);
	rc = check_tables(multicast, tree, box->mlid, err);
	if (!rc)
		write_tables(multicast, tree, box->mlid);
	return rc;
}

/* The tree leaves out members that multicast cannot reach, and the log says so. */
static bool multicast_tree(void *state, struct osm_mgrp_box *box)
{
	struct multicast *multicast = state;
	struct part_context *context = multicast->context;
	struct hd_error err;

	/* remove OpenSM's own tree, which it built if another engine routed before */
	osm_purge_mtree(&context->osm->sm, box);
	if (!build(multicast, box, &err))
		return true;
	log_error(&context->log, LOG_ERROR_MULTICAST, "no multicast tree for MLID 0x%X: %s",
		  box->mlid, err.text);
	return false;
}

/* OpenSM discovers the subnet again. It may then route from its unicast cache and not ask the
 * engine. */
static void sweep_begins(void *state)
{
	expect_change(state);
}

static void published(void *state)
{
	forget(state);
}

static int create(struct part_context *context, void **state, struct hd_error *err)
{
	struct multicast *multicast = calloc(1, sizeof(*multicast));

	if (!multicast)
		return hd_error_no_memory(err);
	multicast->context = context;
	*state = multicast;
	return 0;
}

static void destroy(void *state)
{
	forget(state);
	free(state);
}

const struct part multicast_part = {
    .name = "multicast",
    .create = create,
    .sweep_begins = sweep_begins,
    .published = published,
    .multicast_tree = multicast_tree,
    .destroy = destroy,
};
