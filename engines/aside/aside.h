/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths to and from the adapters that are set aside, such as aggregation nodes, after any engine
 * has routed the hosts and the switches and virtual lanes are assigned.
 *
 * Every switch with adapters sends to each of these adapters, and a switch without hosts that has
 * such an adapter sends to each host. All these paths are proved free of credit loops together with
 * those between hosts: each step is a dependency that the ordered graph of its lane takes. Entries
 * are looked for in this order:
 * - those in place, if there are any: aside_job.h says which of them stay;
 * - those of the adapter's own switch, which an engine has routed to from everywhere;
 * - for sources whose path the graph refuses, the fewest hops by climbing, then descending;
 * - then any step that the graph takes.
 * Entries that hosts use are never touched.
 */
#ifndef ENGINES_ASIDE_H
#define ENGINES_ASIDE_H

#include "aside_job.h"

/* Pairs of a source and a LID without a path. */
struct aside_left {
	uint64_t unserved; /* all */
	/* those that have one in the tables in place; all, if there are no such tables */
	uint64_t lost;
	uint64_t moved; /* entries for hosts that made room */
};

/*
 * Writes the entries of `routes` for adapters that are set aside, and entries of switches without
 * hosts that would close a credit loop now that something sends from there. Service levels where
 * there are more lanes than one; lanes beyond those in use are opened up to way->lanes.
 *
 * On one lane a source whose paths all would close a credit loop gets that of a spanning tree, and
 * paths between hosts that are in its way move (aside_escape.c), unless way->hosts_fixed. Otherwise
 * it gets no entry; *left counts such pairs of a source and a LID. With previous tables, other paths
 * move for a source only if that keeps its path.
 * Nothing to do, and no cost, where no adapter is set aside. Errors: -ENOSPC no lane is left for a
 * path, -ENOMEM, -ECANCELED. Cost: O(switches * LIDs), and for each step that the graph does not know a search
 * among links.
 */
int aside_route(const struct hd_route_request *request, const struct aside_way *way,
		struct hd_routes *routes, struct aside_left *left, struct hd_error *err);

#endif
