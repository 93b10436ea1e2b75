/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jobs, their steps, and the slots of a step: a slot is a key of the key channel. In mode rewrite a
 * step has one slot, which holds the phase that was requested last; in mode offset each phase has a
 * slot and an offset of its own; in mode alternate there are two, of which one holds that phase and the
 * other the one before it.
 */
#ifndef KEYD_JOB_H
#define KEYD_JOB_H

#include "keyd_keys.h"
#include "keyd_request.h"
#include "keyd_text.h"

#include <heddle/base/index.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/* The users who own jobs, and the memory that their jobs take. */

struct keyd_step;

struct keyd_user {
	LIST_ENTRY(keyd_user) link;
	uint32_t uid;
	atomic_size_t bytes; /* of jobs, steps and keys; workers add the keys that they make */
	size_t key_bytes; /* of the keys of steps */
	size_t freed; /* bytes of keys since memory was last given back to the system */
	TAILQ_HEAD(, keyd_step) recent; /* steps with keys; the one that was used last is last */
};

/* Zero-initialise before use. */
LIST_HEAD(keyd_users, keyd_user);

/* The user of this uid, who stays in the list. NULL: no memory. O(users). */
struct keyd_user *keyd_user_of(struct keyd_users *users, uint32_t uid);

void keyd_user_free_all(struct keyd_users *users);

struct keyd_op;

struct keyd_slot {
	struct keyd_step *step;
	uint32_t number; /* in the step */
	uint64_t key; /* number on the key channel */
	uint32_t phase; /* HD_NONE: none yet */
	uint32_t offset;
	bool active; /* the phase was requested and is not done */
	uint32_t turn; /* of the step, when the phase began */
	bool wanted; /* the phase should be in the switches */
	bool in_force; /* it is */
	bool sent; /* the manager may have entries of this key */
	bool counted; /* its flows are in the loads */
	struct hd_key_shift *shift; /* of the phase's key */
	bool borrows_shift; /* it is that of the keys' note */
	uint64_t shift_fabric; /* fingerprint of the fabric for which it was chosen */
	char *recipe; /* of the database, until the key is in force; NULL: none */
	uint64_t written; /* check of the recipe that was written last */
	bool storing; /* it is being written */
	bool trying; /* attempts at a sound key are made: the manager has one of them at most */
	bool unmade; /* the last refusal was keyd's own: the entries could not be made */
	bool hopeless; /* all attempts for this view were refused */
	uint64_t tried; /* number of the operation that made attempts last */
	uint64_t request; /* the SET whose result is awaited; 0: none. Results of others are old */
	uint64_t sent_at; /* microseconds */
	/* Of the key that was sent last; keys may be NULL then. */
	uint32_t contention, flows, left_out;
	enum hd_channel_status status; /* of the last result; BUSY: no manager or no answer */
	uint32_t blocks, changed; /* of the last result */
	char reason[HD_CHANNEL_TEXT]; /* why the key is not in force */
};

/* The LID offsets of flows, for one layout of ranks. */
struct keyd_spread {
	bool known; /* they were chosen: they do not change any more */
	struct keyd_paths *paths; /* NULL: one offset for each phase */
};

struct keyd_step {
	LIST_ENTRY(keyd_step) link;
	struct keyd_job *job;
	char name[KEYD_ID_LONGEST + 1];
	struct keyd_layout_request layout; /* rank_count 0: none was sent */
	uint32_t rank_count;
	uint32_t *rank_host; /* [rank_count] index into the job's hosts */
	uint32_t phase_count;
	struct keyd_spread own_spread; /* of its layout. See keyd_step_spread() */
	struct keyd_keys *keys; /* NULL: to be made. See keyd_step_take_keys() */
	TAILQ_ENTRY(keyd_step) recent; /* of the user, if there are keys */
	size_t bytes; /* that it takes without keys */
	struct keyd_text *answer; /* to the layout; NULL: none */
	uint32_t slot_count;
	struct keyd_slot *slots;
	uint32_t newest; /* the phase that began last; HD_NONE: none ever */
	uint32_t turn; /* grows when a phase begins, and when another step ends its phases */
};

enum keyd_job_state { KEYD_PLACING, KEYD_PLACED, KEYD_RELEASING };

struct keyd_job {
	TAILQ_ENTRY(keyd_job) link;
	char id[KEYD_ID_LONGEST + 1];
	enum keyd_job_state state;
	uint32_t uid;
	struct keyd_user *user; /* of this uid */
	size_t bytes; /* that it takes with its steps, without keys */
	struct keyd_place_request placement;
	uint32_t *hosts; /* [placement.host_count] hosts of the present view; HD_NONE: not there */
	char missing[HD_ERROR_TEXT]; /* which host is not there; "": all are */
	uint32_t offset, offsets; /* that its keys use; 0: none yet */
	struct keyd_spread spread; /* of the placement's layout */
	struct keyd_text *answer; /* to the placement */
	struct keyd_text *names; /* see keyd_answer_names() */
	LIST_HEAD(, keyd_step) steps;
	TAILQ_HEAD(, keyd_op) ops; /* the first one is under way */
};

/* All jobs. Zero-initialise, and TAILQ_INIT the list, before use. */
struct keyd_jobs {
	TAILQ_HEAD(, keyd_job) list; /* in the order of their placement */
	uint32_t count;
	void *by_id, *by_key; /* search trees of jobs and of slots */
	struct keyd_users users; /* who have or had jobs */
};

/* Makes a job and takes the placement over. Errors: -ENOMEM; the placement stays the caller's. */
int keyd_job_new(struct keyd_jobs *jobs, const char *id, uint32_t uid,
		 struct keyd_place_request *placement, struct keyd_job **out);

/* The answer to the placement, and keyd_answer_names(), which it takes over; NULL: none. */
void keyd_job_set_answer(struct keyd_job *job, struct keyd_text *answer, struct keyd_text *names);

/* Removes and frees a job with its steps. It has no operations any more. */
void keyd_job_free(struct keyd_jobs *jobs, struct keyd_job *job);

struct keyd_job *keyd_job_find(const struct keyd_jobs *jobs, const char *id);
struct keyd_slot *keyd_job_slot_of_key(const struct keyd_jobs *jobs, uint64_t key);

/* Finds the job's hosts in a view. Errors: -ENOENT, -EEXIST as keyd_view_host(); the hosts that are
 * there are found all the same. */
int keyd_job_resolve(struct keyd_job *job, const struct keyd_view *view,
		     const struct keyd_hosts *names, struct hd_error *err);

/* Two entries of the placement that are one host, or false. */
bool keyd_job_duplicate(const struct keyd_job *job, uint32_t *first, uint32_t *second);

/*
 * Makes a step without slots: with the placement's layout, or with one that it takes over, of which
 * it keeps the text. Errors:
 * -ENOMEM, -ENOENT a rank is on a host that is not the job's; then the layout stays the caller's.
 */
int keyd_step_new(struct keyd_job *job, const char *name, struct keyd_layout_request *layout,
		  struct keyd_step **out, struct hd_error *err);

/* Gives a step the slots for so many phases, with the keys from first_key on. The offsets of the
 * job and of its flows are known. Errors: -ENOMEM. */
int keyd_step_add_slots(struct keyd_jobs *jobs, struct keyd_step *step, uint32_t phase_count,
			uint64_t first_key);

/* The answer to the layout, which it takes over. */
void keyd_step_set_answer(struct keyd_step *step, struct keyd_text *answer);

/* Takes keys over, in place of those that it has. They are the ones that were used last. */
void keyd_step_take_keys(struct keyd_step *step, struct keyd_keys *keys);

/* Notes that the keys were used now. */
void keyd_step_use_keys(struct keyd_step *step);

/* Frees the keys, if there are any. None of them counts in the loads. */
void keyd_step_drop_keys(struct keyd_step *step);

void keyd_step_free(struct keyd_jobs *jobs, struct keyd_step *step);

struct keyd_step *keyd_step_find(const struct keyd_job *job, const char *name);

/* Frees the slot's shift, unless it is that of the keys. */
void keyd_slot_forget_shift(struct keyd_slot *slot);

/* The slot that a phase uses. */
struct keyd_slot *keyd_step_slot(struct keyd_step *step, uint32_t phase);

/* The offsets of the step's flows: those of its own layout, or of the placement's. */
struct keyd_spread *keyd_step_spread(struct keyd_step *step);

/* Notes the offsets that were chosen, and takes them over. paths may be NULL. */
void keyd_step_take_paths(struct keyd_step *step, struct keyd_paths *paths);

/* The same for the layout of a step, or for the placement: step NULL. */
void keyd_job_take_paths(struct keyd_job *job, struct keyd_step *step, struct keyd_paths *paths);

/* Frees the offsets of the step's flows: others are to be chosen. */
void keyd_step_forget_paths(struct keyd_step *step);

/* The first LID offset of a phase of the step, and how many offsets all phases take. Its offsets are known, or there is
 * one for each phase. */
uint32_t keyd_step_first_offset(struct keyd_step *step, uint32_t phase);
uint32_t keyd_step_offsets(struct keyd_step *step, uint32_t phase_count);

/* Slots of a step of this job. */
uint32_t keyd_job_slot_count(const struct keyd_job *job, uint32_t phase_count);

/* Whether a phase is active. */
bool keyd_step_is_active(const struct keyd_step *step);

/* The phase that who joins the step now finds: the newest one, or another one if only that is active.
 * HD_NONE: none has begun. O(slots). */
uint32_t keyd_step_present(struct keyd_step *step);

/* Whether ranks of both steps are on one host. */
bool keyd_step_overlaps(const struct keyd_step *one, const struct keyd_step *other);

/* A change of the phases of a step that is not made yet. */
enum keyd_step_change {
	KEYD_STEP_STAYS, /* none */
	KEYD_STEP_BEGINS, /* a phase begins */
	KEYD_STEP_ENDS, /* a phase ends */
	KEYD_STEP_CEASES /* another step ends all of its phases */
};

/*
 * The phases of a step after a change, as the database has them: "0:5 3:7 @7", the active phases with
 * the turns in which they began, and the step's turn. "3:7+1": it is in slot 1, in mode alternate.
 * "-3 @8": none is active, and phase 3 began last. "": none has begun. In a buffer that the caller
 * frees. NULL: no memory. phase: that begins or ends, else 0.
 */
char *keyd_step_active(struct keyd_step *step, enum keyd_step_change change, uint32_t phase);

/* What that text says. A text without turns, of an older heddle-keyd, is of turn 1. */
void keyd_step_take_active(struct keyd_step *step, const char *text);

const char *keyd_job_state_name(enum keyd_job_state state);

#endif
