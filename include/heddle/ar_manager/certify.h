/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Certificates of tables with a plan of adaptive routing. */
#ifndef HEDDLE_AR_MANAGER_CERTIFY_H
#define HEDDLE_AR_MANAGER_CERTIFY_H

#include <heddle/ar_manager/plan.h>
#include <heddle/fabric/certificate.h>

/*
 * hd_certificate_new() for tables in whose switches a plan is programmed: packets may take every port
 * of a group. The plan's switches are matched by GUID; those that it lacks have no groups. plan NULL:
 * the tables alone. `go_on` (NULL: never stop) is asked for each LID. *out is freed with
 * hd_certificate_free(). Errors: those of hd_certificate_new(); -EINVAL the plan does not belong to the
 * tables (hd_ar_plan_check()), -ENOTSUP it has private tables (DFP), and the fabric is no Dragonfly+.
 * Cost: that of both functions; with private tables O(switches + links of the entries) for each LID.
 */
int hd_ar_certify(const struct hd_fabric *fabric, const struct hd_routes *routes,
		  const struct hd_ar_plan *plan, const struct hd_go_on *go_on,
		  struct hd_certificate **out, struct hd_error *err);

struct hd_ar_certify_change {
	const struct hd_fabric *fabric;
	const struct hd_routes *before, *after; /* in the fabric's shape */
	const struct hd_ar_plan *held,
	    *next; /* on `before` and on `after`; NULL: no adaptive routing */
	const struct hd_go_on *go_on; /* NULL: never stop */
};

/*
 * hd_certificate_change_new() where groups change, too. The plans' switches are matched by GUID. Ports of `held` may
 * lead nowhere, as after a loss. Errors: those of hd_certificate_change_new(); -EINVAL a plan does not belong
 * to its tables, -ENOTSUP it has private tables (DFP).
 */
int hd_ar_certify_change(const struct hd_ar_certify_change *request,
			 struct hd_certificate_change **out, struct hd_error *err);

#endif
