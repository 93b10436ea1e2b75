/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches that cables join, before and after something is lost. */
#ifndef HEDDLE_FABRIC_ISLANDS_H
#define HEDDLE_FABRIC_ISLANDS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/changes.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_islands {
	bool *gone; /* [switch_count] the switch is lost */
	bool *cut; /* [port_count] the cable of the port is lost; both ends are marked */
	uint32_t *before; /* [switch_count] the lowest switch of the same island */
	uint32_t *after; /* [switch_count] the same without the losses; of a lost switch: itself */
};

/*
 * Finds the islands. `lost`[count] are losses, as hd_fabric_without() takes them; nodes that are no switches change
 * nothing. Memory is the arena's. Errors: -ENOMEM. Cost: O(ports).
 */
int hd_islands_find(const struct hd_fabric *fabric, const struct hd_fabric_change *lost,
		    uint32_t count, struct hd_arena *arena, struct hd_islands *out);

#ifdef __cplusplus
}
#endif

#endif
