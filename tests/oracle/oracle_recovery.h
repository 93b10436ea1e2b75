/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fast recovery, slow and obvious: packet by packet. */
#ifndef ORACLE_RECOVERY_H
#define ORACLE_RECOVERY_H

#include "oracle_dependencies.h"

#include <heddle/ar_manager/fast_recovery.h>

struct oracle_recovery {
	const struct hd_ar_recovery_request *request;
	enum hd_ar_recovery level;
	const bool *dead; /* [port_count] by port index */
};

/* The pairs that are delivered, packet by packet from each switch with adapters. `before` says which
 * pairs count, [switch_count * lid_count]; NULL: all. `delivered` of the same form gets them; NULL:
 * nobody asks. Cost: O(switches^2 * radix * LIDs), and more. */
uint64_t oracle_recovery_pairs(const struct oracle_recovery *recovery, const bool *before,
			       bool *delivered);

/* What a switch does when all ports of an entry are masked. */
enum oracle_fallback { ORACLE_DROPS, ORACLE_STATIC_PORT, ORACLE_ANY_PORT };

/*
 * Follows packets to all LIDs of adapters from all switches by each port that is not masked[port_count],
 * or by the fallback, and collects the dependencies of the traffic of one lane from switches with adapters.
 * *graph is freed with oracle_dependencies_free(). Returns a LID whose packets come back to a switch, 0: none.
 */
uint32_t oracle_recovery_circle(const struct hd_ar_recovery_request *request, const bool *masked,
				enum oracle_fallback fallback, unsigned lane,
				struct oracle_dependencies *graph);

#endif
