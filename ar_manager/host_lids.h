/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The LIDs that data traffic goes to, and the switches to which they are cabled. */
#ifndef AR_MANAGER_HOST_LIDS_H
#define AR_MANAGER_HOST_LIDS_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

struct host_lids {
	uint32_t lid_count;
	uint32_t
	    *destination; /* [lid_count]: number of the destination switch, HD_NONE: no host's */
	bool *may_adapt; /* [lid_count]: the LID may have adaptive entries */
	uint32_t count; /* destination switches */
	uint32_t *sw; /* [count] by ascending index */
};

/* Lists them into memory of the arena. Errors: -ENOMEM. O(LIDs + switches). */
int host_lids_init(struct host_lids *lids, const struct hd_fabric *fabric, struct hd_arena *arena);

#endif
