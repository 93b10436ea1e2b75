/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libheddle-key: asks heddle-keyd for routing keys.
 *
 *   hd_key_client_new(NULL, 2000, &client, &problem);
 *   hd_key_client_request(client, "17", "0", 0, &grant, &problem);     a phase begins
 *   ... send to LID + grant.offset ...
 *   hd_key_client_done(client, "17", "0", 0, &problem);                it has ended
 *   hd_key_client_free(client);
 *
 * All calls wait for the answer, but never longer than the time-out: it counts for finding the host,
 * MUNGE, connecting, sending and receiving together. A call that fails returns a negative errno,
 * says in *problem what happened, and writes no results; problem may be NULL. The library never
 * prints, exits, changes signal handlers, or raises SIGPIPE. A client is for one thread at a time.
 * It keeps its connection open between calls and opens another one when keyd has closed it. All
 * texts end with 0. If keyd answers with 503 and says when to try again (Retry-After), a call waits and
 * tries again, as long as that is within the time-out; also if keyd is restarted then. A 503 without
 * Retry-After is returned at once: it lasts until somebody does what its text says.
 *
 * Over the network a thread of the library finds the host and asks munged. If one is silent, the
 * call returns at its time-out, and that thread ends by itself later, at most 32 of them at a time.
 * The library stays in memory after dlclose().
 *
 * Errors of all calls: -ENOENT, -ECONNREFUSED, ... no connection; -ETIMEDOUT; -EPROTO an answer that
 * is not keyd's; -ENOMEM; and by the status of keyd's answer: -EINVAL (400, 422), -EACCES (401,
 * 403), -ENOENT (404), -EEXIST (409), -EMSGSIZE (413), -EAGAIN (429, 503: later), -EREMOTEIO others.
 */
#ifndef HEDDLE_KEYD_CLIENT_H
#define HEDDLE_KEYD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_KEY_CLIENT_SOCKET "/run/heddle/keyd.sock" /* where keyd listens by default */
#define HD_KEY_CLIENT_ID 65 /* bytes of a job's or step's id, with the last 0 */
#define HD_KEY_CLIENT_KEY 160 /* bytes of a key's id */
#define HD_KEY_CLIENT_TEXT 512 /* bytes of a message */

struct hd_key_client;

/* Why a call failed. */
struct hd_key_client_problem {
	int status; /* of keyd's answer; 0: no answer */
	unsigned
	    retry_after; /* seconds; 0: trying again soon does not help, or there was no answer */
	char detail[HD_KEY_CLIENT_TEXT]; /* what happened, and what to do about it */
};

/*
 * Makes a client of the keyd at an address: the path of a unix socket, which begins with '/', or
 * HOST:PORT, where a MUNGE credential identifies the caller; an IPv6 address is in brackets. NULL:
 * the environment's HEDDLE_KEYD, or HD_KEY_CLIENT_SOCKET. Each call ends after so many milliseconds
 * at the latest. Does not connect yet. To be freed with hd_key_client_free(). Errors: -EINVAL the address, -ENOTSUP HOST:PORT in a library that was built
 * without MUNGE, -ENOMEM.
 */
int hd_key_client_new(const char *address, unsigned timeout_ms, struct hd_key_client **out,
		      struct hd_key_client_problem *problem);

/* Gets credentials from the munged on this socket, in place of the environment's
 * HEDDLE_MUNGE_SOCKET or MUNGE's default. Errors: -ENOMEM. */
int hd_key_client_use_munge(struct hd_key_client *client, const char *socket,
			    struct hd_key_client_problem *problem);

/*
 * Grants of this client are for a rank of the step: grant.offset is that of its flows. It matters where one LID offset
 * does not separate the flows of a phase, and ranks have different ones. Without it, it is the first offset of the phase.
 */
void hd_key_client_use_rank(struct hd_key_client *client, uint32_t rank);

/* NULL is allowed. */
void hd_key_client_free(struct hd_key_client *client);

/* The address that the client uses. */
const char *hd_key_client_address(const struct hd_key_client *client);

/* ---- a job and its keys ---- */

struct hd_key_client_flow {
	uint32_t source, destination; /* ranks */
};

struct hd_key_client_placement {
	const char *const
	    *hosts; /* [host_count] names or GUIDs (0x...), in the order of the ranks */
	size_t host_count;
	const char *pattern; /* "stencil2d:4x8"; NULL: the flows below */
	/* phase p has the flows base[p] .. base[p + 1] - 1 */
	const struct hd_key_client_flow *flows;
	const uint32_t *base; /* [phase_count + 1] */
	uint32_t phase_count;
	int64_t uid; /* the job's owner; -1: the caller */
	uint32_t ranks; /* 0: as many as hosts */
	uint32_t keys; /* LID offsets to use at most; 0: as many as there are */
	bool offset_mode; /* each phase has an offset of its own, in place of one for the job */
	bool strict; /* fail if a phase has no key that is free of contention */
	/* phases change places between two offsets; not with offset_mode */
	bool alternate;
};

/* A flow that does not use the first LID offset of its phase. */
struct hd_key_client_path {
	uint32_t source, destination; /* ranks */
	uint32_t offset;
};

/* A rank whose flows do not use the first LID offset, in any phase. */
struct hd_key_client_rank_offset {
	uint32_t rank, offset;
};

/* The key of a phase. */
struct hd_key_client_key {
	char key[HD_KEY_CLIENT_KEY];
	uint32_t phase, offset, flows, contention, demand, usable;
	uint32_t offsets; /* of the phase, 1 or more; `offset` is the first one */
	size_t path_count;
	struct hd_key_client_path *paths; /* [path_count] */
};

struct hd_key_client_job {
	char job[HD_KEY_CLIENT_ID];
	char state[32], mode[16]; /* "" : the answer does not have it */
	uint32_t hosts, ranks, offset, offsets, lmc;
	int64_t uid; /* -1: the answer does not have it */
	size_t key_count;
	struct hd_key_client_key *keys; /* [key_count] */
	size_t rank_offset_count;
	struct hd_key_client_rank_offset *rank_offsets; /* [rank_offset_count] */
	size_t active_count;
	uint32_t *active; /* [active_count] phases of all steps that have begun and not ended */
};

/*
 * Places a job: keyd makes its keys. The same placement again gives the same answer. *out is freed
 * with hd_key_client_job_free(); out may be NULL. Only for the scheduler.
 */
int hd_key_client_place(struct hd_key_client *client, const char *job,
			const struct hd_key_client_placement *placement,
			struct hd_key_client_job **out, struct hd_key_client_problem *problem);

/* Tells keyd the host of each rank of a step; keyd makes the keys again for these. As above. For the
 * job's owner. */
int hd_key_client_layout(struct hd_key_client *client, const char *job, const char *step,
			 const char *const *rank_hosts, size_t rank_count,
			 struct hd_key_client_job **out, struct hd_key_client_problem *problem);

/* A job as keyd has it. As above. */
int hd_key_client_job(struct hd_key_client *client, const char *job, struct hd_key_client_job **out,
		      struct hd_key_client_problem *problem);

/* NULL is allowed. */
void hd_key_client_job_free(struct hd_key_client_job *job);

/* Ends a job: keyd takes its keys out of the switches. Only for the scheduler. */
int hd_key_client_release(struct hd_key_client *client, const char *job,
			  struct hd_key_client_problem *problem);

/* ---- a phase ---- */

struct hd_key_client_grant {
	char key[HD_KEY_CLIENT_KEY];
	uint32_t phase, offset; /* send to the destination's base LID + offset */
	uint32_t sl, contention, blocks, changed;
	uint32_t offsets; /* of the phase, 1 or more */
	bool ready; /* false: no key is in force; the routes of offset 0 are */
	/* why not, or why flows are left out; "" if all have a key that is in force */
	char reason[HD_KEY_CLIENT_TEXT];
};

/*
 * A phase begins: keyd puts its key into force. For the job's owner. keyd drops the request if the
 * caller has given up waiting for it. It refuses a request that was made before another phase of the
 * step began. Then this function asks again until the time-out, so -EEXIST means that others began
 * phases all the time.
 */
int hd_key_client_request(struct hd_key_client *client, const char *job, const char *step,
			  uint32_t phase, struct hd_key_client_grant *out,
			  struct hd_key_client_problem *problem);

/*
 * A process of the step starts: which offset to use, in the phase that the step has. Waits for the
 * key as a request does. Begins phase 0 if no phase of the step has ever begun, and else changes no
 * phase. out->phase says which phase it is; if it has ended, its key may still be in force. For the
 * job's owner.
 */
int hd_key_client_join(struct hd_key_client *client, const char *job, const char *step,
		       struct hd_key_client_grant *out, struct hd_key_client_problem *problem);

/*
 * The flows of the client's rank that do not use the offset of the last grant, *count of them. Only a client that has a
 * rank gets them. They are the client's, until its next request or join.
 */
const struct hd_key_client_path *hd_key_client_granted_paths(const struct hd_key_client *client,
							     size_t *count);

/*
 * A phase has ended: its flows count no more. For the job's owner. If this client was granted the phase, of the last
 * 16 grants of the step, it says in which turn. If the phase has begun again since then, keyd refuses the call, -EEXIST.
 */
int hd_key_client_done(struct hd_key_client *client, const char *job, const char *step,
		       uint32_t phase, struct hd_key_client_problem *problem);

/* ---- hosts for a job ---- */

/* What a job on certain hosts is worth. The first member that differs counts; less is better. */
struct hd_key_client_worth {
	uint32_t lost; /* flows that do not arrive */
	uint32_t keys; /* phases of which a flow shares a link, also with flows of other jobs */
	uint32_t contention; /* most flows on a link of the job, with those of others */
	uint64_t shared_links; /* on which a flow of the job is not alone, over all phases */
	uint32_t leaves, pods; /* switches, and subtrees one level above, with hosts of the job */
};

struct hd_key_client_proposal {
	uint32_t free; /* hosts that were listed, without those that are unknown */
	uint32_t hosts, ranks, phases; /* of the job */
	uint32_t busy_links; /* that flows of keys cross, in one direction */
	bool stopped; /* keyd has ended the search for lack of time */
	struct hd_key_client_worth listed; /* of the first hosts, in their order */
	struct hd_key_client_worth proposed;
	char **host_of; /* [ranks] the host of each rank, as it was listed */
	size_t unknown_count;
	char **unknown; /* [unknown_count] hosts that the fabric does not have */
};

/*
 * Proposes hosts for a job, and the host of each rank; nothing changes. `what` has hosts, ranks, and pattern or
 * flows; its other members are not looked at. choose: so many of its hosts, which are those that are free; 0: all of
 * them, in another order. Flows of keys in force count. *out is freed with hd_key_client_proposal_free().
 */
int hd_key_client_propose(struct hd_key_client *client, const struct hd_key_client_placement *what,
			  uint32_t choose, struct hd_key_client_proposal **out,
			  struct hd_key_client_problem *problem);

/* NULL is allowed. */
void hd_key_client_proposal_free(struct hd_key_client_proposal *proposal);

/* ---- what keyd has ---- */

struct hd_key_client_listed {
	char job[HD_KEY_CLIENT_ID];
	char state[32], mode[16];
	int64_t uid;
	uint32_t hosts;
	uint32_t active_count; /* phases that have begun and not ended */
	uint32_t phase; /* the first of them */
};

struct hd_key_client_jobs {
	size_t count;
	struct hd_key_client_listed *jobs;
};

/* All jobs. *out is freed with hd_key_client_jobs_free(). */
int hd_key_client_jobs(struct hd_key_client *client, struct hd_key_client_jobs **out,
		       struct hd_key_client_problem *problem);
void hd_key_client_jobs_free(struct hd_key_client_jobs *jobs);

struct hd_key_client_without {
	char job[HD_KEY_CLIENT_ID];
	uint32_t flows; /* of active phases, that use the routes without keys */
	char reason[HD_KEY_CLIENT_TEXT]; /* of the first of them */
};

struct hd_key_client_withouts {
	size_t count;
	struct hd_key_client_without *jobs;
};

/* The jobs of whose active phases some flows have no key. *out is freed with
 * hd_key_client_without_keys_free(). */
int hd_key_client_without_keys(struct hd_key_client *client, struct hd_key_client_withouts **out,
			       struct hd_key_client_problem *problem);
void hd_key_client_without_keys_free(struct hd_key_client_withouts *jobs);

struct hd_key_client_link {
	uint64_t from, to; /* GUIDs of switches */
	char from_name[65], to_name[65]; /* node descriptions */
	uint32_t port; /* of `from` */
	uint32_t flows; /* of active keys */
};

struct hd_key_client_links {
	size_t count;
	struct hd_key_client_link *links;
	uint32_t most; /* flows on the most loaded link */
};

/* Links between switches that flows of keys cross; all: also those without flows. *out is freed with
 * hd_key_client_links_free(). */
int hd_key_client_links(struct hd_key_client *client, bool all, struct hd_key_client_links **out,
			struct hd_key_client_problem *problem);
void hd_key_client_links_free(struct hd_key_client_links *links);

struct hd_key_client_fabric {
	char state[32]; /* "ready", "waiting", "none", "unsupported" */
	char reason[HD_KEY_CLIENT_TEXT];
	char engine[32];
	uint64_t epoch;
	uint32_t switches, hosts, lmc;
};

/* The fabric for which keyd makes keys. */
int hd_key_client_fabric(struct hd_key_client *client, struct hd_key_client_fabric *out,
			 struct hd_key_client_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
