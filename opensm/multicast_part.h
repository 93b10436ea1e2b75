/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that plans multicast trees and writes them into OpenSM's multicast forwarding tables,
 * for OpenSM's mcast_build_stree.
 *
 * OpenSM asks for one MLID at a time: in a sweep for all of them in ascending order, after a join
 * or leave only for that group. The part plans the tree of a group with the loads of the groups
 * with lower MLIDs. So the tree does not depend on the order in which the groups came.
 */
#ifndef OPENSM_MULTICAST_PART_H
#define OPENSM_MULTICAST_PART_H

#include "part.h"

extern const struct part multicast_part;

#endif
