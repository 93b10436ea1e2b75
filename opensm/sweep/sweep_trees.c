/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep_trees.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct trees {
	struct sweep_trees *state;
	const struct part_context *context;
	const struct hd_fabric *fabric;
	struct sweep_limits limits;
	uint32_t *mlids; /* [count] ascending: those that change */
	struct sweep_tree *wanted; /* [count] */
	uint32_t count;
	struct hd_mfts before, after; /* entries from malloc() */
	uint32_t before_room, after_room;
	struct hd_repair_mfts *plan;
	struct hd_smp_queue *queue;
	struct writer_sweep_mfts send;
};

/* ---- what the switches hold ---- */

static void forget(struct sweep_trees *trees)
{
	sweep_copies_free(trees->held);
	sweep_known_release(&trees->known);
	trees->held = NULL;
}

void sweep_trees_begin(struct sweep_trees *trees, const struct part_context *context)
{
	memset(trees->asked, 0, sizeof(trees->asked));
	trees->sweeping = context->sweeping; /* not for the command `reroute` */
	atomic_store(&trees->stale, false);
	if (!trees->held)
		trees->held = calloc(1, sizeof(*trees->held));
	if (!trees->held)
		return;
	cl_plock_acquire(&context->osm->lock);
	int rc = sweep_copies_read(trees->held, context->osm);
	if (!rc)
		rc = sweep_known_begin(&trees->known, context->osm);
	cl_plock_release(&context->osm->lock);
	if (rc)
		forget(trees);
}

void sweep_trees_end(struct sweep_trees *trees, const struct part_context *context)
{
	trees->sweeping = false;
	trees->failed = context->osm->subn.subnet_initialization_error;
}

void sweep_trees_release(struct sweep_trees *trees)
{
	forget(trees);
}

/* Of a block that was read, all trees may be others than OpenSM's. */
static int read_block(struct trees *trees, uint32_t block)
{
	struct sweep_trees *state = trees->state;
	const uint32_t missing = sweep_known_missing(&state->known, trees->fabric, block);
	const struct hd_go_on go_on = {sweep_limits_ask, &trees->limits};

	if (!missing)
		return 0;
	if (!sweep_limits_allow(&trees->limits, missing, "to read"))
		return -ETIME;
	for (uint32_t i = 0; i < HD_MFT_BLOCK && block * HD_MFT_BLOCK + i < SWEEP_MLIDS; i++)
		state->asked[block * HD_MFT_BLOCK + i] = true;
	return sweep_known_read(&state->known, trees->fabric, block, trees->queue, &go_on,
				state->held);
}

static void read_unknown(struct trees *trees)
{
	int rc = 0;

	for (uint32_t block = 0; !rc && block < SWEEP_MFT_BLOCKS; block++) {
		bool asked = false;
		for (uint32_t i = block * HD_MFT_BLOCK;
		     i < (block + 1) * HD_MFT_BLOCK && i < SWEEP_MLIDS; i++)
			asked |= trees->state->asked[i];
		if (asked)
			rc = read_block(trees, block);
	}
	if (rc)
		sweep_limits_explain(&trees->limits, rc);
}

/* ---- what changes ---- */

static int find_changes(struct trees *trees)
{
	struct sweep_trees *state = trees->state;
	int rc = 0;

	trees->mlids = calloc(SWEEP_MLIDS, sizeof(*trees->mlids));
	trees->wanted = calloc(SWEEP_MLIDS, sizeof(*trees->wanted));
	if (!trees->mlids || !trees->wanted)
		return -ENOMEM;
	for (uint32_t i = 0; !rc && i < SWEEP_MLIDS; i++) {
		struct sweep_tree *wanted = &trees->wanted[trees->count];
		if (!state->asked[i])
			continue;
		rc = sweep_tree_read(trees->context->osm, HD_MLID_FIRST + i, wanted);
		if (!rc && !sweep_tree_equal(wanted, &state->held->trees[i]))
			trees->mlids[trees->count++] = HD_MLID_FIRST + i;
	}
	return rc;
}

/* The entries of all groups whose blocks change, and the new ones of those that change. */
static int list_entries(struct trees *trees)
{
	const struct sweep_copies *held = trees->state->held;
	uint32_t last = HD_NONE;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < trees->count; i++) {
		const uint32_t block = (trees->mlids[i] - HD_MLID_FIRST) / HD_MFT_BLOCK;
		for (uint32_t m = 0; !rc && block != last && m < HD_MFT_BLOCK; m++) {
			const uint32_t index = block * HD_MFT_BLOCK + m;
			if (index < SWEEP_MLIDS)
				rc = sweep_tree_add(&held->trees[index], HD_MLID_FIRST + index,
						    trees->fabric, &trees->before,
						    &trees->before_room);
		}
		last = block;
		if (!rc)
			rc = sweep_tree_add(&trees->wanted[i], trees->mlids[i], trees->fabric,
					    &trees->after, &trees->after_room);
	}
	hd_mfts_sort(&trees->before);
	hd_mfts_sort(&trees->after);
	return rc;
}

static int plan(struct trees *trees, struct hd_error *err)
{
	const struct hd_repair_mfts_request request = {.fabric = trees->fabric,
						       .damaged = trees->fabric,
						       .in_place = &trees->before,
						       .repaired = &trees->after,
						       .mlids = trees->mlids,
						       .group_count = trees->count,
						       .go_on = {sweep_limits_ask, &trees->limits}};

	return hd_repair_mfts_plan(&request, &trees->plan, err);
}

/* ---- writing ---- */

static const char *refusal(const struct trees *trees)
{
	return atomic_load(&trees->state->stale) ? "a repair has changed trees since the last sweep"
	       : trees->state->failed		 ? "the last sweep had errors"
	       : !trees->context->published	 ? "the tables are not Heddle's"
						 : NULL;
}

static void write_all(struct trees *trees)
{
	struct hd_error err;
	int rc = list_entries(trees) ? hd_error_no_memory(&err) : plan(trees, &err);

	if (!rc && !sweep_limits_allow(&trees->limits, trees->plan->write_count, "to write"))
		return;
	if (rc) {
		sweep_limits_stop(&trees->limits, err.text);
		return;
	}
	trees->send = (struct writer_sweep_mfts){.queue = trees->queue,
						 .go_on = {sweep_limits_ask, &trees->limits}};
	rc = writer_sweep_mfts(&trees->send, trees->plan);
	if (rc)
		sweep_limits_explain(&trees->limits, rc);
}

static void report(const struct trees *trees)
{
	struct sweep_figures *figures = &trees->limits.memory->figures;
	const bool left = *trees->limits.stopped != '\0';

	figures->groups += left ? 0 : trees->count;
	figures->groups_left += left ? trees->count : 0;
	figures->mft_blocks += trees->send.sent;
	if (left)
		log_error(&trees->context->log, LOG_ERROR_SWEEP,
			  "OpenSM writes the trees of %u multicast groups in an order of its own: "
			  "%s",
			  trees->count, trees->limits.stopped);
	else
		log_info(&trees->context->log,
			 "in order: the trees of %u multicast groups, %u blocks in %u steps, %.0f "
			 "ms",
			 trees->count, trees->send.sent, trees->plan->steps,
			 monotonic_ms() - trees->limits.begun);
}

/* From now on the switches hold them: OpenSM writes whatever was not acknowledged. */
static void take_wanted(struct trees *trees)
{
	for (uint32_t i = 0; i < trees->count; i++) {
		struct sweep_tree *held =
		    &trees->state->held->trees[trees->mlids[i] - HD_MLID_FIRST];
		const struct sweep_tree former = *held;
		*held = trees->wanted[i];
		trees->wanted[i] = former;
	}
}

static void release(struct trees *trees)
{
	for (uint32_t i = 0; trees->wanted && i < SWEEP_MLIDS; i++)
		sweep_tree_release(&trees->wanted[i]);
	free(trees->wanted);
	free(trees->mlids);
	free(trees->before.entries);
	free(trees->after.entries);
	hd_repair_mfts_free(trees->plan);
	hd_smp_queue_free(trees->queue);
}

/* ---- the last tree ---- */

static bool is_last(const struct sweep_trees *trees, uint32_t index, const osm_opensm_t *osm)
{
	bool last = true;

	for (uint32_t i = index + 1; i < SWEEP_MLIDS; i++)
		last &= !osm->subn.mboxes[i] || !(trees->sweeping || osm->sm.mlids_req[i]);
	return last;
}

/* Makes the queue, and reads what is not known. */
static void prepare(struct trees *trees, const struct sweep_settings *settings)
{
	const char *refused = refusal(trees);
	struct hd_error err;

	if (refused) {
		sweep_limits_stop(&trees->limits, refused);
		return;
	}
	trees->fabric = routing_found(trees->context->published); /* with what is drained */
	if (sweep_limits_queue(&trees->limits, settings, trees->fabric, &trees->queue, &err))
		sweep_limits_stop(&trees->limits, err.text);
	else
		read_unknown(trees);
}

void sweep_trees_built(struct sweep_trees *state, uint32_t mlid, const struct part_context *context,
		       const struct sweep_settings *settings, struct sweep_memory *memory)
{
	struct trees trees = {.state = state, .context = context};

	state->asked[mlid - HD_MLID_FIRST] = true;
	if (!is_last(state, mlid - HD_MLID_FIRST, context->osm) || !state->held)
		return;
	sweep_limits_begin(&trees.limits, context, settings, memory);
	prepare(&trees, settings);
	if (find_changes(&trees)) {
		forget(state);
	} else if (trees.count) {
		if (!*trees.limits.stopped)
			write_all(&trees);
		report(&trees);
		take_wanted(&trees);
	}
	memset(state->asked, 0, sizeof(state->asked));
	release(&trees);
}
