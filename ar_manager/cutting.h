/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which links the groups of a plan must leave out, so that the plan has no credit loop. Hosts of
 * leaves climb, then descend. Other senders, such as aggregation nodes on spines, may have to
 * descend, then climb. The tables make such turns in few places; groups would make them anywhere.
 */
#ifndef AR_MANAGER_CUTTING_H
#define AR_MANAGER_CUTTING_H

#include "link_sets.h"
#include "proving.h"

#include <heddle/ar_manager/plan.h>
#include <heddle/fabric/dependencies.h>

struct cutting {
	const struct hd_ar_request *request;
	/* [isl_count] packets that keep an order hold no link while they wait for one with a lower number; NULL:
	 * not known */
	const uint8_t *order;
	struct hd_arena arena;
	struct hd_ar_proof_request proof; /* of `known` */
	struct cuts cuts;
	/* Dependencies that stay: those of the static ports; `hosts`, if they have no loop together;
	 * and what was found to fit. Ordered graphs. */
	struct proving known;
	struct hd_dependencies hosts; /* of all lanes, in the plan without cuts */
	bool hosts_loop; /* they have a loop together, so they are tried one by one */
	struct hd_dependency_workspace workspace; /* of `known` */
	bool *turns; /* [isl_count] after this link only other senders turn by static ports */
};

/*
 * Begins without cuts. cutting_release() must be called in any case. order[isl_count] is kept:
 * then hosts lose ports, too, if they alone have a loop. Errors: -ELOOP hosts alone have a loop in the plan, and `order`
 * is NULL; or the static ports have one; -ECANCELED, -ENOMEM; without a reason. Cost: that of two proofs, LID by LID.
 */
int cutting_init(struct cutting *cutting, const struct hd_ar_request *request,
		 const struct hd_ar_plan *plan, const uint8_t *order);

void cutting_release(struct cutting *cutting);

/*
 * Adds cuts for the loops of a plan that was made with the cuts so far. *count is their number, 0 if
 * the plan has no loop. `columns`: destinations with a loop lose all their groups. Errors:
 * -ECANCELED, -ENOMEM; without a reason. Cost: that of two proofs, LID by LID.
 */
int cutting_find(struct cutting *cutting, const struct hd_ar_plan *plan, bool columns,
		 uint64_t *count);

#endif
