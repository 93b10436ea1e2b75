/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast trees into OpenSM's multicast forwarding tables, for OpenSM's mcast_build_stree.
 *
 * OpenSM asks for one MLID at a time, in a sweep for all of them in ascending order, after a
 * join or leave for that one. A group's tree is planned against the loads of the groups with
 * lower MLIDs, so that it comes out the same whether the groups came one by one or were all
 * there from the start.
 */
#ifndef OPENSM_MULTICAST_TREES_H
#define OPENSM_MULTICAST_TREES_H

#include <stdbool.h>

struct osm_mgrp_box;
struct plugin;

/* What is kept from one group to the next: the fabric, the trees, the loads of its links. */
struct multicast;

/*
 * Computes the tree for the groups of an MLID and sets its ports in the switches' tables, which
 * OpenSM has cleared for that MLID and sends afterwards. Members that multicast cannot reach are
 * left out and said in the log. False, said in the log as well: nothing was set. To be called
 * with OpenSM's lock held exclusively.
 */
bool multicast_build_tree(struct plugin *plugin, struct osm_mgrp_box *box);

/* Forgets trees and loads, as the fabric is about to change; for the next group the fabric of
 * the published routing is taken. */
void multicast_forget(struct plugin *plugin);

/* Like that, but the next group is planned on a new snapshot: OpenSM discovers the subnet anew,
 * and may then route it from its unicast cache without asking the engine. */
void multicast_distrust(struct plugin *plugin);

#endif
