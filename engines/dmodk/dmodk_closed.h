/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* D-mod-K's closed form over a labelled regular tree. */
#ifndef ENGINES_DMODK_CLOSED_H
#define ENGINES_DMODK_CLOSED_H

#include <heddle/base/go_on.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/routes.h>

/*
 * Tables of the completed tree: an entry whose cable is missing is HD_NO_PORT or the port that other
 * switches have for that cable, and other entries may lead to where something is missing. position[host] is d of each host. LID offset k of host d is routed
 * as host d + k, so that the LIDs of one host take different top switches as far as there are
 * enough. Paths to a switch's own LIDs climb to the position of that switch above its leaves, then
 * descend; a switch beside that position descends first. Switches without a place in the tree have
 * only holes, and so have the entries for their LIDs. `go_on` (NULL: never stop) is asked for every few
 * switches. Errors: -ECANCELED, -ENOMEM. Cost: two writes for each
 * table byte; four bytes for each LID and level beside the result.
 */
int dmodk_closed_route(const struct hd_regular_tree *tree, const uint32_t *position,
		       unsigned threads, const struct hd_go_on *go_on, struct hd_routes **out,
		       struct hd_error *err);

#endif
