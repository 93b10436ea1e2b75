/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ranks of parallel applications. A script says what each rank does next; this runs the scripts:
 * messages are matched by sender, receiver and tag, as MPI does, and a rank goes on when what it
 * waits for has happened. Rank r of a job runs on hosts[r]; a host has one rank.
 *
 * A send is complete when the last byte has left the host. Messages whose packets were dropped are
 * sent again at once.
 */
#ifndef TRAFFIC_RANKS_H
#define TRAFFIC_RANKS_H

#include "traffic.h"
#include "traffic_exchange.h"

#define RANKS_TAG_MAX ((1u << 22) - 1) /* of messages in scripts */

enum rank_action {
	RANK_END,
	RANK_CALCULATE, /* for `time` */
	RANK_SEND,
	RANK_RECEIVE,
	RANK_WAIT, /* for all sends and receives that did not block */
	RANK_MEET, /* go on when all ranks of the job are here, without messages */
	RANK_EXCHANGE, /* a collective operation */
	RANK_REQUEST, /* as RANK_MEET, then the script's request() */
	RANK_DONE, /* script's done() when all ranks have been here; does not wait */
	RANK_MARK /* script's mark() */
};

struct rank_step {
	enum rank_action action;
	bool blocks; /* RANK_SEND, RANK_RECEIVE */
	enum exchange exchange;
	uint32_t peer; /* rank, or root of an exchange */
	uint32_t tag; /* of a message; for request, done and mark: what the script likes */
	uint32_t offset; /* LID offset of a message; HD_NONE: as the traffic's option says */
	uint64_t bytes;
	uint64_t time; /* ps */
};

struct ranks;

struct rank_script {
	/* The next step of a rank. */
	void (*next)(void *context, uint32_t job, uint32_t rank, struct rank_step *step);
	/* All ranks have asked for `tag`; *delay: ps until they go on. Returns 0 or an errno. */
	int (*request)(void *context, uint32_t job, uint32_t tag, uint64_t *delay,
		       struct hd_error *err);
	void (*done)(void *context, uint32_t job, uint32_t tag);
	void (*mark)(void *context, uint32_t job, uint32_t rank, uint32_t tag, uint64_t now);
	void *context;
};

struct rank_job {
	uint32_t count;
	const uint32_t *hosts; /* [count] endpoints */
};

/* What a rank or a job has used its time for; a job that has not ended: up to now. */
struct rank_times {
	uint64_t total, communication; /* ps; mean over the ranks, and greatest for the job */
	uint64_t longest;
	uint64_t messages, bytes, again;
	uint32_t waiting; /* ranks that have not ended */
};

/* Jobs on hosts that are all different. All lives in the part's arena. Errors: -ENOMEM. */
int ranks_new(struct hd_traffic_part *part, const struct rank_script *script,
	      const struct rank_job *jobs, uint32_t job_count, struct ranks **out,
	      struct hd_error *err);

/* The random numbers of a rank from the start on: those of its host. For draw_uniform() and the like. */
uint64_t *ranks_random(struct ranks *ranks, uint32_t job, uint32_t rank);

/* The callbacks of kinds whose state begins with a pointer to their ranks. */
int ranks_start(struct hd_traffic_part *part, struct hd_error *err);
void ranks_wake(struct hd_traffic_part *part, uint64_t token);
void ranks_sent(struct hd_traffic_part *part, const struct hd_sim_message *message,
		const struct hd_sim_times *times);
void ranks_delivered(struct hd_traffic_part *part, const struct hd_sim_message *message,
		     const struct hd_sim_times *times, uint32_t endpoint);
void ranks_lost(struct hd_traffic_part *part, const struct hd_sim_message *message,
		const struct hd_sim_times *times, uint32_t endpoint);

#define RANKS_FUNCTIONS                                                                            \
	.finite = true, .start = ranks_start, .wake = ranks_wake, .sent = ranks_sent,              \
	.delivered = ranks_delivered, .lost = ranks_lost

/* Visits all pairs of ranks of a job between which a collective operation sends, and back. */
int ranks_list_exchange(const struct hd_traffic_part *part, const struct rank_job *job,
			enum exchange exchange, uint32_t root, uint64_t bytes,
			hd_traffic_visit visit, void *context, struct hd_error *err);

void ranks_times(const struct ranks *ranks, uint32_t job, struct rank_times *out);

/* Cuts the members of a part into `count` jobs of equal size, contiguous or at random; hosts that
 * are left over run nothing. Errors: -EINVAL fewer than 2 hosts for a job, -ENOMEM. */
int ranks_place(struct hd_traffic_part *part, uint32_t count, bool random, struct rank_job **jobs,
		struct hd_error *err);

#endif
