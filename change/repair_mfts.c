/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_mfts_work.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is left of the fabric ---- */

static int allocate(struct repair_mfts_work *work)
{
	const uint32_t left = work->request->damaged->switch_count;

	work->entry = hd_arena_alloc(&work->arena, left, sizeof(*work->entry));
	work->queue = hd_arena_alloc(&work->arena, left, sizeof(*work->queue));
	work->seen = hd_arena_alloc(&work->arena, left, sizeof(*work->seen));
	if (remains_init(&work->remains, work->request->fabric, work->request->damaged,
			 &work->arena) ||
	    hd_arena_check(&work->arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < left; sw++)
		work->entry[sw] = HD_NONE;
	return 0;
}

/* ---- that the new entries are a tree ---- */

/* The entry at the other end of a port, if both ends have the cable; HD_NONE: the port leads to an
 * adapter or is the switch itself. */
static int follow_port(const struct repair_mfts_work *work, const struct hd_mft_entry *entries,
		       uint32_t sw, uint32_t port, uint32_t *next, struct hd_error *err)
{
	const struct hd_fabric *fabric = work->request->damaged;
	uint32_t mlid = entries->mlid;

	*next = HD_NONE;
	if (port > hd_node_ports(fabric, sw))
		return hd_error_set(err, -EINVAL, "MLID 0x%X: switch '%s' has no port %u", mlid,
				    fabric->node_name[sw], port);
	uint32_t index = hd_port_index(fabric, sw, port);
	uint32_t peer = port ? fabric->peer[index] : index;
	if (peer == HD_NONE)
		return hd_error_set(err, -EINVAL, "MLID 0x%X: '%s'[%u] has no cable", mlid,
				    fabric->node_name[sw], port);
	uint32_t far = fabric->port_node[peer];
	if (!port || !hd_is_switch(fabric, far))
		return 0;
	*next = work->entry[far];
	if (*next == HD_NONE ||
	    !hd_port_set_has(&entries[*next].ports, hd_port_number(fabric, peer)))
		return hd_error_set(err, -EINVAL,
				    "MLID 0x%X: '%s'[%u] sends to '%s', which does not send back",
				    mlid, fabric->node_name[sw], port, fabric->node_name[far]);
	return 0;
}

/* Follows all ports of the switches that can be reached from the first entry: *met of them, with *ends
 * of cables between them. */
static int search(struct repair_mfts_work *work, const struct hd_mft_entry *entries, uint32_t *met,
		  uint32_t *ends, struct hd_error *err)
{
	*met = 1;
	*ends = 0;
	work->queue[0] = 0;
	work->seen[0] = true;
	for (uint32_t done = 0; done < *met; done++) {
		const struct hd_mft_entry *at = &entries[work->queue[done]];
		HD_PORT_SET_FOREACH(port, &at->ports) {
			uint32_t next;
			int rc = follow_port(work, entries, at->sw, port, &next, err);
			if (rc)
				return rc;
			*ends += next != HD_NONE;
			if (next == HD_NONE || work->seen[next])
				continue;
			work->seen[next] = true;
			work->queue[(*met)++] = next;
		}
	}
	return 0;
}

/* That the new entries of a group are one tree of cables that are left. Errors: -EINVAL with the
 * reason. Cost: O(entries * radix). */
static int prove_tree(struct repair_mfts_work *work, const struct hd_mft_entry *entries,
		      uint32_t count, struct hd_error *err)
{
	uint32_t met, ends;
	int rc;

	if (!count)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		work->entry[entries[i].sw] = i;
		work->seen[i] = false;
	}
	rc = search(work, entries, &met, &ends, err);
	for (uint32_t i = 0; i < count; i++)
		work->entry[entries[i].sw] = HD_NONE;
	if (!rc && (met != count || ends != 2 * (count - 1)))
		rc = hd_error_set(err, -EINVAL,
				  "MLID 0x%X: the new entries of %u switches are not a tree",
				  entries->mlid, count);
	return rc;
}

/* ---- entries that change ---- */

/* The old and the new entries of a group. */
struct group {
	uint32_t mlid;
	const struct hd_mft_entry *before, *after;
	uint32_t before_count, after_count;
	bool hit;
};

/* Whether an old port leads over a cable between switches that is lost. */
static bool crosses_loss(const struct repair_mfts_work *work, const struct hd_mft_entry *entry)
{
	const struct hd_fabric *fabric = work->request->fabric;

	HD_PORT_SET_FOREACH(port, &entry->ports) {
		if (!port || hd_fabric_find_isl(fabric, entry->sw, port) == HD_NONE)
			continue;
		if (!hd_step_is_link(
			work->remains.port_step[hd_port_index(fabric, entry->sw, port)]))
			return true;
	}
	return false;
}

/* The entries of a group, which lie at *next or behind it; then *next is behind them. */
static const struct hd_mft_entry *take_entries(const struct hd_mfts *mfts, uint32_t mlid,
					       uint32_t *next, uint32_t *count)
{
	while (*next < mfts->count && mfts->entries[*next].mlid < mlid)
		++*next;
	const uint32_t first = *next;
	while (*next < mfts->count && mfts->entries[*next].mlid == mlid)
		++*next;
	*count = *next - first;
	return *count ? mfts->entries + first : NULL;
}

static int note_change(struct repair_mfts_work *work, const struct group *group, uint32_t sw,
		       const struct hd_port_set *before, const struct hd_port_set *after)
{
	const struct hd_port_set none = {{0}};
	struct repair_mfts_change change = {.sw = sw, .mlid = group->mlid, .hit = group->hit};
	struct repair_mfts_change *changes;

	change.before = before ? *before : none;
	change.after = after ? *after : none;
	if (hd_port_set_equal(&change.before, &change.after))
		return 0;
	changes = hd_grow(work->changes, work->count, 1, &work->room, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	work->changes = changes;
	work->changes[work->count++] = change;
	return 0;
}

/* Walks over the switches in the order of both lists of entries. */
static int compare_group(struct repair_mfts_work *work, const struct group *group)
{
	uint32_t old = 0, new = 0;
	int rc = 0;

	for (uint32_t sw = 0; !rc && sw < work->request->fabric->switch_count; sw++) {
		const struct hd_port_set *before = NULL, *after = NULL;
		if (old < group->before_count && group->before[old].sw == sw)
			before = &group->before[old++].ports;
		if (new < group->after_count && group->after[new].sw == work->remains.row[sw])
			after = &group->after[new ++].ports;
		if (work->remains.row[sw] != HD_NONE && (before || after))
			rc = note_change(work, group, sw, before, after);
	}
	return rc;
}

/* The next group that changes. */
static int add_group(struct repair_mfts_work *work, struct group *group,
		     struct hd_repair_mfts *plan, struct hd_error *err)
{
	const uint32_t count = work->count;
	int rc;

	for (uint32_t i = 0; !group->hit && i < group->before_count; i++)
		group->hit = crosses_loss(work, &group->before[i]);
	if (compare_group(work, group))
		return hd_error_no_memory(err);
	if (work->count == count)
		return 0;
	rc = prove_tree(work, group->after, group->after_count, err);
	plan->groups++;
	plan->hit += group->hit;
	return rc;
}

static int compare_groups(struct repair_mfts_work *work, struct hd_repair_mfts *plan,
			  struct hd_error *err)
{
	const struct hd_repair_mfts_request *request = work->request;
	uint32_t old = 0, new = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < request->group_count; i++) {
		struct group group = {.mlid = request->mlids[i]};
		group.before =
		    take_entries(request->in_place, group.mlid, &old, &group.before_count);
		group.after = take_entries(request->repaired, group.mlid, &new, &group.after_count);
		rc = hd_go_on_check(&request->go_on, err);
		if (!rc)
			rc = add_group(work, &group, plan, err);
	}
	return rc;
}

static int compare_changes(const void *left, const void *right)
{
	const struct repair_mfts_change *a = left, *b = right;

	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return a->mlid < b->mlid ? -1 : a->mlid > b->mlid;
}

int hd_repair_mfts_plan(const struct hd_repair_mfts_request *request, struct hd_repair_mfts **out,
			struct hd_error *err)
{
	struct repair_mfts_work work = {.request = request};
	struct hd_repair_mfts *plan = calloc(1, sizeof(*plan));
	int rc = !plan || allocate(&work) ? hd_error_no_memory(err) : 0;

	if (!rc)
		rc = compare_groups(&work, plan, err);
	if (!rc && work.count) {
		qsort(work.changes, work.count, sizeof(*work.changes), compare_changes);
		rc = hd_go_on_explain(repair_mfts_order(&work, &plan->steps), err);
	}
	free(work.changes);
	hd_arena_release(&work.arena);
	if (rc) {
		free(work.writes);
		free(plan);
		return rc;
	}
	plan->writes = work.writes;
	plan->write_count = work.write_count;
	*out = plan;
	return 0;
}

void hd_repair_mfts_free(struct hd_repair_mfts *plan)
{
	if (!plan)
		return;
	free(plan->writes);
	free(plan);
}
