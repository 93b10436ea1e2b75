/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_turns.h"

#include <errno.h>

#define LEAVES_TRIED 16u

struct cover {
	const struct aside_paths *paths;
	uint32_t *towards;
	uint32_t leaf, covered;
};

static bool is_open(const struct cover *cover, uint32_t sw)
{
	return sw != cover->leaf && cover->towards[sw] == HD_NONE;
}

static void take(struct cover *cover, uint32_t sw, uint32_t link)
{
	cover->towards[sw] = link;
	cover->covered++;
}

/* Switches below climb. The depth of recursion is the number of levels. */
static void cover_below(struct cover *cover, uint32_t sw)
{
	const struct hd_fabric *fabric = cover->paths->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t below = fabric->isl_to[link];
		if (cover->paths->climbs[link] || !is_open(cover, below))
			continue;
		take(cover, below, fabric->isl_reverse[link]);
		cover_below(cover, below);
	}
}

/* Switches above descend. All that can come by way of the first of them does, before the next. */
static void cover_above(struct cover *cover, uint32_t sw)
{
	const struct hd_fabric *fabric = cover->paths->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t above = fabric->isl_to[link];
		if (!cover->paths->climbs[link] || !is_open(cover, above))
			continue;
		take(cover, above, fabric->isl_reverse[link]);
		cover_above(cover, above);
	}
	cover_below(cover, sw);
}

/* Switches without a legal path to the leaf go to any neighbour that has a path. */
static void cover_rest(struct cover *cover)
{
	const struct hd_fabric *fabric = cover->paths->fabric;

	for (bool any = true; any;) {
		any = false;
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t from = hd_isl_from(fabric, link);
			if (is_open(cover, from) && !is_open(cover, fabric->isl_to[link])) {
				take(cover, from, link);
				any = true;
			}
		}
	}
}

static void cover_from(struct cover *cover, uint32_t leaf)
{
	memset(cover->towards, 0xFF, cover->paths->fabric->switch_count * sizeof(uint32_t));
	cover->leaf = leaf;
	cover->covered = 0;
	cover_above(cover, leaf);
}

/* The first leaf from switch `first` on, or the first of all. */
static uint32_t leaf_from(const struct hd_fabric *fabric, uint32_t first)
{
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		uint32_t sw = (first + i) % fabric->switch_count;
		if (fabric->host_base[sw] < fabric->host_base[sw + 1])
			return sw;
	}
	return 0;
}

/* Takes the leaf if more switches have legal paths to it. False: all have. */
static bool try_leaf(struct cover *cover, uint32_t leaf, uint32_t *best, uint32_t *most)
{
	cover_from(cover, leaf);
	if (*best == HD_NONE || cover->covered > *most) {
		*most = cover->covered;
		*best = leaf;
	}
	return *most != cover->paths->fabric->switch_count - 1;
}

/* The first few leaves are below the same switches, so others from everywhere follow. */
static uint32_t choose_leaf(struct cover *cover)
{
	const struct hd_fabric *fabric = cover->paths->fabric;
	uint32_t best = HD_NONE, most = 0, tried = 0;
	bool more = true;

	for (uint32_t sw = 0; more && tried < LEAVES_TRIED && sw < fabric->switch_count; sw++) {
		if (fabric->host_base[sw] == fabric->host_base[sw + 1])
			continue;
		more = try_leaf(cover, sw, &best, &most);
		tried++;
	}
	for (uint32_t i = 1; more && tried == LEAVES_TRIED && i < LEAVES_TRIED; i++)
		more = try_leaf(cover,
				leaf_from(fabric, (uint32_t)((uint64_t)fabric->switch_count * i /
							     LEAVES_TRIED)),
				&best, &most);
	return best == HD_NONE ? 0 : best;
}

static int allocate(struct aside_paths *paths, struct aside_turns *turns)
{
	uint32_t switches = paths->fabric->switch_count;

	turns->towards = hd_arena_alloc(&paths->arena, switches, sizeof(*turns->towards));
	turns->turns = hd_arena_alloc(&paths->arena, switches, sizeof(*turns->turns));
	return hd_arena_check(&paths->arena);
}

/* Fills the rest, and notes where paths may turn. */
static void complete(struct cover *cover, struct aside_turns *turns)
{
	const struct hd_fabric *fabric = cover->paths->fabric;

	cover_rest(cover);
	turns->leaf = cover->leaf;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (turns->towards[sw] != HD_NONE && !cover->paths->climbs[turns->towards[sw]])
			turns->turns[fabric->isl_to[turns->towards[sw]]] = true;
}

int aside_turns_find(struct aside_paths *paths, unsigned choice, struct aside_turns *out)
{
	const struct hd_fabric *fabric = paths->fabric;
	struct aside_turns turns;

	if (allocate(paths, &turns))
		return -ENOMEM;
	struct cover cover = {.paths = paths, .towards = turns.towards};
	uint32_t other = choice * (fabric->switch_count / ASIDE_TURNS_CHOICES);
	cover_from(&cover, choice ? leaf_from(fabric, other) : choose_leaf(&cover));
	complete(&cover, &turns);
	*out = turns;
	return 0;
}

static uint32_t count_climbing(const struct aside_paths *paths, uint32_t sw)
{
	uint32_t count = 0;

	for (uint32_t link = paths->fabric->isl_base[sw]; link < paths->fabric->isl_base[sw + 1];
	     link++)
		count += paths->climbs[link];
	return count;
}

/* Another leaf below the same switches, with as many links as possible; else the next by index. */
static uint32_t leaf_beside(const struct aside_paths *paths, uint32_t leaf)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t best = leaf_from(fabric, leaf + 1), most = 0;

	for (uint32_t up = fabric->isl_base[leaf]; up < fabric->isl_base[leaf + 1]; up++) {
		uint32_t above = fabric->isl_to[up];
		for (uint32_t down = fabric->isl_base[above]; down < fabric->isl_base[above + 1];
		     down++) {
			uint32_t other = fabric->isl_to[down];
			if (other == leaf ||
			    fabric->host_base[other] == fabric->host_base[other + 1])
				continue;
			uint32_t links = count_climbing(paths, other);
			if (links > most || (links == most && other < best)) {
				most = links;
				best = other;
			}
		}
	}
	return best;
}

/* What has no legal path to the leaf goes to the other leaf, if that one has such a path. */
static void borrow(struct cover *cover, const struct cover *other)
{
	if (is_open(cover, other->leaf))
		return;
	for (uint32_t sw = 0; sw < cover->paths->fabric->switch_count; sw++)
		if (is_open(cover, sw))
			cover->towards[sw] = other->towards[sw];
}

int aside_turns_find_two(struct aside_paths *paths, uint32_t leaf, struct aside_turns out[2])
{
	struct aside_turns turns[2];

	if (allocate(paths, &turns[0]) || allocate(paths, &turns[1]))
		return -ENOMEM;
	struct cover first = {.paths = paths, .towards = turns[0].towards};
	struct cover second = {.paths = paths, .towards = turns[1].towards};
	cover_from(&first, leaf == HD_NONE ? choose_leaf(&first) : leaf);
	cover_from(&second, leaf_beside(paths, first.leaf));
	borrow(&first, &second);
	complete(&first, &turns[0]);
	complete(&second, &turns[1]);
	memcpy(out, turns, sizeof(turns));
	return 0;
}

/* ---- a column ---- */

/* Whether the path from the switch arrives and never climbs once it has descended. `avoided` is not
 * to be met. */
static bool is_legal(const struct aside_paths *paths, uint32_t sw, uint32_t avoided)
{
	bool descended = false;

	for (uint32_t steps = 0; sw != paths->destination; steps++) {
		uint32_t link = paths->next[sw];
		if (link == HD_NONE || sw == avoided || steps == paths->fabric->switch_count ||
		    (descended && paths->climbs[link]))
			return false;
		descended |= !paths->climbs[link];
		sw = paths->fabric->isl_to[link];
	}
	return true;
}

static void turn_at(const struct aside_turns *turns, struct aside_paths *paths, uint32_t sw)
{
	const struct hd_fabric *fabric = paths->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t above = fabric->isl_to[link];
		if (paths->climbs[link] && turns->towards[above] == fabric->isl_reverse[link] &&
		    is_legal(paths, above, sw)) {
			paths->next[sw] = link;
			return;
		}
	}
}

void aside_turns_apply(const struct aside_turns *turns, const uint32_t *component,
		       struct aside_paths *paths)
{
	uint32_t switches = paths->fabric->switch_count;
	bool *legal = paths->legal, all = true;

	for (uint32_t sw = 0; sw < switches; sw++) {
		legal[sw] = is_legal(paths, sw, HD_NONE);
		all &= legal[sw] || component[sw] != component[paths->destination];
	}
	if (all)
		return;
	for (uint32_t sw = 0; sw < switches; sw++)
		if (turns->turns[sw] && legal[sw] && !paths->fixed[sw] &&
		    sw != paths->destination && paths->climbs[paths->next[sw]])
			turn_at(turns, paths, sw);
	for (uint32_t sw = 0; sw < switches; sw++)
		if (!legal[sw] && !paths->fixed[sw] &&
		    component[sw] == component[paths->destination])
			paths->next[sw] = turns->towards[sw];
}
