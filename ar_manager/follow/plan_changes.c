/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What has changed since the previous plan. plan_tree.c calls plan_changes_find() before a plan is
 * made, and then plan_changes_hops() for the hop counts.
 *
 * Switches and their links are compared with what the previous plan remembers (plan_memory.h), then the owners of
 * LIDs, then hop counts. If too much has changed, or the plans are of different kinds, planner->changes stays NULL
 * and all is planned afresh.
 */
#include "plan_changes.h"
#include "hop_update.h"
#include "plan_data.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_A_SWITCH 64u /* on average; with more, all is planned afresh */
#define MANY_CHANGED 4u /* one of so many switches has other links */

/* A switch, and a destination switch towards which other links may be on shortest paths. */
struct pair {
	uint32_t sw, destination; /* the number of the destination */
};

/* Pairs while they are found, in any order. */
struct finding {
	const struct planner *planner;
	struct plan_changes *changes;
	struct pair *pairs; /* [room] */
	uint32_t count, room;
	uint32_t *seen; /* [switch_count] the destination at hand + 1: it has a pair */
};

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* ---- what has changed ---- */

static const struct plan_memory *memory_of(const struct planner *planner)
{
	const struct hd_ar_plan *previous = planner->request->previous;
	const struct plan_memory *memory =
	    previous ? ((const struct plan_holder *)previous)->memory : NULL;

	if (!memory || memory->algorithm != planner->algorithm)
		return NULL;
	return memory;
}

static bool same_links(const struct planner *planner, const struct plan_changes *changes,
		       uint32_t sw)
{
	const struct hd_fabric *fabric = planner->fabric;
	const struct plan_memory *known = changes->known;
	const uint32_t old = changes->before[sw];
	const uint32_t first = fabric->isl_base[sw], count = fabric->isl_base[sw + 1] - first;

	if (old == HD_NONE || count != known->link_base[old + 1] - known->link_base[old])
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t was = known->link_base[old] + i, link = first + i;
		if (fabric->isl_port[link] != known->link_port[was] ||
		    changes->before[fabric->isl_to[link]] != known->link_to[was] ||
		    (planner->stray && planner->stray[link]) != known->stray[was])
			return false;
	}
	return true;
}

/* Whether a switch with the same links has other room, or chooses among other links. */
static bool differs(const struct planner *planner, const struct plan_changes *changes, uint32_t sw)
{
	const uint32_t old = changes->before[sw], room = changes->known->room[old];

	return room != planning_room(planner, sw) ||
	       (room &&
		changes->previous->switches[old].form != planning_capability(planner, sw)->form) ||
	       changes->known->cut[old] || cuts_any(planner->cuts, sw);
}

/* Whether the LID has the owner that it had. */
static bool same_owner(const struct planner *planner, const struct plan_changes *changes,
		       uint32_t lid)
{
	const struct host_lids *lids = &planner->lids;
	const struct plan_memory *known = changes->known;

	if (lid >= lids->lid_count || lid >= known->lid_count)
		return false;
	if (lids->destination[lid] == HD_NONE || known->destination[lid] == HD_NONE)
		return lids->destination[lid] == known->destination[lid];
	return changes->before[lids->sw[lids->destination[lid]]] == known->destination[lid] &&
	       lids->may_adapt[lid] == known->may_adapt[lid];
}

/* Levels say which ports lead down, and count for all that leads to a switch. */
static bool same_levels(const struct planner *planner, const struct plan_changes *changes)
{
	const uint8_t *now = planner->level, *was = changes->known->level;

	if (!now || !was)
		return !now == !was;
	for (uint32_t sw = 0; sw < planner->fabric->switch_count; sw++)
		if (changes->before[sw] != HD_NONE && now[sw] != was[changes->before[sw]])
			return false;
	return true;
}

static struct plan_changes *plan_changes_allocate(struct planner *planner,
						  const struct plan_memory *known)
{
	struct hd_arena *arena = &planner->arena;
	const uint32_t switches = planner->fabric->switch_count, lids = planner->lids.lid_count;
	struct plan_changes *changes = hd_arena_alloc(arena, 1, sizeof(*changes));

	if (!changes)
		return NULL;
	changes->previous = planner->request->previous;
	changes->known = known;
	changes->words = (most(lids, known->lid_count) + 63) / 64;
	changes->before = hd_arena_alloc(arena, switches, sizeof(*changes->before));
	changes->whole = hd_arena_alloc(arena, switches, sizeof(*changes->whole));
	changes->changed = hd_arena_alloc(arena, switches, sizeof(*changes->changed));
	changes->lids = hd_arena_alloc(arena, changes->words, sizeof(*changes->lids));
	changes->number = hd_arena_alloc(arena, switches, sizeof(*changes->number));
	changes->lid_base = hd_arena_alloc(arena, planner->lids.count + 1u, sizeof(uint32_t));
	changes->lid_list = hd_arena_alloc(arena, lids, sizeof(*changes->lid_list));
	changes->pair_base = hd_arena_alloc(arena, switches + 1u, sizeof(*changes->pair_base));
	return hd_arena_check(arena) ? NULL : changes;
}

int plan_changes_find(struct planner *planner)
{
	const struct plan_memory *known = memory_of(planner);
	const uint32_t switches = planner->fabric->switch_count;

	if (!known)
		return 0;
	struct plan_changes *changes = plan_changes_allocate(planner, known);
	if (!changes)
		return -ENOMEM;
	/* Both lists are by ascending GUID. */
	for (uint32_t sw = 0, old = 0; sw < planner->fabric->switch_count; sw++) {
		const uint64_t guid = planner->fabric->node_guid[sw];
		while (old < changes->known->switch_count &&
		       changes->previous->switches[old].guid < guid)
			old++;
		const bool found = old < changes->known->switch_count &&
				   changes->previous->switches[old].guid == guid;
		changes->before[sw] = found ? old : HD_NONE;
	}
	for (uint32_t sw = 0; sw < planner->fabric->switch_count; sw++) {
		const bool same = same_links(planner, changes, sw);
		if (!same)
			changes->changed[changes->changed_count++] = sw;
		changes->whole[sw] = !same || differs(planner, changes, sw);
	}
	const uint32_t count = most(planner->lids.lid_count, changes->known->lid_count);
	for (uint32_t lid = 0; lid < count; lid++)
		if (!same_owner(planner, changes, lid)) {
			changes->lids[lid / 64] |= UINT64_C(1) << lid % 64;
			changes->any_lid = true;
		}
	const struct host_lids *lids = &planner->lids;
	for (uint32_t sw = 0; sw < planner->fabric->switch_count; sw++)
		changes->number[sw] = HD_NONE;
	for (uint32_t i = 0; i < lids->count; i++)
		changes->number[lids->sw[i]] = i;
	for (uint32_t lid = 0; lid < lids->lid_count; lid++)
		if (lids->may_adapt[lid])
			changes->lid_base[lids->destination[lid]]++;
	for (uint32_t i = 1; i <= lids->count; i++)
		changes->lid_base[i] += changes->lid_base[i - 1];
	for (uint32_t lid = lids->lid_count; lid-- > 0;)
		if (lids->may_adapt[lid])
			changes->lid_list[--changes->lid_base[lids->destination[lid]]] = lid;
	if (changes->changed_count <= switches / MANY_CHANGED + 8 && same_levels(planner, changes))
		planner->changes = changes;
	return 0;
}

/* ---- hop counts ---- */

/* Switches that follow each other now and before. */
struct run {
	uint32_t now, before, count;
};

/* Returns how many runs there are. */
static uint32_t find_runs(const struct plan_changes *changes, uint32_t switches, struct run *runs)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < switches; sw++) {
		const uint32_t old = changes->before[sw];
		if (old == HD_NONE)
			continue;
		if (count && runs[count - 1].now + runs[count - 1].count == sw &&
		    runs[count - 1].before + runs[count - 1].count == old)
			runs[count - 1].count++;
		else
			runs[count++] = (struct run){sw, old, 1};
	}
	return count;
}

/* The counts before, in the order of the switches now. */
static int carry_hops(struct planner *planner, const struct plan_changes *changes, uint8_t *hops)
{
	const struct plan_memory *known = changes->known;
	const uint32_t switches = planner->fabric->switch_count;
	struct run *runs = hd_arena_alloc(&planner->arena, switches, sizeof(*runs));

	if (!runs)
		return -ENOMEM;
	const uint32_t count = find_runs(changes, switches, runs);
	for (uint32_t sw = 0; sw < switches; sw++) {
		uint8_t *row = hops + sw * planner->hop_stride;
		const uint32_t old = changes->before[sw];
		memset(row, HOP_UPDATE_NONE, switches);
		if (old == HD_NONE)
			row[sw] = 0;
		for (uint32_t i = 0; old != HD_NONE && i < count; i++)
			memcpy(row + runs[i].now,
			       known->hops + old * known->hop_stride + runs[i].before,
			       runs[i].count);
	}
	return 0;
}

/* False: there are too many. */
static bool add_pair(struct finding *finding, uint32_t sw, uint32_t destination)
{
	const struct plan_changes *changes = finding->changes;

	if (finding->seen[sw] == destination + 1 || changes->whole[sw])
		return true;
	finding->seen[sw] = destination + 1;
	if (finding->count == finding->room)
		return false;
	finding->pairs[finding->count++] = (struct pair){sw, changes->number[destination]};
	return true;
}

/* A hop count counts for the switch and its neighbours. LIDs of a switch that has come have another owner. */
static bool note_hops(void *context, uint32_t sw, uint32_t destination)
{
	struct finding *finding = context;
	const struct plan_changes *changes = finding->changes;
	const struct hd_fabric *fabric = finding->planner->fabric;
	const uint32_t number = changes->number[destination];

	if (number == HD_NONE || changes->lid_base[number] == changes->lid_base[number + 1] ||
	    changes->before[destination] == HD_NONE)
		return true;
	bool room = add_pair(finding, sw, destination);
	for (uint32_t link = fabric->isl_base[sw]; room && link < fabric->isl_base[sw + 1]; link++)
		room = add_pair(finding, fabric->isl_to[link], destination);
	return room;
}

static int sort_pairs(struct planner *planner, const struct finding *finding)
{
	const uint32_t switches = planner->fabric->switch_count;
	struct plan_changes *changes = finding->changes;

	changes->destinations =
	    hd_arena_alloc(&planner->arena, finding->count, sizeof(*changes->destinations));
	if (!changes->destinations)
		return -ENOMEM;
	for (uint32_t i = 0; i < finding->count; i++)
		changes->pair_base[finding->pairs[i].sw]++;
	for (uint32_t sw = 1; sw <= switches; sw++)
		changes->pair_base[sw] += changes->pair_base[sw - 1];
	for (uint32_t i = finding->count; i-- > 0;)
		changes->destinations[--changes->pair_base[finding->pairs[i].sw]] =
		    finding->pairs[i].destination;
	return 0;
}

static int update_hops(struct planner *planner, struct finding *finding, uint8_t *hops)
{
	const struct plan_changes *changes = finding->changes;
	const struct hop_update update = {.fabric = planner->fabric,
					  .stray = planner->stray,
					  .changed = changes->changed,
					  .changed_count = changes->changed_count,
					  .hops = hops,
					  .stride = planner->hop_stride,
					  .note = note_hops,
					  .context = finding};
	int rc = carry_hops(planner, changes, hops);

	if (!rc)
		rc = hop_update_do(&update);
	return rc ? rc : sort_pairs(planner, finding);
}

int plan_changes_hops(struct planner *planner, uint8_t *hops)
{
	const uint32_t switches = planner->fabric->switch_count;
	struct finding finding = {
	    .planner = planner, .changes = planner->changes, .room = PAIRS_A_SWITCH * switches};

	if (!planner->changes)
		return 0;
	finding.seen = hd_arena_alloc(&planner->arena, switches, sizeof(*finding.seen));
	finding.pairs = malloc(finding.room * sizeof(*finding.pairs) + 1);
	int rc = finding.seen && finding.pairs ? update_hops(planner, &finding, hops) : -ENOMEM;
	free(finding.pairs);
	if (rc != -ERANGE && rc != -ECANCELED)
		return rc;
	planner->changes = NULL;
	return 0;
}
