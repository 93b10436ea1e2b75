/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The traffic of an application: phases, and in each phase flows between ranks. Named patterns are
 * written NAME or NAME:ARGUMENTS; there is a table of them.
 */
#ifndef HEDDLE_KEYD_KEY_PATTERN_H
#define HEDDLE_KEYD_KEY_PATTERN_H

#include <heddle/base/error.h>
#include <stddef.h>
#include <stdint.h>

#define HD_KEY_RANKS_MAX 65536u
#define HD_KEY_PHASES_MAX 65536u
#define HD_KEY_FLOWS_MAX (1u << 22) /* of all phases together */
#define HD_KEY_PATTERN_FILE_MAX (256u << 20) /* bytes: so many flows, each a line, and comments */

struct hd_rank_flow {
	uint32_t source, destination; /* ranks, never the same */
};

struct hd_key_pattern {
	uint32_t ranks;
	uint32_t phase_count;
	uint32_t *base; /* [phase_count + 1] phase p has the flows base[p] .. base[p + 1] - 1 */
	struct hd_rank_flow *flows;
};

/* A kind of pattern, for the command's help and the manual. */
struct hd_key_pattern_kind {
	const char *name; /* "stencil2d" */
	const char *arguments; /* "[ROWSxCOLUMNS]"; "" : none */
	const char *summary; /* half a sentence */
};

/* All kinds in the order of the documentation; *count of them. */
const struct hd_key_pattern_kind *hd_key_pattern_kinds(unsigned *count);

/*
 * Makes a pattern from its name and arguments for so many ranks. To be freed with
 * hd_key_pattern_free().
 *
 *	stencil1d, stencil2d[:RxC], stencil3d[:XxYxZ]	each rank sends to a neighbour in a periodic
 *		grid. Ranks lie row by row: the last axis changes first. Two phases for each axis, in
 *		their order: to the next neighbour, to the one before. Without a size the ranks are cut
 *		as evenly as they can be, with descending sizes (36: 6x6, 4x3x3).
 *	ring		one phase, to the next rank; the last sends to the first
 *	shift:N		one phase, to the rank N further, 0 < N < ranks
 *	alltoall	phase p is the shift by p + 1
 *	transpose[:RxC]	rank r * C + c sends to rank c * R + r
 *	halving-doubling	P is the largest power of two that is not above the ranks. Ranks 0 .. P - 1
 *		exchange at the distances P/2, P/4, ... 1, then 1, 2, ... P/2. If there are more ranks,
 *		each rank P + i sends to rank i in a phase before, and gets the result from it in a
 *		phase behind.
 *	random[:SEED]	one random permutation; seed 0 if none is given
 *	file:PATH	see hd_key_pattern_read()
 *
 * No rank sends to itself: where a pattern would have it so, there is no flow, and a phase can be
 * empty. Errors: -EINVAL an unknown name (with the nearest one) or arguments that do not fit the
 * ranks; -ERANGE more ranks, phases or flows than the limits above; the errno of a file, which must
 * be a regular file of at most 256 MiB, with place and reason; -ENOMEM. O(flows).
 */
int hd_key_pattern_new(const char *text, uint32_t ranks, struct hd_key_pattern **out,
		       struct hd_error *err);

/* Checks name and arguments where the number of ranks is not known yet. Reads no file. Errors:
 * -EINVAL. */
int hd_key_pattern_check(const char *text, struct hd_error *err);

/*
 * Reads a pattern: a line `phase` begins a phase, a line `SOURCE DESTINATION` is a flow, '#' begins
 * a comment. A rank must not send to itself. `name` is for messages, which have no word of the text.
 * Errors: -EINVAL with the number of the line; -ERANGE, -ENOMEM as hd_key_pattern_new().
 */
int hd_key_pattern_read(const char *bytes, size_t length, const char *name, uint32_t ranks,
			struct hd_key_pattern **out, struct hd_error *err);

/*
 * Writes a pattern as one word without blanks, "0>1,1>0/2>0": flows between commas, phases between slashes. *out is
 * freed with free(). Errors: -EMSGSIZE it needs more than `size` bytes with the last 0; -ENOMEM. Cost: O(size).
 */
int hd_key_pattern_pack(const struct hd_key_pattern *pattern, size_t size, char **out);

/* Reads such a word. Messages have no part of it. Errors: -EINVAL with the byte; -ERANGE and -ENOMEM as
 * hd_key_pattern_new(). */
int hd_key_pattern_unpack(const char *text, uint32_t ranks, struct hd_key_pattern **out,
			  struct hd_error *err);

/* Makes a pattern of flows that the caller has: base[phase_count + 1], flows[base[phase_count]],
 * which are copied. Errors: -ERANGE a rank or a limit; -EINVAL a flow from a rank to itself, a phase
 * that ends before it begins; -ENOMEM. */
int hd_key_pattern_from(uint32_t ranks, uint32_t phase_count, const uint32_t *base,
			const struct hd_rank_flow *flows, struct hd_key_pattern **out,
			struct hd_error *err);

/* NULL is allowed. */
void hd_key_pattern_free(struct hd_key_pattern *pattern);

#endif
