/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Schedules: what the ranks of an application do, as operations and what each of them waits for. A
 * schedule comes from a trace that another tool has written; the simulator runs it, and patterns
 * take their flows from it.
 *
 * An operation calculates, sends or receives. It starts when all operations of its rank that it
 * waits for have ended, or for some of them have started. A receive takes the first message with
 * its source and tag that no receive before it has taken.
 */
#ifndef HEDDLE_ANALYSIS_SCHEDULE_H
#define HEDDLE_ANALYSIS_SCHEDULE_H

#include <heddle/base/error.h>
#include <heddle/base/index.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_SCHEDULE_ANY UINT32_MAX /* source or tag of a receive that takes any */
#define HD_SCHEDULE_RANKS_MAX 65536u
#define HD_SCHEDULE_OPERATIONS_MAX 0x7FFFFFFEu
#define HD_SCHEDULE_STARTED 0x80000000u /* in an edge: that the operation has started is enough */

enum hd_schedule_action { HD_SCHEDULE_CALCULATE, HD_SCHEDULE_SEND, HD_SCHEDULE_RECEIVE };

/* 32 bytes. */
struct hd_schedule_operation {
	uint64_t amount; /* bytes of a message, below 2^32; units of time of a calculation */
	uint32_t peer; /* rank; of a receive also HD_SCHEDULE_ANY */
	uint32_t tag; /* of a receive also HD_SCHEDULE_ANY */
	uint32_t line; /* of the file */
	uint32_t label; /* for hd_schedule_place(): coded */
	uint32_t edge; /* first of the edges to those that wait for it */
	uint16_t rank;
	uint8_t action; /* enum hd_schedule_action */
	uint8_t cpu; /* of the rank: it does one thing at a time */
};

/* The operations of a rank lie together, in the order of the file. */
struct hd_schedule {
	uint32_t rank_count, operation_count, edge_count;
	uint32_t cpu_count; /* the largest number of a cpu, and 1 */
	uint32_t *base; /* [rank_count] first operation of each rank */
	uint32_t *count; /* [rank_count] operations of each rank */
	struct hd_schedule_operation
	    *operations; /* [operation_count + 1]; the last one ends the edges */
	uint32_t *edges; /* [edge_count] operations, some with HD_SCHEDULE_STARTED */
	bool wildcards; /* a receive takes any source or any tag */
	bool nodes; /* lines are numbers of nodes, of one file for each rank: FILE.RANK.et */
	char *names, *file; /* of labels; of the file, for messages */
};

/*
 * Reads a trace in the text form of GOAL, which Schedgen and LogGOPSim define; it may be packed by
 * gzip. doc/guide/workloads.md has the form. *out is freed with hd_schedule_free(). Errors, with
 * file and line: -EINVAL a line of another form, a label or rank that is unknown or there twice,
 * operations that wait for each other; -ERANGE limits; -ENODATA no operation; errno of open and
 * read; -ENOMEM. Cost: O(bytes); memory: 32 bytes an operation and 4 an edge, and 40 for each
 * operation of the largest rank while it reads.
 * Source: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009.
 */
int hd_schedule_read_goal(const char *path, struct hd_schedule **out, struct hd_error *err);

/* The same from memory; `name` stands for the file in messages. */
int hd_schedule_parse_goal(const char *text, size_t length, const char *name,
			   struct hd_schedule **out, struct hd_error *err);

/* NULL is allowed. */
void hd_schedule_free(struct hd_schedule *schedule);

/* "rank 3, l5 (ring.goal:12)" into buffer[size], which it returns. */
const char *hd_schedule_place(const struct hd_schedule *schedule, uint32_t operation, char *buffer,
			      size_t size);

/* For how many edges each operation waits: waits[operation_count]. O(operations + edges). */
void hd_schedule_waits(const struct hd_schedule *schedule, uint32_t *waits);

/* Sets the reason why a run of the schedule stands still. waits[] is 0 for operations that have
 * started, and HD_NONE for those that have ended. Returns -EDEADLK. */
int hd_schedule_deadlock(const struct hd_schedule *schedule, const uint32_t *waits,
			 struct hd_error *err);

/* ---- which receive takes which message ---- */

struct hd_schedule_match; /* of one run of a schedule; opaque */

/* Freed with hd_schedule_match_free(). Errors: -ENOMEM. Memory: about 10 bytes an operation, with
 * wildcards 22. */
int hd_schedule_match_new(const struct hd_schedule *schedule, struct hd_schedule_match **out,
			  struct hd_error *err);
void hd_schedule_match_free(struct hd_schedule_match *match);

/* The message of the operation `send` has come: the receive that takes it, or HD_NONE: it waits.
 * Expected cost: O(1); with wildcards O(receives of its rank that wait). */
uint32_t hd_schedule_arrive(struct hd_schedule_match *match, uint32_t send);

/* A receive starts: the send whose message it takes, or HD_NONE: it waits. The same cost; with a
 * wildcard O(messages of its rank that wait). */
uint32_t hd_schedule_receive(struct hd_schedule_match *match, uint32_t receive);

/* ---- rounds ---- */

/*
 * Runs the schedule without times: each message takes one round, and calculations take none.
 * round[operation_count] gets the round of each send, from 0, and *rounds their number. A send
 * that waits for the end of another one is in a later round. Errors: -EDEADLK with the first
 * operation that does not end; -ENOMEM. O(operations + edges).
 */
int hd_schedule_rounds(const struct hd_schedule *schedule, uint32_t *round, uint32_t *rounds,
		       struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
