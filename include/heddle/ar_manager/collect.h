/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dependencies that a proof is about, for graphs to which others add more. */
#ifndef HEDDLE_AR_MANAGER_COLLECT_H
#define HEDDLE_AR_MANAGER_COLLECT_H

#include <heddle/ar_manager/proof.h>
#include <heddle/base/arena.h>
#include <heddle/fabric/dependencies.h>

#define HD_AR_LANES 16u

/*
 * Adds the dependencies of all ports that packets may take to collected graphs of the fabric: lanes[v] is that of VL v,
 * for each lane that the traffic of request->routes uses. As in hd_ar_prove(), the LIDs of a destination switch are
 * taken together as long as that shows no cycle. The sum has no cycle if the lanes had none of their own. Errors:
 * -ELOOP a cycle, with the reason, and -ENOTSUP private tables; those of hd_ar_prove(). Cost: that of a proof.
 */
int hd_ar_collect(const struct hd_ar_proof_request *request,
		  struct hd_dependencies lanes[HD_AR_LANES], struct hd_error *err);

#endif
