/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multicast_trees.h"
#include "host.h"
#include "multicast_members.h"
#include "plugin.h"
#include "snapshot.h"

#include <errno.h>
#include <heddle/engines/multicast.h>
#include <inttypes.h>
#include <opensm/osm_mcast_tbl.h>
#include <opensm/osm_multicast.h>
#include <stdlib.h>

#define MLIDS (IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO + 1)

struct multicast {
	struct hd_fabric *snapshot; /* our own, where the published routing's is distrusted */
	const struct hd_fabric *fabric;
	struct hd_multicast *planner;
	struct hd_multicast_tree *trees[MLIDS];
	uint32_t counted; /* the loads are those of the trees below this one */
	bool said_left_out;
};

static void multicast_free(struct multicast *multicast)
{
	if (!multicast)
		return;
	for (uint32_t i = 0; i < MLIDS; i++)
		free(multicast->trees[i]);
	hd_multicast_free(multicast->planner);
	hd_fabric_free(multicast->snapshot);
	free(multicast);
}

void multicast_forget(struct plugin *plugin)
{
	multicast_free(plugin->multicast);
	plugin->multicast = NULL;
	plugin->multicast_distrusted = false;
}

void multicast_distrust(struct plugin *plugin)
{
	multicast_forget(plugin);
	plugin->multicast_distrusted = true;
}

static int choose_fabric(struct plugin *plugin, struct multicast *multicast, struct hd_error *err)
{
	struct hd_log remarks = log_sink(&plugin->log);
	int rc;

	if (plugin->published && !plugin->multicast_distrusted) {
		multicast->fabric = plugin->published->fabric;
		return 0;
	}
	rc = snapshot_take(plugin->osm, &remarks, &multicast->snapshot, err);
	multicast->fabric = multicast->snapshot;
	return rc;
}

static int make_planner(struct plugin *plugin, struct multicast *multicast, struct hd_error *err)
{
	const struct hd_fabric *fabric = multicast->fabric;
	struct osm_switch **switches = snapshot_host_switches(fabric, plugin->osm);
	bool *forwards = calloc(fabric->switch_count, sizeof(*forwards));
	int rc;

	for (uint32_t sw = 0; switches && forwards && sw < fabric->switch_count; sw++)
		forwards[sw] = switches[sw] && osm_switch_supports_mcast(switches[sw]);
	rc = switches && forwards ? hd_multicast_new(fabric, forwards, &multicast->planner, err)
				  : hd_error_no_memory(err);
	free(forwards);
	free(switches);
	return rc;
}

static int start(struct plugin *plugin, struct hd_error *err)
{
	struct multicast *multicast;
	int rc;

	if (plugin->multicast)
		return 0;
	multicast = calloc(1, sizeof(*multicast));
	if (!multicast)
		return hd_error_no_memory(err);
	rc = choose_fabric(plugin, multicast, err);
	if (!rc)
		rc = make_planner(plugin, multicast, err);
	if (rc) {
		multicast_free(multicast);
		return rc;
	}
	plugin->multicast = multicast;
	return 0;
}

/* Members in a fabric that has them all, if OpenSM's subnet of now does. */
static int find_members(struct plugin *plugin, const osm_mgrp_box_t *box,
			struct multicast_members *members, struct hd_error *err)
{
	int rc = start(plugin, err);

	if (!rc)
		rc = multicast_members_find(plugin->multicast->fabric, box, members, err);
	if (rc || !members->unknown_count || plugin->multicast->snapshot)
		return rc;
	free(members->ports);
	multicast_distrust(plugin);
	rc = start(plugin, err);
	return rc ? rc : multicast_members_find(plugin->multicast->fabric, box, members, err);
}

/* Makes the loads those of all groups that are below the one at `index`. */
static void count_below(struct multicast *multicast, const osm_subn_t *subn, uint32_t index)
{
	for (; multicast->counted > index; multicast->counted--)
		if (multicast->trees[multicast->counted - 1])
			hd_multicast_remove(multicast->planner,
					    multicast->trees[multicast->counted - 1]);
	for (; multicast->counted < index; multicast->counted++) {
		struct hd_multicast_tree **tree = &multicast->trees[multicast->counted];

		if (*tree && !subn->mboxes[multicast->counted]) {
			free(*tree);
			*tree = NULL;
		}
		if (*tree)
			hd_multicast_add(multicast->planner, *tree);
	}
}

static void say_left_out(struct plugin *plugin, const osm_mgrp_box_t *box,
			 const struct multicast_members *members,
			 const struct hd_multicast_tree *tree)
{
	if (plugin->multicast->said_left_out || members->unknown_count + tree->left_out == 0)
		return;
	plugin->multicast->said_left_out = true;
	log_error(&plugin->log, LOG_ERROR_MULTICAST,
		  "MLID 0x%X: %u members are behind switches that do no multicast or that no "
		  "cable joins to the others, %u are unknown (the last of them 0x%016" PRIx64
		  "); left out, like others of later groups of this sweep",
		  box->mlid, tree->left_out, members->unknown_count, members->unknown);
}

/* The table of a branch's switch, NULL where OpenSM has none that can take the MLID. */
static osm_mcast_tbl_t *find_table(struct plugin *plugin, const struct hd_multicast_branch *branch,
				   uint16_t mlid)
{
	uint64_t guid = plugin->multicast->fabric->node_guid[branch->sw];
	osm_switch_t *sw = osm_get_switch_by_guid(&plugin->osm->subn, cl_hton64(guid));
	osm_mcast_tbl_t *table = sw ? osm_switch_get_mcast_tbl_ptr(sw) : NULL;

	return table && table->p_mask_tbl && mlid <= table->max_mlid_ho ? table : NULL;
}

static int check_tables(struct plugin *plugin, const struct hd_multicast_tree *tree, uint16_t mlid,
			struct hd_error *err)
{
	for (uint32_t i = 0; i < tree->branch_count; i++)
		if (!find_table(plugin, &tree->branches[i], mlid))
			return hd_error_set(
			    err, -ENOENT,
			    "OpenSM has no multicast table for MLID 0x%X at switch 0x%016" PRIx64,
			    mlid, plugin->multicast->fabric->node_guid[tree->branches[i].sw]);
	return 0;
}

static void write_tables(struct plugin *plugin, const struct hd_multicast_tree *tree, uint16_t mlid)
{
	for (uint32_t i = 0; i < tree->branch_count; i++) {
		const struct hd_multicast_branch *branch = &tree->branches[i];
		osm_mcast_tbl_t *table = find_table(plugin, branch, mlid);

		for (unsigned port = 0; port <= HD_PORTS_MAX; port++)
			if (hd_multicast_has_port(branch, port))
				osm_mcast_tbl_set(table, mlid, (uint8_t)port);
	}
}

static int build(struct plugin *plugin, const osm_mgrp_box_t *box, struct hd_error *err)
{
	uint32_t index = box->mlid - IB_LID_MCAST_START_HO;
	struct multicast_members members = {0};
	struct hd_multicast_tree *tree;
	struct multicast *multicast;
	struct hd_multicast_group group;
	int rc = find_members(plugin, box, &members, err);

	if (rc)
		return rc;
	multicast = plugin->multicast;
	group = (struct hd_multicast_group){members.ports, members.count, members.source};
	count_below(multicast, &plugin->osm->subn, index);
	rc = hd_multicast_plan(multicast->planner, &group, &tree, err);
	free(members.ports);
	if (rc)
		return rc;
	free(multicast->trees[index]);
	multicast->trees[index] = tree;
	say_left_out(plugin, box, &members, tree);
	rc = check_tables(plugin, tree, box->mlid, err);
	if (!rc)
		write_tables(plugin, tree, box->mlid);
	return rc;
}

bool multicast_build_tree(struct plugin *plugin, struct osm_mgrp_box *box)
{
	struct hd_error err;

	/* OpenSM's own tree, if another engine routed before; nothing of it holds any more */
	osm_purge_mtree(&plugin->osm->sm, box);
	if (!build(plugin, box, &err))
		return true;
	log_error(&plugin->log, LOG_ERROR_MULTICAST, "no multicast tree for MLID 0x%X: %s",
		  box->mlid, err.text);
	return false;
}
