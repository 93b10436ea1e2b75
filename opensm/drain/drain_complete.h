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

/* Why nothing is safe to pull, whatever the tables say; "": no such reason. Takes no lock of OpenSM. */
const char *drain_complete_doubt(const struct part_context *context);

/* The same as the first for groups of adaptive routing, which are programmed after a sweep. -EINPROGRESS: they are being programmed. */
int drain_complete_adaptive(const struct part_context *context, const struct drained_set *out,
			    struct hd_error *err);

#endif
