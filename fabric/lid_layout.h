/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fresh LIDs for a fabric whose adapters are listed. */
#ifndef FABRIC_LID_LAYOUT_H
#define FABRIC_LID_LAYOUT_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

/*
 * Writes lid[port_count] and lmc[port_count] as hd_builder_assign_lids() says. Errors: -ENOSPC LIDs
 * run out (says the largest LMC that fits). Cost: O(adapters + switches).
 */
int lid_layout(const struct hd_fabric *fabric, unsigned lmc, uint16_t *lid, uint8_t *port_lmc,
	       struct hd_error *err);

#endif
