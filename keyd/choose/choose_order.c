/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "choose_order.h"

#include <stdlib.h>
#include <string.h>

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

static int by_number(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* Sorts slots by place. */
static void sort_places(struct choose_ranks *ranks, const uint32_t *hosts)
{
	for (uint32_t i = 0; i < ranks->host_count; i++)
		ranks->keys[i] = (uint64_t)ranks->groups->place[hosts[i]] << 32 | hosts[i];
	qsort(ranks->keys, ranks->host_count, sizeof(*ranks->keys), by_number);
	for (uint32_t i = 0; i < ranks->host_count; i++)
		ranks->slots[i] = (uint32_t)ranks->keys[i];
}

static uint32_t leaf_end(const struct choose_ranks *ranks, uint32_t at)
{
	const uint32_t *leaf = ranks->groups->fabric->host_switch;
	uint32_t first = leaf[ranks->slots[at]];

	while (at < ranks->host_count && leaf[ranks->slots[at]] == first)
		at++;
	return at;
}

/* Slots are sorted by place. Sorts those of each leaf by colour, from behind the last colour of the
 * leaf before: then ranks that follow one another have different colours wherever they run. */
static void turn_colours(struct choose_ranks *ranks)
{
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

/* Puts ranks into an order for the slots: ranks->order. */
static void grow(struct choose_ranks *ranks, bool round)
{
	struct growth growth = {.ranks = ranks, .round = round};
	uint32_t count = ranks->pattern->ranks;

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
}

/* The ranks of each leaf by ascending numbers, host by host: so their flows go to colours one after
 * the other. */
static void sort_leaf(struct choose_ranks *ranks, uint32_t at, uint32_t end, uint32_t *host_of)
{
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

void choose_order(struct choose_ranks *ranks, const uint32_t *hosts, enum choose_order order,
		  uint32_t *host_of)
{
	uint32_t count = ranks->pattern->ranks;

	if (order == CHOOSE_GIVEN)
		memcpy(ranks->slots, hosts, ranks->host_count * sizeof(*hosts));
	else
		sort_places(ranks, hosts);
	if (order >= CHOOSE_COLOURS)
		turn_colours(ranks);
	for (uint32_t rank = 0; order <= CHOOSE_COLOURS && rank < count; rank++)
		host_of[rank] = ranks->slots[rank / ranks->per_host];
	if (order <= CHOOSE_COLOURS)
		return;
	grow(ranks, order == CHOOSE_GROWN_ROUND);
	for (uint32_t at = 0, end; at < ranks->host_count; at = end) {
		end = leaf_end(ranks, at);
		sort_leaf(ranks, at, end, host_of);
	}
}
