/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way from the tables in force to those with other keys. While switches get their blocks, each has the entries
 * before or those after, and nobody knows which. Of each LID that changes, both entries of all switches are looked at
 * together:
 *
 *	packets to the LID arrive in every mixture, from every switch from which they arrive without keys
 *	what packets depend on in any mixture closes no credit loop, nor do the dependencies of two LIDs together
 *
 * If both hold, the blocks may be sent in any order. This is so for keys that climb where the engine's routes climb, as
 * in fat trees. Else the blocks are sent in steps, in the order of repairs (repair.h).
 */
#ifndef HEDDLE_CHANGE_KEYS_ORDER_H
#define HEDDLE_CHANGE_KEYS_ORDER_H

#include <heddle/change/keys_proof.h>
#include <heddle/change/repair.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tables of the proof's fabric; they differ only in entries for `lids`. */
struct hd_keys_change {
	const struct hd_routes *before; /* in force; the proof has the dependencies of its keys */
	const struct hd_routes *after;
	const uint16_t *lids; /* [count] each once */
	uint32_t count;
	/* Whether `before`, or `after`, has the entries without keys for all of these LIDs. A key that goes needs no proof
	 * if it came like that, in the same proof: its mixtures are those with which it came. */
	bool comes, goes;
};

/*
 * Proves a change, and keeps the dependencies of all that is in force meanwhile and after it. *out is the plan, in whose
 * steps the blocks are to be written, to be freed with hd_repair_plan_free(); NULL: they may be written in any order.
 * Errors: -EINVAL packets do not arrive in the end; -ELOOP a credit loop in the end, or no order without one, all with
 * the reason; -ENOTSUP the proof is one with adaptive routing, whose hd_keys_proof_change() covers all mixtures; -ENOMEM.
 * After an error the proof may be stricter than it has to be: then hd_keys_proof_is_stale() says so. Cost: O(switches)
 * for each LID, O(1) if a key goes that needs no proof; that of hd_repair_plan_new() if there must be steps.
 */
int hd_keys_order(struct hd_keys_proof *proof, const struct hd_keys_change *change,
		  struct hd_repair_plan **out, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
