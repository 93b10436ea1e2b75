/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The keys of all phases of a step, for one view. Pure, for worker threads. */
#ifndef KEYD_KEYS_H
#define KEYD_KEYS_H

#include "keyd_paths.h"
#include "keyd_request.h"
#include "keyd_view.h"

#include <stdatomic.h>

/* More about the key of a phase. */
struct keyd_key_note {
	bool is_found; /* by attempts: it is sound with this shift, and perhaps with no other */
	struct hd_key_shift *shift; /* if it was found; NULL: none */
	char *why; /* why the key leaves flows out; NULL: it does not */
};

struct keyd_keys {
	struct keyd_view *view; /* a reference */
	uint32_t phase_count;
	struct hd_key **keys; /* [phase_count] */
	struct keyd_key_note *notes; /* [phase_count] */
	struct keyd_paths
	    *paths; /* that were chosen for these keys, until someone takes them; NULL: none */
	size_t bytes; /* that the keys take, counted in *used */
	atomic_size_t *used;
};

/* What keys are made of. */
struct keyd_keys_request {
	struct keyd_view *view;
	const struct keyd_place_request *placement;
	uint32_t rank_count;
	const uint32_t *rank_host; /* [rank_count] hosts of the view */
	uint32_t flows_max;
	const struct keyd_paths
	    *paths; /* the offsets of flows, if they are known; NULL: one for each phase */
	uint32_t offsets_max; /* else: so many may be chosen; 0 or 1: one for each phase */
	atomic_size_t *used; /* bytes that the owner of the job has; outlives the keys */
	size_t bytes_max; /* that he may have */
	unsigned threads;
};

/* Makes the pattern of a placement for so many ranks. Errors: as hd_key_pattern_new(), -ERANGE a
 * rank of `phases` is out of range. */
int keyd_keys_pattern(const struct keyd_place_request *placement, uint32_t rank_count,
		      struct hd_key_pattern **out, struct hd_error *err);

/*
 * Makes the keys. Flows inside a host are left out, and those between the same two hosts count
 * once. If the placement allows contention, flows without a path have no route. The result has the request's reference to the view, and its bytes are added to *used.
 * Errors: with the problem: 422 the pattern, its size, or a phase without a key free of contention
 * if the placement wants that; 429 there are not so many bytes left, then problem->bytes has how
 * many it takes, or 422 bytes_max is less than that; 503 no memory.
 */
int keyd_keys_make(const struct keyd_keys_request *request, struct keyd_keys **out,
		   struct keyd_problem *problem);

/* Puts another key of the same flows in place of a phase's, with its shift, both of which it takes over;
 * why: it leaves flows out, or NULL. */
void keyd_keys_replace(struct keyd_keys *keys, uint32_t phase, struct hd_key *key,
		       struct hd_key_shift *shift, const char *why);

/* Frees them, takes their bytes off *used, and releases the view. NULL is allowed. */
void keyd_keys_free(struct keyd_keys *keys);

#endif
