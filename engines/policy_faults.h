/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies that leave hosts without a path to one another. */
#ifndef ENGINES_POLICY_FAULTS_H
#define ENGINES_POLICY_FAULTS_H

#include <heddle/engines.h>

/*
 * -ENOTSUP where the request has a root_guid_file or an io_guid_file and the tables have no entry
 * for a host at a switch with hosts of the same component. The reason names the pair, and the GUID
 * that is at fault: the host that io_guid_file does not list, or the listed root without which the
 * most switches would reach the host. 0 in all other cases; -ENOMEM. Cost: O(switches * LIDs) with
 * such a policy, nothing without.
 */
int policy_faults_check(const struct hd_route_request *request, const struct hd_routes *routes,
			struct hd_error *err);

#endif
