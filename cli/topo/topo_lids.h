/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many LIDs OpenSM needs for a fabric. */
#ifndef CLI_TOPO_LIDS_H
#define CLI_TOPO_LIDS_H

#include <heddle/fabric.h>

/*
 * The largest LMC for which OpenSM's LID manager has enough LIDs when it knows no LIDs yet, or -1
 * if even LMC 0 is too much. The manager takes ports in the order of their GUIDs' bytes from the
 * last to the first, after the port of the subnet manager itself, for which the first host stands
 * here. It gives each the next free LID, a multiple of 2^LMC for an adapter, and never returns to
 * the LIDs that it has passed over. So an adapter after a switch can cost twice its LIDs. Source:
 * lid_mgr_find_free_lid_range() of OpenSM 3.3.23. Errors: -ENOMEM. Cost: O(ports log ports).
 */
int topo_lids_largest_lmc(const struct hd_fabric *fabric, int *largest, struct hd_error *err);

#endif
