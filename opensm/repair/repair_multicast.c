/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_multicast.h"
#include "monotonic.h"
#include "multicast_members.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include "writer_batch.h"
#include "writer_mft.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/engines/multicast.h>
#include <heddle/mad/queue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MOST 512u /* of a group, for one holding of OpenSM's lock */
#define ROWS_MOST 512u /* of a table, the same */

struct work {
	const struct repair_multicast *multicast;
	const struct hd_fabric *fabric; /* of the last sweep */
	struct osm_opensm *osm;
	uint32_t *mlids; /* of the groups, ascending */
	uint32_t group_count;
	struct hd_multicast *planner;
	struct hd_mfts in_place, repaired; /* entries from malloc() */
	uint32_t in_place_room, repaired_room;
	struct hd_repair_mfts *plan;
	uint32_t sent; /* blocks that were acknowledged */
};

/* ---- OpenSM's lock ---- */

/* Takes it shared. Errors: -ECANCELED the turn is lost. */
static int lock(const struct repair_multicast *multicast, struct writer_hold *hold,
		struct hd_error *err)
{
	return writer_lock_try(multicast->shared->writer, false, multicast->turn, hold)
		   ? 0
		   : hd_error_set(err, -ECANCELED, WRITER_LOST_TURN);
}

static void unlock(const struct repair_multicast *multicast, struct writer_hold hold)
{
	writer_lock_release(multicast->shared->writer, hold);
}

/* ---- groups ---- */

/* The system gives fresh memory when it is written for the first time: that is not to be while OpenSM's
 * lock is held. */
static void touch(void *memory, size_t size)
{
	memset(memory, 0, size);
}

static int list_groups(struct work *work, struct hd_error *err)
{
	const osm_subn_t *subn = &work->osm->subn;
	const uint32_t most = IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO + 1;
	struct writer_hold hold;

	work->mlids = malloc(most * sizeof(*work->mlids));
	if (!work->mlids)
		return hd_error_no_memory(err);
	touch(work->mlids, most * sizeof(*work->mlids));
	int rc = lock(work->multicast, &hold, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < most && i + HD_MLID_FIRST <= subn->max_mcast_lid_ho; i++)
		if (subn->mboxes[i])
			work->mlids[work->group_count++] = HD_MLID_FIRST + i;
	unlock(work->multicast, hold);
	return 0;
}

static int find_forwarding(const struct work *work, bool *forwards, struct hd_error *err)
{
	const struct hd_fabric *damaged = work->multicast->damaged;
	struct writer_hold hold;

	for (uint32_t begin = 0; begin < damaged->switch_count; begin += WRITER_HELD_MOST) {
		int rc = lock(work->multicast, &hold, err);
		if (rc)
			return rc;
		for (uint32_t sw = begin;
		     sw < begin + WRITER_HELD_MOST && sw < damaged->switch_count; sw++)
			forwards[sw] = writer_mft_forwards(work->osm, damaged->node_guid[sw]);
		unlock(work->multicast, hold);
	}
	return 0;
}

static int make_planner(struct work *work, struct hd_error *err)
{
	const struct hd_fabric *damaged = work->multicast->damaged;
	bool *forwards = calloc(damaged->switch_count + 1u, sizeof(*forwards));
	int rc = forwards ? find_forwarding(work, forwards, err) : hd_error_no_memory(err);

	if (!rc)
		rc = hd_multicast_new(damaged, forwards, &work->planner, err);
	if (!rc)
		hd_multicast_set_go_on(work->planner, &work->multicast->go_on);
	free(forwards);
	return rc;
}

/* The next members of a group; *count 0: there are no more, or the group is gone by now. */
static int copy_members(const struct work *work, uint32_t mlid, struct multicast_cursor *cursor,
			struct multicast_entry *entries, uint32_t *count, struct hd_error *err)
{
	struct writer_hold hold;
	int rc = lock(work->multicast, &hold, err);

	*count = 0;
	if (rc)
		return rc;
	const osm_mgrp_box_t *box =
	    osm_get_mbox_by_mlid(&work->osm->subn, cl_hton16((uint16_t)mlid));
	if (box)
		*count = multicast_members_copy(box, cursor, entries, MEMBERS_MOST);
	unlock(work->multicast, hold);
	return 0;
}

static int find_members(struct work *work, uint32_t mlid, struct multicast_members *members,
			struct hd_error *err)
{
	struct multicast_cursor cursor = {0};
	struct multicast_entry *entries = NULL, *larger;
	uint32_t count = 0, room = 0, more = 1;
	int rc = 0;

	while (!rc && more) {
		larger = hd_grow(entries, count, MEMBERS_MOST, &room, sizeof(*entries));
		if (!larger) {
			rc = hd_error_no_memory(err);
			break;
		}
		entries = larger;
		touch(entries + count, MEMBERS_MOST * sizeof(*entries));
		rc = copy_members(work, mlid, &cursor, entries + count, &more, err);
		count += more;
	}
	if (!rc)
		rc = multicast_members_resolve(work->multicast->damaged, entries, count, members,
					       err);
	free(entries);
	return rc;
}

/* ---- entries ---- */

static int add_entry(struct hd_mfts *mfts, uint32_t *room, const struct hd_mft_entry *entry)
{
	struct hd_mft_entry *entries =
	    hd_grow(mfts->entries, mfts->count, 1, room, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	mfts->entries = entries;
	mfts->entries[mfts->count++] = *entry;
	return 0;
}

/* Some rows of a switch. */
static int read_rows(struct work *work, uint32_t sw, uint32_t first, uint32_t count,
		     struct hd_port_set *ports, struct hd_error *err)
{
	struct writer_hold hold;
	int rc = lock(work->multicast, &hold, err);

	if (rc)
		return rc;
	writer_mft_read(work->osm, work->fabric->node_guid[sw], first, count, ports);
	unlock(work->multicast, hold);
	for (uint32_t i = 0; !rc && i < count; i++)
		if (!hd_port_set_is_empty(&ports[i]))
			rc = add_entry(&work->in_place, &work->in_place_room,
				       &(struct hd_mft_entry){.mlid = HD_MLID_FIRST + first + i,
							      .sw = sw,
							      .ports = ports[i]});
	return rc ? hd_error_no_memory(err) : 0;
}

static int read_switch(struct work *work, uint32_t sw, uint32_t rows, struct hd_error *err)
{
	struct hd_port_set ports[ROWS_MOST];
	int rc = 0;

	for (uint32_t first = 0; !rc && first < rows; first += ROWS_MOST)
		rc = read_rows(work, sw, first, rows - first < ROWS_MOST ? rows - first : ROWS_MOST,
			       ports, err);
	return rc;
}

/* The entries of all MLIDs in the blocks of the groups, as OpenSM has them. */
static int read_in_place(struct work *work, struct hd_error *err)
{
	const uint32_t last = work->mlids[work->group_count - 1] - HD_MLID_FIRST;
	const uint32_t rows = (last / HD_MFT_BLOCK + 1) * HD_MFT_BLOCK;
	int rc = 0;

	for (uint32_t sw = 0; !rc && sw < work->fabric->switch_count; sw++)
		rc = read_switch(work, sw, rows, err);
	hd_mfts_sort(&work->in_place);
	return rc;
}

static int add_tree(struct work *work, uint32_t mlid, const struct hd_multicast_tree *tree,
		    struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < tree->branch_count; i++)
		rc = add_entry(&work->repaired, &work->repaired_room,
			       &(struct hd_mft_entry){.mlid = mlid,
						      .sw = tree->branches[i].sw,
						      .ports = tree->branches[i].ports});
	hd_multicast_add(work->planner, tree);
	return rc ? hd_error_no_memory(err) : 0;
}

static int plan_group(struct work *work, uint32_t mlid, struct hd_error *err)
{
	struct multicast_members members;
	struct hd_multicast_tree *tree;
	int rc = find_members(work, mlid, &members, err);

	if (rc)
		return rc;
	const struct hd_multicast_group group = {members.ports, members.count, members.source};
	rc = hd_multicast_plan(work->planner, &group, &tree, err);
	free(members.ports);
	if (rc)
		return rc;
	rc = add_tree(work, mlid, tree, err);
	free(tree);
	return rc;
}

static int plan(struct work *work, struct hd_error *err)
{
	const struct repair_multicast *multicast = work->multicast;
	int rc = make_planner(work, err);

	for (uint32_t i = 0; !rc && i < work->group_count; i++)
		rc = plan_group(work, work->mlids[i], err);
	hd_mfts_sort(&work->repaired);
	if (!rc)
		rc = read_in_place(work, err);
	if (!rc)
		rc = hd_repair_mfts_plan(
		    &(struct hd_repair_mfts_request){.fabric = work->fabric,
						     .damaged = multicast->damaged,
						     .in_place = &work->in_place,
						     .repaired = &work->repaired,
						     .mlids = work->mlids,
						     .group_count = work->group_count,
						     .go_on = multicast->go_on},
		    &work->plan, err);
	return rc;
}

/* ---- writes ---- */

struct step {
	struct work *work;
	const struct hd_mft_write *writes;
	uint32_t count;
	bool undo;
};

static int submit(void *context, uint32_t index, hd_smp_done *done, void *cookie)
{
	const struct step *step = context;
	const struct hd_mft_write *write = &step->writes[index];

	return hd_mft_set(step->work->multicast->queue, write->sw, write->block, write->position,
			  step->undo ? write->before : write->after, done, cookie);
}

static void take(void *context, uint32_t index)
{
	const struct step *step = context;

	writer_mft_take(step->work->osm, step->work->fabric, &step->writes[index], step->undo);
}

static int check(const struct step *step, struct hd_error *err)
{
	const struct repair_multicast *multicast = step->work->multicast;
	struct writer_hold hold;
	int rc = 0;

	for (uint32_t begin = 0; !rc && begin < step->count; begin += WRITER_HELD_MOST) {
		rc = lock(multicast, &hold, err);
		if (rc)
			return rc;
		for (uint32_t i = begin; !rc && i < begin + WRITER_HELD_MOST && i < step->count;
		     i++)
			rc = writer_mft_check(step->work->osm, step->work->fabric, &step->writes[i],
					      multicast->start->mft_top, err);
		unlock(multicast, hold);
	}
	return rc;
}

static int send_step(struct step *step, struct hd_error *err)
{
	const struct repair_multicast *multicast = step->work->multicast;
	struct writer_batch batch = {.writer = multicast->shared->writer,
				     .turn = multicast->turn,
				     .fabric = step->work->fabric,
				     .queue = multicast->queue,
				     .count = step->count,
				     .go_on = step->undo || step->writes->adds,
				     .submit = submit,
				     .take = take,
				     .context = step};
	int rc = writer_batch_run(&batch, err);

	step->work->sent += batch.taken;
	return rc;
}

static int run_step(struct step *step, struct hd_error *err)
{
	struct hd_error ignored;
	int rc = check(step, err);

	if (rc)
		return rc;
	rc = send_step(step, err);
	if (rc && rc != -ECANCELED && !step->writes->adds) {
		step->undo = true;
		send_step(step, &ignored); /* the reason is the first one */
	}
	return rc;
}

static int write_all(struct work *work, struct hd_error *err)
{
	const struct hd_repair_mfts *writes = work->plan;
	int rc = 0;

	for (uint32_t begin = 0, end; !rc && begin < writes->write_count; begin = end) {
		for (end = begin; end < writes->write_count &&
				  writes->writes[end].step == writes->writes[begin].step;
		     end++)
			continue;
		rc = run_step(&(struct step){.work = work,
					     .writes = writes->writes + begin,
					     .count = end - begin},
			      err);
	}
	return rc;
}

static int run(struct work *work, struct hd_error *err)
{
	int rc = list_groups(work, err);

	if (!rc && work->group_count && work->multicast->start->mft_unknown)
		return hd_error_set(err, -EIO, "the last sweep had errors");
	if (!rc && work->group_count)
		rc = plan(work, err);
	if (!rc && work->plan)
		rc = write_all(work, err);
	if (rc == -ECANCELED && !hd_go_on_ask(&work->multicast->go_on))
		rc = hd_error_set(err, -ECANCELED, WRITER_LOST_TURN);
	return rc;
}

static void note(const struct work *work, int rc)
{
	struct repair_shared *shared = work->multicast->shared;

	writer_lock(shared->writer);
	shared->figures.groups += !rc && work->plan ? work->plan->groups : 0;
	shared->figures.mft_blocks += work->sent;
	writer_unlock(shared->writer);
}

void repair_multicast_run(const struct repair_multicast *multicast, char *text)
{
	struct work work = {.multicast = multicast,
			    .fabric = multicast->start->routing->fabric,
			    .osm = multicast->shared->context->osm};
	const double begun = monotonic_ms();
	struct hd_error err;
	int rc = multicast->start->multicast ? run(&work, &err) : 0;

	note(&work, rc);
	*text = '\0';
	if (rc)
		snprintf(text, REPAIR_MULTICAST_TEXT, "; multicast is left to the sweep: %s",
			 err.text);
	else if (work.plan && work.plan->groups)
		snprintf(text, REPAIR_MULTICAST_TEXT,
			 "; %u multicast groups, %u of them on a lost cable, in %u blocks and "
			 "%.0f ms",
			 work.plan->groups, work.plan->hit, work.sent, monotonic_ms() - begun);
	hd_repair_mfts_free(work.plan);
	hd_multicast_free(work.planner);
	free(work.in_place.entries);
	free(work.repaired.entries);
	free(work.mlids);
}
