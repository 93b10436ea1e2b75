/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "balance_tree.h"

#define KEY_BITS 64u
#define DIGIT_BITS 8u
#define DIGITS (1u << DIGIT_BITS)

int balance_trees_allocate(struct balance_trees *trees, const struct hd_fabric *fabric,
			   const bool *uncounted, struct hd_arena *arena)
{
	uint32_t switches = fabric->switch_count;

	*trees = (struct balance_trees){.fabric = fabric, .uncounted = uncounted};
	trees->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(*trees->load));
	trees->host_load = hd_arena_alloc(arena, switches, sizeof(*trees->host_load));
	trees->weight = hd_arena_alloc(arena, switches, sizeof(*trees->weight));
	trees->key = hd_arena_alloc(arena, switches, sizeof(*trees->key));
	trees->keys = hd_arena_alloc(arena, switches, sizeof(*trees->keys));
	trees->sorted = hd_arena_alloc(arena, switches, sizeof(*trees->sorted));
	trees->least = hd_arena_alloc(arena, switches, sizeof(*trees->least));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		trees->host_load[sw] = fabric->host_base[sw + 1] - fabric->host_base[sw];
	return 0;
}

/* ---- loads ---- */

/* Hosts behind each switch add up along the path to the destination. */
static inline void count(struct balance_trees *trees, const struct dag *dag, const uint8_t *tree,
			 uint32_t sign)
{
	const struct hd_fabric *fabric = trees->fabric;
	const uint32_t *order = dag->order;
	uint32_t *weight = trees->weight, bits = 0;

	for (uint32_t i = 0; i < dag->reached; i++)
		weight[order[i]] = trees->host_load[order[i]];
	for (uint32_t i = dag->reached; i-- > 1;) {
		uint32_t sw = order[i], link = fabric->isl_base[sw] + tree[sw];
		weight[fabric->isl_to[link]] += weight[sw];
		if (!trees->uncounted || !trees->uncounted[link]) {
			trees->load[link] += sign * weight[sw];
			bits |= trees->load[link];
		}
	}
	trees->load_bits |= bits;
}

void balance_tree_add(struct balance_trees *trees, const struct dag *dag, const uint8_t *tree)
{
	count(trees, dag, tree, 1);
}

void balance_tree_remove(struct balance_trees *trees, const struct dag *dag, const uint8_t *tree)
{
	for (uint32_t i = 1; i < dag->reached; i++)
		trees->least[dag->order[i]].targets = 0;
	count(trees, dag, tree, UINT32_MAX);
}

/* ---- ranks in place of keys ---- */

static unsigned bits_of(uint64_t number)
{
	return number ? KEY_BITS - (unsigned)__builtin_clzll(number) : 0;
}

/* One stable pass of a radix sort. */
static void sort_by_digit(const struct balance_tree_key *from, struct balance_tree_key *to,
			  uint32_t count_of, unsigned shift)
{
	uint32_t place[DIGITS + 1] = {0};

	for (uint32_t i = 0; i < count_of; i++)
		place[(from[i].key >> shift & (DIGITS - 1)) + 1]++;
	for (unsigned digit = 0; digit < DIGITS; digit++)
		place[digit + 1] += place[digit];
	for (uint32_t i = 0; i < count_of; i++)
		to[place[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* Replaces the keys of switches by their ranks from `base` on; returns the next free rank. */
static uint64_t rank_keys(struct balance_trees *trees, const uint32_t *switches, uint32_t count_of,
			  unsigned width, uint64_t base)
{
	for (uint32_t i = 0; i < count_of; i++)
		trees->keys[i] = (struct balance_tree_key){trees->key[switches[i]], switches[i]};
	for (unsigned shift = 0; shift < width; shift += DIGIT_BITS) {
		struct balance_tree_key *sorted = trees->sorted;
		sort_by_digit(trees->keys, sorted, count_of, shift);
		trees->sorted = trees->keys;
		trees->keys = sorted;
	}
	for (uint32_t i = 0; i < count_of; i++) {
		if (i && trees->keys[i].key != trees->keys[i - 1].key)
			base++;
		trees->key[trees->keys[i].sw] = base;
	}
	return base + 1;
}

/* ---- choosing ---- */

#define LIST_MAX 64u /* candidates of a switch whose positions fit a word */

/* Candidates among which the load decides: those of least key, as bits for the first LIST_MAX
 * positions in a list; and that key. */
struct tied {
	uint64_t positions, key;
};

static struct tied find_tied(const struct balance_trees *trees, const struct dag *dag, uint32_t sw)
{
	uint32_t base = trees->fabric->isl_base[sw];
	const uint32_t *to = trees->fabric->isl_to + base;
	const uint8_t *number = dag->number + base;
	struct tied tied = {0, UINT64_MAX};

	for (uint32_t i = 0; i < dag->count[sw]; i++) {
		uint64_t key = trees->key[to[number[i]]];
		if (key < tied.key)
			tied = (struct tied){0, key};
		if (key == tied.key && i < LIST_MAX)
			tied.positions |= UINT64_C(1) << i;
	}
	return tied;
}

/* The positions of least load among some; least: that load. */
static uint64_t scan_loads(const uint8_t *number, const uint32_t *load, uint64_t positions,
			   uint32_t *least)
{
	uint64_t found = 0;

	for (*least = UINT32_MAX; positions; positions &= positions - 1) {
		uint32_t other = load[number[__builtin_ctzll(positions)]];
		if (other < *least)
			found = 0;
		*least = other < *least ? other : *least;
		if (other == *least)
			found |= positions & -positions;
	}
	return found;
}

/* Drops positions whose load has grown, until one is left. 0: none is left. */
static uint64_t first_unchanged(struct balance_least *least, const uint8_t *number,
				const uint32_t *load, uint64_t positions)
{
	for (uint64_t rest = least->positions & positions; rest; rest &= rest - 1) {
		uint64_t first = rest & -rest;
		if (load[number[__builtin_ctzll(rest)]] == least->load)
			return first;
		least->positions &= ~first;
	}
	return 0;
}

/* The number of the first link of least load among the tied. */
static uint8_t choose_by_load(struct balance_trees *trees, const struct dag *dag, uint32_t sw,
			      uint64_t tied)
{
	uint32_t base = trees->fabric->isl_base[sw], ignored;
	const uint8_t *number = dag->number + base;
	const uint32_t *load = trees->load + base;
	struct balance_least *least = &trees->least[sw];
	uint64_t first = 0;

	if (least->targets == dag->targets[sw])
		first = first_unchanged(least, number, load, tied);
	else
		least->positions = 0;
	if (!first && !first_unchanged(least, number, load, ~tied)) {
		uint64_t all = UINT64_MAX >> (LIST_MAX - dag->count[sw]);
		least->targets = dag->targets[sw];
		least->positions = scan_loads(number, load, all, &least->load);
		first = least->positions & tied;
	}
	if (!first)
		first = scan_loads(number, load, tied, &ignored);
	return number[__builtin_ctzll(first)];
}

/* The same where the list is longer than a word has bits. */
static uint8_t choose_from_many(const struct balance_trees *trees, const struct dag *dag,
				uint32_t sw, uint64_t key)
{
	uint32_t base = trees->fabric->isl_base[sw], least = UINT32_MAX;
	const uint32_t *to = trees->fabric->isl_to + base, *load = trees->load + base;
	uint8_t best = LINK_NUMBER_NONE;

	for (uint32_t i = 0; i < dag->count[sw]; i++) {
		uint8_t number = dag->number[base + i];
		if (trees->key[to[number]] != key ||
		    (best != LINK_NUMBER_NONE && load[number] >= least))
			continue;
		best = number;
		least = load[number];
	}
	return best;
}

static uint8_t choose(struct balance_trees *trees, const struct dag *dag, uint32_t sw,
		      const struct tied *tied)
{
	if (dag->count[sw] > LIST_MAX)
		return choose_from_many(trees, dag, sw, tied->key);
	if (!(tied->positions & (tied->positions - 1)))
		return dag->number[trees->fabric->isl_base[sw] +
				   (uint32_t)__builtin_ctzll(tied->positions)];
	return choose_by_load(trees, dag, sw, tied->positions);
}

static void choose_level(struct balance_trees *trees, const struct dag *dag, uint32_t level,
			 uint8_t *tree, bool keep)
{
	uint64_t targets = 0;
	struct tied tied = {0, 0};

	for (uint32_t i = dag->level_begin[level]; i < dag->level_begin[level + 1]; i++) {
		uint32_t sw = dag->order[i];
		if (keep && balance_tree_allows(dag, trees->fabric, tree, sw))
			continue;
		if (dag->targets[sw] != targets)
			tied = find_tied(trees, dag, sw);
		targets = dag->targets[sw];
		tree[sw] = choose(trees, dag, sw, &tied);
	}
}

/* Gives the switches of a level keys that end in `width` bits of load. */
static void make_keys(struct balance_trees *trees, const struct dag *dag, uint32_t level,
		      const uint8_t *tree, unsigned width)
{
	const struct hd_fabric *fabric = trees->fabric;

	for (uint32_t i = dag->level_begin[level]; i < dag->level_begin[level + 1]; i++) {
		uint32_t sw = dag->order[i], link = fabric->isl_base[sw] + tree[sw];
		trees->key[sw] = trees->key[fabric->isl_to[link]] << width | trees->load[link];
	}
}

void balance_tree_choose(struct balance_trees *trees, const struct dag *dag, uint8_t *tree,
			 bool keep)
{
	unsigned width = bits_of(trees->load_bits), used = 0;
	uint64_t next_rank = 1;

	trees->key[dag->destination] = 0;
	for (uint32_t level = 1; level < dag->level_count; level++) {
		uint32_t begin = dag->level_begin[level], before = dag->level_begin[level - 1];
		if (!dag->by_cost && used + width > KEY_BITS)
			used =
			    bits_of(rank_keys(trees, dag->order + before, begin - before, used, 0));
		choose_level(trees, dag, level, tree, keep);
		if (level + 1 == dag->level_count)
			return;
		make_keys(trees, dag, level, tree, width);
		used += width;
		if (dag->by_cost) {
			uint32_t end = dag->level_begin[level + 1];
			next_rank =
			    rank_keys(trees, dag->order + begin, end - begin, used, next_rank);
			used = bits_of(next_rank);
		}
	}
}
