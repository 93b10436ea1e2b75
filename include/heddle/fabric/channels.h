/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Channels: each directed link between switches, once for each virtual lane. Where packets change their lane on the way,
 * a credit loop can go over several lanes, so it takes one dependency graph over all channels instead of one for each
 * lane. That graph is one of struct hd_dependencies, for a view of the fabric in which each link is there once for each
 * lane.
 */
#ifndef HEDDLE_FABRIC_CHANNELS_H
#define HEDDLE_FABRIC_CHANNELS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Fills *view: link * lanes + lane is the channel of a link on a lane, among the links of the same switch in the same
 * order. All else is that of `fabric`, which must live as long. Memory is the arena's; the view is not to be freed.
 * Errors: -ENOMEM. Cost: O(links * lanes).
 */
int hd_channels_view(const struct hd_fabric *fabric, uint32_t lanes, struct hd_arena *arena,
		     struct hd_fabric *view);

#ifdef __cplusplus
}
#endif

#endif
