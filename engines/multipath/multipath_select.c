/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cycle gives a pair of switches a second path if one can reach the other in both directions
 * round it. Cycles are taken greedily by the number of pairs that have no second path yet; when all
 * pairs have one, by the number of pairs for which the bit makes any difference. Patterns are those
 * over all cycles: to leave one out removes its bit and changes no other.
 */
#include "multipath_select.h"
#include "multipath_paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct found {
	struct hd_cycles cycles; /* first: what the caller holds */
	struct hd_arena arena;
};

struct selection {
	const struct hd_fabric *fabric;
	struct multipath_cycle_lists lists;
	struct multipath_path_search search;
	struct multipath_path_pattern
	    *seen; /* [switch_count] all patterns of paths to the destination at hand */
	uint64_t *choice; /* [switch_count^2] cycles that a pair can pass in both directions */
};

static bool note_pattern(void *context, uint32_t from, const uint32_t *links, uint32_t hops)
{
	struct selection *selection = context;
	struct multipath_path_pattern pattern;

	if (multipath_paths_pattern(selection->fabric, &selection->lists, links, hops, &pattern)) {
		selection->seen[from].clockwise |= pattern.clockwise;
		selection->seen[from].counter |= pattern.counter;
	}
	return true;
}

static bool has_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	return !fabric->host_count || fabric->host_base[sw] != fabric->host_base[sw + 1];
}

static void find_choices(struct selection *selection)
{
	const struct hd_fabric *fabric = selection->fabric;
	uint32_t switches = fabric->switch_count;

	for (uint32_t destination = 0; destination < switches; destination++) {
		if (!has_hosts(fabric, destination))
			continue;
		memset(selection->seen, 0, switches * sizeof(*selection->seen));
		multipath_paths_visit(&selection->search, destination, note_pattern, selection);
		for (uint32_t from = 0; from < switches; from++)
			if (has_hosts(fabric, from))
				selection->choice[(size_t)destination * switches + from] =
				    selection->seen[from].clockwise & selection->seen[from].counter;
	}
}

struct gain {
	uint64_t second, any; /* pairs that get a second path; that get another one */
};

/* What each other cycle would add to the cycles kept so far. */
static void weigh(const struct selection *selection, uint64_t kept,
		  struct gain gains[HD_CYCLES_MAX])
{
	size_t pairs = (size_t)selection->fabric->switch_count * selection->fabric->switch_count;

	memset(gains, 0, HD_CYCLES_MAX * sizeof(*gains));
	for (size_t pair = 0; pair < pairs; pair++) {
		uint64_t choice = selection->choice[pair];
		for (uint64_t rest = choice & ~kept; rest; rest &= rest - 1) {
			gains[__builtin_ctzll(rest)].any++;
			gains[__builtin_ctzll(rest)].second += !(choice & kept);
		}
	}
}

/* The first cycle of greatest gain that is not kept yet. */
static uint32_t best_cycle(const struct selection *selection, uint64_t kept, uint32_t count)
{
	struct gain gains[HD_CYCLES_MAX];
	uint32_t best = HD_NONE;

	weigh(selection, kept, gains);
	for (uint32_t i = 0; i < count; i++) {
		if (kept >> i & 1)
			continue;
		if (best == HD_NONE || gains[i].second > gains[best].second ||
		    (gains[i].second == gains[best].second && gains[i].any > gains[best].any))
			best = i;
	}
	return best;
}

/* Puts the cycles that are kept to the front, in the order in which they are taken. */
static int order_cycles(struct found *found, const struct selection *selection, unsigned bits,
			const struct hd_cycle *cycles)
{
	uint32_t count = found->cycles.count, end = 0;
	struct hd_cycle *ordered = hd_arena_alloc(&found->arena, count, sizeof(*ordered));
	uint64_t kept = 0;

	if (!ordered)
		return -ENOMEM;
	while (end < count && end < bits) {
		uint32_t best = best_cycle(selection, kept, count);
		kept |= UINT64_C(1) << best;
		ordered[end++] = cycles[best];
	}
	found->cycles.kept = end;
	for (uint32_t i = 0; i < count; i++)
		if (!(kept >> i & 1))
			ordered[end++] = cycles[i];
	found->cycles.cycles = ordered;
	return 0;
}

static int allocate(struct selection *selection, const struct hd_cycle *cycles, uint32_t count,
		    struct hd_arena *arena)
{
	size_t switches = selection->fabric->switch_count;

	selection->seen = hd_arena_alloc(arena, switches, sizeof(*selection->seen));
	selection->choice = hd_arena_alloc(arena, switches * switches, sizeof(*selection->choice));
	return multipath_cycles_list(selection->fabric, cycles, count, arena, &selection->lists);
}

static int too_many(struct found *found, struct multipath_path_search *search,
		    const struct multipath_cycle_limits *limits, struct hd_error *err)
{
	struct hd_cycles *cycles = &found->cycles;

	if (multipath_cycles_count(search->fabric, &cycles->count))
		return hd_error_no_memory(err);
	if (cycles->count > limits->cycles)
		return hd_error_set(err, -E2BIG,
				    "the fabric has %" PRIu32 " independent cycles, more than the "
				    "%u among which path bits can be chosen",
				    cycles->count, limits->cycles);
	cycles->paths = multipath_paths_count(search, limits->paths);
	if (cycles->paths > limits->paths)
		return hd_error_set(err, -E2BIG,
				    "the fabric's %" PRIu32 " independent cycles make more than "
				    "%" PRIu64 " paths",
				    cycles->count, limits->paths);
	return 0;
}

static int select_into(struct found *found, const struct hd_fabric *fabric, unsigned bits,
		       const struct multipath_cycle_limits *limits, struct hd_arena *scratch,
		       struct hd_error *err)
{
	struct selection selection = {.fabric = fabric};
	struct hd_cycle *cycles;

	if (multipath_paths_allocate(&selection.search, fabric, scratch))
		return hd_error_no_memory(err);
	int rc = too_many(found, &selection.search, limits, err);
	if (rc)
		return rc;
	uint32_t count = found->cycles.count;
	if (multipath_cycles_close(fabric, found->cycles.root, count, &found->arena, &cycles) ||
	    allocate(&selection, cycles, count, scratch))
		return hd_error_no_memory(err);
	find_choices(&selection);
	return order_cycles(found, &selection, bits, cycles) ? hd_error_no_memory(err) : 0;
}

int multipath_select_cycles(const struct hd_fabric *fabric, uint32_t root, unsigned bits,
			    const struct multipath_cycle_limits *limits, struct hd_cycles **out,
			    struct hd_error *err)
{
	struct hd_arena scratch = {0};
	struct found *found = calloc(1, sizeof(*found));

	if (!found)
		return hd_error_no_memory(err);
	found->cycles.root = root;
	int rc = select_into(found, fabric, bits, limits, &scratch, err);
	hd_arena_release(&scratch);
	if (rc)
		hd_cycles_free(&found->cycles);
	else
		*out = &found->cycles;
	return rc;
}

int hd_cycles_find(const struct hd_fabric *fabric, uint32_t root, unsigned bits,
		   struct hd_cycles **out, struct hd_error *err)
{
	const struct multipath_cycle_limits limits = {HD_CYCLES_MAX, HD_PATHS_MAX};

	if (root >= fabric->switch_count)
		return hd_error_set(err, -EINVAL,
				    "root: no switch has index %" PRIu32 ", the fabric has %" PRIu32
				    " of them",
				    root, fabric->switch_count);
	return multipath_select_cycles(fabric, root, bits, &limits, out, err);
}

void hd_cycles_free(struct hd_cycles *cycles)
{
	struct found *found = (struct found *)cycles;

	if (!found)
		return;
	hd_arena_release(&found->arena);
	free(found);
}
