/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sweeps that do not know of a loss. A sweep may have passed a cable or a switch before it died, and a
 * repair may have found that out before the sweep routes. If the sweep routed over it, it would take the
 * repaired entries back. So it routes without it. If something is back by now, the next sweep uses it.
 *
 * Nobody is cut off by that. The sweep leaves out only cables between switches, and switches to which no
 * host is cabled, with their aggregation nodes. It leaves them out only if the other switches stay joined
 * as it has found them. So hosts keep their cables, and every switch that is left reaches the same hosts
 * as before.
 *
 * For the sweeper thread.
 */
#ifndef OPENSM_STALE_H
#define OPENSM_STALE_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct part_context;

/* What a sweep routes. */
struct stale_rest {
	struct hd_fabric *fabric; /* to be freed with hd_fabric_free() */
	/* Left out. Cables and aggregation nodes of a switch that is left out are not counted. */
	uint32_t cables, switches;
};

/*
 * A copy of `found`, the subnet as the sweep has found it, without what repairs found lost after the sweep
 * had begun. With OpenSM's lock held. Errors: -ENODATA there is no such thing; -ENETUNREACH some switches
 * would be cut off; -ENOMEM; the last two with a reason. Cost: none without a repair since the sweep
 * began, else O(nodes + ports).
 */
int stale_leave_out(const struct part_context *context, const struct hd_fabric *found,
		    struct stale_rest *out, struct hd_error *err);

/*
 * For switches that were left out of `routed`: OpenSM's new table becomes a copy of the one that it takes
 * the switch to have. So OpenSM sends them nothing: each block would have to time out. With OpenSM's lock
 * held exclusively. Cost: O(switches) without a switch that is left out.
 */
void stale_keep_tables(const struct part_context *context, const struct hd_fabric *routed);

#endif
