/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cables between two leaves: they carry what the hosts of these leaves send to each other. */
#ifndef ENGINES_DMODK_SIDEWAYS_H
#define ENGINES_DMODK_SIDEWAYS_H

#include <heddle/fabric/routes.h>
#include <heddle/fabric/tree.h>

/*
 * Leads the entries of a leaf for the hosts of another leaf to the cables that join the two. All
 * other entries, and cables above the leaves, stay as they are. routes: tables of pruned->fabric,
 * changed in place.
 *
 * Such a hop cannot close a credit loop. What crosses a cable from leaf A to leaf B is for hosts of
 * B, and leaves B by a host's port. So no packet holds a buffer of this cable while it waits for
 * another link between switches: the cable has no dependency, and a cycle cannot pass it.
 *
 * If several cables join two leaves, the hosts spread over them. A cable that is lost moves only
 * the hosts that used it, because the choice is among all ports that the labels of the leaf leave
 * free. Cost: O(links + sideways cables * hosts of a leaf * radix).
 */
void dmodk_sideways_use(const struct hd_fabric *fabric, const struct hd_tree_pruned *pruned,
			struct hd_routes *routes);

#endif
