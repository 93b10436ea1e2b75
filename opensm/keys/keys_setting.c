/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One SET: prove, send, and hand the result to OpenSM; or take back what was sent. */
#include "ar_addresses.h"
#include "keys_entries.h"
#include "keys_worker.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include "writer_tables.h"
#include <heddle/change/keys_proof.h>

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A SET that is being done. */
struct setting {
	struct keys_worker *worker;
	const struct hd_channel_set *set;
	uint64_t turn;
	const struct keys_key *before; /* NULL: the key is new */
	struct keys_entries old, fresh; /* entries of the key before, and those that it gets */
	struct hd_routes *routes; /* with them; becomes a part of `routing` */
	struct routing *routing;
	struct keys_set *keys; /* with the key */
	struct keys_blocks blocks;
	struct keys_program program;
	bool proven; /* the proof has the dependencies of `fresh` */
	bool without_before; /* the proof has no dependencies of `before` */
	struct hd_error err;
};

static osm_opensm_t *osm_of(const struct setting *setting)
{
	return setting->worker->shared->context->osm;
}

/* ---- judging ---- */

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

/* After the key is in force. */
static void change_owners(struct setting *setting)
{
	struct keys_worker *worker = setting->worker;

	for (uint32_t i = 0; i < setting->old.lid_count; i++)
		worker->owner[setting->old.lids[i]] = 0;
	for (uint32_t i = 0; i < setting->fresh.lid_count; i++)
		worker->owner[setting->fresh.lids[i]] = setting->set->key;
	keys_set_release(worker->owned);
	worker->owned = keys_set_hold(worker->set);
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

static int make_tables(struct setting *setting)
{
	struct routing *routing = setting->worker->routing;

	setting->routes = setting->worker->spare;
	setting->worker->spare = NULL;
	if (!setting->routes)
		setting->routes = hd_routes_copy(routing->routes);
	if (!setting->routes)
		return hd_error_no_memory(&setting->err);
	keys_entries_revert(&setting->old, routing_base(routing), setting->routes);
	keys_entries_write(&setting->fresh, setting->routes);
	if (!keys_blocks_find(routing->routes, setting->routes, &setting->old, &setting->fresh,
			      &setting->blocks))
		return 0;
	hd_routes_free(setting->routes);
	setting->routes = NULL;
	return hd_error_no_memory(&setting->err);
}

/* Keeps tables for the next SET that differ from those now published in the blocks of this one. */
static void keep_spare(struct setting *setting, struct hd_routes *routes, bool new)
{
	for (uint32_t i = 0; routes && i < setting->blocks.count; i++) {
		const struct keys_block *block = &setting->blocks.list[i];
		memcpy(hd_routes_row(routes, block->sw) + (size_t)block->number * HD_LFT_BLOCK,
		       new ? block->after : block->before, HD_LFT_BLOCK);
	}
	hd_routes_free(setting->worker->spare);
	setting->worker->spare = routes;
}

/* The dependencies of keys that have gone may be in the way: then without them. */
static int prove(struct setting *setting)
{
	struct keys_worker *worker = setting->worker;
	struct hd_error *err = &setting->err;
	int rc = worker->proof ? 0 : keys_worker_make_proof(worker, 0, err);

	if (!rc)
		rc = hd_keys_proof_add(worker->proof, setting->routes, setting->fresh.lids,
				       setting->fresh.lid_count, err);
	if (rc == -ELOOP && worker->proof &&
	    (setting->before || hd_keys_proof_is_stale(worker->proof))) {
		rc = keys_worker_make_proof(worker, setting->set->key, err);
		if (!rc)
			rc = hd_keys_proof_add(worker->proof, setting->routes, setting->fresh.lids,
					       setting->fresh.lid_count, err);
		setting->without_before = true;
	}
	setting->proven = !rc;
	return rc;
}

static int make_set(struct setting *setting)
{
	const struct hd_channel_set *set = setting->set;
	struct keys_key *key = NULL;

	if (set->overlay.count) {
		key = keys_key_new(set->key, &set->overlay);
		if (!key)
			return hd_error_no_memory(&setting->err);
	}
	setting->keys = keys_set_with(setting->worker->set, set->key, key);
	keys_key_release(key);
	setting->routing = routing_with_keys(setting->worker->routing, setting->routes);
	if (setting->routing)
		setting->routes = NULL;
	return setting->keys && setting->routing ? 0 : hd_error_no_memory(&setting->err);
}

/* ---- sending ---- */

static int aim(struct keys_worker *worker, struct hd_error *err)
{
	const struct hd_fabric *fabric = worker->routing->fabric;
	struct osm_opensm *osm = worker->shared->context->osm;
	struct hd_smp_address *addresses;
	int rc;

	if (worker->aimed)
		return 0;
	cl_plock_acquire(&osm->lock);
	addresses = ar_addresses_find(fabric, osm);
	cl_plock_release(&osm->lock);
	if (!addresses)
		return hd_error_no_memory(err);
	rc = keys_port_aim(&worker->port, worker->news.port_guid, &worker->news.limits, addresses,
			   fabric->switch_count, err);
	free(addresses);
	worker->aimed = !rc;
	return rc;
}

static void lock_all(const struct setting *setting)
{
	cl_plock_excl_acquire(&osm_of(setting)->lock);
	pthread_mutex_lock(&setting->worker->shared->lock);
}

static void unlock_all(const struct setting *setting)
{
	pthread_mutex_unlock(&setting->worker->shared->lock);
	cl_plock_release(&osm_of(setting)->lock);
}

/* Errors: -EAGAIN OpenSM does not have a switch, or does not know its old content, with its name. */
static int check_tables(struct setting *setting)
{
	const struct hd_fabric *fabric = setting->worker->routing->fabric;
	char name[HD_LABEL_SIZE];

	for (uint32_t i = 0; i < setting->blocks.count; i++) {
		const struct keys_block *block = &setting->blocks.list[i];
		if (!writer_tables_holds(osm_of(setting), fabric, block->sw, block->number,
					 block->before))
			return hd_error_set(
			    &setting->err, -EAGAIN,
			    "switch %s has not acknowledged its forwarding table",
			    keys_entries_switch_name(fabric, block->sw, name, sizeof(name)));
	}
	return 0;
}

static void take_blocks(const struct setting *setting)
{
	for (uint32_t i = 0; i < setting->blocks.count; i++) {
		const struct keys_block *block = &setting->blocks.list[i];
		writer_tables_take(osm_of(setting), setting->worker->routing->fabric, block->sw,
				   block->number, block->after);
	}
}

/* Tells the sweeper thread what is under way. Errors: -ECANCELED it has taken the turn; -EAGAIN. */
static int take_off(struct setting *setting)
{
	struct keys_shared *shared = setting->worker->shared;
	const struct hd_fabric *fabric = setting->worker->routing->fabric;
	int rc = -ECANCELED;

	lock_all(setting);
	if (shared->turn == setting->turn)
		rc = check_tables(setting);
	if (!rc) {
		shared->flight = &setting->blocks;
		shared->flight_fabric = fabric;
	}
	unlock_all(setting);
	return rc;
}

/* Puts the key in force. Errors: -ECANCELED the sweeper thread has taken the turn. */
static int land(struct setting *setting)
{
	struct keys_worker *worker = setting->worker;
	struct keys_shared *shared = worker->shared;
	struct routing *former = worker->routing;
	struct keys_set *former_set = NULL;
	int rc = -ECANCELED;

	lock_all(setting);
	if (shared->turn == setting->turn) {
		take_blocks(setting);
		shared->flight = NULL;
		worker->routing = routing_hold(setting->routing);
		part_replace(shared->context, setting->routing);
		former_set = shared->set;
		shared->set = keys_set_hold(setting->keys);
		rc = 0;
	}
	unlock_all(setting);
	if (rc)
		return rc;
	setting->routing = NULL;
	keys_set_release(worker->set);
	worker->set = setting->keys;
	setting->keys = NULL;
	keep_spare(setting, routing_recycle(former), true);
	change_owners(setting);
	keys_set_release(former_set);
	return 0;
}

/* A switch may hold what it should not: only a sweep finds out whether it is still there. */
static void demand_sweep(struct osm_opensm *osm)
{
	osm->subn.force_heavy_sweep = TRUE;
	osm_sm_signal(&osm->sm, OSM_SIGNAL_SWEEP);
}

static bool any_unknown(const struct keys_blocks *blocks)
{
	for (uint32_t i = 0; i < blocks->count; i++)
		if (blocks->list[i].held == KEYS_HELD_UNKNOWN)
			return true;
	return false;
}

static void say_failure(struct setting *setting, int rc)
{
	const struct keys_program *program = &setting->program;
	char name[HD_LABEL_SIZE];

	if (program->failed == HD_NONE) {
		hd_error_set(&setting->err, rc, "OpenSM's port cannot send: %s", strerror(-rc));
		return;
	}
	keys_entries_switch_name(setting->worker->routing->fabric, program->failed, name,
				 sizeof(name));
	if (rc == -EREMOTEIO)
		hd_error_set(&setting->err, rc,
			     "switch %s refuses its forwarding table with status 0x%04x", name,
			     program->status);
	else
		hd_error_set(&setting->err, rc, "switch %s does not answer", name);
}

/* Switches get the old blocks again. Returns rc, or -ECANCELED. */
static int take_back(struct setting *setting, int rc)
{
	struct keys_shared *shared = setting->worker->shared;
	bool unknown = false;

	say_failure(setting, rc);
	int back = keys_program_take_back(&setting->program, &setting->blocks);
	lock_all(setting);
	if (shared->turn == setting->turn) {
		unknown = any_unknown(&setting->blocks);
		keys_shared_forget(shared, setting->worker->routing->fabric, &setting->blocks,
				   true);
		shared->unsure |= unknown;
		shared->flight = NULL;
	}
	unlock_all(setting);
	if (unknown)
		demand_sweep(osm_of(setting));
	if (back && back != -ECANCELED)
		keys_port_close(&setting->worker->port);
	setting->worker->aimed &= !back;
	return rc;
}

static int send_blocks(struct setting *setting)
{
	struct keys_worker *worker = setting->worker;
	struct keys_turn turn = {worker->shared, setting->turn};
	int rc = aim(worker, &setting->err);

	if (!rc)
		rc = take_off(setting);
	if (rc)
		return rc;
	setting->program = (struct keys_program){.queue = worker->port.queue,
						 .port = keys_port_smp(&worker->port),
						 .work = keys_shared_work,
						 .context = &turn};
	rc = keys_program_send(&setting->program, &setting->blocks);
	return rc && rc != -ECANCELED ? take_back(setting, rc) : rc;
}

/* ---- the SET ---- */

/* After a cancellation it is not known what the switches hold. The sweeper thread tells OpenSM so, or
 * we do, if we come first. */
static void forget_flight(struct setting *setting)
{
	struct keys_shared *shared = setting->worker->shared;

	lock_all(setting);
	if (shared->flight == &setting->blocks) {
		keys_shared_forget(shared, setting->worker->routing->fabric, &setting->blocks,
				   false);
		shared->unsure = true;
	}
	shared->flight = NULL;
	unlock_all(setting);
}

static void release(struct setting *setting)
{
	if (setting->routing)
		setting->routes = routing_recycle(setting->routing);
	if (setting->routes)
		keep_spare(setting, setting->routes, false);
	keys_entries_release(&setting->old);
	keys_entries_release(&setting->fresh);
	keys_set_release(setting->keys);
	keys_blocks_release(&setting->blocks);
}

static enum hd_channel_status status_of(int rc)
{
	switch (rc) {
	case 0:
		return HD_CHANNEL_DONE;
	case -EINVAL:
	case -ELOOP:
		return HD_CHANNEL_REFUSED;
	case -ECANCELED:
		return HD_CHANNEL_BUSY;
	default:
		return HD_CHANNEL_FAILED;
	}
}

static void fill(struct hd_channel_result *result, enum hd_channel_status status,
		 const char *reason)
{
	result->status = status;
	snprintf(result->reason, sizeof(result->reason), "%.*s", HD_CHANNEL_TEXT - 1, reason);
}

/* Switches have nothing to do with it, as long as nothing is sent. */
static int judge(struct setting *setting)
{
	int rc = find_entries(setting);

	if (!rc)
		rc = make_tables(setting);
	return rc ? rc : prove(setting);
}

static int program(struct setting *setting)
{
	int rc = make_set(setting);

	if (rc)
		return rc;
	if (setting->blocks.count)
		rc = send_blocks(setting);
	if (rc && rc != -ECANCELED)
		rc = -EIO; /* the key itself is sound */
	if (!rc)
		rc = land(setting);
	if (rc) /* perhaps the turn was taken after the last answer */
		forget_flight(setting);
	return rc;
}

static int put_in_force(struct setting *setting)
{
	struct keys_worker *worker = setting->worker;
	int rc = judge(setting);

	if (!rc)
		rc = program(setting);
	if (rc && setting->without_before) /* it stays, so its dependencies must come back */
		keys_worker_forget_proof(worker);
	/* the dependencies of the entries before, or of those that are not in force after all */
	if (worker->proof && setting->proven && (rc || setting->before))
		hd_keys_proof_note_removed(worker->proof);
	return rc;
}

/* What can be answered without a look at the key. */
static bool answer_at_once(const struct keys_worker *worker, const struct hd_channel_set *set,
			   struct hd_channel_result *result)
{
	const struct keys_key *before = keys_set_find(worker->set, set->key);

	if (!set->overlay.count && !before)
		fill(result, HD_CHANNEL_DONE, "");
	else if (!worker->routing)
		fill(result, HD_CHANNEL_REFUSED, worker->news.refusal);
	else if (set->overlay.count && set->epoch != worker->epoch)
		fill(result, HD_CHANNEL_STALE, "the fabric has changed since the key was made");
	else if (before && keys_key_equal(before, &set->overlay))
		fill(result, HD_CHANNEL_DONE, "");
	else
		return false;
	return true;
}

bool keys_worker_set(struct keys_worker *worker, const struct hd_channel_set *set,
		     struct hd_channel_result *result)
{
	struct setting setting = {.worker = worker, .set = set};

	*result = (struct hd_channel_result){.request = set->request, .key = set->key};
	setting.turn = keys_worker_begin(worker);
	if (!setting.turn)
		return false;
	if (answer_at_once(worker, set, result))
		return true;
	setting.before = keys_set_find(worker->set, set->key);
	int rc = put_in_force(&setting);
	if (!rc) {
		result->blocks = setting.blocks.count;
		result->changed = setting.blocks.changed;
	}
	fill(result, status_of(rc), rc ? setting.err.text : "");
	release(&setting);
	return rc != -ECANCELED;
}
