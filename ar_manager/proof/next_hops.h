/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For each switch and each destination switch the links that packets to the hosts there may take:
 * those of groups and those of static entries, of all LIDs of these hosts together.
 */
#ifndef AR_MANAGER_NEXT_HOPS_H
#define AR_MANAGER_NEXT_HOPS_H

#include "host_lids.h"
#include "link_sets.h"

#include <heddle/ar_manager/plan.h>
#include <heddle/base/parallel.h>

/* What one switch does with each LID. */
struct next_hops_entries {
	const uint8_t *port[2]; /* [lid_count] static ports; NULL: there are none of this kind */
	const struct hd_ar_switch *plan[2]; /* an entry may use both; NULL: it is not adaptive */
	uint32_t table; /* of the plans */
};

/* The links of one switch. */
struct next_hops_row {
	const uint64_t *sets;
	uint32_t *number; /* [destinations] which of the sets */
	/* For one LID: links of each group of both plans, and of each port. */
	const uint64_t *group[2]; /* [group_count * words]; NULL: no entry is adaptive */
	uint8_t *link_of_port; /* [256] */
};

/* Memory of one thread. */
struct next_hops_worker {
	struct hd_arena arena; /* the sets that it found */
	/* [most groups * words] of each plan: links of each group of the switch at hand */
	uint64_t *group[2];
	uint64_t *united; /* [destinations * words] */
	uint64_t *last; /* [destinations] the entry seen last */
	bool *
	    differs; /* [lid_count] from the LID before to the same destination switch, at some switch */
	struct link_sets sets;
};

struct next_hops {
	const struct hd_fabric *fabric;
	const struct host_lids *lids;
	const struct next_hops_entries *entries; /* [switch_count] */
	uint32_t words;
	struct next_hops_row *rows; /* [switch_count] */
	/* [lid_count] the first of the LIDs with the same links at all switches, to the same destination switch and
	 * one after another; mostly those of all its hosts */
	uint32_t *alike;
	struct next_hops_worker *workers;
	unsigned worker_count;
};

/*
 * Computes the rows of all switches. Memory from the arena, except for what
 * next_hops_release() frees; that must be called in any case. Errors: -ECANCELED, -ENOMEM; without a
 * reason. Cost: O(switches *
 * LIDs).
 */
int next_hops_init(struct next_hops *next, const struct hd_fabric *fabric,
		   const struct host_lids *lids, const struct next_hops_entries *entries,
		   unsigned threads, const struct hd_go_on *go_on, struct hd_arena *arena);

void next_hops_release(struct next_hops *next);

/* The links from a switch to a destination switch, by its number. */
static inline const uint64_t *next_hops_get(const struct next_hops *next, uint32_t sw,
					    uint32_t destination)
{
	const struct next_hops_row *row = &next->rows[sw];

	return row->sets + (size_t)row->number[destination] * next->words;
}

/* The links from a switch to one LID, into set[words]. O(1). */
void next_hops_of_lid(const struct next_hops *next, uint32_t sw, uint32_t lid, uint64_t *set);

#endif
