/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/dependencies.h>

#include <stdlib.h>

/* ---- the first order ---- */

struct placed {
	uint64_t key;
	uint32_t link;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	/* in full: qsort() orders equal keys by chance when memory is short */
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->link < y->link ? -1 : x->link > y->link;
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

static bool find_first_order(struct hd_dependency_space *space)
{
	const struct hd_fabric *fabric = space->fabric;
	struct hd_arena arena = {0};
	uint32_t *level = hd_arena_alloc(&arena, fabric->switch_count, sizeof(*level));
	struct placed *placed = hd_arena_alloc(&arena, fabric->isl_count, sizeof(*placed));
	bool done = !hd_arena_check(&arena) && !hd_fabric_levels(fabric, level, NULL);

	if (done) {
		order_links(fabric, level, placed);
		for (uint32_t place = 0; place < fabric->isl_count; place++)
			space->first_order[placed[place].link] = place;
	}
	hd_arena_release(&arena);
	return done;
}

static void search_init(struct hd_dependency_search *search, uint32_t links, struct hd_arena *arena)
{
	search->links = hd_arena_alloc(arena, links, sizeof(*search->links));
	search->met = hd_arena_alloc(arena, links, sizeof(*search->met));
	search->places = hd_arena_alloc(arena, links / 64 + 1, sizeof(*search->places));
}

bool hd_dependency_space_init(struct hd_dependency_space *space, const struct hd_fabric *fabric,
			      struct hd_arena *arena)
{
	uint32_t links = fabric->isl_count, radix = 1;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t leaving = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		radix = leaving > radix ? leaving : radix;
	}
	*space = (struct hd_dependency_space){.fabric = fabric, .words = (radix + 63) / 64};
	space->first_order = hd_arena_alloc(arena, links, sizeof(*space->first_order));
	space->places = hd_arena_alloc(arena, links, sizeof(*space->places));
	search_init(&space->ahead, links, arena);
	search_init(&space->behind, links, arena);
	return !hd_arena_check(arena) && find_first_order(space);
}

static void start_order(struct hd_dependencies *lane, const struct hd_dependency_space *space)
{
	uint32_t links = space->fabric->isl_count;

	memcpy(lane->order, space->first_order, links * sizeof(*lane->order));
	for (uint32_t link = 0; link < links; link++)
		lane->link_at[lane->order[link]] = link;
}

bool hd_dependencies_init(struct hd_dependencies *lane, const struct hd_dependency_space *space,
			  struct hd_arena *arena)
{
	size_t links = space->fabric->isl_count, words = links * space->words;

	lane->held = hd_arena_alloc(arena, words, sizeof(*lane->held));
	lane->held_by = hd_arena_alloc(arena, words, sizeof(*lane->held_by));
	lane->refused = hd_arena_alloc(arena, words, sizeof(*lane->refused));
	lane->order = hd_arena_alloc(arena, links, sizeof(*lane->order));
	lane->link_at = hd_arena_alloc(arena, links, sizeof(*lane->link_at));
	if (hd_arena_check(arena))
		return false;
	start_order(lane, space);
	return true;
}

void hd_dependencies_clear(struct hd_dependencies *lane, const struct hd_dependency_space *space)
{
	size_t words = (size_t)space->fabric->isl_count * space->words;

	memset(lane->held, 0, words * sizeof(*lane->held));
	memset(lane->held_by, 0, words * sizeof(*lane->held_by));
	memset(lane->refused, 0, words * sizeof(*lane->refused));
	start_order(lane, space);
}

/* ---- searching, from both ends at once: most searches find a cycle, and soon ---- */

static inline void meet(struct hd_dependency_search *search, uint32_t link)
{
	if (search->met[link])
		return;
	search->met[link] = true;
	search->links[search->count++] = link;
}

static void start_search(struct hd_dependency_search *search, uint32_t link)
{
	search->count = search->done = 0;
	meet(search, link);
}

static void end_search(struct hd_dependency_search *search)
{
	for (uint32_t i = 0; i < search->count; i++)
		search->met[search->links[i]] = false;
}

/* Goes on from one link to those it waits for that stand before `limit`; true when the search
 * from the other end has met one of them. */
static bool go_ahead(const struct hd_dependencies *lane, struct hd_dependency_space *space,
		     uint32_t limit)
{
	const struct hd_fabric *fabric = space->fabric;
	uint32_t at = space->ahead.links[space->ahead.done++];
	uint32_t base = fabric->isl_base[fabric->isl_to[at]];

	for (uint32_t word = 0; word < space->words; word++) {
		uint64_t bits = lane->held[(size_t)at * space->words + word];
		for (; bits; bits &= bits - 1) {
			uint32_t to = base + word * 64 + (uint32_t)__builtin_ctzll(bits);
			if (space->behind.met[to])
				return true;
			if (lane->order[to] < limit)
				meet(&space->ahead, to);
		}
	}
	return false;
}

/* The same backwards, to those that wait for the link and stand after `limit`. */
static bool go_back(const struct hd_dependencies *lane, struct hd_dependency_space *space,
		    uint32_t limit)
{
	const struct hd_fabric *fabric = space->fabric;
	uint32_t at = space->behind.links[space->behind.done++];
	uint32_t base = fabric->isl_base[hd_isl_from(fabric, at)];

	for (uint32_t word = 0; word < space->words; word++) {
		uint64_t bits = lane->held_by[(size_t)at * space->words + word];
		for (; bits; bits &= bits - 1) {
			uint32_t out = base + word * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t from = fabric->isl_reverse[out];
			if (space->ahead.met[from])
				return true;
			if (lane->order[from] > limit)
				meet(&space->behind, from);
		}
	}
	return false;
}

static uint32_t left(const struct hd_dependency_search *search)
{
	return search->count - search->done;
}

/*
 * True when `next` leads to `link`. Otherwise space->ahead has all it leads to that stands before
 * `link`, and space->behind all that leads to `link` and stands after `next`.
 */
static bool leads_back(const struct hd_dependencies *lane, struct hd_dependency_space *space,
		       uint32_t link, uint32_t next)
{
	uint32_t first = lane->order[next], last = lane->order[link];

	start_search(&space->ahead, next);
	start_search(&space->behind, link);
	while (left(&space->ahead) && left(&space->behind)) {
		bool met = left(&space->ahead) <= left(&space->behind)
			       ? go_ahead(lane, space, last)
			       : go_back(lane, space, first);
		if (met)
			return true;
	}
	while (left(&space->ahead))
		go_ahead(lane, space, last);
	while (left(&space->behind))
		go_back(lane, space, first);
	return false;
}

/* ---- mending the order: bits are set at the places and read off in order ---- */

static void mark_places(const struct hd_dependencies *lane, struct hd_dependency_search *search)
{
	for (uint32_t i = 0; i < search->count; i++) {
		uint32_t place = lane->order[search->links[i]];
		search->places[place / 64] |= UINT64_C(1) << (place % 64);
	}
	search->count = 0;
}

/* Lists the links of one word of places again, in order. */
static void take_links(const struct hd_dependencies *lane, struct hd_dependency_search *search,
		       uint32_t word)
{
	for (uint64_t bits = search->places[word]; bits; bits &= bits - 1)
		search->links[search->count++] =
		    lane->link_at[word * 64 + (uint32_t)__builtin_ctzll(bits)];
	search->places[word] = 0;
}

static void take_places(uint64_t bits, uint32_t word, uint32_t *places, uint32_t *count)
{
	for (; bits; bits &= bits - 1)
		places[(*count)++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
}

static void put(struct hd_dependencies *lane, const struct hd_dependency_search *search,
		const uint32_t *places)
{
	for (uint32_t i = 0; i < search->count; i++) {
		lane->order[search->links[i]] = places[i];
		lane->link_at[places[i]] = search->links[i];
	}
}

/* Puts all that was met behind before all that was met ahead, each in its own order, on the
 * places they have, which are those from `first` to `last`. */
static void reorder(struct hd_dependencies *lane, struct hd_dependency_space *space, uint32_t first,
		    uint32_t last)
{
	uint32_t places = 0;

	mark_places(lane, &space->behind);
	mark_places(lane, &space->ahead);
	for (uint32_t word = first / 64; word <= last / 64; word++) {
		take_places(space->behind.places[word] | space->ahead.places[word], word,
			    space->places, &places);
		take_links(lane, &space->behind, word);
		take_links(lane, &space->ahead, word);
	}
	put(lane, &space->behind, space->places);
	put(lane, &space->ahead, space->places + space->behind.count);
}

static void hold(struct hd_dependencies *lane, const struct hd_dependency_space *space,
		 uint32_t link, uint32_t next)
{
	const struct hd_fabric *fabric = space->fabric;
	uint32_t sw = fabric->isl_to[link];
	uint32_t out = next - fabric->isl_base[sw];
	uint32_t in = fabric->isl_reverse[link] - fabric->isl_base[sw];

	lane->held[(size_t)link * space->words + out / 64] |= UINT64_C(1) << (out % 64);
	lane->held_by[(size_t)next * space->words + in / 64] |= UINT64_C(1) << (in % 64);
}

static void refuse(struct hd_dependencies *lane, const struct hd_dependency_space *space,
		   uint32_t link, uint32_t next)
{
	uint32_t out = next - space->fabric->isl_base[space->fabric->isl_to[link]];

	lane->refused[(size_t)link * space->words + out / 64] |= UINT64_C(1) << (out % 64);
}

bool hd_dependencies_add_new(struct hd_dependencies *lane, struct hd_dependency_space *space,
			     uint32_t link, uint32_t next)
{
	if (lane->order[link] >= lane->order[next]) {
		bool cycle = leads_back(lane, space, link, next);
		space->searched += space->ahead.count + space->behind.count;
		end_search(&space->ahead);
		end_search(&space->behind);
		if (cycle) {
			refuse(lane, space, link, next);
			return false;
		}
		reorder(lane, space, lane->order[next], lane->order[link]);
	}
	hold(lane, space, link, next);
	return true;
}
