/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the repair of multicast trees takes after a single loss. */
#ifndef CLI_SURVIVE_MULTICAST_H
#define CLI_SURVIVE_MULTICAST_H

#include "survive_groups.h"

/* The trees of the groups before the loss. */
struct survive_trees {
	const struct hd_fabric *fabric;
	const struct survive_groups *groups;
	struct hd_mfts in_place;
};

struct survive_multicast {
	bool tried; /* there are groups, and the unicast tables are repaired */
	char refusal[HD_ERROR_TEXT]; /* why the trees are left to the sweep; "": they are not */
	uint32_t hit, moved; /* groups that have lost a cable, and others whose trees change */
	uint32_t writes, steps;
	uint32_t loop; /* MLID of which a packet can come to a switch twice meanwhile, 0: none */
	uint32_t missed; /* MLID that does not reach all members that are left, 0: none */
	double plan_ms; /* trees and plan */
};

/* Plans the trees, one group after the other as a sweep does. Ended with survive_multicast_end(), also
 * after an error. Errors: -ENOMEM. */
int survive_multicast_begin(struct survive_trees *trees, const struct hd_fabric *fabric,
			    const struct survive_groups *groups, struct hd_error *err);

/* Plans the repair on what is left of the fabric, and follows packets through it. Errors: -ENOMEM. */
int survive_multicast_repair(const struct survive_trees *trees, const struct hd_fabric *damaged,
			     struct survive_multicast *out, struct hd_error *err);

void survive_multicast_end(struct survive_trees *trees);

/* Whether the plan was refused, an interim state can loop, or a member is not reached. */
bool survive_multicast_has_fault(const struct survive_multicast *multicast);

#endif
