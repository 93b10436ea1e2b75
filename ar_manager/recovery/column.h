/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where packets to one LID may go: for each switch the links of its entry. */
#ifndef AR_MANAGER_COLUMN_H
#define AR_MANAGER_COLUMN_H

#include "next_hops.h"

#include <heddle/ar_manager/fast_recovery.h>

/* The entries of all LIDs; they do not change. */
struct columns {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct hd_arena arena;
	struct host_lids lids;
	struct next_hops_entries *entries; /* [switch_count] */
	struct next_hops next;
	uint32_t count;
	uint32_t *lid; /* [count] one of each kind: LIDs with the same links are taken together */
	uint32_t *weight; /* [count] LIDs of the kind that their switch hands to the adapter */
};

/* Lists them; columns_release() must be called in any case. Errors: -EINVAL shapes that differ, -ECANCELED,
 * -ENOMEM. Cost: O(switches * LIDs). */
int columns_init(struct columns *columns, const struct hd_ar_recovery_request *request,
		 struct hd_error *err);

void columns_release(struct columns *columns);

/* Returns -ELOOP: packets to the LID can come back to the switch. */
int columns_refuse(const struct columns *columns, uint32_t sw, uint32_t lid, struct hd_error *err);

/* A link by which packets come to a switch. */
struct column_back {
	uint32_t from, link;
};

/* The column of one LID, and memory of one thread. */
struct column {
	const struct columns *all;
	uint32_t lid, to; /* the switch at which packets arrive */
	uint64_t *sets; /* [switch_count * words] links of the entries */
	uint32_t *ports; /* [switch_count] how many they are; 0: none, or the destination */
	bool *good; /* [switch_count] every choice arrives; true at the destination */
	uint32_t *open; /* [switch_count] links whose far ends were not looked at */
	uint32_t *queue; /* [switch_count] */
	/* those to switch s: back[back_first[s]] .. back[back_end[s] - 1] */
	struct column_back *back; /* [isl_count] */
	uint32_t *back_first, *back_end; /* [switch_count] */
	uint32_t backs;
};

/* Memory from the arena. Errors: -ENOMEM. */
int column_init(struct column *column, const struct columns *all, struct hd_arena *arena);

/*
 * Loads kind number `index`, and finds out from where packets arrive. Returns HD_NONE, or a switch to which
 * packets can come back that begin there. Cost: O(links).
 */
uint32_t column_load(struct column *column, uint32_t index);

/* Whether the entry of the switch where the link begins has the link. O(1). */
static inline bool column_has(const struct column *column, uint32_t from, uint32_t link)
{
	return link_sets_has(column->sets + (size_t)from * column->all->next.words,
			     link - column->all->fabric->isl_base[from]);
}

#endif
