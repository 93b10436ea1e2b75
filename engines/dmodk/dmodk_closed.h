/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* D-mod-K's closed form over a labelled regular tree. */
#ifndef ENGINES_DMODK_CLOSED_H
#define ENGINES_DMODK_CLOSED_H

#include "resolved_policy.h"

#include <heddle/fabric/regular_tree.h>

/*
 * Tables of the whole tree. The d-th host is d-th in the policy's order, or, where that names
 * none, in the order of the tree's leaves; LID offset k of host d is routed as host d + k, so
 * that the LIDs of one host take different tops as far as there are any. Switch LIDs: climb to
 * the switch's own place above its leaves, descend; where a switch stands beside that place, go
 * down first. Errors: -ENOMEM. Cost: two writes a table byte, four bytes a LID and level beside
 * the result.
 */
int dmodk_closed_route(const struct hd_regular_tree *tree, const struct hd_route_request *request,
		       const struct resolved_policy *policy, struct hd_routes **out,
		       struct hd_error *err);

#endif
