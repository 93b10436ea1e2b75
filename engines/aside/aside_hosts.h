/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The paths to hosts: between hosts, and from switches that have other adapters only. */
#ifndef ENGINES_ASIDE_HOSTS_H
#define ENGINES_ASIDE_HOSTS_H

#include "aside_job.h"

/*
 * Collects dependencies. Without job->thorough: those of all entries for hosts, from any source;
 * for one lane. With it: those of the paths between hosts. Errors: -ENOMEM. Cost: O(switches *
 * LIDs).
 */
int aside_hosts_collect(struct aside_job *job, struct hd_error *err);

/*
 * Gives the paths to hosts from switches that have only adapters that are set aside a lane of the
 * ordered graphs. With job->turning, entries that hosts do not use may change; sources for which
 * that does not help get none. Errors: -ENOSPC, -ENOMEM.
 */
int aside_hosts_settle(struct aside_job *job, struct hd_error *err);

/*
 * Whether a switch that has only adapters that are set aside lacks an entry for a host of its component,
 * as where io_guid_file lets the engine leave some out. mark: [LIDs], gets true at these LIDs; or NULL.
 * Cost: O(switches * hosts).
 */
bool aside_hosts_find_holes(const struct hd_fabric *fabric, const struct hd_routes *routes,
			    const uint32_t *component, bool *mark);

/* In the column of a host's LID: the entries that paths between hosts use are fixed. */
void aside_hosts_fix(struct aside_job *job);

#endif
