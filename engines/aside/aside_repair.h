/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * With tables in place: what is whole stays, and only what is cut gets other paths, one by one.
 *
 * Each column begins with the entries of the baseline whose paths are whole, and with those in place
 * elsewhere. Where the lanes do not take these together, columns give up their return to the
 * baseline, then single sources get other next hops. A column is routed afresh as a whole only if
 * that gives a path to a source that would lose its own. A source that had no path may stay so.
 */
#ifndef ENGINES_ASIDE_REPAIR_H
#define ENGINES_ASIDE_REPAIR_H

#include "aside_job.h"

/*
 * Writes all entries for adapters that are set aside, and those for hosts of switches without hosts.
 * Entries that hosts use stay. The graphs of the job are ordered ones with the paths between hosts.
 * Adds to job->unserved and job->lost. Errors: -ENOMEM, -ENOSPC. Cost: O(switches * LIDs) for each
 * of a few rounds, and for each step that the graph does not know a search among links.
 */
int aside_repair(struct aside_job *job, struct hd_error *err);

#endif
