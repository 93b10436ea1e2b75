/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Up to 64 columns at a time. Each switch has one bit a column, so that one pass over the switches
 * from the top to the leaves finds out for all columns which paths climb, then descend. Those are
 * free of credit loops together, whatever their number: links that climb come before links that
 * descend, and the order of the switches orders each kind. Only switches without such a path need a
 * turn, and the dependencies of turns are few.
 */
#ifndef ENGINES_ASIDE_COLUMNS_H
#define ENGINES_ASIDE_COLUMNS_H

#include "aside_turns.h"
#include <heddle/engines.h>

#define ASIDE_BLOCK 64u

/* A LID and where its entries come from. */
struct aside_lid {
	uint32_t lid;
	uint32_t model; /* LID whose entries serve; `lid` itself for a host */
	uint32_t sw; /* destination switch */
	uint8_t port; /* by which packets leave it */
};

/* Which tables have whole paths that an entry takes; later ones win. */
enum aside_stay {
	ASIDE_STAY_NOT, /* routed afresh */
	/* The tables in place only. For when paths that go back to the baseline would turn at one
	 * leaf and those that stay at another. */
	ASIDE_STAY_PREVIOUS,
	ASIDE_STAY_BASELINE /* the tables in place, then the baseline */
};

/* What all columns share. Only `routes` changes, and each block changes its own LIDs. */
struct aside_columns {
	const struct hd_route_request *request;
	const struct hd_fabric *fabric;
	struct hd_routes *routes;
	const struct aside_paths *paths; /* links and what climbs */
	/* The second serves where the leaf of the first has no legal path itself. */
	struct aside_turns turns[2];
	const uint32_t *component; /* [switch_count] */
	uint32_t *order; /* [switch_count] switches, each before those to which its links climb */
	uint32_t *step; /* [switch_count * 256] by port: far switch * 2 + whether it climbs */
	uint8_t *steps; /* [switch_count] 1: some link descends; 2: some link climbs; 3: both */
	const struct aside_lid *lids;
	uint32_t lid_count;
	enum aside_stay stay;
};

/* Scratch of one worker, and what it has found. */
struct aside_block {
	const struct aside_lid *lids; /* [count] */
	uint32_t count;
	bool lost; /* some switch has no path */
	/* LIDs and their models follow each other, and all columns lead to one component */
	bool plain;
	uint64_t *down, *legal; /* [switch_count + 1] the path descends; it climbs, then descends */
	uint64_t *turned; /* [switch_count] the switch goes towards the leaf instead */
	struct hd_dependencies pairs; /* what links that descend wait for where a path turns */
	/* to keep entries in place */
	uint32_t *next; /* [switch_count] link */
	uint8_t *whole; /* [switch_count] */
	bool *fixed; /* [switch_count] hosts use the entry */
	uint32_t *path; /* [switch_count] */
};

/* Fills order, step and steps. Memory from the arena. Errors: -ENOMEM. Cost: O(links + switches log
 * switches). */
int aside_columns_init(struct aside_columns *columns, const uint32_t *level,
		       struct hd_arena *arena);

/* Memory for a worker. Errors: -ENOMEM. */
int aside_columns_init_block(const struct aside_columns *columns, struct aside_block *block,
			     struct hd_arena *arena);

/* Writes the columns first .. first + count - 1, count <= ASIDE_BLOCK. Cost: O(switches * count).
 */
void aside_columns_route(const struct aside_columns *columns, struct aside_block *block,
			 uint32_t first, uint32_t count);

#endif
