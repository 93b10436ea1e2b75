/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What adaptive routing is in force, for parts that change forwarding tables between sweeps. A switch with adaptive
 * routing sends by tables of its own. A part that changes the path of a LID has to know the groups, and has to change both
 * tables: key_change.h. The part ar notes it, and the others look.
 */
#ifndef OPENSM_ADAPTIVE_STATE_H
#define OPENSM_ADAPTIVE_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_ar_plan;

enum adaptive_state {
	ADAPTIVE_OFF, /* no switch has it on */
	ADAPTIVE_CHANGING, /* it is being programmed, or will be next */
	ADAPTIVE_ON,
	/* it is not known what the switches hold: nobody has read it, or some switch may have it on */
	ADAPTIVE_UNKNOWN,
	ADAPTIVE_FOREIGN /* another manager has it, as heddle.conf says: nobody looks */
};

struct adaptive_view {
	enum adaptive_state state;
	uint64_t
	    number; /* another one each time that something else is in force; CHANGING: the one before */
	struct hd_ar_plan
	    *plan; /* held; ON: in force, without what routing keys change; else NULL */
};

/* Who hears when something else is in force. */
enum adaptive_watcher { ADAPTIVE_KEYS, ADAPTIVE_CERTIFICATE, ADAPTIVE_WATCHERS };

struct adaptive {
	pthread_mutex_t lock; /* taken after all others */
	struct adaptive_view now;
	bool foreign; /* whatever `now` says */
	int wake[ADAPTIVE_WATCHERS]; /* eventfds of those who wait for a change; -1: nobody does */
};

/* Nothing is known at first. */
void adaptive_state_init(struct adaptive *adaptive);
void adaptive_state_release(struct adaptive *adaptive);

/* All of these take NULL for one that is off. */

/*
 * Notes it. `plan` is held from then on; NULL: none. The number stays if the same is in force as before. The writer's
 * thread calls it; for CHANGING any thread.
 */
void adaptive_note(struct adaptive *adaptive, enum adaptive_state state, struct hd_ar_plan *plan);

/* Notes whether another manager has it. If it has no more, nothing is known. For any thread. */
void adaptive_note_foreign(struct adaptive *adaptive, bool foreign);

/* The eventfd is written when something else is in force, from now on; -1: no more. For any thread. */
void adaptive_watch(struct adaptive *adaptive, enum adaptive_watcher watcher, int wake);

/* What is in force; to be released. For any thread. */
void adaptive_look(struct adaptive *adaptive, struct adaptive_view *out);
void adaptive_view_release(struct adaptive_view *view);

/* Only its state. For any thread. */
enum adaptive_state adaptive_state_now(struct adaptive *adaptive);

/* Whether that is in force still. For any thread. */
bool adaptive_is(struct adaptive *adaptive, const struct adaptive_view *view);

#endif
