/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths for all, on one lane: a source without another path takes that of a spanning tree. If the
 * lane does not take the tree's paths beside those between hosts, the few paths between hosts that are
 * in the way move.
 */
#ifndef ENGINES_ASIDE_ESCAPE_H
#define ENGINES_ASIDE_ESCAPE_H

#include "aside_job.h"

/*
 * Routes all columns. Lane 0 is ordered, guarded, and knows the paths between hosts. *done is
 * false, and the routes are as before, where paths between hosts would move though job->hosts_fixed. Errors: -ENOMEM, -ECANCELED. Cost: O(switches * LIDs), and for each column
 * with a path that the lane refuses O(links) more, a few times.
 */
int aside_escape(struct aside_job *job, bool *done, struct hd_error *err);

/* The same for tables that are whole but for sources without a path: these get one, others move
 * only where they meet it, and paths between hosts not at all. *done is false, and the routes are as
 * before, where the lane takes no tree's paths beside all that are there. Errors, cost: as above. */
int aside_escape_beside(struct aside_job *job, bool *done, struct hd_error *err);

/* The same for such tables, but whatever is in the way of the tree's paths moves. *done is true. */
int aside_escape_in_place(struct aside_job *job, bool *done, struct hd_error *err);

#endif
