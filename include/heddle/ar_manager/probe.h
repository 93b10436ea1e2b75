/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is inferred or unknown of the vendor's attributes, held against answers of real switches. Everything here comes
 * from Gets alone. Facts that only traffic can decide are listed, too, with what decides them on site.
 */
#ifndef HEDDLE_AR_MANAGER_PROBE_H
#define HEDDLE_AR_MANAGER_PROBE_H

#include <heddle/ar_manager/codec.h>
#include <heddle/ar_manager/neighbours.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

struct hd_ar_plan;

/* An answer to a Get. */
struct hd_ar_probe_answer {
	int rc; /* 0 answered; -EREMOTEIO refused, with `status`; another negative errno; 1 not asked */
	uint16_t status;
	uint8_t data[HD_AR_DATA];
};

#define HD_AR_PROBE_UNASKED 1

/* A switch, and what it has answered. The arrays belong to the caller. */
struct hd_ar_probe_switch {
	uint32_t sw; /* of the fabric */
	struct hd_ar_probe_answer general, info, pfrn;
	/* ARGroupTable, block 0 of the group table 1, whose number is at bit 16 of the modifier. */
	struct hd_ar_probe_answer second_table;
	const struct hd_ar_probe_answer *groups; /* [group_blocks] of the group table 0 */
	uint32_t group_blocks;
	/* [entry_blocks] of the AR LFT; in the old form if the switch has no other, and then each block is asked whose
	 * number is below LIDs / 16, so that blocks of 16 LIDs are all there. */
	const struct hd_ar_probe_answer *entries;
	uint32_t entry_blocks;
	bool old;
	int neighbours_rc; /* as `rc` above, of block 0 of NeighborsInfo */
	uint8_t neighbours[HD_N2N_DATA];
	const uint8_t *lft; /* [lid_count] of the forwarding table; NULL: it was not read */
	uint32_t lid_count;
};

enum hd_ar_verdict {
	HD_AR_UNDECIDED, /* the switches do not show it */
	HD_AR_CONFIRMED,
	HD_AR_CONTRADICTED,
	HD_AR_NOT_BY_GETS /* only traffic or a Set shows it */
};

/* "undecided", "confirmed", "contradicted", "not by Gets" */
const char *hd_ar_verdict_name(enum hd_ar_verdict verdict);

struct hd_ar_fact {
	const char *name;
	const char *option; /* of [ar.quirks] that changes it; NULL: none */
	const char *assumed;
	enum hd_ar_verdict verdict;
	uint64_t agree, disagree; /* observations: switches, ports, entries or blocks */
	uint64_t first; /* GUID of the first switch that disagrees; 0: none */
	char evidence[HD_ERROR_TEXT]; /* what was seen, or what decides it on site */
};

struct hd_ar_probe {
	const struct hd_fabric *fabric;
	const struct hd_ar_probe_switch *switches; /* [count] */
	uint32_t count;
	const struct hd_ar_plan *dump; /* of another tool, of the same time; NULL: none */
};

/* The number of facts. */
unsigned hd_ar_probe_fact_count(void);

/* Judges all facts: facts[hd_ar_probe_fact_count()]. It cannot fail. Cost: O(switches * LIDs). */
void hd_ar_probe_judge(const struct hd_ar_probe *probe, struct hd_ar_fact *facts);

#endif
