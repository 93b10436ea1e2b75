/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep_copies.h"
#include "opensm_headers.h"
#include "writer_mft.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 64u /* that are read together */

static int add_branch(struct sweep_tree *tree, uint64_t guid, const struct hd_port_set *ports)
{
	struct sweep_branch *branches =
	    hd_grow(tree->branches, tree->count, 1, &tree->room, sizeof(*branches));

	if (!branches)
		return -ENOMEM;
	tree->branches = branches;
	tree->branches[tree->count++] = (struct sweep_branch){guid, *ports};
	return 0;
}

int sweep_tree_put(struct sweep_tree *tree, uint64_t guid, const struct hd_port_set *ports)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->branches[i].guid != guid)
			tree->branches[kept++] = tree->branches[i];
	tree->count = kept;
	return hd_port_set_is_empty(ports) ? 0 : add_branch(tree, guid, ports);
}

int sweep_tree_read(struct osm_opensm *osm, uint32_t mlid, struct sweep_tree *tree)
{
	int rc = 0;

	tree->count = 0;
	MAP_FOREACH(osm_switch_t, sw, &osm->subn.sw_guid_tbl)
	{
		const uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
		struct hd_port_set ports;
		writer_mft_read(osm, guid, mlid - HD_MLID_FIRST, 1, &ports);
		if (!rc && !hd_port_set_is_empty(&ports))
			rc = add_branch(tree, guid, &ports);
	}
	return rc;
}

static int read_switch(struct sweep_copies *copies, struct osm_opensm *osm, const osm_switch_t *sw)
{
	const uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
	struct hd_port_set rows[ROWS];
	int rc = 0;

	for (uint32_t first = 0; first < sw->mcast_tbl.mft_depth && first < SWEEP_MLIDS;
	     first += ROWS) {
		const uint32_t left = SWEEP_MLIDS - first, count = left < ROWS ? left : ROWS;
		writer_mft_read(osm, guid, first, count, rows);
		for (uint32_t i = 0; !rc && i < count; i++)
			if (!hd_port_set_is_empty(&rows[i]))
				rc = add_branch(&copies->trees[first + i], guid, &rows[i]);
	}
	return rc;
}

int sweep_copies_read(struct sweep_copies *copies, struct osm_opensm *osm)
{
	int rc = 0;

	for (uint32_t i = 0; i < SWEEP_MLIDS; i++)
		copies->trees[i].count = 0;
	MAP_FOREACH(osm_switch_t, sw, &osm->subn.sw_guid_tbl)
	{
		rc = rc ? rc : read_switch(copies, osm, sw);
	}
	return rc;
}

int sweep_tree_add(const struct sweep_tree *tree, uint32_t mlid, const struct hd_fabric *fabric,
		   struct hd_mfts *mfts, uint32_t *room)
{
	struct hd_mft_entry *entries =
	    hd_grow(mfts->entries, mfts->count, tree->count + 1u, room, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	mfts->entries = entries;
	for (uint32_t i = 0; i < tree->count; i++) {
		const uint32_t sw = hd_fabric_find_node(fabric, tree->branches[i].guid);
		if (sw < fabric->switch_count)
			entries[mfts->count++] = (struct hd_mft_entry){
			    .mlid = mlid, .sw = sw, .ports = tree->branches[i].ports};
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct sweep_branch *a = left, *b = right;

	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

static void sort(struct sweep_tree *tree)
{
	if (tree->count)
		qsort(tree->branches, tree->count, sizeof(*tree->branches), compare);
}

bool sweep_tree_equal(struct sweep_tree *one, struct sweep_tree *other)
{
	bool same = one->count == other->count;

	sort(one);
	sort(other);
	for (uint32_t i = 0; same && i < one->count; i++)
		same = one->branches[i].guid == other->branches[i].guid &&
		       hd_port_set_equal(&one->branches[i].ports, &other->branches[i].ports);
	return same;
}

void sweep_tree_release(struct sweep_tree *tree)
{
	free(tree->branches);
	*tree = (struct sweep_tree){.branches = NULL};
}

void sweep_copies_free(struct sweep_copies *copies)
{
	for (uint32_t i = 0; copies && i < SWEEP_MLIDS; i++)
		sweep_tree_release(&copies->trees[i]);
	free(copies);
}
