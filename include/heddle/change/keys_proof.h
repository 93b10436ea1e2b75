/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Proves that tables with routing keys are sound before switches get them: packets to a LID of a key
 * arrive from every switch from which they arrive without keys, and the channel dependency graph of
 * each virtual lane stays free of cycles. The graph of the tables without keys is made once; a key
 * adds only the dependencies of its own LIDs. Dependencies of the routes without keys stay in the
 * graph, so it also covers packets that are under way while a key comes or goes.
 *
 * With adaptive routing the graph has all ports of all groups, too, and the entries of a key are static. A switch may then
 * have the entry without the key, with its group, or that with the key, and nobody knows which, since the tables of
 * adaptive routing change switch by switch. So a key adds what packets to its LIDs depend on by all of these entries
 * together. No mixture of them has a loop or a credit loop.
 */
#ifndef HEDDLE_CHANGE_KEYS_PROOF_H
#define HEDDLE_CHANGE_KEYS_PROOF_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_ar_plan;
struct hd_keys_proof;

/*
 * Starts from the tables without keys. Fabric and tables must outlive the proof, which is freed with
 * hd_keys_proof_free(). Errors: -ELOOP these tables have a credit loop, -ENOMEM. Cost: O(switches *
 * LIDs / threads + links * radix); memory: links * radix bits for each lane and thread, a few
 * times.
 */
int hd_keys_proof_new(const struct hd_fabric *fabric, const struct hd_routes *base,
		      unsigned threads, struct hd_keys_proof **out, struct hd_error *err);

/*
 * The same with adaptive routing: `plan` stands on `base`, without keys, and must outlive the proof. Errors: also -ENOTSUP
 * private tables, -EINVAL shapes that differ. Cost: that of a proof of the plan.
 */
int hd_keys_proof_new_adaptive(const struct hd_fabric *fabric, const struct hd_routes *base,
			       const struct hd_ar_plan *plan, unsigned threads,
			       struct hd_keys_proof **out, struct hd_error *err);

/* NULL is allowed. */
void hd_keys_proof_free(struct hd_keys_proof *proof);

/*
 * Proves tables whose entries for the LIDs lids[count] are those of keys, and keeps the dependencies
 * of these LIDs. On an error nothing is kept. Errors: -EINVAL packets do not arrive, -ELOOP a credit
 * loop, both with the reason; -ENOMEM. Cost: O(switches) for each LID, more if the order of the
 * graph must be repaired.
 */
int hd_keys_proof_add(struct hd_keys_proof *proof, const struct hd_routes *routes,
		      const uint16_t *lids, uint32_t count, struct hd_error *err);

/*
 * The same for LIDs that have entries of keys already, in the tables `before`: with adaptive routing also for mixtures
 * with these. Cost with adaptive routing: O(links + ports of groups) for each LID.
 */
int hd_keys_proof_change(struct hd_keys_proof *proof, const struct hd_routes *before,
			 const struct hd_routes *routes, const uint16_t *lids, uint32_t count,
			 struct hd_error *err);

/* Says that a key is gone whose dependencies stay in the graph. */
void hd_keys_proof_note_removed(struct hd_keys_proof *proof);

/* Whether the graph has dependencies that no table has any more: then -ELOOP may be wrong, and a new
 * proof decides. */
bool hd_keys_proof_is_stale(const struct hd_keys_proof *proof);

#ifdef __cplusplus
}
#endif

#endif
