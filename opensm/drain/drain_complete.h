/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether what is drained may be pulled: no switch sends packets there any more. */
#ifndef OPENSM_DRAIN_COMPLETE_H
#define OPENSM_DRAIN_COMPLETE_H

#include "drained.h"

struct part_context;

/*
 * After a sweep: 0, or -EAGAIN with the reason why it is not complete: the tables are not Heddle's, a switch has not
 * acknowledged its forwarding table, or a table leads to what is left out. Takes OpenSM's lock. Errors: -ENOMEM. Cost:
 * O(switches * LIDs), and O(LIDs + groups) for each end of what is left out.
 */
int drain_complete_check(const struct part_context *context, const struct drained_set *out,
			 struct hd_error *err);

/*
 * The same for adaptive routing, which is programmed after a sweep: -EAGAIN; -EINPROGRESS while it is being programmed.
 * Looks only at switches with a cable to what is left out, as the last sweep has found it: no other can send there, so of
 * others nothing need be known. Takes no lock of OpenSM.
 */
int drain_complete_adaptive(const struct part_context *context, struct hd_error *err);

#endif
