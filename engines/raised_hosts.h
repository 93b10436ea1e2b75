/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts above the leaves of a tree: storage, routers and management adapters on spines. */
#ifndef ENGINES_RAISED_HOSTS_H
#define ENGINES_RAISED_HOSTS_H

#include <heddle/engines.h>

#define RAISED_HOSTS_TRIES 8u

/*
 * Views of the request's fabric in which the hosts above the leaves are set aside
 * (hd_fabric_regroup()), so that an engine for trees routes the tree without them: one view for
 * each opinion of how many hosts a switch has at least to be a leaf, the least number first.
 * views[] has RAISED_HOSTS_TRIES places, *count views are made; the caller frees each with
 * hd_fabric_free(). No view where no host is above the leaves, or the fabric is no tree. Errors:
 * -ENOMEM, and those of the policy. Cost: O(links) for each view.
 */
int raised_hosts_views(const struct hd_route_request *request, struct hd_fabric **views,
		       unsigned *count, struct hd_error *err);

#endif
