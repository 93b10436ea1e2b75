/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hop counts after a change of some links, without counting them all again. plan_changes.c calls it for each
 * destination switch that a change can concern.
 *
 * First, switches lose their count if no neighbour that is one hop nearer is left; then counts spread again from
 * those that kept theirs, nearest first. The result is that of a count from the beginning, which the unit test
 * compares.
 */
#include "hop_update.h"

#include <errno.h>
#include <heddle/base/arena.h>

#define HOPS_MAX 254u

struct updating {
	const struct hop_update *update;
	struct hd_arena arena;
	uint8_t *row; /* counts to the destination at hand */
	uint32_t *queue; /* [switch_count] a ring */
	uint32_t head, waiting;
	bool *queued, *lost; /* [switch_count] */
	/* Switches whose count has changed, and what it was. */
	bool *is_touched; /* [switch_count] */
	uint32_t *touched; /* [switch_count] */
	uint8_t *before; /* [switch_count] the same order */
	uint32_t touched_count;
	bool too_far;
};

static void push(struct updating *updating, uint32_t sw)
{
	const uint32_t room = updating->update->fabric->switch_count;

	if (updating->queued[sw])
		return;
	updating->queued[sw] = true;
	updating->queue[(updating->head + updating->waiting++) % room] = sw;
}

static uint32_t pop(struct updating *updating)
{
	const uint32_t sw = updating->queue[updating->head];

	updating->head = (updating->head + 1) % updating->update->fabric->switch_count;
	updating->waiting--;
	updating->queued[sw] = false;
	return sw;
}

static bool counts(const struct updating *updating, uint32_t link)
{
	return !updating->update->stray || !updating->update->stray[link];
}

static void touch(struct updating *updating, uint32_t sw)
{
	if (updating->is_touched[sw])
		return;
	updating->is_touched[sw] = true;
	updating->before[updating->touched_count] = updating->row[sw];
	updating->touched[updating->touched_count++] = sw;
}

/* ---- counts that are lost ---- */

/* Whether a neighbour that keeps its count is one hop nearer. */
static bool has_support(const struct updating *updating, uint32_t sw)
{
	const struct hd_fabric *fabric = updating->update->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		const uint32_t to = fabric->isl_to[link];
		if (updating->row[to] + 1u == updating->row[sw] && !updating->lost[to] &&
		    counts(updating, link))
			return true;
	}
	return false;
}

/* ---- counts that are found ---- */

static void improve(struct updating *updating, uint32_t sw, uint32_t hops)
{
	if (hops >= updating->row[sw])
		return;
	if (hops > HOPS_MAX) {
		updating->too_far = true;
		return;
	}
	touch(updating, sw);
	updating->row[sw] = (uint8_t)hops;
	push(updating, sw);
}

/* Takes the least count of a neighbour, plus one. */
static void hop_update_take(struct updating *updating, uint32_t sw)
{
	const struct hd_fabric *fabric = updating->update->fabric;
	uint32_t least = HOP_UPDATE_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (updating->row[fabric->isl_to[link]] < least && counts(updating, link))
			least = updating->row[fabric->isl_to[link]];
	if (least != HOP_UPDATE_NONE)
		improve(updating, sw, least + 1);
}

/* ---- all ---- */

static int update_row(struct updating *updating, uint32_t destination)
{
	const struct hop_update *update = updating->update;
	bool go_on = true;

	updating->row = update->hops + destination * update->stride;
	updating->touched_count = 0;
	for (uint32_t i = 0; i < update->changed_count; i++)
		push(updating, update->changed[i]);
	while (updating->waiting) {
		const uint32_t sw = pop(updating);
		if (!updating->row[sw] || updating->row[sw] == HOP_UPDATE_NONE ||
		    updating->lost[sw] || has_support(updating, sw))
			continue;
		updating->lost[sw] = true;
		touch(updating, sw);
		/* Asks those again to which the switch was one hop nearer. */
		const struct hd_fabric *fabric = updating->update->fabric;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			const uint32_t to = fabric->isl_to[link];
			if (updating->row[to] == updating->row[sw] + 1u &&
			    updating->row[to] != HOP_UPDATE_NONE && !updating->lost[to])
				push(updating, to);
		}
	}
	for (uint32_t i = 0; i < updating->touched_count; i++) {
		updating->row[updating->touched[i]] = HOP_UPDATE_NONE;
		updating->lost[updating->touched[i]] = false;
	}
	const uint32_t lost = updating->touched_count;
	for (uint32_t i = 0; i < lost; i++)
		hop_update_take(updating, updating->touched[i]);
	for (uint32_t i = 0; i < update->changed_count; i++) {
		hop_update_take(updating, update->changed[i]);
		push(updating, update->changed[i]);
	}
	while (updating->waiting) {
		const uint32_t sw = pop(updating);
		if (updating->row[sw] != HOP_UPDATE_NONE) {
			const struct hd_fabric *fabric = updating->update->fabric;
			for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
			     link++)
				if (counts(updating, link))
					improve(updating, fabric->isl_to[link],
						updating->row[sw] + 1u);
		}
	}
	for (uint32_t i = 0; i < updating->touched_count; i++) {
		const uint32_t sw = updating->touched[i];
		updating->is_touched[sw] = false;
		if (go_on && updating->row[sw] != updating->before[i])
			go_on = update->note(update->context, sw, destination);
	}
	if (updating->too_far)
		return -ERANGE;
	return go_on ? 0 : -ECANCELED;
}

int hop_update_do(const struct hop_update *update)
{
	const uint32_t switches = update->fabric->switch_count;
	struct updating updating = {.update = update};
	struct hd_arena *arena = &updating.arena;

	updating.queue = hd_arena_alloc(arena, switches, sizeof(*updating.queue));
	updating.queued = hd_arena_alloc(arena, switches, sizeof(*updating.queued));
	updating.lost = hd_arena_alloc(arena, switches, sizeof(*updating.lost));
	updating.is_touched = hd_arena_alloc(arena, switches, sizeof(*updating.is_touched));
	updating.touched = hd_arena_alloc(arena, switches, sizeof(*updating.touched));
	updating.before = hd_arena_alloc(arena, switches, sizeof(*updating.before));
	int rc = hd_arena_check(arena);
	for (uint32_t sw = 0; !rc && sw < switches && update->changed_count; sw++)
		rc = update_row(&updating, sw);
	hd_arena_release(arena);
	return rc;
}
