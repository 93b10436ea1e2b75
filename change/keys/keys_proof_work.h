/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A proof of routing keys, inside this folder. */
#ifndef CHANGE_KEYS_PROOF_WORK_H
#define CHANGE_KEYS_PROOF_WORK_H

#include "lane_choices.h"
#include "repair_work.h"

enum { WITHOUT_KEYS, WITH_KEYS };
enum keys_arrival { UNKNOWN, UNDER_WAY, ARRIVES, FAILS };

/* What a search of two tables at once needs: each switch has the entry before or the one after. */
struct keys_union {
	uint32_t
	    *before; /* [switch_count] where the entries before lead; those after: graphs.step */
	uint8_t *state; /* [switch_count] of the search */
	bool *fails; /* [switch_count] some mixture loses packets from there */
	uint32_t *path; /* [switch_count] from the source to the switch at hand */
	uint32_t *order; /* [count] each switch after those to which it leads */
	uint32_t count;
	bool circle; /* the search has met one */
	bool loss; /* some switch fails */
	uint8_t *without; /* [lid_count] enum keys_arrival: from all switches, without keys */
	/* [lid_count] all mixtures of the entries without keys and those of the last key are sound, and what they depend
	 * on is in the graphs */
	bool *mixes;
};

struct hd_keys_proof {
	struct hd_repair_base in_place; /* the graphs: of all that was proved */
	const struct hd_routes *base;
	bool stale;
	uint8_t *arrival[2]; /* [switch_count] enum keys_arrival: without keys, with keys */
	bool adaptive;
	struct lane_choices choices; /* with adaptive routing */
	struct keys_union both; /* without adaptive routing */
};

/* Finds the switches from which packets to a LID arrive, in arrival[switch_count]. The graphs have looked at `routes` for
 * that LID then. Cost: O(switches). */
void keys_proof_walk(struct hd_keys_proof *proof, const struct hd_routes *routes, uint32_t lid,
		     uint8_t *arrival);

#endif
