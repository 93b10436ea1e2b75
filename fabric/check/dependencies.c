/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <assert.h>
#include <errno.h>
#include <heddle/fabric/dependencies.h>
#include <stdlib.h>
#include <string.h>

/* ---- graphs ---- */

static uint32_t largest_radix(const struct hd_fabric *fabric)
{
	uint32_t radix = 1;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		radix = links > radix ? links : radix;
	}
	return radix;
}

int hd_dependencies_init(struct hd_dependencies *graph, const struct hd_fabric *fabric,
			 struct hd_arena *arena)
{
	*graph =
	    (struct hd_dependencies){.fabric = fabric, .words = (largest_radix(fabric) + 63) / 64};
	graph->waits_for = hd_arena_alloc(arena, (size_t)fabric->isl_count * graph->words,
					  sizeof(*graph->waits_for));
	return hd_arena_check(arena);
}

void hd_dependencies_collect_set(struct hd_dependencies *graph, uint32_t link,
				 const uint64_t *next_hops)
{
	uint64_t *row = graph->waits_for + (size_t)link * graph->words;

	for (uint32_t word = 0; word < graph->words; word++)
		row[word] |= next_hops[word];
}

void hd_dependencies_merge(struct hd_dependencies *graph, const struct hd_dependencies *other)
{
	size_t words = (size_t)graph->fabric->isl_count * graph->words;

	for (size_t i = 0; i < words; i++)
		graph->waits_for[i] |= other->waits_for[i];
}

/* ---- ordered graphs ---- */

/* Ordered graphs. The links have an order in which every dependency leads to a later place. So
 * there is no cycle. */

/* ---- cycles ---- */

/* Removes links from a dependency graph until only those remain that lie on a cycle or lead to
 * one. */
/*
 * The search removes links that depend on nothing, until every link that remains depends on another
 * one. Then each walk along dependencies comes back to a link that it has passed.
 */

/* Scratch memory of one search. */
struct dependencies_search {
	const struct hd_dependencies *graph;
	uint32_t *left; /* dependencies on links that remain; 0 = the link is removed */
	uint32_t *queue; /* removed links, each after all links on which it depends */
	uint32_t *from; /* the link before, in a breadth-first search; HD_NONE = not met */
	uint32_t *mark; /* position in the walk to the first cycle + 1 */
};

#define SEARCHES_MAX 64u

/* Errors: -ENOMEM. */
static int dependencies_cycle_init(struct dependencies_search *search,
				   const struct hd_dependencies *graph, struct hd_arena *arena)
{
	uint32_t links = graph->fabric->isl_count;
	uint32_t **arrays[] = {&search->left, &search->queue, &search->from, &search->mark};

	search->graph = graph;
	for (unsigned i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		*arrays[i] = hd_arena_alloc(arena, links, sizeof(**arrays[i]));
	return hd_arena_check(arena);
}

static void count_dependencies(struct dependencies_search *search)
{
	const struct hd_dependencies *graph = search->graph;

	for (uint32_t link = 0; link < graph->fabric->isl_count; link++)
		for (uint32_t word = 0; word < graph->words; word++)
			search->left[link] += (uint32_t)__builtin_popcountll(
			    graph->waits_for[(size_t)link * graph->words + word]);
}

/* Removes one link. Links that then depend on nothing join the queue. */
static uint32_t release(struct dependencies_search *search, uint32_t link, uint32_t queued)
{
	const struct hd_fabric *fabric = search->graph->fabric;
	uint32_t sw = hd_isl_from(fabric, link);

	for (uint32_t out = fabric->isl_base[sw]; out < fabric->isl_base[sw + 1]; out++) {
		uint32_t before = fabric->isl_reverse[out];
		if (hd_dependencies_has(search->graph, before, link) && !--search->left[before])
			search->queue[queued++] = before;
	}
	return queued;
}

/* Returns the lowest-numbered link that remains. HD_NONE: the graph has no cycle, and search->queue
 * holds all links. Cost: O(links * radix). */
static uint32_t dependencies_cycle_reduce(struct dependencies_search *search)
{
	uint32_t links = search->graph->fabric->isl_count, queued = 0;

	count_dependencies(search);
	for (uint32_t link = 0; link < links; link++)
		if (!search->left[link])
			search->queue[queued++] = link;
	for (uint32_t done = 0; done < queued; done++)
		queued = release(search, search->queue[done], queued);
	for (uint32_t link = 0; link < links; link++)
		if (search->left[link])
			return link;
	return HD_NONE;
}

static uint32_t first_successor(const struct dependencies_search *search, uint32_t link)
{
	const struct hd_fabric *fabric = search->graph->fabric;
	uint32_t next = fabric->isl_base[fabric->isl_to[link]];

	while (!hd_dependencies_has(search->graph, link, next) || !search->left[next])
		next++;
	return next;
}

/* Goes from each link to the first on which it depends, until a link comes a second time. The links
 * of that cycle go to `cycle`. */
static uint32_t walk_round(struct dependencies_search *search, uint32_t link, uint32_t *cycle)
{
	uint32_t steps = 0;

	for (; !search->mark[link]; link = first_successor(search, link)) {
		search->queue[steps] = link;
		search->mark[link] = ++steps;
	}
	uint32_t start = search->mark[link] - 1;
	memcpy(cycle, search->queue + start, (steps - start) * sizeof(*cycle));
	return steps - start;
}

/* Continues a breadth-first search that began at `start` from `link`. True when it is back at
 * `start`. */
static bool spread(struct dependencies_search *search, uint32_t link, uint32_t start,
		   uint32_t *queued)
{
	const struct hd_fabric *fabric = search->graph->fabric;
	uint32_t sw = fabric->isl_to[link];

	for (uint32_t next = fabric->isl_base[sw]; next < fabric->isl_base[sw + 1]; next++) {
		if (!hd_dependencies_has(search->graph, link, next) || !search->left[next])
			continue;
		if (next == start)
			return true;
		if (search->from[next] != HD_NONE)
			continue;
		search->from[next] = link;
		search->queue[(*queued)++] = next;
	}
	return false;
}

/* Finds the shortest cycle through `start`. Writes it backwards from its last link. */
static uint32_t shortest_through(struct dependencies_search *search, uint32_t start,
				 uint32_t *cycle)
{
	uint32_t queued = 1, done = 0, length = 1;

	memset(search->from, 0xFF, search->graph->fabric->isl_count * sizeof(*search->from));
	search->queue[0] = search->from[start] = start;
	while (!spread(search, search->queue[done], start, &queued))
		done++;
	for (uint32_t link = search->queue[done]; link != start; link = search->from[link])
		length++;
	for (uint32_t link = search->queue[done], i = length; i-- > 0; link = search->from[link])
		cycle[i] = link;
	return length;
}

static uint32_t shorten(struct dependencies_search *search, uint32_t *cycle, uint32_t length,
			uint32_t *other)
{
	uint32_t tries = length < SEARCHES_MAX ? length : SEARCHES_MAX, best = length;
	uint32_t starts[SEARCHES_MAX];

	memcpy(starts, cycle, tries * sizeof(*starts));
	for (uint32_t i = 0; i < tries; i++) {
		uint32_t found = shortest_through(search, starts[i], other);
		if (found < best) {
			memcpy(cycle, other, found * sizeof(*cycle));
			best = found;
		}
	}
	return best;
}

int hd_dependencies_find_cycle(const struct hd_dependencies *graph, uint32_t *cycle,
			       uint32_t *length)
{
	struct dependencies_search search;
	struct hd_arena arena = {0};
	int rc = dependencies_cycle_init(&search, graph, &arena);

	if (!rc) {
		uint32_t link = dependencies_cycle_reduce(&search);
		*length = link == HD_NONE ? 0 : walk_round(&search, link, cycle);
		if (*length)
			*length = shorten(&search, cycle, *length, search.mark);
	}
	hd_arena_release(&arena);
	return rc;
}

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

/* The height of a switch orders switches by distance from hosts, then by falling index. A link
 * climbs if it leads to a greater height. */
static uint64_t height(const uint32_t *level, uint32_t switch_count, uint32_t sw)
{
	return (uint64_t)level[sw] * switch_count + (switch_count - 1 - sw);
}

/* First the climbing links, by the height to which they climb. Then the descending links, from the
 * top downwards. */
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

static int find_first_order(struct hd_dependency_workspace *workspace,
			    const struct hd_fabric *fabric)
{
	struct hd_arena arena = {0};
	uint32_t *level = hd_arena_alloc(&arena, fabric->switch_count, sizeof(*level));
	struct placed *placed = hd_arena_alloc(&arena, fabric->isl_count, sizeof(*placed));
	int rc = hd_arena_check(&arena);

	if (!rc)
		rc = hd_fabric_levels(fabric, level, NULL);
	if (!rc) {
		order_links(fabric, level, placed);
		for (uint32_t place = 0; place < fabric->isl_count; place++)
			workspace->first_order[placed[place].link] = place;
	}
	hd_arena_release(&arena);
	return rc;
}

/* ---- memory ---- */

static void search_init(struct hd_dependency_search *search, uint32_t links, struct hd_arena *arena)
{
	search->links = hd_arena_alloc(arena, (size_t)links + 1, sizeof(*search->links));
	search->met = hd_arena_alloc(arena, links, sizeof(*search->met));
	search->places = hd_arena_alloc(arena, links / 64 + 1, sizeof(*search->places));
}

int hd_dependency_workspace_init(struct hd_dependency_workspace *workspace,
				 const struct hd_fabric *fabric, struct hd_arena *arena)
{
	uint32_t links = fabric->isl_count;

	*workspace = (struct hd_dependency_workspace){0};
	workspace->first_order = hd_arena_alloc(arena, links, sizeof(*workspace->first_order));
	workspace->places = hd_arena_alloc(arena, links, sizeof(*workspace->places));
	search_init(&workspace->ahead, links, arena);
	search_init(&workspace->behind, links, arena);
	return hd_arena_check(arena) ? -ENOMEM : find_first_order(workspace, fabric);
}

static size_t rows_size(const struct hd_dependencies *graph)
{
	return (size_t)graph->fabric->isl_count * graph->words;
}

static int order_allocate(struct hd_dependencies *graph, struct hd_arena *arena)
{
	uint32_t links = graph->fabric->isl_count;

	graph->blocks = hd_arena_alloc(arena, rows_size(graph), sizeof(*graph->blocks));
	graph->refused = hd_arena_alloc(arena, rows_size(graph), sizeof(*graph->refused));
	graph->order = hd_arena_alloc(arena, links, sizeof(*graph->order));
	graph->link_at = hd_arena_alloc(arena, links, sizeof(*graph->link_at));
	return hd_arena_check(arena);
}

static void start_order(struct hd_dependencies *graph)
{
	uint32_t links = graph->fabric->isl_count;

	memcpy(graph->order, graph->workspace->first_order, links * sizeof(*graph->order));
	for (uint32_t link = 0; link < links; link++)
		graph->link_at[graph->order[link]] = link;
}

int hd_dependencies_init_ordered(struct hd_dependencies *graph, const struct hd_fabric *fabric,
				 struct hd_dependency_workspace *workspace, struct hd_arena *arena)
{
	if (hd_dependencies_init(graph, fabric, arena) || order_allocate(graph, arena))
		return -ENOMEM;
	graph->workspace = workspace;
	start_order(graph);
	return 0;
}

void hd_dependencies_clear(struct hd_dependencies *graph)
{
	memset(graph->waits_for, 0, rows_size(graph) * sizeof(*graph->waits_for));
	memset(graph->blocks, 0, rows_size(graph) * sizeof(*graph->blocks));
	memset(graph->refused, 0, rows_size(graph) * sizeof(*graph->refused));
	start_order(graph);
}

/* ---- from a collected graph ---- */

/* Number of the cable of `link`, among the links of the switch to which it leads. */
static uint32_t arrival_bit(const struct hd_fabric *fabric, uint32_t link)
{
	return fabric->isl_reverse[link] - fabric->isl_base[fabric->isl_to[link]];
}

static void block(struct hd_dependencies *graph, uint32_t link, uint32_t next)
{
	uint32_t bit = arrival_bit(graph->fabric, link);

	graph->blocks[(size_t)next * graph->words + bit / 64] |= UINT64_C(1) << (bit % 64);
}

static void unblock(struct hd_dependencies *graph, uint32_t link, uint32_t next)
{
	uint32_t bit = arrival_bit(graph->fabric, link);

	graph->blocks[(size_t)next * graph->words + bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

/* Calls change() for each link in `bits` (a row or a part of one) on which `link` depends. */
static void each_dependency(struct hd_dependencies *graph, uint32_t link, const uint64_t *bits,
			    void (*change)(struct hd_dependencies *graph, uint32_t link,
					   uint32_t next))
{
	uint32_t base = graph->fabric->isl_base[graph->fabric->isl_to[link]];
	const uint64_t *row = graph->waits_for + (size_t)link * graph->words;

	for (uint32_t word = 0; word < graph->words; word++)
		for (uint64_t left = row[word] & bits[word]; left; left &= left - 1)
			change(graph, link, base + word * 64 + (uint32_t)__builtin_ctzll(left));
}

/* search->queue holds each link after all links on which it depends. */
static void take_order(struct hd_dependencies *graph, const struct dependencies_search *search)
{
	uint32_t links = graph->fabric->isl_count;

	for (uint32_t i = 0; i < links; i++) {
		graph->link_at[links - 1 - i] = search->queue[i];
		graph->order[search->queue[i]] = links - 1 - i;
	}
	for (uint32_t link = 0; link < links; link++)
		each_dependency(graph, link, graph->waits_for + (size_t)link * graph->words, block);
}

int hd_dependencies_order(struct hd_dependencies *graph, struct hd_dependency_workspace *workspace,
			  struct hd_arena *arena)
{
	struct hd_dependencies ordered = *graph;
	struct dependencies_search search;
	struct hd_arena scratch = {0};
	int rc = dependencies_cycle_init(&search, graph, &scratch);

	if (!rc && dependencies_cycle_reduce(&search) != HD_NONE)
		rc = -ELOOP;
	if (!rc)
		rc = order_allocate(&ordered, arena);
	if (!rc) {
		ordered.workspace = workspace;
		take_order(&ordered, &search);
		*graph = ordered;
	}
	hd_arena_release(&scratch);
	return rc;
}

/* ---- searching from both ends at once: most searches soon find a cycle ---- */

/* Has no branch, because links[] has room for one link too many. */
static inline void meet(struct hd_dependency_search *search, uint32_t link)
{
	search->links[search->count] = link;
	search->count += !search->met[link];
	search->met[link] = true;
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

/* Goes on from one link to those that it waits for and whose place is before `limit`. True if the
 * search from the other end has met one of them. */
static bool go_ahead(const struct hd_dependencies *graph, uint32_t limit)
{
	const struct hd_fabric *fabric = graph->fabric;
	struct hd_dependency_search *ahead = &graph->workspace->ahead;
	const bool *met_behind = graph->workspace->behind.met;
	const uint32_t *order = graph->order;
	uint32_t at = ahead->links[ahead->done++], words = graph->words;
	uint32_t base = fabric->isl_base[fabric->isl_to[at]];
	const uint64_t *row = graph->waits_for + (size_t)at * words;

	for (uint32_t word = 0; word < words; word++) {
		for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
			uint32_t to = base + word * 64 + (uint32_t)__builtin_ctzll(bits);
			if (met_behind[to])
				return true;
			if (order[to] < limit)
				meet(ahead, to);
		}
	}
	return false;
}

/* The same backwards: to links that wait for this one and whose place is after `limit`. */
static bool go_back(const struct hd_dependencies *graph, uint32_t limit)
{
	const struct hd_fabric *fabric = graph->fabric;
	struct hd_dependency_search *behind = &graph->workspace->behind;
	const bool *met_ahead = graph->workspace->ahead.met;
	const uint32_t *order = graph->order;
	uint32_t at = behind->links[behind->done++], words = graph->words;
	const uint32_t *arriving = fabric->isl_reverse + fabric->isl_base[hd_isl_from(fabric, at)];
	const uint64_t *row = graph->blocks + (size_t)at * words;

	for (uint32_t word = 0; word < words; word++) {
		for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
			uint32_t from = arriving[word * 64 + (uint32_t)__builtin_ctzll(bits)];
			if (met_ahead[from])
				return true;
			if (order[from] > limit)
				meet(behind, from);
		}
	}
	return false;
}

static uint32_t left(const struct hd_dependency_search *search)
{
	return search->count - search->done;
}

/*
 * True if a chain of dependencies leads from `next` to `link`. Otherwise workspace->ahead has all
 * links before the place of `link` to which `next` leads, and workspace->behind has all links after
 * the place of `next` that lead to `link`.
 */
static bool leads_back(const struct hd_dependencies *graph, uint32_t link, uint32_t next)
{
	struct hd_dependency_search *ahead = &graph->workspace->ahead;
	struct hd_dependency_search *behind = &graph->workspace->behind;
	uint32_t first = graph->order[next], last = graph->order[link];

	start_search(ahead, next);
	start_search(behind, link);
	while (left(ahead) && left(behind)) {
		bool met =
		    left(ahead) <= left(behind) ? go_ahead(graph, last) : go_back(graph, first);
		if (met)
			return true;
	}
	while (left(ahead))
		go_ahead(graph, last);
	while (left(behind))
		go_back(graph, first);
	return false;
}

/* ---- repairing the order: bits are set at the places, then read in order ---- */

static void mark_places(const struct hd_dependencies *graph, struct hd_dependency_search *search)
{
	for (uint32_t i = 0; i < search->count; i++) {
		uint32_t place = graph->order[search->links[i]];
		search->places[place / 64] |= UINT64_C(1) << (place % 64);
	}
	search->count = 0;
}

/* Lists the links of one word of places again, in order. */
static void take_links(const struct hd_dependencies *graph, struct hd_dependency_search *search,
		       uint32_t word)
{
	for (uint64_t bits = search->places[word]; bits; bits &= bits - 1)
		search->links[search->count++] =
		    graph->link_at[word * 64 + (uint32_t)__builtin_ctzll(bits)];
	search->places[word] = 0;
}

static void take_places(uint64_t bits, uint32_t word, uint32_t *places, uint32_t *count)
{
	for (; bits; bits &= bits - 1)
		places[(*count)++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
}

static void put(struct hd_dependencies *graph, const struct hd_dependency_search *search,
		const uint32_t *places)
{
	for (uint32_t i = 0; i < search->count; i++) {
		graph->order[search->links[i]] = places[i];
		graph->link_at[places[i]] = search->links[i];
	}
}

/* Puts all links met behind before all links met ahead, each group in its own order. Together they
 * keep the places that they had, between `first` and `last`. */
static void reorder(struct hd_dependencies *graph, uint32_t first, uint32_t last)
{
	struct hd_dependency_workspace *workspace = graph->workspace;
	uint32_t places = 0;

	mark_places(graph, &workspace->behind);
	mark_places(graph, &workspace->ahead);
	for (uint32_t word = first / 64; word <= last / 64; word++) {
		take_places(workspace->behind.places[word] | workspace->ahead.places[word], word,
			    workspace->places, &places);
		take_links(graph, &workspace->behind, word);
		take_links(graph, &workspace->ahead, word);
	}
	put(graph, &workspace->behind, workspace->places);
	put(graph, &workspace->ahead, workspace->places + workspace->behind.count);
}

/* ---- adding ---- */

/* Notes a change in the open batch. */
static void note_change(struct hd_dependencies *graph, uint32_t link, uint32_t bit)
{
	struct hd_dependency_batch *batch = &graph->batch;
	uint64_t *row = batch->changed + (size_t)link * graph->words, any = 0;

	for (uint32_t word = 0; word < graph->words; word++)
		any |= row[word];
	if (!any)
		batch->links[batch->count++] = link;
	row[bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* Makes room in the order for the dependency, or returns false. */
static bool fit_order(struct hd_dependencies *graph, uint32_t link, uint32_t next)
{
	struct hd_dependency_workspace *workspace = graph->workspace;

	if (graph->order[link] < graph->order[next])
		return true;
	bool cycle = leads_back(graph, link, next);
	workspace->searched += workspace->ahead.count + workspace->behind.count;
	end_search(&workspace->ahead);
	end_search(&workspace->behind);
	if (!cycle)
		reorder(graph, graph->order[next], graph->order[link]);
	return !cycle;
}

bool hd_dependencies_add_new(struct hd_dependencies *graph, uint32_t link, uint32_t next)
{
	uint32_t bit = hd_dependencies_bit(graph, link, next);
	size_t word = (size_t)link * graph->words + bit / 64;
	bool fits = fit_order(graph, link, next);

	if (fits) {
		graph->waits_for[word] |= UINT64_C(1) << (bit % 64);
		block(graph, link, next);
	} else {
		graph->refused[word] |= UINT64_C(1) << (bit % 64);
	}
	if (graph->batch.open)
		note_change(graph, link, bit);
	return fits;
}

/* ---- batches ---- */

int hd_dependencies_init_batches(struct hd_dependencies *graph, struct hd_arena *arena)
{
	struct hd_dependency_batch batch = {0};

	batch.changed = hd_arena_alloc(arena, rows_size(graph), sizeof(*batch.changed));
	batch.links = hd_arena_alloc(arena, graph->fabric->isl_count, sizeof(*batch.links));
	if (hd_arena_check(arena))
		return -ENOMEM;
	graph->batch = batch;
	return 0;
}

void hd_dependencies_begin_batch(struct hd_dependencies *graph)
{
	assert(graph->batch.changed && !graph->batch.open);
	graph->batch.open = true;
}

void hd_dependencies_keep_batch(struct hd_dependencies *graph)
{
	struct hd_dependency_batch *batch = &graph->batch;

	for (uint32_t i = 0; i < batch->count; i++)
		memset(batch->changed + (size_t)batch->links[i] * graph->words, 0,
		       graph->words * sizeof(*batch->changed));
	batch->count = 0;
	batch->open = false;
}

/* The order stays: it fits every part of the graph. */
void hd_dependencies_undo_batch(struct hd_dependencies *graph)
{
	const struct hd_dependency_batch *batch = &graph->batch;

	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t link = batch->links[i];
		size_t row = (size_t)link * graph->words;
		each_dependency(graph, link, batch->changed + row, unblock);
		for (uint32_t word = 0; word < graph->words; word++) {
			graph->waits_for[row + word] &= ~batch->changed[row + word];
			graph->refused[row + word] &= ~batch->changed[row + word];
		}
	}
	hd_dependencies_keep_batch(graph);
}
