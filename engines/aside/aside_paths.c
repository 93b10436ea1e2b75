/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_paths.h"
#include "link_number.h"

#include <errno.h>

enum fit { FITS, REFUSED, LOST };
#define FIT_BITS 2

/* ---- memory ---- */

/* Whether a path between hosts goes through the switch, or begins or ends there. */
static bool is_in_use(const struct aside_paths *paths, uint32_t sw)
{
	const struct hd_fabric *fabric = paths->fabric;

	if (fabric->host_base[sw] < fabric->host_base[sw + 1])
		return true;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		for (unsigned lane = 0; lane < paths->lanes; lane++) {
			const struct hd_dependencies *graph = &paths->graph[lane];
			size_t row = (size_t)fabric->isl_reverse[link] * graph->words;
			for (uint32_t word = 0; word < graph->words; word++)
				if (graph->waits_for[row + word])
					return true;
		}
	return false;
}

/* Levels that fall with the distance from the lowest-numbered switch. */
static void find_root_levels(struct aside_paths *paths, uint32_t *level)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t *queue = paths->path, tail = 0;

	memset(level, 0, fabric->switch_count * sizeof(*level));
	for (uint32_t head = 0, seed = 0; seed < fabric->switch_count; seed++) {
		if (!level[seed])
			level[queue[tail++] = seed] = UINT32_MAX;
		for (; head < tail; head++) {
			uint32_t sw = queue[head];
			for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
			     link++) {
				uint32_t far = fabric->isl_to[link];
				if (!level[far])
					level[queue[tail++] = far] = level[sw] - 1;
			}
		}
	}
}

static int find_levels(struct aside_paths *paths, enum aside_up up, uint32_t *level)
{
	const struct hd_fabric *fabric = paths->fabric;

	if (up == ASIDE_UP_ROOT) {
		find_root_levels(paths, level);
		return 0;
	}
	if (hd_fabric_levels(fabric, level, NULL))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		level[sw] = up == ASIDE_UP_LEVELS || is_in_use(paths, sw) ? level[sw] + 1 : 0;
	return 0;
}

int aside_paths_orient(struct aside_paths *paths, enum aside_up up)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t *level = hd_arena_alloc(&paths->arena, fabric->switch_count, sizeof(*level));

	if (!level || find_levels(paths, up, level))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			paths->climbs[link] =
			    level[far] != level[sw] ? level[far] > level[sw] : far < sw;
		}
	return 0;
}

static int allocate(struct aside_paths *paths)
{
	const struct hd_fabric *fabric = paths->fabric;
	struct hd_arena *arena = &paths->arena;
	uint32_t switches = fabric->switch_count;

	paths->sends = hd_arena_alloc(arena, switches, sizeof(*paths->sends));
	paths->next = hd_arena_alloc(arena, switches, sizeof(*paths->next));
	paths->fixed = hd_arena_alloc(arena, switches, sizeof(*paths->fixed));
	paths->hops = hd_arena_alloc(arena, switches, sizeof(*paths->hops));
	paths->path = hd_arena_alloc(arena, switches, sizeof(*paths->path));
	paths->legal = hd_arena_alloc(arena, switches, sizeof(*paths->legal));
	paths->grown = hd_arena_alloc(arena, switches, sizeof(*paths->grown));
	return hd_arena_check(arena);
}

int aside_paths_init_links(struct aside_paths *paths, const struct hd_fabric *fabric)
{
	*paths = (struct aside_paths){.fabric = fabric};
	paths->link_number = hd_arena_alloc(&paths->arena, fabric->switch_count, 256);
	paths->climbs = hd_arena_alloc(&paths->arena, fabric->isl_count, sizeof(*paths->climbs));
	for (uint32_t sw = 0; paths->link_number && sw < fabric->switch_count; sw++)
		link_number_fill(fabric, sw, paths->link_number + (size_t)sw * 256);
	return hd_arena_check(&paths->arena);
}

int aside_paths_init(struct aside_paths *paths, const struct hd_fabric *fabric, unsigned lanes,
		     unsigned most, bool guarded)
{
	if (aside_paths_init_links(paths, fabric) || allocate(paths) ||
	    hd_dependency_workspace_init(&paths->workspace, fabric, &paths->arena))
		return -ENOMEM;
	paths->guarded = guarded;
	paths->most = most;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		paths->sends[sw] = hd_has_adapters(fabric, sw);
	if (paths->most < lanes)
		paths->most = lanes;
	for (; paths->lanes < lanes; paths->lanes++) {
		paths->known[paths->lanes] =
		    hd_arena_alloc(&paths->arena, fabric->switch_count, sizeof(**paths->known));
		hd_dependencies_init(&paths->graph[paths->lanes], fabric, &paths->arena);
	}
	return hd_arena_check(&paths->arena);
}

int aside_paths_order(struct aside_paths *paths)
{
	int rc = 0;

	for (unsigned lane = 0; !rc && lane < paths->lanes; lane++) {
		rc = hd_dependencies_order(&paths->graph[lane], &paths->workspace, &paths->arena);
		if (!rc)
			rc = hd_dependencies_init_batches(&paths->graph[lane], &paths->arena);
	}
	return rc;
}

void aside_paths_try(struct aside_paths *paths)
{
	paths->trying = true;
	for (unsigned lane = 0; paths->guarded && lane < paths->lanes; lane++)
		hd_dependencies_begin_batch(&paths->graph[lane]);
}

void aside_paths_keep(struct aside_paths *paths)
{
	paths->trying = false;
	for (unsigned lane = 0; paths->guarded && lane < paths->lanes; lane++)
		hd_dependencies_keep_batch(&paths->graph[lane]);
}

void aside_paths_undo(struct aside_paths *paths)
{
	paths->trying = false;
	for (unsigned lane = 0; paths->guarded && lane < paths->lanes; lane++)
		hd_dependencies_undo_batch(&paths->graph[lane]);
}

void aside_paths_release(struct aside_paths *paths)
{
	hd_arena_release(&paths->arena);
}

int aside_paths_open_lane(struct aside_paths *paths)
{
	const struct hd_fabric *fabric = paths->fabric;
	unsigned lane = paths->lanes;

	if (lane == paths->most)
		return -ENOSPC;
	paths->known[lane] =
	    hd_arena_alloc(&paths->arena, fabric->switch_count, sizeof(**paths->known));
	if (hd_dependencies_init_ordered(&paths->graph[lane], fabric, &paths->workspace,
					 &paths->arena) ||
	    hd_dependencies_init_batches(&paths->graph[lane], &paths->arena))
		return -ENOMEM;
	if (paths->trying)
		hd_dependencies_begin_batch(&paths->graph[lane]);
	paths->lanes++;
	return 0;
}

void aside_paths_begin(struct aside_paths *paths, uint32_t lid, uint32_t destination)
{
	uint32_t switches = paths->fabric->switch_count;

	paths->lid = lid;
	paths->destination = destination;
	paths->visit++;
	memset(paths->next, 0xFF, switches * sizeof(*paths->next));
	memset(paths->fixed, 0, switches * sizeof(*paths->fixed));
}

/* ---- one path ---- */

static bool is_known(const struct aside_paths *paths, unsigned lane, uint32_t sw)
{
	return paths->known[lane][sw] >> FIT_BITS == paths->visit;
}

static enum fit fit_of(const struct aside_paths *paths, unsigned lane, uint32_t sw)
{
	return paths->known[lane][sw] & ((1u << FIT_BITS) - 1);
}

static void note(struct aside_paths *paths, unsigned lane, uint32_t sw, enum fit fit, uint32_t hops)
{
	paths->known[lane][sw] = paths->visit << FIT_BITS | fit;
	paths->hops[sw] = hops;
}

/* Whether the lane takes the step from a link to what follows it. */
static bool takes(struct aside_paths *paths, unsigned lane, uint32_t link)
{
	uint32_t to = paths->fabric->isl_to[link];

	return to == paths->destination || !paths->guarded ||
	       hd_dependencies_add(&paths->graph[lane], link, paths->next[to]);
}

/* Follows the path to its end or to the first switch that is known. HD_NONE: it leads nowhere. */
static uint32_t follow(struct aside_paths *paths, unsigned lane, uint32_t source, uint32_t *steps)
{
	uint32_t sw = source;

	for (*steps = 0; sw != paths->destination && !is_known(paths, lane, sw); ++*steps) {
		if (*steps == paths->fabric->switch_count)
			return HD_NONE;
		paths->path[*steps] = sw;
		if (paths->next[sw] == HD_NONE) {
			++*steps;
			return HD_NONE;
		}
		sw = paths->fabric->isl_to[paths->next[sw]];
	}
	return sw;
}

bool aside_paths_fit(struct aside_paths *paths, unsigned lane, uint32_t source)
{
	uint32_t steps, sw = follow(paths, lane, source, &steps), hops = 0;
	enum fit fit = LOST;

	if (sw != HD_NONE && sw == paths->destination)
		fit = FITS;
	else if (sw != HD_NONE)
		fit = fit_of(paths, lane, sw);
	if (fit == FITS && sw != paths->destination)
		hops = paths->hops[sw];
	while (steps--) {
		uint32_t at = paths->path[steps];
		if (fit == FITS && !takes(paths, lane, paths->next[at]))
			fit = REFUSED;
		note(paths, lane, at, fit, ++hops);
	}
	return fit == FITS;
}

void aside_paths_fix(struct aside_paths *paths, uint32_t source)
{
	for (uint32_t sw = source; sw != paths->destination && !paths->fixed[sw];
	     sw = paths->fabric->isl_to[paths->next[sw]])
		paths->fixed[sw] = true;
}

/* ---- growing ---- */

/* A next hop that a switch could take; less is better. */
struct choice {
	uint32_t hops, to, link;
};

static bool is_better(const struct choice *a, const struct choice *b)
{
	if (a->hops != b->hops)
		return a->hops < b->hops;
	return a->to != b->to ? a->to < b->to : a->link < b->link;
}

static bool is_legal(const struct aside_paths *paths, uint32_t link)
{
	uint32_t to = paths->fabric->isl_to[link];

	return paths->climbs[link] || to == paths->destination || paths->next[to] == HD_NONE ||
	       !paths->climbs[paths->next[to]];
}

/* Whether a path goes on from `to` on that lane. What this round has grown does not count. */
static bool leads_on(struct aside_paths *paths, unsigned lane, uint32_t to, uint32_t round)
{
	if (to == paths->destination)
		return true;
	return paths->grown[to] < round && is_known(paths, lane, to) &&
	       fit_of(paths, lane, to) == FITS;
}

/* The best choice after `last` (NULL: the best of all); false: no further choice. */
static bool next_choice(struct aside_paths *paths, unsigned lane, uint32_t sw, uint32_t round,
			bool legal, const struct choice *last, struct choice *out)
{
	const struct hd_fabric *fabric = paths->fabric;
	bool found = false;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t to = fabric->isl_to[link];
		if (!leads_on(paths, lane, to, round) || (legal && !is_legal(paths, link)))
			continue;
		struct choice choice = {to == paths->destination ? 0 : paths->hops[to], to, link};
		if ((last && !is_better(last, &choice)) || (found && !is_better(&choice, out)))
			continue;
		*out = choice;
		found = true;
	}
	return found;
}

static bool grow_switch(struct aside_paths *paths, unsigned lane, uint32_t sw, uint32_t round,
			bool legal)
{
	struct choice choice, last;
	bool more = next_choice(paths, lane, sw, round, legal, NULL, &choice);

	for (; more; more = next_choice(paths, lane, sw, round, legal, &last, &choice)) {
		if (takes(paths, lane, choice.link)) {
			paths->next[sw] = choice.link;
			paths->grown[sw] = round;
			note(paths, lane, sw, FITS, choice.hops + 1);
			return true;
		}
		last = choice;
	}
	return false;
}

/* Whether the switch waits for a next hop; finds out what the lane says of its path. */
static bool is_open(struct aside_paths *paths, unsigned lane, uint32_t sw)
{
	return sw != paths->destination && !aside_paths_fit(paths, lane, sw) && !paths->fixed[sw];
}

void aside_paths_grow(struct aside_paths *paths, unsigned lane)
{
	uint32_t switches = paths->fabric->switch_count, round = 0;

	memset(paths->grown, 0, switches * sizeof(*paths->grown));
	for (int legal = 1; legal >= 0; legal--) {
		for (bool any = true; any;) {
			any = false;
			round++;
			for (uint32_t sw = 0; sw < switches; sw++)
				if (is_open(paths, lane, sw))
					any |= grow_switch(paths, lane, sw, round, legal);
		}
	}
}

/* ---- what nobody sends on ---- */

bool aside_paths_arrives(const struct aside_paths *paths, uint32_t sw)
{
	for (uint32_t steps = 0; steps <= paths->fabric->switch_count; steps++) {
		if (sw == paths->destination)
			return true;
		if (paths->next[sw] == HD_NONE)
			return false;
		sw = paths->fabric->isl_to[paths->next[sw]];
	}
	return false;
}

/* Links a switch to its first neighbour from which packets arrive without passing it. */
static bool attach(struct aside_paths *paths, uint32_t sw)
{
	const struct hd_fabric *fabric = paths->fabric;

	paths->next[sw] = HD_NONE;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		if (aside_paths_arrives(paths, fabric->isl_to[link])) {
			paths->next[sw] = link;
			return true;
		}
	}
	return false;
}

void aside_paths_fill(struct aside_paths *paths)
{
	for (bool any = true; any;) {
		any = false;
		for (uint32_t sw = 0; sw < paths->fabric->switch_count; sw++)
			if (!paths->sends[sw] && !aside_paths_arrives(paths, sw))
				any |= attach(paths, sw);
	}
}
