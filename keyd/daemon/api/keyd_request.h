/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bodies of calls: JSON to structs. Pure functions that believe nothing, for the server and for
 * the fuzz target. What needs the fabric, the job or a pattern's meaning is checked later.
 */
#ifndef KEYD_REQUEST_H
#define KEYD_REQUEST_H

#include "keyd_problem.h"

#include <heddle/base/arena.h>
#include <heddle/keyd/key_pattern.h>

#define KEYD_ID_LONGEST 64u /* bytes of the id of a job or a step */
#define KEYD_HOSTS_MAX 65536u
#define KEYD_NAME_LONGEST 255u /* bytes of a host's name */
#define KEYD_BODY_LARGEST ((size_t)1 << 20)
#define KEYD_TRIES_MAX 100000u
#define KEYD_PHASE_BODY_LARGEST ((size_t)4096) /* of request, done and join */

/* Alternate: phases change places between two offsets, so that a key is there before the one before it goes. */
enum keyd_mode { KEYD_REWRITE, KEYD_OFFSET, KEYD_ALTERNATE };

const char *keyd_mode_name(enum keyd_mode mode);

/* PUT /v1/jobs/{id}. All memory is in the arena. */
struct keyd_place_request {
	struct hd_arena arena;
	char *text; /* the same for two bodies that say the same */
	char **hosts; /* [host_count] in order */
	uint32_t host_count;
	bool has_uid;
	uint32_t uid;
	char *pattern; /* NULL: phases */
	uint32_t phase_count;
	uint32_t *base; /* [phase_count + 1] as in struct hd_key_pattern */
	struct hd_rank_flow *flows;
	uint32_t ranks; /* number of hosts if the body does not have it */
	enum keyd_mode mode;
	bool best_effort;
	uint32_t keys; /* most offsets; 0: any number */
};

/* PUT /v1/jobs/{id}/steps/{step}/layout. */
struct keyd_layout_request {
	struct hd_arena arena;
	char *text;
	char **ranks; /* [rank_count] the host of each */
	uint32_t rank_count;
};

/* POST /v1/propose. */
struct keyd_propose_request {
	struct keyd_place_request place; /* hosts, pattern, phases and ranks; no text */
	uint32_t choose; /* hosts to choose; 0: all hosts, whose ranks are put in order */
	uint32_t tries;
};

/* POST /v1/jobs/{id}/request, /done and /join. */
enum keyd_phase_call { KEYD_REQUEST, KEYD_DONE, KEYD_JOIN };

struct keyd_phase_request {
	char step[KEYD_ID_LONGEST + 1];
	uint32_t phase; /* of request and done */
	bool has_turn; /* of request and done */
	uint32_t turn; /* of the step, as the caller knows it */
	bool has_rank; /* of request and join */
	uint32_t rank; /* that calls */
};

/* 0, or -EINVAL with the problem; then there is nothing to release. Cost: O(bytes). */
int keyd_request_place(const char *body, size_t length, struct keyd_place_request *out,
		       struct keyd_problem *problem);
int keyd_request_layout(const char *body, size_t length, struct keyd_layout_request *out,
			struct keyd_problem *problem);
int keyd_request_propose(const char *body, size_t length, struct keyd_propose_request *out,
			 struct keyd_problem *problem);
int keyd_request_phase(const char *body, size_t length, enum keyd_phase_call call,
		       struct keyd_phase_request *out, struct keyd_problem *problem);

/* Whether it can be the id of a job or of a step: 1 to KEYD_ID_LONGEST of [A-Za-z0-9._-]. */
bool keyd_request_is_id(const char *text, size_t length);

#endif
