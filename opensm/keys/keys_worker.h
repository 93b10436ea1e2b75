/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the thread of the keys part knows of the fabric, and how it puts a key in force. */
#ifndef OPENSM_KEYS_WORKER_H
#define OPENSM_KEYS_WORKER_H

#include "adaptive_state.h"
#include "keys_shared.h"

#include <heddle/keyd/channel.h>

struct keys_worker {
	struct keys_shared *shared;
	struct keys_news news; /* the last; its routing is that of the sweep */
	struct routing *routing; /* published now; held; NULL: none that takes keys */
	struct hd_keys_proof *proof; /* NULL: to be made */
	struct routing *proved; /* whose fabric and tables the proof has; held */
	struct hd_ar_plan *proved_plan; /* whose groups it has; held; NULL: it has none */
	struct adaptive_view adaptive; /* in force, as the next SET takes it */
	bool unprovable; /* no proof can be made for what is in force, and the log says so */
	/* The same tables as in `routing`, for the next SET to write into: a copy of all tables takes
	 * longer than most SETs. NULL: none. */
	struct hd_routes *spare;
	/* A bit for each block of the tables; set while a batch is collected that changes it. NULL: not made yet. */
	uint64_t *met;
	struct keys_set *set; /* in force; held */
	uint64_t epoch; /* 0: no fabric yet */
	char *netlist; /* of the epoch */
	size_t netlist_length;
	uint64_t *aside;
	uint32_t aside_count;
	/* [HD_LID_LAST + 1] the key that has a LID, 0: none; of the set below */
	uint64_t *owner;
	struct keys_set *owned; /* held; NULL: `owner` is not made */
	/* For the writer's thread. */
	struct hd_smp_queue *queue; /* destination s is switch s of `routing`; NULL: to be made */
	uint64_t port_number; /* of the writer's port at which the queue is */
	uint32_t apart; /* SETs that have failed together, and now come one by one */
	uint64_t
	    canceled_turn; /* of a SET that was canceled: the next one has another turn; 0: none */
};

/* What the news changed. */
struct keys_changes {
	bool fabric; /* another epoch */
	struct keys_broken_list broken; /* to be released */
};

/* Errors: -ENOMEM. Zero-initialises. */
int keys_worker_init(struct keys_worker *worker, struct keys_shared *shared, struct hd_error *err);
void keys_worker_release(struct keys_worker *worker);

/* Takes the news of the sweeper thread, if there are any; else returns false. */
bool keys_worker_take_news(struct keys_worker *worker, struct keys_changes *changes);

#define KEYS_WORKER_SETS 64u /* the most that go together */

/*
 * Puts the first keys of sets[count] in force, or refuses them; fills their results. Returns how many, at most
 * KEYS_WORKER_SETS and those answered at once; 0: they have to be asked again, since a sweep is under way or has to come
 * first, or a repair has changed tables since the proof. SETs that cannot go together come one after the other, in their
 * order.
 */
uint32_t keys_worker_set(struct keys_worker *worker, const struct hd_channel_message *sets,
			 uint32_t count, struct hd_channel_result *results);

/* The number of the turn if the sweeper thread does not have it, and adaptive routing is not being programmed; else 0.
 * Looks again at the keys and at the adaptive routing in force. */
uint64_t keys_worker_begin(struct keys_worker *worker);

/* Why a SET has to wait. */
const char *keys_worker_waits_for(const struct keys_worker *worker);

/* The next SET makes the proof again. */
void keys_worker_forget_proof(struct keys_worker *worker);

/* Makes the proof of the present tables again, without the dependencies of one key (0: of all).
 * Errors: -ELOOP the tables without keys have a credit loop, -ENOMEM. */
int keys_worker_make_proof(struct keys_worker *worker, uint64_t but, struct hd_error *err);

/* Only the master may send. */
bool keys_worker_is_master(const struct keys_worker *worker);

#endif
