/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts and an order of ranks for a job, chosen by a worker. */
#ifndef KEYD_PROPOSAL_H
#define KEYD_PROPOSAL_H

#include "keyd_request.h"
#include "keyd_text.h"
#include "keyd_view.h"

#include <heddle/engines.h>
#include <heddle/keyd/key_choose.h>

/* The tables without keys of a view. Workers make them when the first proposal needs them, one at a time. Only
 * the event thread counts references. */
struct keyd_tables {
	unsigned references;
	struct keyd_view *view; /* a reference */
	const struct hd_engine *engine;
	struct hd_routes *routes; /* NULL: not made yet */
};

/* NULL: no memory. */
struct keyd_tables *keyd_tables_new(struct keyd_view *view, const struct hd_engine *engine);

/* Frees them if this was the last reference. NULL is allowed. */
void keyd_tables_release(struct keyd_tables *tables);

/* What is asked and what is found. */
struct keyd_proposal {
	/* given */
	struct keyd_propose_request request;
	struct keyd_tables *tables; /* a reference; NULL: none yet */
	uint32_t *others; /* [isl_count] flows of keys in force */
	uint32_t *hosts; /* [host_count] of the view, each once */
	uint32_t *names; /* [host_count] their numbers in request.place.hosts */
	uint32_t host_count;
	uint32_t *unknown; /* [unknown_count] names that are not in the fabric */
	uint32_t unknown_count;
	uint32_t flows_max;
	uint64_t deadline; /* microseconds of keyd_op_now() */
	/* found */
	struct keyd_text *answer;
	struct keyd_problem problem; /* status 0: none */
};

/* Finds the hosts of the names, and copies the loads. Errors: with the problem: 422 the fabric does not have
 * them, or one host has two names; 503 no memory. O(names + links). */
int keyd_proposal_resolve(struct keyd_proposal *proposal, const struct keyd_hosts *hosts,
			  const struct hd_key_loads *loads);

/* Chooses, and writes the answer or the problem. For a worker, one at a time. Ends at the deadline, or soon
 * after it. */
void keyd_proposal_make(struct keyd_proposal *proposal);

/* Frees what it has, in the event thread. */
void keyd_proposal_release(struct keyd_proposal *proposal);

#endif
