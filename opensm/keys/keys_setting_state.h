/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One SET, as the thread of the part judges it, inside this folder. */
#ifndef OPENSM_KEYS_SETTING_STATE_H
#define OPENSM_KEYS_SETTING_STATE_H

#include "keys_blocks.h"
#include "keys_entries.h"
#include "keys_steps.h"
#include "keys_worker.h"

struct setting {
	struct keys_worker *worker;
	const struct hd_channel_set *set;
	struct hd_channel_result *result;
	bool joins; /* others are before it in its batch: it must not make the proof again */
	const uint64_t *taken; /* the bits of the LIDs that those before it get */
	struct hd_routes *routes; /* the tables of the batch; get its entries */
	/* ---- results ---- */
	const struct keys_key *before; /* NULL: the key is new */
	struct keys_entries old, fresh; /* entries of the key before, and those that it gets */
	bool changed; /* the tables have its entries */
	struct keys_blocks blocks;
	struct keys_steps order; /* in which they are sent, if it is the only one of its batch */
	bool
	    alone; /* its blocks have an order, or its proof lacks keys: no other SET goes with it */
	bool proven; /* the proof has the dependencies of `fresh` */
	bool without_before; /* the proof has no dependencies of `before` */
	struct hd_error err;
};

#endif
