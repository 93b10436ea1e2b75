/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets of one group, on their way through the interim states of a plan and after it. */
#include "remains.h"

#include <heddle/change/repair_mfts.h>

#include <errno.h>
#include <heddle/base/arena.h>

struct following {
	const struct hd_repair_mfts_request *request;
	const struct hd_repair_mfts *plan;
	const struct hd_repair_mfts_group *group;
	struct hd_arena arena;
	struct hd_port_set *now; /* [switch_count] the entries before the step */
	struct hd_port_set *both; /* [switch_count] and those after it */
	struct remains remains;
	struct hd_mft_entry *entries; /* [switch_count] for the check */
	uint32_t *members, *left; /* [left_count] in `fabric`, and in `damaged` */
	uint32_t left_count;
};

/* ---- members that are left ---- */

/* A member of `fabric` as a port of `damaged`; HD_NONE: it is lost, or nothing is cabled to it. */
static uint32_t find_left(const struct following *following, uint32_t member)
{
	const struct hd_fabric *fabric = following->request->fabric;
	const struct hd_fabric *damaged = following->request->damaged;
	uint32_t node = hd_fabric_find_node(damaged, fabric->node_guid[fabric->port_node[member]]);
	uint32_t port = node == HD_NONE
			    ? HD_NONE
			    : hd_port_index(damaged, node, hd_port_number(fabric, member));

	return port == HD_NONE || hd_fabric_entry(damaged, port) == HD_NONE ? HD_NONE : port;
}

static int begin(struct following *following)
{
	const struct hd_repair_mfts_request *request = following->request;
	const struct hd_repair_mfts_group *group = following->group;
	const uint32_t switches = request->fabric->switch_count;
	struct hd_arena *arena = &following->arena;

	following->now = hd_arena_alloc(arena, switches, sizeof(*following->now));
	following->both = hd_arena_alloc(arena, switches, sizeof(*following->both));
	following->entries = hd_arena_alloc(arena, switches, sizeof(*following->entries));
	/* one more, since a check without members would take all that the entries name */
	following->members = hd_arena_alloc(arena, group->member_count + 1u, sizeof(uint32_t));
	following->left = hd_arena_alloc(arena, group->member_count + 1u, sizeof(uint32_t));
	if (remains_init(&following->remains, request->fabric, request->damaged, arena) ||
	    hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < group->member_count; i++) {
		uint32_t port = find_left(following, group->members[i]);
		if (port == HD_NONE)
			continue;
		following->members[following->left_count] = group->members[i];
		following->left[following->left_count++] = port;
	}
	return 0;
}

static void read_entries(struct following *following)
{
	uint32_t count;
	const struct hd_mft_entry *entries =
	    hd_mfts_group(following->request->in_place, following->group->mlid, &count);

	for (uint32_t i = 0; i < count; i++)
		following->now[entries[i].sw] = entries[i].ports;
}

/* ---- steps ---- */

/* A switch takes a write. True if it changes the entry of the group. */
static bool take(struct following *following, const struct hd_mft_write *write)
{
	const uint32_t offset = following->group->mlid - HD_MLID_FIRST;
	const uint32_t first = write->position * HD_MFT_PORTS, shift = first % 64;
	uint64_t *now = &following->now[write->sw].words[first / 64], old = *now;

	if (offset / HD_MFT_BLOCK != write->block)
		return false;
	*now = (old & ~(UINT64_C(0xFFFF) << shift)) | (uint64_t)write->after[offset % HD_MFT_BLOCK]
							  << shift;
	return *now != old;
}

/* Takes the writes from *next to the end of their step. True if the entries of the group change. */
static bool take_step(struct following *following, uint32_t *next)
{
	const struct hd_repair_mfts *plan = following->plan;
	const uint32_t step = plan->writes[*next].step;
	bool changes = false;

	for (uint32_t sw = 0; sw < following->request->fabric->switch_count; sw++)
		following->both[sw] = following->now[sw];
	for (; *next < plan->write_count && plan->writes[*next].step == step; ++*next)
		changes |= take(following, &plan->writes[*next]);
	for (uint32_t sw = 0; sw < following->request->fabric->switch_count; sw++)
		hd_port_set_unite(&following->both[sw], &following->now[sw]);
	return changes;
}

/* The packets of all members: whether one loops, and whether there is any fault. */
static int check(const struct hd_fabric *fabric, const struct hd_mft_group *group, bool *loops,
		 bool *faulty, struct hd_error *err)
{
	struct hd_mft_report *report;
	int rc = hd_mft_check(fabric, group, &report, err);

	if (rc)
		return rc;
	*loops = false;
	*faulty = report->fault_count > 0;
	for (uint32_t i = 0; i < report->fault_count; i++)
		*loops |= report->faults[i].kind == HD_MFT_LOOP;
	hd_mft_report_free(report);
	return 0;
}

static int follow_step(struct following *following, bool *loops, struct hd_error *err)
{
	const struct hd_fabric *fabric = following->request->fabric;
	uint32_t count = 0;
	bool faulty;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (!hd_port_set_is_empty(&following->both[sw]))
			following->entries[count++] =
			    (struct hd_mft_entry){following->group->mlid, sw, following->both[sw]};
	return check(fabric,
		     &(struct hd_mft_group){.entries = following->entries,
					    .entry_count = count,
					    .members = following->members,
					    .member_count = following->left_count,
					    .source = HD_NONE},
		     loops, &faulty, err);
}

static int follow_last(struct following *following, bool *faulty, struct hd_error *err)
{
	const struct hd_fabric *fabric = following->request->fabric;
	uint32_t count = 0;
	bool loops;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (following->remains.row[sw] != HD_NONE &&
		    !hd_port_set_is_empty(&following->now[sw]))
			following->entries[count++] = (struct hd_mft_entry){
			    following->group->mlid, following->remains.row[sw], following->now[sw]};
	return check(following->request->damaged,
		     &(struct hd_mft_group){.entries = following->entries,
					    .entry_count = count,
					    .members = following->left,
					    .member_count = following->left_count,
					    .source = HD_NONE},
		     &loops, faulty, err);
}

static int follow_all(struct following *following, enum hd_repair_mfts_verdict *verdict,
		      struct hd_error *err)
{
	bool loops = false, faulty = false;
	uint32_t next = 0;
	int rc = 0;

	while (!rc && !loops && next < following->plan->write_count)
		if (take_step(following, &next))
			rc = follow_step(following, &loops, err);
	if (!rc && !loops)
		rc = follow_last(following, &faulty, err);
	if (!rc)
		*verdict = loops    ? HD_REPAIR_MFTS_LOOP
			   : faulty ? HD_REPAIR_MFTS_MISSED
				    : HD_REPAIR_MFTS_SOUND;
	return rc;
}

int hd_repair_mfts_follow(const struct hd_repair_mfts_request *request,
			  const struct hd_repair_mfts *plan,
			  const struct hd_repair_mfts_group *group,
			  enum hd_repair_mfts_verdict *verdict, struct hd_error *err)
{
	struct following following = {.request = request, .plan = plan, .group = group};
	int rc = begin(&following) ? hd_error_no_memory(err) : 0;

	if (!rc) {
		read_entries(&following);
		rc = follow_all(&following, verdict, err);
	}
	hd_arena_release(&following.arena);
	return rc;
}
