/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Proposals for a job: leaves and pods of the fabric, free hosts of them, and orders of ranks. key_choose.c calls
 * it and measures what each proposal is worth.
 *
 * First subtrees are found for each level, on a fabric of any shape; then hosts of the smallest one that has room;
 * then ranks are put on the hosts, in blocks or grown along the pattern's flows. No choice is random.
 */
#include "choose_order.h"

#include <heddle/fabric/routes.h>
#include <heddle/fabric/tree.h>
#include <stdlib.h>
#include <string.h>

/* ---- choose groups ---- */

/* Levels of the switches, as well as they can be known. */
static int find_levels(const struct hd_fabric *fabric, struct hd_arena *arena, uint32_t *level)
{
	const struct hd_tree_facts facts = {.is_root = NULL};
	struct hd_tree tree;
	struct hd_tree_pruned pruned;
	const uint8_t *found = NULL;
	int rc = hd_tree_find(fabric, &facts, 1, arena, &tree, NULL);

	if (!rc) {
		found = tree.level;
	} else if (rc != -ENOMEM) {
		rc = hd_tree_prune(fabric, &facts, NULL, arena, &pruned);
		found = rc ? NULL : pruned.level;
	}
	if (rc == -ENOMEM)
		return rc;
	if (!found)
		return hd_fabric_levels(fabric, level, NULL);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		level[sw] = found[sw];
	return 0;
}

static uint32_t find_root(uint32_t *parent, uint32_t sw)
{
	while (parent[sw] != sw) {
		parent[sw] = parent[parent[sw]];
		sw = parent[sw];
	}
	return sw;
}

struct slot {
	const struct choose_groups *groups;
	uint32_t host;
};

static int by_place(const void *a, const void *b)
{
	const struct slot *left = a, *right = b;

	for (uint32_t level = left->groups->level_count; level-- > 0;) {
		uint32_t one = choose_groups_of(left->groups, level, left->host);
		uint32_t other = choose_groups_of(left->groups, level, right->host);
		if (one != other)
			return one < other ? -1 : 1;
	}
	return left->host < right->host ? -1 : left->host > right->host;
}

static int find_places(struct choose_groups *groups, struct hd_arena *arena)
{
	uint32_t hosts = groups->fabric->host_count;
	struct slot *slots = calloc((size_t)hosts + 1, sizeof(*slots));

	groups->place = hd_arena_alloc(arena, hosts, sizeof(*groups->place));
	if (!slots || !groups->place) {
		free(slots);
		return -ENOMEM;
	}
	for (uint32_t host = 0; host < hosts; host++)
		slots[host] = (struct slot){groups, host};
	qsort(slots, hosts, sizeof(*slots), by_place);
	for (uint32_t at = 0; at < hosts; at++)
		groups->place[slots[at].host] = at;
	free(slots);
	return 0;
}

/* Two leaves, so that each host is elsewhere for one of them. */
static void find_colours(struct choose_groups *groups, const struct hd_routes *routes)
{
	const struct hd_fabric *fabric = groups->fabric;
	uint32_t first = fabric->host_count ? fabric->host_switch[0] : 0;
	uint32_t last = fabric->host_count ? fabric->host_switch[fabric->host_count - 1] : 0;

	for (uint32_t host = 0; routes && host < fabric->host_count; host++) {
		uint32_t from = fabric->host_switch[host] == first ? last : first;
		groups->colour[host] =
		    hd_routes_port(routes, from, fabric->lid[fabric->host_port[host]]);
	}
}

/* One more level in which the switches up to that one are joined. */
static int add_level(struct choose_groups *groups, const uint32_t *level, uint32_t highest,
		     uint32_t *parent, struct hd_arena *arena)
{
	const struct hd_fabric *fabric = groups->fabric;
	uint32_t at = groups->level_count++;

	groups->of[at] = hd_arena_alloc(arena, fabric->switch_count, sizeof(*groups->of[at]));
	if (!groups->of[at])
		return -ENOMEM;
	if (at) {
		/* Joins the switches of at most that level; the lowest one stands for each
		 * group. */
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
			     link++) {
				if (level[sw] > highest || level[fabric->isl_to[link]] > highest)
					continue;
				uint32_t a = find_root(parent, sw);
				uint32_t b = find_root(parent, fabric->isl_to[link]);
				parent[a < b ? b : a] = a < b ? a : b;
			}
		}
	}
	uint32_t *of = groups->of[at];
	uint32_t *count = &groups->count[at];
	*count = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t root = find_root(parent, sw);
		of[sw] = root == sw ? (*count)++ : of[root];
	}
	return 0;
}

int choose_groups_find(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       struct hd_arena *arena, struct choose_groups *out)
{
	uint32_t switches = fabric->switch_count, top = 0;
	uint32_t *level = hd_arena_alloc(arena, switches, sizeof(*level));
	uint32_t *parent = hd_arena_alloc(arena, switches, sizeof(*parent));

	*out = (struct choose_groups){.fabric = fabric};
	out->colour = hd_arena_alloc(arena, fabric->host_count, sizeof(*out->colour));
	if (hd_arena_check(arena))
		return -ENOMEM;
	int rc = find_levels(fabric, arena, level);
	for (uint32_t sw = 0; sw < switches; sw++) {
		parent[sw] = sw;
		if (level[sw] < CHOOSE_LEVELS - 1 && level[sw] > top)
			top = level[sw];
	}
	for (uint32_t at = 0; !rc && at < top; at++)
		rc = add_level(out, level, at, parent, arena);
	if (!rc && !top)
		rc = add_level(out, level, 0, parent, arena);
	if (!rc)
		rc = add_level(out, level, UINT32_MAX, parent, arena);
	if (!rc)
		rc = find_places(out, arena);
	if (!rc)
		find_colours(out, routes);
	return rc;
}

/* ---- choose hosts ---- */

/* The hosts of each group lie side by side, because free hosts are in the order of their places. */
struct taking {
	struct choose_free *free;
	uint32_t *out, taken;
	bool flat;
};

static int by_number(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

int choose_free_new(const struct choose_groups *groups, const uint32_t *hosts, uint32_t count,
		    struct hd_arena *arena, struct choose_free *out)
{
	*out = (struct choose_free){.groups = groups, .count = count};
	out->hosts = hd_arena_alloc(arena, count, sizeof(*out->hosts));
	out->colours = hd_arena_alloc(arena, 256, sizeof(*out->colours));
	for (uint32_t level = 0; level < groups->level_count; level++)
		out->room[level] =
		    hd_arena_alloc(arena, groups->count[level], sizeof(*out->room[level]));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memcpy(out->hosts, hosts, count * sizeof(*hosts));
	uint64_t *keys = calloc((size_t)count + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		keys[i] = (uint64_t)groups->place[out->hosts[i]] << 32 | out->hosts[i];
	qsort(keys, count, sizeof(*keys), by_number);
	for (uint32_t i = 0; i < count; i++)
		out->hosts[i] = (uint32_t)keys[i];
	free(keys);
	return 0;
}

/* Behind the last free host from `at` on that is in its group. */
static uint32_t group_end(const struct choose_free *free, uint32_t level, uint32_t at)
{
	uint32_t group = choose_groups_of(free->groups, level, free->hosts[at]);

	while (at < free->count && choose_groups_of(free->groups, level, free->hosts[at]) == group)
		at++;
	return at;
}

uint32_t choose_free_largest(const struct choose_free *free)
{
	uint32_t most = 0;

	for (uint32_t at = 0, end; at < free->count; at = end) {
		end = group_end(free, 0, at);
		most = most < end - at ? end - at : most;
	}
	return most;
}

/* Takes hosts of a leaf: those first whose colours are common, then in their order. */
static void take_of_leaf(struct taking *taking, uint32_t at, uint32_t need)
{
	const struct choose_free *free = taking->free;
	const uint8_t *colour = free->groups->colour;
	uint32_t end = group_end(free, 0, at);

	for (uint32_t i = at; i < end; i++) {
		uint32_t before = 0, mine = free->colours[colour[free->hosts[i]]];
		for (uint32_t j = at; j < end; j++) {
			uint32_t its = free->colours[colour[free->hosts[j]]];
			before += its > mine || (its == mine &&
						 (colour[free->hosts[j]] < colour[free->hosts[i]]));
			before += its == mine && j < i &&
				  colour[free->hosts[j]] == colour[free->hosts[i]];
		}
		if (before < need)
			taking->out[taking->taken++] = free->hosts[i];
	}
}

/* The group of a level below to take next: the smallest that has room for all, or else the largest.
 * `at` is the first free host of the group of `level`. HD_NONE: nothing is left. */
static uint32_t best_child(const struct choose_free *free, uint32_t level, uint32_t below,
			   uint32_t at, uint32_t need)
{
	uint32_t end = group_end(free, level, at), best = HD_NONE, best_room = 0;

	for (uint32_t i = at, next; i < end; i = next) {
		uint32_t child = choose_groups_of(free->groups, below, free->hosts[i]);
		uint32_t room = free->room[below][child];
		next = group_end(free, below, i);
		if (!room)
			continue;
		bool better =
		    room >= need ? best_room < need || room < best_room : room > best_room;
		if (best == HD_NONE || better) {
			best = i;
			best_room = room;
		}
	}
	return best;
}

/* Takes hosts of the group of a level that begins at `at`. */
static void choose_order_take(struct taking *taking, uint32_t level, uint32_t at, uint32_t need)
{
	struct choose_free *free = taking->free;
	uint32_t below = level && !taking->flat ? level - 1 : 0;

	if (!level) {
		take_of_leaf(taking, at, need);
		return;
	}
	while (need) {
		uint32_t next = best_child(free, level, below, at, need);
		if (next == HD_NONE)
			return;
		uint32_t *room =
		    &free->room[below][choose_groups_of(free->groups, below, free->hosts[next])];
		uint32_t share = *room < need ? *room : need;
		*room = 0;
		choose_order_take(taking, below, next, share);
		need -= share;
	}
}

/* The group of a level with the least room that is enough, by its first free host. */
static uint32_t smallest_group(const struct choose_free *free, uint32_t level, uint32_t need)
{
	uint32_t best = HD_NONE, best_room = UINT32_MAX;

	for (uint32_t at = 0; at < free->count; at = group_end(free, level, at)) {
		uint32_t group = choose_groups_of(free->groups, level, free->hosts[at]);
		uint32_t room = free->room[level][group];
		if (room >= need && room < best_room) {
			best = at;
			best_room = room;
		}
	}
	return best;
}

bool choose_hosts(struct choose_free *free, uint32_t need, uint32_t each, bool flat, uint32_t *out)
{
	struct taking taking = {.free = free, .out = out, .flat = flat};

	/* How many hosts each group gives, and which colours the leaves have that give some. */
	const struct choose_groups *groups = free->groups;
	memset(free->colours, 0, 256 * sizeof(*free->colours));
	for (uint32_t level = 0; level < groups->level_count; level++)
		memset(free->room[level], 0, groups->count[level] * sizeof(*free->room[level]));
	for (uint32_t at = 0, end; at < free->count; at = end) {
		end = group_end(free, 0, at);
		uint32_t room = !each ? end - at : end - at >= each ? each : 0;
		for (uint32_t level = 0; level < groups->level_count; level++)
			free->room[level][choose_groups_of(groups, level, free->hosts[at])] += room;
		for (uint32_t i = at; room && i < end; i++)
			free->colours[groups->colour[free->hosts[i]]]++;
	}
	for (uint32_t level = 0; level < free->groups->level_count; level++) {
		uint32_t at = smallest_group(free, level, need);
		if (at == HD_NONE)
			continue;
		choose_order_take(&taking, level, at, need);
		return taking.taken == need;
	}
	return false;
}

/* ---- choose order ---- */

int choose_ranks_new(const struct choose_groups *groups, const struct hd_key_pattern *pattern,
		     uint32_t host_count, struct hd_arena *arena, struct choose_ranks *out)
{
	uint32_t count = pattern->ranks, flows = pattern->base[pattern->phase_count];

	*out = (struct choose_ranks){.groups = groups,
				     .pattern = pattern,
				     .host_count = host_count,
				     .per_host = count / host_count};
	out->base = hd_arena_alloc(arena, (size_t)count + 2, sizeof(*out->base));
	out->partners = hd_arena_alloc(arena, 2 * (size_t)flows, sizeof(*out->partners));
	out->score = hd_arena_alloc(arena, count, sizeof(*out->score));
	out->line = hd_arena_alloc(arena, count, sizeof(*out->line));
	out->order = hd_arena_alloc(arena, count, sizeof(*out->order));
	out->placed = hd_arena_alloc(arena, count, sizeof(*out->placed));
	out->queued = hd_arena_alloc(arena, count, sizeof(*out->queued));
	out->keys = hd_arena_alloc(arena, host_count, sizeof(*out->keys));
	out->slots = hd_arena_alloc(arena, host_count, sizeof(*out->slots));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < flows; i++) {
		out->base[pattern->flows[i].source + 2]++;
		out->base[pattern->flows[i].destination + 2]++;
	}
	for (uint32_t rank = 2; rank < count + 2; rank++)
		out->base[rank] += out->base[rank - 1];
	for (uint32_t i = 0; i < flows; i++) {
		const struct hd_rank_flow *flow = &pattern->flows[i];
		out->partners[out->base[flow->source + 1]++] = flow->destination;
		out->partners[out->base[flow->destination + 1]++] = flow->source;
	}
	return 0;
}

static uint32_t leaf_end(const struct choose_ranks *ranks, uint32_t at)
{
	const uint32_t *leaf = ranks->groups->fabric->host_switch;
	uint32_t first = leaf[ranks->slots[at]];

	while (at < ranks->host_count && leaf[ranks->slots[at]] == first)
		at++;
	return at;
}

/* Ranks are placed slot by slot. The score of a rank is how often its partners lie near: a partner
 * counts once for each level on which it shares a group with the slot to fill. */
struct growth {
	struct choose_ranks *ranks;
	bool round;
	uint32_t placed_count, waiting; /* ranks in order, ranks in line */
	uint32_t next; /* no rank below is unplaced */
	uint32_t begin[CHOOSE_LEVELS + 1]; /* first rank in order of the host, and of each group */
};

static void add_score(struct growth *growth, uint32_t rank, uint32_t levels, bool more)
{
	struct choose_ranks *ranks = growth->ranks;

	for (uint32_t i = ranks->base[rank]; i < ranks->base[rank + 1]; i++) {
		uint32_t partner = ranks->partners[i];
		if (ranks->placed[partner])
			continue;
		ranks->score[partner] += more ? levels : -levels;
		if (!ranks->queued[partner])
			ranks->line[growth->waiting++] = partner;
		ranks->queued[partner] = true;
	}
}

/* Takes the best rank out of the line, in which the others keep their order. */
static uint32_t take_best(struct growth *growth)
{
	struct choose_ranks *ranks = growth->ranks;
	uint32_t best = HD_NONE, at = 0, kept = 0;

	for (uint32_t i = 0; i < growth->waiting; i++) {
		uint32_t rank = ranks->line[i], score = ranks->score[rank];
		if (!score) { /* partners are far away */
			ranks->queued[rank] = false;
			continue;
		}
		if (best == HD_NONE || score > ranks->score[best] ||
		    (!growth->round && score == ranks->score[best] && rank < best)) {
			best = rank;
			at = kept;
		}
		ranks->line[kept++] = rank;
	}
	growth->waiting = kept;
	if (best != HD_NONE) {
		memmove(ranks->line + at, ranks->line + at + 1,
			(kept - at - 1) * sizeof(*ranks->line));
		growth->waiting--;
		return best;
	}
	while (ranks->placed[growth->next])
		growth->next++;
	return growth->next;
}

/* Partners on what the next slot does not share with the slots before count less. */
static void leave_groups(struct growth *growth, uint32_t slot)
{
	const struct choose_ranks *ranks = growth->ranks;
	const struct choose_groups *groups = ranks->groups;
	uint32_t host = ranks->slots[slot], before = slot ? ranks->slots[slot - 1] : host;

	for (uint32_t level = 0; slot && level <= groups->level_count; level++) {
		if (level && choose_groups_of(groups, level - 1, host) ==
				 choose_groups_of(groups, level - 1, before))
			continue;
		for (uint32_t i = growth->begin[level]; i < growth->placed_count; i++)
			add_score(growth, ranks->order[i], 1, false);
		growth->begin[level] = growth->placed_count;
	}
}

void choose_order(struct choose_ranks *ranks, const uint32_t *hosts, enum choose_order order,
		  uint32_t *host_of)
{
	uint32_t count = ranks->pattern->ranks;

	if (order == CHOOSE_GIVEN)
		memcpy(ranks->slots, hosts, ranks->host_count * sizeof(*hosts));
	else {
		/* Sorts slots by place. */
		for (uint32_t i = 0; i < ranks->host_count; i++)
			ranks->keys[i] = (uint64_t)ranks->groups->place[hosts[i]] << 32 | hosts[i];
		qsort(ranks->keys, ranks->host_count, sizeof(*ranks->keys), by_number);
		for (uint32_t i = 0; i < ranks->host_count; i++)
			ranks->slots[i] = (uint32_t)ranks->keys[i];
	}
	if (order >= CHOOSE_COLOURS) {
		/* Slots are sorted by place. Sorts those of each leaf by colour, from behind the
		 * last colour of the leaf before: then ranks that follow one another have
		 * different colours wherever they run. */
		uint8_t last = 0;
		for (uint32_t at = 0, end; at < ranks->host_count; at = end) {
			end = leaf_end(ranks, at);
			for (uint32_t i = at; i < end; i++) {
				uint8_t ahead =
				    (uint8_t)(ranks->groups->colour[ranks->slots[i]] - last - 1);
				ranks->keys[i] = (uint64_t)ahead << 32 | ranks->slots[i];
			}
			qsort(ranks->keys + at, end - at, sizeof(*ranks->keys), by_number);
			for (uint32_t i = at; i < end; i++)
				ranks->slots[i] = (uint32_t)ranks->keys[i];
			last = ranks->groups->colour[ranks->slots[end - 1]];
		}
	}
	for (uint32_t rank = 0; order <= CHOOSE_COLOURS && rank < count; rank++)
		host_of[rank] = ranks->slots[rank / ranks->per_host];
	if (order <= CHOOSE_COLOURS)
		return;
	/* Puts ranks into an order for the slots: ranks->order. */
	struct growth growth = {.ranks = ranks, .round = (order == CHOOSE_GROWN_ROUND)};
	memset(ranks->score, 0, count * sizeof(*ranks->score));
	memset(ranks->placed, 0, count * sizeof(*ranks->placed));
	memset(ranks->queued, 0, count * sizeof(*ranks->queued));
	for (uint32_t i = 0; i < count; i++) {
		if (i % ranks->per_host == 0)
			leave_groups(&growth, i / ranks->per_host);
		uint32_t rank = take_best(&growth);
		ranks->placed[rank] = true;
		ranks->order[growth.placed_count++] = rank;
		add_score(&growth, rank, ranks->groups->level_count + 1, true);
	}
	for (uint32_t at = 0, end; at < ranks->host_count; at = end) {
		end = leaf_end(ranks, at);
		/* The ranks of each leaf by ascending numbers, host by host: so their flows go
		 * to colours one after the other. */
		uint32_t per_host = ranks->per_host;
		for (uint32_t slot = at; slot < end; slot++) {
			uint32_t lowest = HD_NONE;
			for (uint32_t i = slot * per_host; i < (slot + 1) * per_host; i++)
				lowest = ranks->order[i] < lowest ? ranks->order[i] : lowest;
			ranks->keys[slot] = (uint64_t)lowest << 32 | slot;
		}
		qsort(ranks->keys + at, end - at, sizeof(*ranks->keys), by_number);
		for (uint32_t slot = at; slot < end; slot++) {
			uint32_t from = (uint32_t)ranks->keys[slot];
			for (uint32_t i = from * per_host; i < (from + 1) * per_host; i++)
				host_of[ranks->order[i]] = ranks->slots[slot];
		}
	}
}
