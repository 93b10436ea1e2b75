/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A switch is looked at for 64 LIDs at a time. First come all entries that break the rule if packets
 * pass them. These are few, and mostly at switches that no path from a host passes. So the search
 * goes backwards from them, over the entries that lead there, until it meets a switch with hosts.
 */
#include "lane_climb.h"
#include "equal_entries.h"
#include "link_number.h"

#include <heddle/base/arena.h>
#include <heddle/base/parallel.h>
#include <stdatomic.h>

#define BLOCK 64u

/* LIDs of a block to which paths from a switch break the rule. */
struct broken {
	uint64_t known, fresh; /* all of them; those with which the search has not gone back yet */
};

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
	struct broken *broken; /* [switch_count] of each worker */
	uint32_t *queue; /* [switch_count] of each worker */
	bool *otherwise; /* [lid_count] see lane_climb_prove(), or NULL */
	atomic_bool refuted;
};

/* What a worker knows of a block of LIDs. */
struct block {
	const struct proof *proof;
	uint32_t first, count;
	uint64_t lids; /* those of hosts */
	uint64_t suspects; /* LIDs for which an entry would break the rule */
	uint64_t *up;
	struct broken *broken;
	uint32_t *queue, queued; /* switches with broken.fresh, each once */
};

static uint64_t host_lids(const struct proof *proof, uint32_t first, uint32_t count)
{
	uint64_t lids = 0;

	for (uint32_t i = 0; i < count; i++)
		lids |= (uint64_t)(proof->exit[first + i] != HD_NONE) << i;
	return lids;
}

/* The LIDs among these for which packets end at the switch. */
static uint64_t ending_lids(const struct block *block, uint32_t sw, uint64_t lids)
{
	uint64_t ending = 0;

	for (uint64_t rest = lids; rest; rest &= rest - 1)
		if (block->proof->exit[block->first + (uint32_t)__builtin_ctzll(rest)] == sw)
			ending |= rest & -rest;
	return ending;
}

/* From here on paths to the LIDs break the rule. */
static void add_broken(struct block *block, uint32_t sw, uint64_t lids)
{
	struct broken *broken = &block->broken[sw];
	uint64_t fresh = lids & ~broken->known;

	fresh &= ~ending_lids(block, sw, fresh);
	if (!fresh)
		return;
	if (!broken->fresh)
		block->queue[block->queued++] = sw;
	broken->known |= fresh;
	broken->fresh |= fresh;
}

static void add_suspects(struct block *block, uint32_t sw, uint64_t lids)
{
	block->suspects |= lids;
	add_broken(block, sw, lids);
}

/* Fills up[], and adds the switches that send sideways. */
static void find_up(struct block *block)
{
	const struct proof *proof = block->proof;

	for (uint32_t sw = 0; sw < proof->fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(proof->routes, sw) + block->first;
		const uint8_t *step = proof->step + (size_t)sw * 256;
		uint64_t climbing = 0, beside = 0;
		block->up[sw] = proof->steps[sw] & 1u << STEP_UP ? block->lids : 0;
		if (proof->steps[sw] == 1u << STEP_UP || proof->steps[sw] == 1u << STEP_DOWN)
			continue;
		for (uint32_t i = 0; i < block->count;) {
			bool equal = i + EQUAL_ENTRIES <= block->count && equal_entries(row + i);
			uint64_t bits = equal ? 0xFF : 1;
			uint8_t taken = step[row[i]];
			climbing |= (taken == STEP_UP ? bits : 0) << i;
			beside |= (taken == STEP_SIDEWAYS ? bits : 0) << i;
			i += equal ? EQUAL_ENTRIES : 1;
		}
		block->up[sw] = climbing & block->lids;
		add_suspects(block, sw, beside & block->lids);
	}
	for (uint32_t i = 0; i < block->count; i++)
		if (proof->exit[block->first + i] != HD_NONE)
			block->up[proof->exit[block->first + i]] &= ~(UINT64_C(1) << i);
}

/* Adds the switches that send down to one that sends up. */
static void find_turns(struct block *block)
{
	const struct proof *proof = block->proof;
	const struct hd_fabric *fabric = proof->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(proof->routes, sw) + block->first;
		const uint8_t *step = proof->step + (size_t)sw * 256;
		const uint8_t *number = proof->number + (size_t)sw * 256;
		const uint32_t *to = fabric->isl_to + fabric->isl_base[sw];
		uint64_t rest = block->lids & ~block->up[sw], turns = 0;
		/* neighbouring LIDs often have the same entry */
		while (rest && proof->steps[sw] & 1u << STEP_DOWN) {
			uint32_t begin = (uint32_t)__builtin_ctzll(rest), end = begin + 1;
			uint8_t port = row[begin];
			while (end + EQUAL_ENTRIES <= block->count && row[end] == port &&
			       equal_entries(row + end))
				end += EQUAL_ENTRIES;
			while (end < block->count && row[end] == port)
				end++;
			uint64_t same = UINT64_MAX >> (BLOCK - (end - begin)) << begin;
			if (step[port] == STEP_DOWN)
				turns |= block->up[to[number[port]]] & rest & same;
			rest &= ~same;
		}
		add_suspects(block, sw, turns);
	}
}

/* Adds the neighbours that send LIDs to the switch. */
static void go_back(struct block *block, uint32_t sw, uint64_t lids)
{
	const struct proof *proof = block->proof;
	const struct hd_fabric *fabric = proof->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t near = fabric->isl_to[link];
		uint8_t port = fabric->isl_port[fabric->isl_reverse[link]];
		const uint8_t *row = hd_routes_row(proof->routes, near) + block->first;
		add_broken(block, near, equal_entries_to(row, port) & lids);
	}
}

/* True when no packet from a host comes to an entry that breaks the rule. */
static bool hosts_are_legal(struct block *block)
{
	const struct hd_fabric *fabric = block->proof->fabric;

	while (block->queued) {
		uint32_t sw = block->queue[--block->queued];
		uint64_t lids = block->broken[sw].fresh;
		block->broken[sw].fresh = 0;
		if (fabric->host_base[sw] != fabric->host_base[sw + 1])
			return false;
		go_back(block, sw, lids);
	}
	return true;
}

static void prove_lids(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct proof *proof = context;
	size_t switches = proof->fabric->switch_count, scratch = worker * switches;
	struct block block = {.proof = proof,
			      .first = begin,
			      .count = end - begin,
			      .lids = host_lids(proof, begin, end - begin),
			      .up = proof->up + scratch,
			      .broken = proof->broken + scratch,
			      .queue = proof->queue + scratch};

	if (atomic_load_explicit(&proof->refuted, memory_order_relaxed))
		return;
	memset(block.broken, 0, switches * sizeof(*block.broken));
	find_up(&block);
	find_turns(&block);
	for (uint64_t lids = block.suspects; proof->otherwise && lids; lids &= lids - 1)
		proof->otherwise[begin + (uint32_t)__builtin_ctzll(lids)] = true;
	if (!hosts_are_legal(&block))
		atomic_store_explicit(&proof->refuted, true, memory_order_relaxed);
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
	proof->broken = hd_arena_alloc(arena, switches * workers, sizeof(*proof->broken));
	proof->queue = hd_arena_alloc(arena, switches * workers, sizeof(*proof->queue));
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
