/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A switch is looked at for 64 LIDs at a time. First, each switch counts as one that packets pass
 * on their way down. Few LIDs then break the rule, mostly at switches that no path to them passes;
 * these LIDs are looked at again, along the paths from hosts.
 */
#include "lane_climb.h"
#include "equal_entries.h"
#include "link_number.h"

#include <heddle/base/arena.h>
#include <heddle/base/parallel.h>
#include <stdatomic.h>

#define BLOCK 64u

enum step { STEP_NONE, STEP_UP, STEP_DOWN, STEP_SIDEWAYS };

struct proof {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct hd_arena arena;
	uint32_t *level; /* [switch_count] */
	uint8_t *number; /* [switch_count * 256] by port: link among the switch's own */
	uint8_t *step; /* [switch_count * 256] by port: enum step */
	uint8_t *steps; /* [switch_count] the steps that its links are, a bit for each */
	uint32_t *exit; /* [lid_count] destination switch of a host's LID, HD_NONE of others */
	uint64_t *up; /* [switch_count] of each worker: LIDs of the block whose entry climbs */
	uint8_t *passed; /* [switch_count] of each worker: see PASSED */
	bool *otherwise; /* [lid_count] see lane_climb_prove(), or NULL */
	atomic_bool refuted;
};

/* How paths pass a switch. */
enum { PASSED_CLIMBING = 1, PASSED_DESCENDING = 2 };

static uint64_t host_lids(const struct proof *proof, uint32_t first, uint32_t count)
{
	uint64_t lids = 0;

	for (uint32_t i = 0; i < count; i++)
		lids |= (uint64_t)(proof->exit[first + i] != HD_NONE) << i;
	return lids;
}

/* Fills up[] for a block, and returns the LIDs that some switch sends sideways. */
static uint64_t find_up(const struct proof *proof, uint32_t first, uint32_t count, uint64_t *up)
{
	uint64_t lids = host_lids(proof, first, count), sideways = 0;

	for (uint32_t sw = 0; sw < proof->fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(proof->routes, sw) + first;
		const uint8_t *step = proof->step + (size_t)sw * 256;
		uint64_t climbing = 0, beside = 0;
		up[sw] = proof->steps[sw] & 1u << STEP_UP ? lids : 0;
		if (proof->steps[sw] == 1u << STEP_UP || proof->steps[sw] == 1u << STEP_DOWN)
			continue;
		for (uint32_t i = 0; i < count;) {
			bool equal = i + EQUAL_ENTRIES <= count && equal_entries(row + i);
			uint64_t bits = equal ? 0xFF : 1;
			uint8_t taken = step[row[i]];
			climbing |= (taken == STEP_UP ? bits : 0) << i;
			beside |= (taken == STEP_SIDEWAYS ? bits : 0) << i;
			i += equal ? EQUAL_ENTRIES : 1;
		}
		up[sw] = climbing & lids;
		sideways |= beside & lids;
	}
	for (uint32_t i = 0; i < count; i++)
		if (proof->exit[first + i] != HD_NONE)
			up[proof->exit[first + i]] &= ~(UINT64_C(1) << i);
	return sideways;
}

/* LIDs that some switch sends down to one that sends them up. */
static uint64_t find_turns(const struct proof *proof, uint32_t first, uint32_t count,
			   const uint64_t *up)
{
	const struct hd_fabric *fabric = proof->fabric;
	uint64_t lids = host_lids(proof, first, count), turns = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(proof->routes, sw) + first;
		const uint8_t *step = proof->step + (size_t)sw * 256;
		const uint8_t *number = proof->number + (size_t)sw * 256;
		const uint32_t *to = fabric->isl_to + fabric->isl_base[sw];
		uint64_t rest = lids & ~up[sw];
		/* neighbouring LIDs often have the same entry */
		while (rest && proof->steps[sw] & 1u << STEP_DOWN) {
			uint32_t begin = (uint32_t)__builtin_ctzll(rest), end = begin + 1;
			uint8_t port = row[begin];
			while (end + EQUAL_ENTRIES <= count && row[end] == port &&
			       equal_entries(row + end))
				end += EQUAL_ENTRIES;
			while (end < count && row[end] == port)
				end++;
			uint64_t same = UINT64_MAX >> (BLOCK - (end - begin)) << begin;
			if (step[port] == STEP_DOWN)
				turns |= up[to[number[port]]] & rest & same;
			rest &= ~same;
		}
	}
	return turns;
}

/* True when the path from `source` climbs, then descends, as far as no earlier path has gone. */
static bool path_is_legal(const struct proof *proof, uint32_t source, uint32_t lid, uint8_t *passed)
{
	const struct hd_fabric *fabric = proof->fabric;
	uint8_t as = PASSED_CLIMBING;

	for (uint32_t sw = source; sw != proof->exit[lid] && !(passed[sw] & as);) {
		uint8_t port = hd_routes_row(proof->routes, sw)[lid];
		enum step step = (enum step)proof->step[(size_t)sw * 256 + port];
		passed[sw] |= as;
		if (step == STEP_NONE)
			return true;
		if (step == STEP_SIDEWAYS || (step == STEP_UP && as == PASSED_DESCENDING))
			return false;
		as = step == STEP_DOWN ? PASSED_DESCENDING : PASSED_CLIMBING;
		sw = fabric->isl_to[fabric->isl_base[sw] + proof->number[(size_t)sw * 256 + port]];
	}
	return true;
}

static bool paths_are_legal(const struct proof *proof, uint32_t lid, uint8_t *passed)
{
	const struct hd_fabric *fabric = proof->fabric;

	memset(passed, 0, fabric->switch_count);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (fabric->host_base[sw] != fabric->host_base[sw + 1] &&
		    !path_is_legal(proof, sw, lid, passed))
			return false;
	return true;
}

static void prove_lids(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct proof *proof = context;
	size_t scratch = (size_t)worker * proof->fabric->switch_count;
	uint64_t *up = proof->up + scratch;

	if (atomic_load_explicit(&proof->refuted, memory_order_relaxed))
		return;
	uint64_t turns = find_up(proof, begin, end - begin, up);
	turns |= find_turns(proof, begin, end - begin, up);
	for (; turns; turns &= turns - 1) {
		uint32_t lid = begin + (uint32_t)__builtin_ctzll(turns);
		if (proof->otherwise)
			proof->otherwise[lid] = true;
		if (!paths_are_legal(proof, lid, proof->passed + scratch)) {
			atomic_store_explicit(&proof->refuted, true, memory_order_relaxed);
			return;
		}
	}
}

static void find_steps(struct proof *proof)
{
	const struct hd_fabric *fabric = proof->fabric;
	const uint32_t *level = proof->level;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		link_number_fill(fabric, sw, proof->number + (size_t)sw * 256);
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link];
			enum step step = level[far] == level[sw]  ? STEP_SIDEWAYS
					 : level[far] > level[sw] ? STEP_UP
								  : STEP_DOWN;
			proof->step[(size_t)sw * 256 + fabric->isl_port[link]] = (uint8_t)step;
			proof->steps[sw] |= (uint8_t)(1u << step);
		}
	}
	memset(proof->exit, 0xFF, fabric->lid_count * sizeof(*proof->exit));
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		for (uint32_t i = 0; i < hd_port_lid_count(fabric, port); i++)
			proof->exit[fabric->lid[port] + i] = fabric->host_switch[host];
	}
}

static int allocate(struct proof *proof, unsigned threads)
{
	const struct hd_fabric *fabric = proof->fabric;
	struct hd_arena *arena = &proof->arena;
	size_t switches = fabric->switch_count, workers = hd_parallel_workers(threads);

	proof->level = hd_arena_alloc(arena, switches, sizeof(*proof->level));
	proof->number = hd_arena_alloc(arena, switches, 256);
	proof->step = hd_arena_alloc(arena, switches, 256);
	proof->steps = hd_arena_alloc(arena, switches, 1);
	proof->exit = hd_arena_alloc(arena, fabric->lid_count, sizeof(*proof->exit));
	proof->up = hd_arena_alloc(arena, switches * workers, sizeof(*proof->up));
	proof->passed = hd_arena_alloc(arena, switches * workers, 1);
	return hd_arena_check(arena);
}

int lane_climb_prove(const struct hd_fabric *fabric, const struct hd_routes *routes,
		     unsigned threads, bool *otherwise, bool *proved, struct hd_error *err)
{
	struct proof proof = {.fabric = fabric, .routes = routes, .otherwise = otherwise};
	int rc = allocate(&proof, threads) ? hd_error_no_memory(err)
					   : hd_fabric_levels(fabric, proof.level, err);

	if (!rc) {
		find_steps(&proof);
		hd_parallel_for(threads, fabric->lid_count, BLOCK, prove_lids, &proof);
		*proved = !atomic_load(&proof.refuted);
	}
	hd_arena_release(&proof.arena);
	return rc;
}
