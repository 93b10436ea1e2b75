/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that makes multicast trees and puts them into OpenSM's multicast forwarding tables, for
 * OpenSM's mcast_build_stree.
 *
 * OpenSM asks for one MLID at a time: in a sweep for all of them in ascending order, after a
 * join or leave for that one. A group's tree is planned against the loads of the groups with
 * lower MLIDs, so that it comes out the same whether the groups came one by one or were all
 * there from the start.
 */
#ifndef OPENSM_MULTICAST_PART_H
#define OPENSM_MULTICAST_PART_H

#include "part.h"

extern const struct part multicast_part;

#endif
