/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The mailbox of repairs: what the writer's thread shares with OpenSM's threads. The writer's lock guards it.
 */
#ifndef OPENSM_REPAIR_SHARED_H
#define OPENSM_REPAIR_SHARED_H

#include "repair_start.h"
#include "writer.h"

#define REPAIR_ISSUERS_MOST 512u

/* Switches that have sent trap 128. */
struct repair_issuers {
	uint16_t lids[REPAIR_ISSUERS_MOST];
	uint32_t count;
	bool more; /* than fit */
	double first_ms, last_ms; /* monotonic_ms() of the first and the last trap */
};

struct repair_figures {
	uint64_t traps, repairs, entries, blocks, stopped; /* since the start */
	uint64_t groups, mft_blocks; /* of multicast, since the start */
	double last_ms; /* from the first trap to the last block, of the last repair */
	uint64_t polls, watch_smps, watch_found; /* of the watcher, since the start */
	uint32_t watch_silent; /* switches, in its last round */
	double round_ms; /* that its last round took */
	double watch_cpu_ms; /* since the start */
};

/* What a job of the watcher has done. */
struct repair_watched {
	uint32_t smps;
	bool over; /* its round; what follows is of that */
	uint32_t silent; /* switches */
	double round_ms; /* that it took */
	double cpu_ms; /* of the job */
	double next_ms; /* when the next job is due, by monotonic_ms() */
};

struct repair_shared {
	struct part_context *context;
	struct writer *writer;
	/* ---- with the writer's lock ---- */
	struct repair_issuers issuers;
	struct repair_start *news; /* NULL: none */
	bool prepared; /* the last sweep has left what a repair needs */
	bool enabled; /* since the last sweep */
	unsigned settle_ms; /* the same */
	bool working; /* on a repair */
	uint64_t finished; /* repairs, done or not */
	uint32_t in_vain; /* of these the last ones, that repaired nothing */
	double ended_ms; /* when the last of them ended */
	double
	    watch_at_ms; /* when a job of the watcher is due; negative: it has nothing to watch */
	double tell_ms; /* when a line of the log is due; negative: none is */
	bool ending; /* OpenSM ends */
	struct repair_figures figures;
};

void repair_shared_init(struct repair_shared *shared, struct part_context *context);
void repair_shared_release(struct repair_shared *shared);

/* ---- OpenSM's threads ---- */

/* A switch has sent trap 128. */
void repair_shared_note_trap(struct repair_shared *shared, uint16_t lid);

/*
 * Waits until no repair is under way or due, or OpenSM ends, at most so long, and for two repairs at most: in a
 * storm of traps one is always due. For a repair that cannot begin, since the thread does something else, it
 * waits BLOCKED_MS at most, and says in *blocked what that is; NULL: none waits. Without OpenSM's lock.
 */
void repair_shared_wait(struct repair_shared *shared, unsigned milliseconds, const char **blocked);

/* The sweep is over, and leaves this for repairs; NULL: memory was short. Takes over `start`. */
void repair_shared_give(struct repair_shared *shared, struct repair_start *start);

struct repair_figures repair_shared_figures(struct repair_shared *shared);

/* Ends what the thread does, at once if it is sending. */
void repair_shared_end(struct repair_shared *shared);

/* ---- the thread ---- */

enum repair_task { REPAIR_TELL, REPAIR_NEWS, REPAIR_LOSSES };

/*
 * Whether there is a task. Losses are due when no trap has come for settle_ms, or when they have waited for 10
 * times as long. If traps keep coming and nothing is repaired, they wait longer each time, up to 64 ms. As
 * writer_client.is_due.
 */
bool repair_shared_is_due(struct repair_shared *shared, bool turn, double *until);

/* Takes the task. NEWS: *start is the caller's. LOSSES: `working` is set, and *issuers is filled. TELL: only the log
 * has something to say. */
enum repair_task repair_shared_take(struct repair_shared *shared, uint64_t turn,
				    struct repair_start **start, struct repair_issuers *issuers);

/* When a line of the log is due; negative: none is. */
void repair_shared_tell_at(struct repair_shared *shared, double tell_ms);

/* How the repair ended. */
void repair_shared_note_result(struct repair_shared *shared, int rc);

/* The repair has ended. */
void repair_shared_finish(struct repair_shared *shared);

/* Whether traps have come that no repair has looked at. */
bool repair_shared_has_traps(struct repair_shared *shared);

/* ---- the thread, for the watcher ---- */

/* When the next job is due; negative: there is nothing to watch. */
void repair_shared_watch_at(struct repair_shared *shared, double when_ms);

/* Whether one is, as writer_client.is_due. The thread has the turn. */
bool repair_shared_is_watch_due(struct repair_shared *shared, double *until);

/* Whether a job may go on: no trap has come, and no sweep has begun. */
bool repair_shared_may_watch(struct repair_shared *shared);

/* Switches with these LIDs have lost something, and no trap has told of it: a repair is due. False: a trap has come
 * meanwhile, or a sweep has begun, and nothing is noted. */
bool repair_shared_note_found(struct repair_shared *shared, const uint16_t *lids, uint32_t count);

void repair_shared_note_watched(struct repair_shared *shared, const struct repair_watched *watched);

/* ---- the thread ---- */

/* Whether what a sweep has left is still to be prepared for: the thread has the turn, and no later sweep has left
 * anything. */
bool repair_shared_wants_news(struct repair_shared *shared);

#endif
