/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* At last paths that were in place come back, where they fit beside all that is routed now. */
#ifndef ENGINES_ASIDE_RETURN_H
#define ENGINES_ASIDE_RETURN_H

#include "aside_job.h"

/* Whether any whole path in place is not in the routes. Enough of the job's paths is aside_paths_init_links().
 * Cost: O(switches * LIDs), and O(hops) for each entry that differs. */
bool aside_return_has_work(const struct aside_job *job);

/*
 * Looks at each entry for adapters that are set aside which differs from the tables in place and from
 * the baseline. The whole path that it was part of comes back, if no source loses its path so and no
 * lane gets a credit loop. The graphs of the job are ordered ones with the paths between hosts only;
 * the paths of the routes are added. Counts sources that get a path out of job->unserved and job->lost.
 * The number of paths that are tried is limited by the number of switches, in the order of the fabric.
 * *any: some paths came back. The graphs still know those that they replace, so others may fit in
 * another go. Errors: -ENOMEM, -ECANCELED. Cost: O(switches * LIDs), and for each such entry O(switches * hops) and
 * a search among links.
 */
int aside_return(struct aside_job *job, bool *any, struct hd_error *err);

#endif
