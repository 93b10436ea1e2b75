/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which LID offsets the flows of a step use, where one offset cannot separate the flows of a phase: several hosts of a
 * leaf send to one host. They are chosen once, before any rank has read its offset, and never change after that.
 */
#ifndef KEYD_PATHS_H
#define KEYD_PATHS_H

#include "keyd_text.h"

#include <heddle/keyd/key.h>
#include <heddle/keyd/key_pattern.h>

/* A flow that does not use the first offset of its phase. */
struct keyd_path {
	uint32_t source, destination; /* ranks */
	uint32_t offset; /* above the first one of the phase */
};

struct keyd_phase_paths {
	uint32_t first; /* offset of the phase, above that of the job */
	uint32_t count; /* offsets of the phase */
	uint32_t base; /* its paths are base .. base of the next phase - 1 */
};

/*
 * Either all flows of a rank have one offset in all phases (of_rank), which is what programs need that read it once; or,
 * where that takes too many, each phase has offsets for its flows (paths).
 */
struct keyd_paths {
	uint32_t phase_count, rank_count;
	uint32_t offsets; /* of all phases */
	uint8_t *of_rank; /* [rank_count] above the first one; NULL: the paths count */
	struct keyd_phase_paths *phases; /* [phase_count + 1]; the last one has only base */
	struct keyd_path *paths; /* ascending by source, then destination, in each phase */
};

struct keyd_paths_request {
	const struct hd_key_pattern *pattern;
	const struct hd_fabric *fabric;
	const uint32_t *rank_host; /* [pattern->ranks] hosts of the fabric */
	struct hd_key *const *keys; /* [pattern->phase_count] with one offset each */
	bool own_offsets; /* each phase has offsets of its own, in place of the same ones */
	uint32_t offsets_max; /* of all phases; as many as there are phases, or 1, are there */
};

/*
 * Chooses offsets for the phases in which flows from one leaf go to one host and share links for it. A phase gets as many
 * as it takes, or one. *out is NULL if all phases have one; else it is freed with keyd_paths_free(). Errors: -ENOMEM.
 * O(flows log).
 */
int keyd_paths_choose(const struct keyd_paths_request *request, struct keyd_paths **out);

/* Lets a phase have one offset after all, because more are no use. Then call keyd_paths_settle(). */
void keyd_paths_drop(struct keyd_paths *paths, uint32_t phase);

/* Numbers the offsets of phases again. False: all phases have one. */
bool keyd_paths_settle(struct keyd_paths *paths, bool own_offsets);

void keyd_paths_free(struct keyd_paths *paths);

size_t keyd_paths_bytes(const struct keyd_paths *paths);

/* How many offsets a phase has. NULL: one. */
uint32_t keyd_paths_count(const struct keyd_paths *paths, uint32_t phase);

/* The offset of a flow, above the first one of its phase. NULL: 0. O(log). */
uint32_t keyd_paths_offset(const struct keyd_paths *paths, uint32_t phase, uint32_t source,
			   uint32_t destination);

/* The paths of a phase of which that rank is the source, HD_NONE: all; *count of them. O(log). */
const struct keyd_path *keyd_paths_of(const struct keyd_paths *paths, uint32_t phase, uint32_t rank,
				      uint32_t *count);

/* Writes the member rank_offsets, if there is one. first: of the job. */
void keyd_paths_write_ranks(struct keyd_writer *writer, const struct keyd_paths *paths,
			    uint32_t first);

/* Writes the members offsets and paths of a phase, if it has more than one offset. first: of the phase. */
void keyd_paths_write(struct keyd_writer *writer, const struct keyd_paths *paths, uint32_t phase,
		      uint32_t first);

/*
 * Reads what was written to the answer of a placement or layout. *out is NULL if each phase has one offset. first: of the
 * job. Errors: -EINVAL it is damaged; -ENOMEM.
 */
int keyd_paths_read(const char *answer, uint32_t first, uint32_t rank_count, bool own_offsets,
		    struct keyd_paths **out);

#endif
