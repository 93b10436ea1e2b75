/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dependencies.h"

#include <stdlib.h>

/* ---- the first order ---- */

struct placed {
	uint64_t key;
	uint32_t link;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Switches by (distance from hosts, falling index): a link climbs to a greater height. */
static uint64_t height(const uint32_t *level, uint32_t switch_count, uint32_t sw)
{
	return (uint64_t)level[sw] * switch_count + (switch_count - 1 - sw);
}

/* Climbing links by the height they climb to, then descending ones from the top downwards. */
static void order_links(const struct hd_fabric *fabric, const uint32_t *level,
			struct placed *placed)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint64_t from = height(level, fabric->switch_count, sw);
			uint64_t to = height(level, fabric->switch_count, fabric->isl_to[link]);
			placed[link].link = link;
			placed[link].key = to > from ? to : (UINT64_C(1) << 63) - from;
		}
	}
	qsort(placed, fabric->isl_count, sizeof(*placed), compare_placed);
}

static bool find_first_order(struct dependency_space *space)
{
	const struct hd_fabric *fabric = space->fabric;
	struct hd_arena arena = {0};
	uint32_t *level = hd_arena_alloc(&arena, fabric->switch_count, sizeof(*level));
	struct placed *placed = hd_arena_alloc(&arena, fabric->isl_count, sizeof(*placed));
	bool done = level && placed && !hd_fabric_levels(fabric, level, NULL);
	if (done) {
		order_links(fabric, level, placed);
		for (uint32_t place = 0; place < fabric->isl_count; place++)
			space->first_order[placed[place].link] = place;
	}
	hd_arena_release(&arena);
	return done;
}

bool dependency_space_init(struct dependency_space *space, const struct hd_fabric *fabric,
			   struct hd_arena *arena)
{
	uint32_t links = fabric->isl_count, radix = 1;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t leaving = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		radix = leaving > radix ? leaving : radix;
	}
	*space = (struct dependency_space){.fabric = fabric, .words = (radix + 63) / 64};
	space->first_order = hd_arena_alloc(arena, links, sizeof(*space->first_order));
	space->ahead = hd_arena_alloc(arena, links, sizeof(*space->ahead));
	space->behind = hd_arena_alloc(arena, links, sizeof(*space->behind));
	space->places = hd_arena_alloc(arena, links, sizeof(*space->places));
	space->met = hd_arena_alloc(arena, links, sizeof(*space->met));
	space->marked_ahead = hd_arena_alloc(arena, links / 64 + 1, 8);
	space->marked_behind = hd_arena_alloc(arena, links / 64 + 1, 8);
	return space->marked_ahead && space->marked_behind && space->first_order && space->ahead &&
	       space->behind && space->places && space->met && find_first_order(space);
}

static void start_order(struct dependencies *lane, struct dependency_space *space)
{
	uint32_t links = space->fabric->isl_count;
	memcpy(lane->order, space->first_order, links * sizeof(*lane->order));
	for (uint32_t link = 0; link < links; link++)
		lane->link_at[lane->order[link]] = link;
}

bool dependencies_init(struct dependencies *lane, struct dependency_space *space,
		       struct hd_arena *arena)
{
	size_t links = space->fabric->isl_count;
	lane->held = hd_arena_alloc(arena, links * space->words, sizeof(*lane->held));
	lane->refused = hd_arena_alloc(arena, links * space->words, sizeof(*lane->refused));
	lane->order = hd_arena_alloc(arena, links, sizeof(*lane->order));
	lane->link_at = hd_arena_alloc(arena, links, sizeof(*lane->link_at));
	if (!lane->held || !lane->refused || !lane->order || !lane->link_at)
		return false;
	start_order(lane, space);
	return true;
}

void dependencies_clear(struct dependencies *lane, struct dependency_space *space)
{
	size_t links = space->fabric->isl_count;
	memset(lane->held, 0, links * space->words * sizeof(*lane->held));
	memset(lane->refused, 0, links * space->words * sizeof(*lane->refused));
	start_order(lane, space);
}

/* ---- mending the order ---- */

static inline void meet(struct dependency_space *space, uint32_t *list, uint32_t *count,
			uint32_t link)
{
	if (space->met[link])
		return;
	space->met[link] = true;
	list[(*count)++] = link;
}

static void forget(struct dependency_space *space, const uint32_t *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		space->met[list[i]] = false;
}

static bool holds(const struct dependencies *lane, struct dependency_space *space, uint32_t link,
		  uint32_t bit)
{
	return lane->held[(size_t)link * space->words + bit / 64] >> (bit % 64) & 1;
}

/*
 * Meets all that `next` leads to and that stands before `link`, in space->ahead, until that is
 * done or one of them waits for `link`, which it looks for as it meets them: true.
 */
static bool search_ahead(const struct dependencies *lane, struct dependency_space *space,
			 uint32_t link, uint32_t next, uint32_t *count)
{
	const struct hd_fabric *fabric = space->fabric;
	uint32_t tail = fabric->isl_to[fabric->isl_reverse[link]];
	uint32_t link_bit = link - fabric->isl_base[tail];
	*count = 0;
	meet(space, space->ahead, count, next);
	if (fabric->isl_to[next] == tail && holds(lane, space, next, link_bit))
		return true;
	for (uint32_t i = 0; i < *count; i++) {
		uint32_t at = space->ahead[i], base = fabric->isl_base[fabric->isl_to[at]];
		for (uint32_t word = 0; word < space->words; word++) {
			uint64_t bits = lane->held[(size_t)at * space->words + word];
			for (; bits; bits &= bits - 1) {
				uint32_t to = base + word * 64 + (uint32_t)__builtin_ctzll(bits);
				if (lane->order[to] > lane->order[link])
					continue;
				meet(space, space->ahead, count, to);
				if (fabric->isl_to[to] == tail && holds(lane, space, to, link_bit))
					return true;
			}
		}
	}
	return false;
}

/* All that leads to `link` and stands after `next`, into space->behind; their number. */
static uint32_t search_behind(const struct dependencies *lane, struct dependency_space *space,
			      uint32_t link, uint32_t next)
{
	const struct hd_fabric *fabric = space->fabric;
	uint32_t count = 0;
	meet(space, space->behind, &count, link);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = space->behind[i], sw = fabric->isl_to[fabric->isl_reverse[at]];
		uint32_t bit = at - fabric->isl_base[sw];
		for (uint32_t out = fabric->isl_base[sw]; out < fabric->isl_base[sw + 1]; out++) {
			uint32_t before = fabric->isl_reverse[out];
			if (lane->order[before] > lane->order[next] &&
			    holds(lane, space, before, bit))
				meet(space, space->behind, &count, before);
		}
	}
	return count;
}

/* ---- sorting by place: bits are set at the places and read off in order ---- */

static void mark_places(const struct dependencies *lane, const uint32_t *links, uint32_t count,
			uint64_t *marked)
{
	for (uint32_t i = 0; i < count; i++)
		marked[lane->order[links[i]] / 64] |= UINT64_C(1) << (lane->order[links[i]] % 64);
}

/* Appends the links at marked places of one word. */
static void take_marked(const struct dependencies *lane, uint64_t bits, uint32_t word,
			uint32_t *links, uint32_t *count)
{
	for (; bits; bits &= bits - 1)
		links[(*count)++] = lane->link_at[word * 64 + (uint32_t)__builtin_ctzll(bits)];
}

static void take_places(uint64_t bits, uint32_t word, uint32_t *places, uint32_t *count)
{
	for (; bits; bits &= bits - 1)
		places[(*count)++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
}

static void put(struct dependencies *lane, const uint32_t *links, uint32_t count,
		const uint32_t *places)
{
	for (uint32_t i = 0; i < count; i++) {
		lane->order[links[i]] = places[i];
		lane->link_at[places[i]] = links[i];
	}
}

/* Puts all of `behind` before all of `ahead`, each in its own order, on the places they have,
 * which are those from `first` to `last`. */
static void reorder(struct dependencies *lane, struct dependency_space *space,
		    uint32_t behind_count, uint32_t ahead_count, uint32_t first, uint32_t last)
{
	uint32_t behind = 0, ahead = 0, places = 0;
	mark_places(lane, space->behind, behind_count, space->marked_behind);
	mark_places(lane, space->ahead, ahead_count, space->marked_ahead);
	for (uint32_t word = first / 64; word <= last / 64; word++) {
		uint64_t back = space->marked_behind[word], front = space->marked_ahead[word];
		take_marked(lane, back, word, space->behind, &behind);
		take_marked(lane, front, word, space->ahead, &ahead);
		take_places(back | front, word, space->places, &places);
		space->marked_behind[word] = space->marked_ahead[word] = 0;
	}
	put(lane, space->behind, behind_count, space->places);
	put(lane, space->ahead, ahead_count, space->places + behind_count);
}

bool dependencies_add_new(struct dependencies *lane, struct dependency_space *space, uint32_t link,
			  uint32_t next)
{
	uint32_t bit = next - space->fabric->isl_base[space->fabric->isl_to[link]];
	size_t word = (size_t)link * space->words + bit / 64;
	uint64_t mask = UINT64_C(1) << (bit % 64);
	if (lane->order[link] >= lane->order[next]) {
		uint32_t ahead, behind = 0;
		bool cycle = search_ahead(lane, space, link, next, &ahead);
		if (!cycle)
			behind = search_behind(lane, space, link, next);
		forget(space, space->ahead, ahead);
		forget(space, space->behind, behind);
		space->searched += ahead + behind;
		if (cycle) {
			lane->refused[word] |= mask;
			return false;
		}
		reorder(lane, space, behind, ahead, lane->order[next], lane->order[link]);
	}
	lane->held[word] |= mask;
	return true;
}
