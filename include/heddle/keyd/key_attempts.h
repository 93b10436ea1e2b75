/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys that are refused, and what to try then. A key of a damaged tree can close a credit loop with routes of
 * aggregation nodes that turn below the top. Another shift, or another key of the same flows, does not in some cases.
 * Where all of them do, a part of the flows gets a key, which is nearly all of them, and the others follow the tables
 * without keys.
 *
 * The proof may be made by another program, such as the subnet manager. So the caller asks and answers step by step:
 *
 *   hd_key_attempts_new(&request, &attempts, &err);
 *   while (!hd_key_attempts_next(attempts, &attempt, &err))
 *           hd_key_attempts_answer(attempts, whether the overlay of attempt.key and attempt.shift is sound);
 *   hd_key_attempts_take(attempts, &key, &shift);
 */
#ifndef HEDDLE_KEYD_KEY_ATTEMPTS_H
#define HEDDLE_KEYD_KEY_ATTEMPTS_H

#include <heddle/keyd/key.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_key_attempts_request {
	/* The key. Its tree and its flows must outlive the attempts. */
	struct hd_key_request key;
	bool fewest_offsets; /* as hd_key_make_fewest() */
	/* Loads of other keys, by which the first attempt is shifted; NULL: it is not. Copied. */
	const struct hd_key_loads *loads;
	enum hd_key_objective objective;
	unsigned whole; /* attempts with all flows; 0: 1 */
	unsigned parts; /* attempts with a part of the flows, after those; 0: none */
};

struct hd_key_attempts;

struct hd_key_attempt {
	const struct hd_key *key; /* valid until the answer */
	const struct hd_key_shift *shift; /* NULL: none */
	unsigned number; /* from 0 */
	bool whole; /* no flow is left out that has a path */
};

/*
 * Makes the first key. *out is freed with hd_key_attempts_free(). Errors: those of hd_key_make() and
 * hd_key_shift_choose(). The same request and the same answers give the same attempts. Cost: that of the key.
 */
int hd_key_attempts_new(const struct hd_key_attempts_request *request, struct hd_key_attempts **out,
			struct hd_error *err);

/*
 * The next attempt; the one before must have been answered. -ENOENT: the attempts are at an end, because one of
 * all flows was sound, or no more are to be made. -ENOMEM. Cost: at most that of a key and a shift.
 */
int hd_key_attempts_next(struct hd_key_attempts *attempts, struct hd_key_attempt *out,
			 struct hd_error *err);

/* Whether the attempt is sound. */
void hd_key_attempts_answer(struct hd_key_attempts *attempts, bool sound);

/*
 * The largest key that was sound; the flows that it leaves out have left_out set. The caller frees both; *shift may be
 * NULL. -ENOENT: none was, and nothing is written. Only once.
 */
int hd_key_attempts_take(struct hd_key_attempts *attempts, struct hd_key **key,
			 struct hd_key_shift **shift);

/* NULL is allowed. */
void hd_key_attempts_free(struct hd_key_attempts *attempts);

#ifdef __cplusplus
}
#endif

#endif
