/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SETs that go together, inside this folder. */
#ifndef OPENSM_KEYS_BATCH_STATE_H
#define OPENSM_KEYS_BATCH_STATE_H

#include "key_change.h"
#include "keys_setting_state.h"

#define KEYS_BATCH_LIDS ((HD_LID_LAST + 64u) / 64u)

struct keys_batch {
	struct keys_worker *worker;
	uint64_t turn;
	uint32_t count, most;
	struct setting settings[KEYS_WORKER_SETS]; /* [count] */
	uint32_t expected; /* blocks that they change */
	bool full;
	uint64_t lids[KEYS_BATCH_LIDS]; /* the bits of all LIDs that they get */
	struct keys_entries old, fresh; /* of all */
	struct hd_routes *routes; /* with them; becomes a part of `routing` */
	struct routing *routing;
	struct keys_set *keys; /* with the keys */
	struct keys_blocks blocks;
	struct keys_steps order; /* in which they are sent */
	uint32_t sent; /* writes of the order that switches may have taken */
	struct hd_routes *in_place; /* what they hold, if there are several steps; else NULL */
	struct key_change change; /* what other parts see of it */
	double repair_since; /* monotonic_ms() since a repair has been waiting; 0: none has */
	bool stopped; /* for the repair, or since the part ends */
	int rc; /* how the writer's thread has done */
	struct keys_set *former; /* in force before; to be released without locks */
	struct hd_error err;
};

#endif
