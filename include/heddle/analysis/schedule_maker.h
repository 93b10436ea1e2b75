/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a schedule, rank by rank, for the readers of traces: begin, then for each rank open, add and
 * wait, close; then end, and release in any case.
 */
#ifndef HEDDLE_ANALYSIS_SCHEDULE_MAKER_H
#define HEDDLE_ANALYSIS_SCHEDULE_MAKER_H

#include <heddle/analysis/schedule.h>
#include <heddle/base/lookup.h>
#include <heddle/base/text.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_schedule_edge {
	uint32_t before, after; /* operations of the rank; after: maybe with HD_SCHEDULE_STARTED */
};

/* Zero-initialise before use. */
struct hd_schedule_maker {
	struct hd_schedule *made;
	uint32_t operation_room, edge_room, name_length, name_room;
	uint32_t rank, first; /* that is open, and its first operation; HD_NONE: none */
	struct hd_schedule_edge *pairs; /* of the open rank */
	uint32_t pair_count, pair_room;
	struct hd_lookup labels; /* of the open rank */
};

/* Begins a schedule of so many ranks. Errors: -ENOMEM. */
int hd_schedule_begin(struct hd_schedule_maker *maker, const char *file, uint32_t ranks,
		      struct hd_error *err);

/* Opens a rank. False: it has been there before. */
bool hd_schedule_open(struct hd_schedule_maker *maker, uint32_t rank);

/* Adds an operation to the open rank, and gives it a label. `label` NULL: it has none. Errors:
 * -EEXIST *index is the operation that has the label; -ERANGE; -ENOMEM; without a reason. */
int hd_schedule_add(struct hd_schedule_maker *maker, const struct hd_schedule_operation *operation,
		    const struct hd_cursor *label, uint32_t *index);

/* The operation of the open rank with that label, or HD_NONE. */
uint32_t hd_schedule_find(const struct hd_schedule_maker *maker, const struct hd_cursor *label);

/* `after` waits for `before`. Errors: -ENOMEM. */
int hd_schedule_wait(struct hd_schedule_maker *maker, uint32_t after, uint32_t before,
		     bool started);

/* Ends the open rank. Errors: -EINVAL operations that wait for each other, -ERANGE, -ENOMEM; with
 * the reason. O(operations and edges of the rank). */
int hd_schedule_close(struct hd_schedule_maker *maker, struct hd_error *err);

/* The schedule, which the caller then owns; NULL: it has no operation. */
struct hd_schedule *hd_schedule_end(struct hd_schedule_maker *maker);

/* Frees all that is left. */
void hd_schedule_release(struct hd_schedule_maker *maker);

#ifdef __cplusplus
}
#endif

#endif
