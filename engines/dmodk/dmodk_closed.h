/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* D-mod-K's closed form over a labelled regular tree. */
#ifndef ENGINES_DMODK_CLOSED_H
#define ENGINES_DMODK_CLOSED_H

#include "resolved_policy.h"

#include <heddle/fabric/regular_tree.h>

/*
 * Tables of an intact tree. The d-th host is the d-th in the policy's order, or in the order of the
 * tree's leaves if the policy has none. LID offset k of host d is routed as host d + k, so that the
 * LIDs of one host take different top switches as far as there are enough. Paths to a switch's own
 * LIDs climb to the position of that switch above its leaves, then descend; a switch beside that
 * position descends first. Errors: -ENOMEM. Cost: two writes for each table byte; four bytes for
 * each LID and level beside the result.
 */
int dmodk_closed_route(const struct hd_regular_tree *tree, const struct hd_route_request *request,
		       const struct resolved_policy *policy, struct hd_routes **out,
		       struct hd_error *err);

#endif
