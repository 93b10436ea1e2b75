/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LIDs that loop without adaptive routing. While forwarding tables change, one switch can have the
 * new port for a LID and the next one the old port, and both can point at each other. No choice of
 * groups mends that.
 */
#ifndef CHANGE_EXCUSED_H
#define CHANGE_EXCUSED_H

#include <heddle/ar_manager/proof.h>

/*
 * Sets excused[lid] of the LIDs for which a mixture of the tables `before` and `routes` of the
 * request leads in a circle, or closes a credit loop with other LIDs. The static ports of all other
 * LIDs have no loop, or *rest_loops is true. excused[lid_count] is false at first; `split`: see
 * hd_ar_circling_find(). Errors: as
 * hd_ar_circling_find(). Cost: O(switches * LIDs), and that of a proof for each further loop.
 */
int excused_find(const struct hd_ar_proof_request *request, const bool *split, bool *excused,
		 bool *rest_loops, struct hd_error *err);

#endif
