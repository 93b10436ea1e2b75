/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Certificates of plans with private tables. */
#ifndef AR_MANAGER_CERTIFY_DFP_H
#define AR_MANAGER_CERTIFY_DFP_H

#include <heddle/ar_manager/certify.h>

/* hd_ar_certify() for a plan of HD_AR_TABLES tables, which fits the tables. Errors: also -ENOTSUP the fabric is no
 * Dragonfly+. */
int certify_dfp(const struct hd_fabric *fabric, const struct hd_routes *routes,
		const struct hd_ar_plan *plan, const struct hd_go_on *go_on,
		struct hd_certificate **out, struct hd_error *err);

#endif
