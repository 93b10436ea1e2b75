/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_setting.h"
#include "keys_prove.h"
#include "keys_setting_state.h"
#include "routing.h"
#include <heddle/change/keys_proof.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void own_lids(struct keys_worker *worker)
{
	struct keys_set *set = worker->set;

	if (worker->owned == set)
		return;
	memset(worker->owner, 0, (HD_LID_LAST + 1u) * sizeof(*worker->owner));
	keys_set_release(worker->owned);
	worker->owned = keys_set_hold(set);
	for (uint32_t i = 0; i < set->count; i++)
		for (uint32_t j = 0; j < set->keys[i]->count; j++)
			worker->owner[set->keys[i]->entries[j].lid] = set->keys[i]->id;
}

static int check_owners(struct setting *setting)
{
	const uint64_t *owner = setting->worker->owner;

	own_lids(setting->worker);
	for (uint32_t i = 0; i < setting->fresh.lid_count; i++) {
		uint16_t lid = setting->fresh.lids[i];
		if (owner[lid] && owner[lid] != setting->set->key)
			return hd_error_set(&setting->err, -EINVAL,
					    "LID %u is in use by key %" PRIu64, lid, owner[lid]);
		if (setting->taken[lid / 64] >> (lid % 64) & 1)
			return hd_error_set(&setting->err, -EINVAL,
					    "LID %u is that of a key before this one", lid);
	}
	return 0;
}

static int find_entries(struct setting *setting)
{
	const struct hd_fabric *fabric = setting->worker->routing->fabric;
	const struct hd_key_overlay *overlay = &setting->set->overlay;
	int rc = keys_entries_find(fabric, overlay->entries, overlay->count, &setting->fresh,
				   &setting->err);

	if (!rc)
		rc = check_owners(setting);
	if (!rc && setting->before)
		rc = keys_entries_find(fabric, setting->before->entries, setting->before->count,
				       &setting->old, &setting->err);
	return rc;
}

/* Writes the entries into the tables of the batch. */
static int change_tables(struct setting *setting)
{
	struct routing *routing = setting->worker->routing;

	keys_entries_revert(&setting->old, routing_base(routing), setting->routes);
	keys_entries_write(&setting->fresh, setting->routes);
	return keys_blocks_find(routing->routes, setting->routes, &setting->old, &setting->fresh,
				&setting->blocks)
		   ? hd_error_no_memory(&setting->err)
		   : 0;
}

int setting_judge(struct setting *setting)
{
	int rc = find_entries(setting);

	if (rc)
		return rc;
	setting->changed = true;
	rc = change_tables(setting);
	return rc ? rc : keys_prove(setting);
}

void setting_note_proof(struct setting *setting, bool in_force)
{
	struct keys_worker *worker = setting->worker;

	if (!in_force && setting->without_before) /* it stays, so its dependencies must come back */
		keys_worker_forget_proof(worker);
	/* the dependencies of the entries before, or of those that are not in force after all */
	if (worker->proof && setting->proven && (!in_force || setting->before))
		hd_keys_proof_note_removed(worker->proof);
}

void setting_undo(struct setting *setting)
{
	if (!setting->changed)
		return;
	keys_entries_revert(&setting->fresh, routing_base(setting->worker->routing),
			    setting->routes);
	keys_entries_write(&setting->old, setting->routes);
	setting->changed = false;
}

void setting_own(const struct setting *setting)
{
	uint64_t *owner = setting->worker->owner;

	for (uint32_t i = 0; i < setting->old.lid_count; i++)
		owner[setting->old.lids[i]] = 0;
	for (uint32_t i = 0; i < setting->fresh.lid_count; i++)
		owner[setting->fresh.lids[i]] = setting->set->key;
}

void setting_release(struct setting *setting)
{
	keys_entries_release(&setting->old);
	keys_entries_release(&setting->fresh);
	keys_blocks_release(&setting->blocks);
	keys_steps_release(&setting->order);
}
