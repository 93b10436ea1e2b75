/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The proof of a plan with private forwarding tables and a lane that is raised at a turn. */
#ifndef AR_MANAGER_PROOF_DFP_H
#define AR_MANAGER_PROOF_DFP_H

#include <heddle/ar_manager/plan.h>

/* hd_ar_prove() for a plan of HD_AR_TABLES tables. Errors: also -ENOTSUP the fabric is no
 * Dragonfly+. */
int proof_dfp_prove(const struct hd_ar_proof_request *request, struct hd_ar_proof *proof,
		    struct hd_ar_loop **loop, struct hd_error *err);

#endif
