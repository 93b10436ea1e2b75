/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each switch has one state towards a destination: its shortest path climbs first, or only descends. Of two paths as
 * short as each other it takes the one that descends, since packets from above may come by. A switch above it counts
 * on a path that only descends, so no packet climbs after it has descended.
 */
#include "climbs.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <stdatomic.h>
#include <string.h>

#define BATCH 64u /* destinations of a search */
#define HOPS_MOST 125u

/* ---- paths ---- */

/* One bit for each destination of the batch. */
struct reach {
	uint64_t seen; /* the switch has a path */
	uint64_t down; /* that only descends */
	uint64_t edge; /* as long as the search has come */
	uint64_t next; /* one hop longer */
};

struct search {
	struct climbs *climbs;
	const struct hd_fabric *fabric;
	struct reach *reach; /* [switch_count] of each worker */
	atomic_bool too_far;
};

static void note_states(const struct search *search, uint32_t sw, uint32_t first, uint64_t found,
			uint32_t state)
{
	uint8_t *row = search->climbs->states + (size_t)sw * search->climbs->stride + first;

	for (; found; found &= found - 1)
		row[__builtin_ctzll(found)] = (uint8_t)state;
}

/* Paths of one hop more that begin at the switch. */
static void look_around(const struct search *search, struct reach *reach, uint32_t sw,
			uint32_t first, uint32_t hops)
{
	const struct hd_fabric *fabric = search->fabric;
	uint64_t climbing = 0, descending = 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		const struct reach *far = &reach[fabric->isl_to[link]];
		if (search->climbs->up[link])
			climbing |= far->edge;
		else
			descending |= far->edge & far->down;
	}
	descending &= ~reach[sw].seen;
	climbing &= ~(reach[sw].seen | descending);
	reach[sw].next = descending | climbing;
	note_states(search, sw, first, descending, hops << 1 | 1);
	note_states(search, sw, first, climbing, hops << 1);
	reach[sw].down |= descending;
}

/* False when no switch has got a path. `down` of a switch is asked for with `edge` only, which is older. */
static bool advance(const struct search *search, struct reach *reach, uint32_t first, uint32_t hops)
{
	uint64_t any = 0;

	for (uint32_t sw = 0; sw < search->fabric->switch_count; sw++)
		look_around(search, reach, sw, first, hops);
	for (uint32_t sw = 0; sw < search->fabric->switch_count; sw++) {
		reach[sw].edge = reach[sw].next;
		reach[sw].seen |= reach[sw].next;
		any |= reach[sw].next;
	}
	return any != 0;
}

static void search_batches(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct search *search = context;
	uint32_t switches = search->fabric->switch_count;
	struct reach *reach = search->reach + (size_t)worker * switches;

	for (uint32_t first = begin * BATCH; first < end * BATCH && first < switches;
	     first += BATCH) {
		uint32_t hops = 1;
		memset(reach, 0, switches * sizeof(*reach));
		for (uint32_t to = first; to < switches && to < first + BATCH; to++) {
			uint64_t bit = UINT64_C(1) << (to - first);
			reach[to] = (struct reach){.seen = bit, .down = bit, .edge = bit};
			search->climbs->states[(size_t)to * search->climbs->stride + to] = 1;
		}
		while (hops <= HOPS_MOST && advance(search, reach, first, hops))
			hops++;
		if (hops > HOPS_MOST)
			atomic_store(&search->too_far, true);
	}
}

int climbs_find(struct climbs *climbs, const struct hd_fabric *fabric, const uint8_t *up,
		size_t stride, unsigned threads, const struct hd_go_on *go_on,
		struct hd_arena *arena)
{
	uint32_t switches = fabric->switch_count;
	struct search search = {.climbs = climbs, .fabric = fabric};

	*climbs = (struct climbs){.up = up, .stride = stride};
	climbs->states = hd_arena_alloc(arena, switches, stride);
	search.reach = hd_arena_alloc(arena, (size_t)hd_parallel_workers(threads) * switches,
				      sizeof(*search.reach));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memset(climbs->states, CLIMBS_NONE, switches * stride);
	int rc = hd_parallel_for_while(threads, (switches + BATCH - 1) / BATCH, 1, search_batches,
				       &search, go_on);
	return rc ? rc : atomic_load(&search.too_far) ? -ERANGE : 0;
}

/* ---- links ---- */

/* Both loops are such that the compiler makes vector instructions of them. */
static void compare_up(const uint8_t *restrict near, const uint8_t *restrict own,
		       uint8_t *restrict plane, size_t stride, uint8_t bit)
{
	for (size_t i = 0; i < stride; i++) {
		uint8_t leads = (uint8_t)((near[i] | 1) + 1) == own[i] ? 0xFF : 0;
		plane[i] = (uint8_t)(plane[i] | (leads & bit));
	}
}

void climbs_compare(const struct climbs *climbs, uint32_t from, uint32_t link, uint32_t to,
		    uint8_t *plane, uint8_t bit)
{
	const uint8_t *near = climbs->states + (size_t)to * climbs->stride;
	const uint8_t *own = climbs->states + (size_t)from * climbs->stride;

	if (climbs->up[link])
		compare_up(near, own, plane, climbs->stride, bit);
	else {
		size_t stride = climbs->stride;
		for (size_t i = 0; i < stride; i++) {
			uint8_t leads = (uint8_t)(near[i] + 2) == own[i] && (own[i] & 1) ? 0xFF : 0;
			plane[i] = (uint8_t)(plane[i] | (leads & bit));
		}
	}
}
