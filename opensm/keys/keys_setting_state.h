/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A SET in the making, inside this folder. */
#ifndef OPENSM_KEYS_SETTING_STATE_H
#define OPENSM_KEYS_SETTING_STATE_H

#include "key_change.h"
#include "keys_blocks.h"
#include "keys_entries.h"
#include "keys_steps.h"
#include "keys_worker.h"

/* A SET that is being done. */
struct setting {
	struct keys_worker *worker;
	const struct hd_channel_set *set;
	uint64_t turn;
	const struct keys_key *before; /* NULL: the key is new */
	struct keys_entries old, fresh; /* entries of the key before, and those that it gets */
	struct hd_routes *routes; /* with them; becomes a part of `routing` */
	struct routing *routing;
	struct keys_set *keys; /* with the key */
	struct keys_blocks blocks;
	struct keys_steps order; /* in which they are sent */
	uint32_t sent; /* writes of the order that switches may have taken */
	struct hd_routes *in_place; /* what they hold, if there are several steps; else NULL */
	struct key_change change; /* what other parts see of it */
	bool proven; /* the proof has the dependencies of `fresh` */
	bool without_before; /* the proof has no dependencies of `before` */
	double repair_since; /* monotonic_ms() since a repair has been waiting; 0: none has */
	bool stopped; /* for the repair, or since the part ends */
	int rc; /* how the writer's thread has done */
	struct keys_set *former; /* in force before; to be released without locks */
	struct hd_error err;
};

#endif
