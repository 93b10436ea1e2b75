/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "balance_tree.h"

#include <errno.h>

/* ---- trees ---- */

#define BALANCE_TIED_BITS 10u

#define KEY_BITS 64u
#define DIGIT_BITS 8u
#define DIGITS (1u << DIGIT_BITS)

/* Loads of 0. Errors: -ENOMEM. */
static int balance_trees_allocate(struct balance_trees *trees, const struct hd_fabric *fabric,
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
	trees->tied = hd_arena_alloc(arena, (size_t)1 << BALANCE_TIED_BITS, sizeof(*trees->tied));
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

/* Adds a tree's source hosts to the loads of its links, or takes them out. Cost: O(switches). */
static void balance_tree_add(struct balance_trees *trees, const struct dag *dag,
			     const uint8_t *tree)
{
	count(trees, dag, tree, 1);
}

static void balance_tree_remove(struct balance_trees *trees, const struct dag *dag,
				const uint8_t *tree)
{
	trees->fallen = true;
	count(trees, dag, tree, UINT32_MAX);
}

void balance_trees_begin(struct balance_trees *trees)
{
	memset(trees->least, 0, trees->fabric->switch_count * sizeof(*trees->least));
	trees->fallen = false;
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

/* Without branches on keys: which of them is least cannot be predicted. */
static struct balance_tied find_tied(const struct balance_trees *trees, const struct dag *dag,
				     uint32_t sw)
{
	uint32_t base = trees->fabric->isl_base[sw], count_of = dag->count[sw];
	uint32_t listed = count_of < LIST_MAX ? count_of : LIST_MAX;
	const uint32_t *to = trees->fabric->isl_to + base;
	const uint8_t *number = dag->number + base;
	struct balance_tied tied = {.targets = dag->targets[sw], .key = UINT64_MAX};
	uint64_t keys[LIST_MAX];

	for (uint32_t i = 0; i < listed; i++) {
		keys[i] = trees->key[to[number[i]]];
		tied.key = keys[i] < tied.key ? keys[i] : tied.key;
	}
	for (uint32_t i = listed; i < count_of; i++) {
		uint64_t key = trees->key[to[number[i]]];
		tied.key = key < tied.key ? key : tied.key;
	}
	for (uint32_t i = 0; i < listed; i++)
		tied.positions |= (uint64_t)(keys[i] == tied.key) << i;
	return tied;
}

/* The same list often occurs again in a tree, though not at once. */
static const struct balance_tied *look_up_tied(struct balance_trees *trees, const struct dag *dag,
					       uint32_t sw)
{
	uint64_t targets = dag->targets[sw];
	struct balance_tied *tied = &trees->tied[targets >> (64 - BALANCE_TIED_BITS)];

	if (tied->targets != targets || tied->tree != trees->tree) {
		*tied = find_tied(trees, dag, sw);
		tied->tree = trees->tree;
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

	if (trees->fallen)
		return number[__builtin_ctzll(scan_loads(number, load, tied, &ignored))];
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
		      const struct balance_tied *tied)
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
	const struct balance_tied *tied = NULL;

	for (uint32_t i = dag->level_begin[level]; i < dag->level_begin[level + 1]; i++) {
		uint32_t sw = dag->order[i];
		if (keep && balance_tree_allows(dag, trees->fabric, tree, sw))
			continue;
		if (!tied || dag->targets[sw] != tied->targets)
			tied = look_up_tied(trees, dag, sw);
		tree[sw] = choose(trees, dag, sw, tied);
	}
}

/* The bits of the largest load that a level's keys end in. */
static unsigned load_width(const struct balance_trees *trees, const struct dag *dag, uint32_t level,
			   const uint8_t *tree)
{
	uint32_t bits = 0;

	for (uint32_t i = dag->level_begin[level]; i < dag->level_begin[level + 1]; i++) {
		uint32_t sw = dag->order[i];
		bits |= trees->load[trees->fabric->isl_base[sw] + tree[sw]];
	}
	return bits_of(bits);
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

static uint64_t rank_level(struct balance_trees *trees, const struct dag *dag, uint32_t level,
			   unsigned width, uint64_t base)
{
	uint32_t begin = dag->level_begin[level];

	return rank_keys(trees, dag->order + begin, dag->level_begin[level + 1] - begin, width,
			 base);
}

#define FEW 64u /* switches of a level that are soon ranked */
#define LEVELS_WITHOUT_RANKS 5u /* keys of so many levels mostly fit */

/* Chooses a level after `used` bits of keys; returns the bits of this level's keys. */
static unsigned next_level(struct balance_trees *trees, const struct dag *dag, uint32_t level,
			   uint8_t *tree, bool keep, unsigned used)
{
	uint32_t size = dag->level_begin[level + 1] - dag->level_begin[level];

	choose_level(trees, dag, level, tree, keep);
	if (level + 1 == dag->level_count)
		return 0;
	unsigned width = load_width(trees, dag, level, tree);
	if (used + width > KEY_BITS)
		used = bits_of(rank_level(trees, dag, level - 1, used, 0));
	make_keys(trees, dag, level, tree, width);
	used += width;
	if (dag->level_count > LEVELS_WITHOUT_RANKS && size <= FEW && level == 1)
		used = bits_of(rank_level(trees, dag, level, used, 0));
	return used;
}

/* Where next hops are on all nearer levels, ranks go on from one level to the next. */
static void choose_by_cost(struct balance_trees *trees, const struct dag *dag, uint8_t *tree,
			   bool keep)
{
	uint64_t next_rank = 1;

	for (uint32_t level = 1; level < dag->level_count; level++) {
		unsigned width = bits_of(trees->load_bits);
		choose_level(trees, dag, level, tree, keep);
		if (level + 1 == dag->level_count)
			return;
		make_keys(trees, dag, level, tree, width);
		next_rank =
		    rank_level(trees, dag, level, bits_of(next_rank - 1) + width, next_rank);
	}
}

/*
 * Fills tree[]: the number of the link that each switch takes among its own, as the DAG allows.
 * With keep, entries that are candidates stay. Does not change the loads. Cost: O(switches +
 * candidates).
 */
static void balance_tree_choose(struct balance_trees *trees, const struct dag *dag, uint8_t *tree,
				bool keep)
{
	unsigned used = 0;

	trees->tree++;
	trees->key[dag->destination] = 0;
	if (dag->by_cost)
		choose_by_cost(trees, dag, tree, keep);
	for (uint32_t level = 1; !dag->by_cost && level < dag->level_count; level++)
		used = next_level(trees, dag, level, tree, keep, used);
}

/* ---- parts ---- */

#define BACK_SHARE 4u /* of a part, which may be so much smaller than others */

int balance_part_allocate(struct balance_part *part, const struct balance_plan *plan,
			  bool by_conflicts, uint8_t *chosen,
			  const struct balance_siblings *siblings, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = plan->request->fabric;

	*part = (struct balance_part){.plan = plan, .chosen = chosen, .siblings = siblings};
	if (dag_allocate(&part->dag, fabric, arena))
		return -ENOMEM;
	part->before = hd_arena_alloc(arena, fabric->switch_count, 1);
	if (siblings->lid)
		part->marks.path =
		    hd_arena_alloc(arena, fabric->switch_count, sizeof(*part->marks.path));
	if (by_conflicts) {
		part->conflicts = hd_arena_alloc(arena, 1, sizeof(*part->conflicts));
		if (!part->conflicts ||
		    conflicts_allocate(part->conflicts, fabric, plan->policy->uncounted, arena) ||
		    (plan->by == BALANCE_BY_DIMENSIONS && conflicts_order(part->conflicts, arena)))
			return -ENOMEM;
	}
	return balance_trees_allocate(&part->trees, fabric, plan->policy->uncounted, arena);
}

/* ---- dealing out ---- */

static bool share_neighbour(const struct hd_fabric *fabric, uint32_t a, uint32_t b)
{
	for (uint32_t left = fabric->isl_base[a]; left < fabric->isl_base[a + 1]; left++)
		for (uint32_t right = fabric->isl_base[b]; right < fabric->isl_base[b + 1]; right++)
			if (fabric->isl_to[left] == fabric->isl_to[right])
				return true;
	return false;
}

/*
 * Where to cut a list of destination switches so that paths to both sides have few links in common:
 * between switches without a common neighbour, at most `back` places before `at`; else between
 * two switches.
 */
static uint32_t find_cut(const struct hd_fabric *fabric, const uint32_t *sw, uint32_t at,
			 uint32_t back)
{
	uint32_t cut = at;

	for (; cut && at - cut < back; cut--)
		if (sw[cut] != sw[cut - 1] && !share_neighbour(fabric, sw[cut], sw[cut - 1]))
			return cut;
	for (cut = at; cut && sw[cut] == sw[cut - 1];)
		cut--;
	return cut;
}

struct dealing {
	struct balance_part *parts;
	unsigned part_count;
	const struct destinations *list;
	const struct hd_fabric *fabric;
	uint32_t *lids; /* [switch_count] */
	uint32_t *sw; /* [list->count] the destination switch of each LID, breadth first */
	uint8_t *part_of; /* [switch_count] */
};

/* Breadth first, so that switches with common neighbours follow each other. */
static void sort_switches(struct dealing *dealing, uint32_t begin, uint32_t end)
{
	const uint32_t *scan = dealing->parts->dag.scan;
	uint32_t switches = dealing->fabric->switch_count, place = 0;

	memset(dealing->lids, 0, switches * sizeof(*dealing->lids));
	for (uint32_t i = begin; i < end; i++)
		dealing->lids[dealing->list->items[i].sw]++;
	for (uint32_t i = 0; i < switches; i++)
		for (uint32_t lid = 0; lid < dealing->lids[scan[i]]; lid++)
			dealing->sw[place++] = scan[i];
}

static void deal_layer(struct dealing *dealing, uint32_t layer)
{
	const struct destinations *list = dealing->list;
	uint32_t begin = list->layer_begin[layer], end = list->layer_begin[layer + 1];
	uint32_t count = end - begin, from = 0, parts = dealing->part_count;

	sort_switches(dealing, begin, end);
	for (uint32_t part = 0; part < parts; part++) {
		uint32_t at = (uint32_t)((uint64_t)count * (part + 1) / parts);
		uint32_t to = at < count ? find_cut(dealing->fabric, dealing->sw, at,
						    count / parts / BACK_SHARE)
					 : count;
		for (; from < to; from++)
			dealing->part_of[dealing->sw[from]] = (uint8_t)part;
	}
	for (uint32_t i = begin; i < end; i++) {
		struct balance_part *part = &dealing->parts[dealing->part_of[list->items[i].sw]];
		part->row[part->list.count] = i;
		part->sw[part->list.count] = list->items[i].sw;
		part->list.items[part->list.count++] = list->items[i];
	}
	for (uint32_t i = 0; i < parts; i++)
		dealing->parts[i].list.layer_begin[layer + 1] = dealing->parts[i].list.count;
}

int balance_parts_list(struct balance_part *parts, unsigned part_count,
		       const struct destinations *list, struct hd_arena *arena)
{
	struct dealing dealing = {.parts = parts, .part_count = part_count, .list = list};

	dealing.fabric = parts->plan->request->fabric;
	dealing.part_of = hd_arena_alloc(arena, dealing.fabric->switch_count, 1);
	dealing.lids = hd_arena_alloc(arena, dealing.fabric->switch_count, sizeof(*dealing.lids));
	dealing.sw = hd_arena_alloc(arena, list->count, sizeof(*dealing.sw));
	for (unsigned i = 0; i < part_count; i++) {
		struct destinations *own = &parts[i].list;
		parts[i].row = hd_arena_alloc(arena, list->count, sizeof(*parts[i].row));
		parts[i].sw = hd_arena_alloc(arena, list->count, sizeof(*parts[i].sw));
		own->items = hd_arena_alloc(arena, list->count, sizeof(*own->items));
		own->layer_begin =
		    hd_arena_alloc(arena, list->layer_count + 1, sizeof(*own->layer_begin));
		own->layer_count = list->layer_count;
	}
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t layer = 0; layer < list->layer_count; layer++)
		deal_layer(&dealing, layer);
	return 0;
}

uint32_t balance_part_cut(const struct balance_part *part, uint32_t layer, uint32_t number,
			  uint32_t steps)
{
	const struct hd_fabric *fabric = part->plan->request->fabric;
	uint32_t begin = part->list.layer_begin[layer];
	uint32_t count = part->list.layer_begin[layer + 1] - begin;
	uint32_t at = (uint32_t)((uint64_t)count * number / steps);

	return at < count ? begin + find_cut(fabric, part->sw + begin, at, count / steps)
			  : begin + count;
}

/* ---- passes ---- */

static uint8_t *tree_of(const struct balance_part *part, uint32_t destination)
{
	return part->chosen +
	       (size_t)part->row[destination] * part->plan->request->fabric->switch_count;
}

int balance_part_build(struct balance_part *part, uint32_t destination, struct hd_error *err)
{
	const struct balance_destination *to = &part->list.items[destination];
	bool to_host = to->host != HD_NONE;
	int rc = hd_go_on_check(&part->plan->request->go_on, err);

	if (rc)
		return rc;
	if (!part->plan->per_destination && part->dag.destination == to->sw &&
	    part->dag_to_host == to_host)
		return 0;
	part->dag_to_host = to_host;
	return part->plan->build(part->plan->context, to, &part->dag, err);
}

void balance_part_choose(struct balance_part *part, uint32_t destination, bool keep)
{
	uint8_t *tree = tree_of(part, destination);

	memcpy(part->before, tree, part->plan->request->fabric->switch_count);
	if (part->conflicts) {
		conflicts_choose(part->conflicts, part->trees.load, &part->dag, tree, keep);
	} else {
		balance_tree_choose(&part->trees, &part->dag, tree, keep);
		balance_siblings_part(part->siblings, &part->marks, &part->list.items[destination],
				      &part->dag, part->trees.key, part->trees.load,
				      keep ? part->before : NULL, tree);
	}
}

void balance_part_settle(struct balance_part *part, uint32_t destination)
{
	const struct balance_plan *plan = part->plan;
	const uint8_t *tree = tree_of(part, destination);

	balance_tree_add(&part->trees, &part->dag, tree);
	if (part->conflicts)
		conflicts_count(part->conflicts, &part->dag, tree, 1);
	if (plan->routed)
		plan->routed(plan->context, &part->list.items[destination], tree);
}

static void take_out(struct balance_part *part, const uint8_t *tree)
{
	balance_tree_remove(&part->trees, &part->dag, tree);
	if (part->conflicts)
		conflicts_count(part->conflicts, &part->dag, tree, UINT32_MAX);
}

void balance_part_route(struct balance_part *part, uint32_t begin, uint32_t end, bool first)
{
	uint32_t switches = part->plan->request->fabric->switch_count;

	for (uint32_t d = begin; d < end && !part->rc; d++) {
		part->rc = balance_part_build(part, d, &part->err);
		if (part->rc)
			return;
		uint8_t *tree = tree_of(part, d);
		if (!first)
			take_out(part, tree);
		balance_part_choose(part, d, false);
		part->changed |= memcmp(part->before, tree, switches) != 0;
		balance_part_settle(part, d);
	}
}

void balance_parts_merge(struct balance_part *parts, unsigned part_count, uint32_t *load)
{
	uint32_t links = parts->plan->request->fabric->isl_count, bits = 0;

	if (part_count == 1)
		return;
	for (uint32_t link = 0; link < links; link++) {
		uint32_t sum = load[link];
		for (unsigned i = 0; i < part_count; i++)
			sum += parts[i].trees.load[link] - load[link];
		for (unsigned i = 0; i < part_count; i++)
			parts[i].trees.load[link] = sum;
		load[link] = sum;
		bits |= sum;
	}
	for (unsigned i = 0; i < part_count; i++)
		parts[i].trees.load_bits |= bits;
}
