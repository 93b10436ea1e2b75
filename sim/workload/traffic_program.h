/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MPI traces: what the ranks of an application do, as a text. One line says what all ranks do; their
 * partners are named by where they are, so a trace fits any number of ranks. '#' begins a comment.
 *
 *	ranks 36		how many ranks; without it, as many as there are hosts
 *	grid 4 3 3 [open]	up to three axes x, y, z; the last one changes first. Neighbours wrap
 *				around, unless the grid is open. The product is the number of ranks
 *	repeat 10 ... end	what is between is done 10 times
 *	only 0-3,7 ... end	what is between is done by these ranks
 *	calc 1ms [10%]		calculate: a uniform time of 0.9 to 1.1 ms
 *	send PEER SIZE [TAG]	and wait until it has left; recv PEER [TAG]: and wait until it has come
 *	isend PEER SIZE [TAG]	the same without waiting; irecv PEER [TAG]
 *	wait			for all that isend and irecv have begun
 *	barrier			and the other collective operations, of all ranks:
 *	all-to-all SIZE		all-reduce SIZE, all-gather SIZE, reduce SIZE [ROOT], broadcast SIZE
 *				[ROOT], gather SIZE [ROOT], scatter SIZE [ROOT]; also by algorithm, such
 *				as all-reduce-ring SIZE
 *	RODRequest NAME		ask for the routing key of the messages up to RODDone NAME, and wait
 *	RODDone NAME		until all ranks have done so
 *
 * PEER is x+1, y-1 ... (a place on the grid), +1, -1 (a rank further, around), ^4 (exclusive or), or
 * a rank. A message to a partner that does not exist is left out. SIZE is 4KiB, TIME is 1ms. Upper
 * and lower case of the words are the same.
 */
#ifndef TRAFFIC_PROGRAM_H
#define TRAFFIC_PROGRAM_H

#include "traffic_exchange.h"

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <stddef.h>

#define PROGRAM_DEPTH 16u /* of blocks */
#define PROGRAM_OPERATIONS_MAX 1000000u
#define PROGRAM_TURNS_MAX 100000000u /* of the innermost block */
#define PROGRAM_RANKS_MAX 65536u

enum program_action {
	PROGRAM_REPEAT,
	PROGRAM_ONLY,
	PROGRAM_END,
	PROGRAM_CALCULATE,
	PROGRAM_SEND,
	PROGRAM_RECEIVE,
	PROGRAM_WAIT,
	PROGRAM_EXCHANGE,
	PROGRAM_REQUEST,
	PROGRAM_DONE
};

enum program_peer { PEER_RANK, PEER_SHIFT, PEER_XOR, PEER_AXIS };

struct program_range {
	uint32_t first, last; /* ranks */
};

struct program_operation {
	enum program_action action;
	bool blocks;
	enum program_peer peer;
	uint32_t axis;
	int64_t distance; /* or rank, or mask */
	uint32_t tag, root, key; /* key: a number from 0 */
	enum exchange exchange;
	uint64_t amount; /* bytes, ps or turns */
	uint64_t deviation; /* millionths */
	uint32_t block; /* operation that begins the block around it, or HD_NONE */
	uint32_t
	    partner; /* of a block: its end; of an end: its block; request and done: each other */
	uint32_t range_base, range_count; /* PROGRAM_ONLY */
};

struct program {
	uint32_t ranks; /* 0: any number */
	uint32_t axes, size[3];
	bool open;
	uint32_t operation_count, range_count, key_count;
	struct program_operation *operations;
	struct program_range *ranges;
	char **keys; /* names */
};

/*
 * Reads text[length]; `name` stands for the file in messages. All is in the arena. Errors: -EINVAL
 * with line and reason, -ERANGE limits, -ENODATA no operation, -ENOMEM. O(length).
 */
int program_read(struct hd_arena *arena, const char *text, size_t length, const char *name,
		 struct program **out, struct hd_error *err);

/* Whether an `only` block has this rank. */
bool program_in_ranges(const struct program *program, const struct program_operation *only,
		       uint32_t rank);

/* Whether all `only` blocks around an operation have this rank. O(depth). */
bool program_takes_part(const struct program *program, uint32_t operation, uint32_t rank);

/* The rank with which a rank exchanges a message among `ranks` ranks, or HD_NONE. */
uint32_t program_peer(const struct program *program, const struct program_operation *operation,
		      uint32_t rank, uint32_t ranks);

#endif
