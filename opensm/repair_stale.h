/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sweeps that do not know of a loss. A sweep may have passed a cable before it died, and a repair may
 * have found that out before the sweep routes. Routed with the cable, the sweep would take the repaired
 * entries back. So it routes without: the repair has asked the switches later than the sweep has. If the
 * cable is back by now, the next sweep uses it.
 *
 * Nobody is cut off by that. Only cables between switches are left out, and only if other cables that
 * the sweep has found still join the switches at their ends. So every switch reaches the same switches
 * and hosts with and without them.
 *
 * For the sweeper thread.
 */
#ifndef OPENSM_REPAIR_STALE_H
#define OPENSM_REPAIR_STALE_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct part_context;
struct routing;

/* Zero-initialise before use. */
struct repair_stale {
	struct routing *begun; /* held: published when the sweep began; NULL: none, or no sweep */
};

/* A sweep begins: it sees for itself what was lost before. Without OpenSM's lock. */
void repair_stale_begin(struct repair_stale *stale, const struct part_context *context);

/* The sweep has ended. */
void repair_stale_end(struct repair_stale *stale);

/*
 * A copy of `found`, the subnet as the sweep has found it, without the cables between switches that
 * repairs found lost after the sweep had begun. *cables is their number. With OpenSM's lock held. The
 * result is to be freed with hd_fabric_free(). Errors: -ENODATA there are no such cables; -ENETUNREACH
 * some switches would be cut off; -ENOMEM; the last two with a reason. Cost: none without a repair since
 * the sweep began, else O(nodes + ports).
 */
int repair_stale_leave_out(const struct part_context *context, const struct hd_fabric *found,
			   struct hd_fabric **out, uint32_t *cables, struct hd_error *err);

#endif
