/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routing keys while tables are repaired. No SET is under way then. The keys that are sound without
 * what was lost stay in force; the LIDs of the others get their routes without keys. The sweep that
 * follows judges the keys in the same way, so it changes nothing.
 */
#ifndef OPENSM_REPAIR_KEYS_H
#define OPENSM_REPAIR_KEYS_H

#include "keys_apply.h"

#include <heddle/change/repair.h>

struct keys_shared;
struct routing;

/* Zero-initialise before use. */
struct repair_keys {
	struct keys_shared *shared; /* NULL: no keys */
	uint64_t turn; /* that was borrowed; 0: none */
	bool any; /* keys were in force */
	struct keys_applied applied; /* of what is left */
	struct keys_broken_list broken;
};

/* Before a repair: no SET begins before repair_keys_end(). `shared` may be NULL. Errors: -EAGAIN,
 * with the reason. */
int repair_keys_begin(struct repair_keys *keys, struct keys_shared *shared, struct hd_error *err);

/*
 * SETs may have replaced the published routing since the sweep. If `published` differs from *held in
 * its keys alone, it replaces *held, and *in_place and *base become those of its tables. The caller
 * has `published` held, and it is taken over. Errors: -ECANCELED it is another routing, or go_on says no;
 * -ELOOP, -ENOMEM.
 */
int repair_keys_adopt(struct routing *published, struct routing **held, struct hd_routes **in_place,
		      struct hd_repair_base **base, unsigned threads, const struct hd_go_on *go_on,
		      struct hd_error *err);

/*
 * Judges the keys in force over the repaired tables of the engine. *tables becomes those with keys,
 * owned by `keys`; `repaired` if no key is in force. Errors: -ENOMEM. Cost: that of keys_apply() if
 * keys are in force, else none.
 */
int repair_keys_apply(struct repair_keys *keys, const struct hd_fabric *damaged,
		      struct hd_routes *repaired, unsigned threads, struct hd_routes **tables,
		      struct hd_error *err);

/* Gives a routing that is not published yet the tables with keys. */
void repair_keys_give(struct repair_keys *keys, struct routing *routing);

/* The routing is being published: the keys that broke are out of force. With OpenSM's lock held
 * exclusively. */
void repair_keys_land(struct repair_keys *keys);

/*
 * After a repair: SETs may come again. `published`: the routing that the repair has published, NULL:
 * none. `sent`: some blocks were sent. If both say that switches may hold a part of a repair, SETs
 * wait for a sweep, which this asks for.
 */
void repair_keys_end(struct repair_keys *keys, struct routing *published, bool sent);

#endif
