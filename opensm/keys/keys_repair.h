/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routing keys while tables are repaired: repair_change.h. The keys that are sound without what was lost stay in
 * force; the LIDs of the others get their routes without keys. The sweep that follows judges the keys in the same
 * way, so it changes nothing. For the writer's thread, so no SET is being programmed.
 */
#ifndef OPENSM_KEYS_REPAIR_H
#define OPENSM_KEYS_REPAIR_H

#include "keys_shared.h"
#include "repair_change.h"

/* Zero-initialise before use. */
struct keys_repair {
	bool any; /* keys were in force */
	struct keys_applied applied; /* of what is left */
	struct keys_broken_list broken;
	struct keys_news old; /* that the repair has replaced */
};

/* Errors: -EAGAIN it is not known what the switches hold of a SET; with the reason. */
int keys_repair_begin(struct keys_repair *repair, struct keys_shared *shared, struct hd_error *err);

/*
 * Judges the keys in force over change->repaired. change->keyed becomes the tables with keys, if any is in force.
 * Errors: -ENOMEM. Cost: that of keys_apply() if keys are in force, else none.
 */
int keys_repair_apply(struct keys_repair *repair, struct keys_shared *shared,
		      struct repair_change *change, struct hd_error *err);

/* The routing is being published: the keys that broke are out of force. With OpenSM's lock, exclusively, and turn_lock
 * held. */
void keys_repair_land(struct keys_repair *repair, struct keys_shared *shared,
		      const struct repair_change *change);

/*
 * The repair has ended, whatever has become of it. If switches may hold a part of it, SETs wait for a sweep, which this
 * asks for.
 */
void keys_repair_end(struct keys_repair *repair, struct keys_shared *shared,
		     struct repair_change *change);

#endif
