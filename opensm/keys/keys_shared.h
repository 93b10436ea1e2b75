/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the sweeper thread and the thread of the keys part share. The thread that may change
 * forwarding tables has the turn. The sweeper thread takes it when a sweep begins and gives it back when all parts are
 * done with the sweep; the thread of the part programs keys in between. A turn that was taken is
 * never given back unchanged, so the thread sees that it was interrupted.
 */
#ifndef OPENSM_KEYS_SHARED_H
#define OPENSM_KEYS_SHARED_H

#include "keys_apply.h"
#include "keys_program.h"

#include <heddle/mad/queue.h>
#include <pthread.h>

struct part_context;
struct routing;

#define KEYS_ENGINE_SIZE 32

/* What a sweep has brought. */
struct keys_news {
	bool any; /* there is something new */
	struct routing *routing; /* held; NULL: no routing that takes keys */
	struct keys_broken_list broken;
	struct hd_keys_proof *proof; /* of `routing`; NULL: none was made */
	bool same; /* fabric and tables are those of the news before */
	char engine[KEYS_ENGINE_SIZE]; /* in force */
	char refusal[HD_CHANNEL_TEXT]; /* why it takes no keys; "": it does */
	struct hd_smp_limits limits;
	uint64_t port_guid; /* host byte order */
	unsigned threads; /* to compute with */
};

struct keys_shared {
	struct part_context *context;
	int wake; /* eventfd, for the thread */
	pthread_mutex_t lock; /* of all below; taken after OpenSM's, never before */
	uint64_t turn; /* another number each time that the sweeper thread takes the turn */
	bool ready; /* the turn is the thread's */
	bool ending;
	struct keys_set *set; /* in force */
	/* What the thread is sending; NULL: nothing. It changes with OpenSM's lock held, too. */
	struct keys_blocks *flight;
	const struct hd_fabric *flight_fabric;
	/* Since the last sweep a SET has ended, and it is not known what switches hold. */
	bool unsure;
	struct keys_news news;
	struct keys_news last; /* the last that a sweep gave, without what it points to */
	bool repaired; /* a repair has given other tables than the sweep before */
	/* ---- for the report of the plugin's state ---- */
	bool wanted, listening,
	    connected; /* heddle-keyd is to connect, can connect, is connected */
	char refusal[HD_CHANNEL_TEXT]; /* why no key can be in force; "": some can */
	/* Keys that are out of force, and that keyd has not replaced or removed since; at most
	 * KEYS_BROKEN_MOST. */
	struct keys_broken_list lost;
};

#define KEYS_BROKEN_MOST 4096u

/* Errors: of the system, with a reason; -ENOMEM. */
int keys_shared_init(struct keys_shared *shared, struct part_context *context,
		     struct hd_error *err);
void keys_shared_release(struct keys_shared *shared);

/* ---- the sweeper thread ---- */

/* Takes the turn. Never waits for the thread, except for one call of hd_smp_queue_work(). */
void keys_shared_take_turn(struct keys_shared *shared);

/* It is not known what the switches hold of these blocks, or of those of which `held` says so: the next
 * sweep sends them. With OpenSM's lock held exclusively. For any thread. */
void keys_shared_forget(const struct keys_shared *shared, const struct hd_fabric *fabric,
			const struct keys_blocks *blocks, bool only_unknown);

/* Makes OpenSM send again what the thread was sending. With OpenSM's lock held exclusively. */
void keys_shared_forget_flight(struct keys_shared *shared);

/* Whether any key is in force. */
bool keys_shared_has_keys(struct keys_shared *shared);

/* Writes to the log which keys are out of force. */
void keys_shared_say_broken(const struct keys_shared *shared,
			    const struct keys_broken_list *broken);

/* Replaces the set, and adds keys to the news; takes over `set`. Returns the former set, to be released.
 * The thread that repairs calls it, too, with OpenSM's lock held exclusively. */
struct keys_set *keys_shared_replace_set(struct keys_shared *shared, struct keys_set *set,
					 const struct keys_broken_list *broken);

/* Gives the turn to the thread, with the news of the sweep, whose pointers it takes over; `broken` of
 * it is empty. */
void keys_shared_give_turn(struct keys_shared *shared, struct keys_news *news);

void keys_shared_wake(const struct keys_shared *shared);

/* For the report: whether heddle-keyd is to connect, and whether it can. */
void keys_shared_note_listening(struct keys_shared *shared, bool wanted, bool listening);

/* ---- the thread that repairs ---- */

/*
 * Takes the turn for a repair, so that no SET is under way or begins. *turn is to be given to
 * keys_shared_return_turn(); 0: the sweeper thread has it. Errors: -EAGAIN a SET is under way, or it
 * is not known what switches hold of one, with the reason. Waits some milliseconds for a SET.
 */
int keys_shared_borrow_turn(struct keys_shared *shared, uint64_t *turn, struct hd_error *err);

/*
 * Gives the turn back, unless the sweeper thread has taken it meanwhile: it then gives it back
 * itself. Takes over `routing`, which the repair has published, and `proof` of it; NULL: the tables
 * are as they were.
 */
void keys_shared_return_turn(struct keys_shared *shared, uint64_t turn, struct routing *routing,
			     struct hd_keys_proof *proof);

/* ---- the thread ---- */

/* For the report: heddle-keyd is connected; a SET has been done. */
void keys_shared_note_connected(struct keys_shared *shared, bool connected);
void keys_shared_note_done(struct keys_shared *shared, uint64_t key);

/* Moves the news out, if there are any; they are released with keys_news_release(). */
void keys_shared_take_news(struct keys_shared *shared, struct keys_news *out);
void keys_news_release(struct keys_news *news);

/* The keys in force; to be released. */
struct keys_set *keys_shared_set(struct keys_shared *shared);

/* The number of the turn, if it is the thread's; else 0. */
uint64_t keys_shared_turn(struct keys_shared *shared);

/* A keys_program_work for the turn: keys_shared_work(&(struct keys_turn){shared, number}, queue) */
struct keys_turn {
	struct keys_shared *shared;
	uint64_t number;
};
int keys_shared_work(void *turn, struct hd_smp_queue *queue);

#endif
