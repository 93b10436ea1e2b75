/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_prove.h"
#include "keys_setting_state.h"
#include "routing.h"

#include <errno.h>
#include <heddle/change/keys_order.h>
#include <stdlib.h>

/* With adaptive routing, the proof of the end covers all mixtures. */
static int prove_adaptive(struct setting *setting)
{
	const struct keys_worker *worker = setting->worker;
	int rc = hd_keys_proof_change(worker->proof, worker->routing->routes, setting->routes,
				      setting->fresh.lids, setting->fresh.lid_count, &setting->err);

	if (!rc && keys_steps_add_blocks(&setting->order, &setting->blocks))
		rc = hd_error_no_memory(&setting->err);
	return rc;
}

/* Proves one change, and appends its blocks to the order. */
static int prove_change(struct setting *setting, const struct hd_keys_change *change,
			const struct keys_blocks *blocks)
{
	struct hd_repair_plan *plan;
	int rc = hd_keys_order(setting->worker->proof, change, &plan, &setting->err);

	if (rc)
		return rc;
	setting->alone |= plan != NULL;
	if (plan ? keys_steps_add_plan(&setting->order, plan)
		 : keys_steps_add_blocks(&setting->order, blocks))
		rc = hd_error_no_memory(&setting->err);
	hd_repair_plan_free(plan);
	return rc;
}

/* Merges the LIDs of the old and the new entries. Returns their number. */
static uint32_t merge_lids(const struct setting *setting, uint16_t *lids)
{
	const struct keys_entries *old = &setting->old, *fresh = &setting->fresh;
	uint32_t count = 0, i = 0, j = 0;

	while (i < old->lid_count || j < fresh->lid_count) {
		const uint32_t first = i < old->lid_count ? old->lids[i] : UINT32_MAX;
		const uint32_t other = j < fresh->lid_count ? fresh->lids[j] : UINT32_MAX;
		lids[count++] = (uint16_t)(first < other ? first : other);
		i += first <= other;
		j += other <= first;
	}
	return count;
}

/* From the old entries to the new ones at once. */
static int prove_at_once(struct setting *setting)
{
	const size_t room = (size_t)setting->old.lid_count + setting->fresh.lid_count + 1;
	uint16_t *lids = malloc(room * sizeof(*lids));
	struct hd_keys_change change = {
	    .before = setting->worker->routing->routes, .after = setting->routes, .lids = lids};

	if (!lids)
		return hd_error_no_memory(&setting->err);
	change.count = merge_lids(setting, lids);
	change.comes = !setting->old.lid_count;
	change.goes = !setting->fresh.lid_count;
	int rc = prove_change(setting, &change, &setting->blocks);
	free(lids);
	return rc;
}

/* One of the two changes by way of the routes without the key, whose blocks are found first. */
static int prove_half(struct setting *setting, const struct hd_routes *before,
		      const struct hd_routes *after, const struct keys_entries *entries)
{
	static const struct keys_entries none = {0};
	const struct hd_keys_change change = {.before = before,
					      .after = after,
					      .lids = entries->lids,
					      .count = entries->lid_count,
					      .comes = entries == &setting->fresh,
					      .goes = entries == &setting->old};
	struct keys_blocks blocks;

	if (keys_blocks_find(before, after, entries, &none, &blocks))
		return hd_error_no_memory(&setting->err);
	int rc = prove_change(setting, &change, &blocks);
	keys_blocks_release(&blocks);
	return rc;
}

/* First the old entries are taken back, in a proof that has their dependencies; then come the new ones, without these. */
static int prove_by_base(struct setting *setting)
{
	struct keys_worker *worker = setting->worker;
	struct hd_routes *middle = hd_routes_copy(worker->routing->routes);
	int rc = middle ? keys_worker_make_proof(worker, 0, &setting->err)
			: hd_error_no_memory(&setting->err);

	if (!rc) {
		keys_entries_revert(&setting->old, routing_base(worker->routing), middle);
		rc = prove_half(setting, worker->routing->routes, middle, &setting->old);
	}
	if (!rc)
		rc = keys_worker_make_proof(worker, setting->set->key, &setting->err);
	if (!rc) {
		setting->without_before = true;
		rc = prove_half(setting, middle, setting->routes, &setting->fresh);
	}
	hd_routes_free(middle);
	return rc;
}

/*
 * A key that goes is never kept: without an order, its entries are taken away first. Packets that are still sent get
 * lost meanwhile, but they close no circle and no credit loop.
 */
static int take_away(struct setting *setting)
{
	keys_worker_forget_proof(setting->worker); /* it is stricter than it has to be */
	return keys_steps_add_holes(&setting->order, &setting->blocks)
		   ? hd_error_no_memory(&setting->err)
		   : 0;
}

static int prove_other_way(struct setting *setting)
{
	keys_steps_release(&setting->order);
	setting->alone = true;
	if (setting->worker->adaptive.plan) {
		int rc = keys_worker_make_proof(setting->worker, setting->set->key, &setting->err);
		setting->without_before = true;
		return rc ? rc : prove_adaptive(setting);
	}
	return setting->fresh.count ? prove_by_base(setting) : take_away(setting);
}

static int prove_way(struct setting *setting)
{
	return setting->worker->adaptive.plan ? prove_adaptive(setting) : prove_at_once(setting);
}

/* Once more with a proof that has no dependencies of keys that are gone, or in another way. */
static int prove_again(struct setting *setting, int rc)
{
	struct keys_worker *worker = setting->worker;

	if (rc == -ELOOP && !setting->before && hd_keys_proof_is_stale(worker->proof)) {
		rc = keys_worker_make_proof(worker, 0, &setting->err);
		if (!rc)
			rc = prove_way(setting);
	}
	if (setting->before && worker->proof &&
	    (rc == -ELOOP || (rc == -EINVAL && !setting->fresh.count)))
		rc = prove_other_way(setting);
	return rc;
}

int keys_prove(struct setting *setting)
{
	struct keys_worker *worker = setting->worker;
	int rc = worker->proof ? 0 : keys_worker_make_proof(worker, 0, &setting->err);

	if (!rc)
		rc = prove_way(setting);
	if (rc && worker->proof && !setting->joins)
		rc = prove_again(setting, rc);
	setting->proven = !rc;
	return rc;
}
