/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the thread of the keys part shares with the sweeper thread and the writer. Its own thread talks to
 * heddle-keyd and proves keys. The writer's thread programs them, while it has the turn. What a key was proved for
 * has the number of the turn: if the sweeper thread or a repair has changed tables meanwhile, it is another one.
 */
#ifndef OPENSM_KEYS_SHARED_H
#define OPENSM_KEYS_SHARED_H

#include "keys_apply.h"
#include "writer.h"

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

/* What the thread of the part lets the writer do. */
struct keys_job {
	void (*run)(void *context);
	void *context;
	bool done;
};

struct keys_shared {
	struct part_context *context;
	struct writer_client client;
	struct keys_job *job; /* with the writer's lock; NULL: nothing is to be done */
	int wake; /* eventfd, for the thread */
	/* Of all below; taken after all others. `last` changes only while the writer does not have the turn. */
	pthread_mutex_t lock;
	bool ending;
	struct keys_set *set; /* in force */
	/* Since the last sweep it is not known what switches hold: of a SET, so that no repair may begin, or of a
	 * repair, so that no SET may. */
	bool unsure_of_set, unsure_of_repair;
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

/* Whether any key is in force. */
bool keys_shared_has_keys(struct keys_shared *shared);

/* Writes to the log which keys are out of force. */
void keys_shared_say_broken(const struct keys_shared *shared,
			    const struct keys_broken_list *broken);

/* Replaces the set, and adds keys to the news; takes over `set`. Returns the former set, to be released.
 * The writer's thread calls it, too, with OpenSM's lock held exclusively. */
struct keys_set *keys_shared_replace_set(struct keys_shared *shared, struct keys_set *set,
					 const struct keys_broken_list *broken);

/* Tells the thread what a sweep has brought. Takes over what `news` points to; `broken` of it is empty. */
void keys_shared_give(struct keys_shared *shared, struct keys_news *news);

void keys_shared_wake(const struct keys_shared *shared);

/* For the report: whether heddle-keyd is to connect, and whether it can. */
void keys_shared_note_listening(struct keys_shared *shared, bool wanted, bool listening);

/* ---- the writer's thread ---- */

/*
 * Notes in *flag, one of the two of the mailbox, that it is not known what switches hold, unless the sweeper thread has
 * taken the turn meanwhile: then the sweep puts it right.
 */
void keys_shared_note_unsure(struct keys_shared *shared, uint64_t turn, bool *flag);

/*
 * A repair has published `routing`: it is news for the thread. *old becomes the news that it replaces, to be
 * released without locks. With OpenSM's lock, exclusively, and turn_lock held.
 */
void keys_shared_note_repaired(struct keys_shared *shared, struct routing *routing,
			       struct hd_keys_proof *proof, struct keys_news *old);

/* ---- the thread ---- */

/* For the report: heddle-keyd is connected. */
void keys_shared_note_connected(struct keys_shared *shared, bool connected);

/* For the report: a SET has put a key in force, or removed it. It is not broken any more, unless it broke since then. */
void keys_shared_note_done(struct keys_shared *shared, uint64_t key, bool removed);

/* Moves the news out, if there are any; they are released with keys_news_release(). */
void keys_shared_take_news(struct keys_shared *shared, struct keys_news *out);
void keys_news_release(struct keys_news *news);

/* The keys in force; to be released. */
struct keys_set *keys_shared_set(struct keys_shared *shared);

/* The number of the turn, if keys may be programmed; else 0. */
uint64_t keys_shared_turn(struct keys_shared *shared);

/* Lets the writer's thread call run(context), and waits until it has. Returns false if the part ends before it has begun. */
bool keys_shared_do(struct keys_shared *shared, void (*run)(void *context), void *context);

/* Whether the thread of the part is to go on. */
bool keys_shared_go_on(void *shared);

#endif
