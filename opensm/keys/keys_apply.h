/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Puts the keys in force on top of the tables of a sweep, as far as they are sound there. */
#ifndef OPENSM_KEYS_APPLY_H
#define OPENSM_KEYS_APPLY_H

#include "keys_set.h"

#include <heddle/ar_manager/pins.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <heddle/keyd/channel.h>

struct hd_keys_proof;

/* A key that is not in force any more. */
struct keys_broken {
	uint64_t key;
	char reason[HD_CHANNEL_TEXT];
};

/* A list that grows. Zero-initialise before use. */
struct keys_broken_list {
	uint32_t count, room;
	struct keys_broken *list;
};

/* Appends to the list. Errors: -ENOMEM. */
int keys_broken_add(struct keys_broken_list *list, uint64_t key, const char *reason);
void keys_broken_release(struct keys_broken_list *list);

struct keys_applied {
	struct hd_routes *routes; /* with the keys; NULL: no key is in force */
	struct keys_set *set; /* the keys in force */
	struct hd_keys_proof *proof; /* of these tables; NULL: none was made */
};

/*
 * Proves each key over the tables `base`; keys that are not sound go to `broken`, and their LIDs
 * have the routes of `base`. *out belongs to the caller. Errors: -ENOMEM; then no key is to be in
 * force. Cost: that of hd_keys_proof_new() and of each key.
 */
int keys_apply(const struct hd_fabric *fabric, const struct hd_routes *base,
	       const struct keys_set *set, unsigned threads, struct keys_applied *out,
	       struct keys_broken_list *broken, struct hd_error *err);

/*
 * Takes keys out of *set that use a LID of another port than in the fabric `before`, for which they
 * were made: their routes would be for another host, and would keep the key of that host away from
 * its LID. Errors: -ENOMEM; then *set and `broken` may lack some of them. O(entries).
 */
int keys_apply_drop_moved(const struct hd_fabric *fabric, const struct hd_fabric *before,
			  struct keys_set **set, struct keys_broken_list *broken);

/* The same as keys_apply() without proofs, for a fabric and tables that are the same as those for which the keys are
 * proven. Errors: -ENOMEM. */
int keys_apply_again(const struct hd_fabric *fabric, const struct hd_routes *base,
		     const struct keys_set *set, struct hd_routes **out, struct hd_error *err);

/* The entries of all keys of a set, which are sound in the fabric. *out is released with hd_ar_pins_release(). Errors:
 * -ENOMEM. O(entries log entries). */
int keys_apply_pins(const struct hd_fabric *fabric, const struct keys_set *set,
		    struct hd_ar_pins *out, struct hd_error *err);

/* Whether two fabrics have the same switches, cables, LIDs and LMCs, and the same tables. Also false
 * without memory. O(ports + switches * LIDs). */
bool keys_apply_is_same(const struct hd_fabric *fabric, const struct hd_routes *base,
			const struct hd_fabric *other, const struct hd_routes *other_base);

#endif
