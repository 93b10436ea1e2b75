/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The graphs of a proof: what is searched for credit loops. */
#ifndef AR_MANAGER_PROVING_H
#define AR_MANAGER_PROVING_H

#include "proof_graphs.h"

#include <heddle/ar_manager/proof.h>

struct proving {
	const struct hd_ar_proof_request *request;
	struct hd_arena arena;
	struct host_lids lids; /* without those of `split` */
	bool *split; /* [lid_count] LIDs that are collected one by one; NULL: none */
	struct next_hops_entries *entries;
	struct next_hops next;
	struct proof_graphs graphs; /* filled by proof_graphs_collect() */
};

/* Whether the shapes of the request fit together. Errors: -EINVAL with a reason. */
int proving_check(const struct hd_ar_proof_request *request, struct hd_error *err);

/* Prepares the graphs of a request that was checked; without `groups` those of the static ports
 * alone. split[lid_count] are LIDs that are not to be taken together with others of their switch;
 * NULL: none. proving_release() must be called in any case. Errors: -ECANCELED, -ENOMEM; without a
 * reason. */
int proving_init(struct proving *proving, const struct hd_ar_proof_request *request, bool groups,
		 const bool *split);

void proving_release(struct proving *proving);

#endif
