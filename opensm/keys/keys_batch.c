/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SETs that go together. The thread of the part proves them. Then the writer's thread sends them, and hands the result
 * to OpenSM, or takes back what was sent.
 *
 * Handing a job to the writer's thread, OpenSM's lock, and blocks in which several keys have entries cost much more than
 * the entries of one key. So SETs that have come together go together, as long as they are for different LIDs and may be
 * sent in any order. The proof keeps what each of them depends on before and after, so it covers all mixtures of all of
 * them. A SET that needs an order, or another proof, goes alone.
 */
#include "keys_batch_state.h"
#include "keys_send.h"
#include "keys_setting.h"
#include "part.h"
#include "routing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a batch of several SETs: a repair has to wait for all of them. */
#define BLOCKS_MOST 256u

/* ---- what they change together ---- */

/* The blocks of all, in the order of the only one, or in any order. */
static int make_order(struct keys_batch *batch)
{
	struct setting *first = &batch->settings[0];
	int rc = 0;

	for (uint32_t i = 0; !rc && i < batch->count; i++)
		rc = keys_entries_append(&batch->old, &batch->settings[i].old) ||
			     keys_entries_append(&batch->fresh, &batch->settings[i].fresh)
			 ? -ENOMEM
			 : 0;
	if (!rc) {
		keys_entries_sort(&batch->old);
		keys_entries_sort(&batch->fresh);
		rc = keys_blocks_find(batch->worker->routing->routes, batch->routes, &batch->old,
				      &batch->fresh, &batch->blocks);
	}
	if (!rc && batch->count > 1) {
		rc = keys_steps_add_blocks(&batch->order, &batch->blocks);
	} else if (!rc) {
		batch->order = first->order;
		first->order = (struct keys_steps){0};
	}
	return rc ? hd_error_no_memory(&batch->err) : 0;
}

/* The entries that are static with the keys, and those that may change. */
static int make_pins(struct keys_batch *batch)
{
	static const struct hd_ar_pins none = {0};
	struct hd_ar_pins gone = {0}, come = {0}, after = {0};
	int rc = keys_entries_pins(&batch->old, &gone);

	if (!rc)
		rc = keys_entries_pins(&batch->fresh, &come);
	if (!rc)
		rc = hd_ar_pins_change(&gone, &none, &come, &batch->change.places);
	if (!rc)
		rc = hd_ar_pins_change(&batch->worker->routing->pins, &gone, &come, &after);
	if (!rc)
		routing_take_pins(batch->routing, &after);
	hd_ar_pins_release(&gone);
	hd_ar_pins_release(&come);
	return rc;
}

static int compare_changes(const void *a, const void *b)
{
	const struct keys_set_change *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

static struct keys_set *make_keys(const struct keys_batch *batch)
{
	struct keys_set_change changes[KEYS_WORKER_SETS];
	struct keys_set *keys = NULL;
	bool complete = true;

	for (uint32_t i = 0; i < batch->count; i++) {
		const struct hd_channel_set *set = batch->settings[i].set;
		struct keys_key *key =
		    set->overlay.count ? keys_key_new(set->key, &set->overlay) : NULL;
		changes[i] = (struct keys_set_change){.id = set->key, .key = key};
		complete &= key || !set->overlay.count;
	}
	qsort(changes, batch->count, sizeof(*changes), compare_changes);
	if (complete)
		keys = keys_set_change(batch->worker->set, changes, batch->count);
	for (uint32_t i = 0; i < batch->count; i++)
		keys_key_release(changes[i].key);
	return keys;
}

static int make_routing(struct keys_batch *batch)
{
	batch->keys = make_keys(batch);
	if (!batch->keys)
		return hd_error_no_memory(&batch->err);
	batch->routing = routing_with_keys(batch->worker->routing, batch->routes);
	if (batch->routing)
		batch->routes = NULL;
	return batch->routing && !make_pins(batch) ? 0 : hd_error_no_memory(&batch->err);
}

/* ---- results ---- */

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
	else if (worker->adaptive.state == ADAPTIVE_UNKNOWN)
		fill(result, HD_CHANNEL_FAILED,
		     "it is not known what the switches hold of adaptive routing");
	else
		return false;
	return true;
}

/* ---- which SETs go together ---- */

static bool has_key(const struct keys_batch *batch, uint64_t key)
{
	for (uint32_t i = 0; i < batch->count; i++)
		if (batch->settings[i].set->key == key)
			return true;
	return false;
}

static void note_lids(struct keys_batch *batch, const struct keys_entries *entries)
{
	for (uint32_t i = 0; i < entries->lid_count; i++)
		batch->lids[entries->lids[i] / 64] |= UINT64_C(1) << (entries->lids[i] % 64);
}

/* A bit for each block; NULL: no memory. */
static uint64_t *make_bits(const struct hd_routes *routes)
{
	const size_t blocks = (size_t)routes->switch_count * (routes->stride / HD_LFT_BLOCK);

	return calloc(blocks / 64 + 1, sizeof(uint64_t));
}

static int prepare_routes(struct keys_batch *batch)
{
	struct keys_worker *worker = batch->worker;

	if (batch->routes)
		return 0;
	if (!worker->met)
		worker->met = make_bits(worker->routing->routes);
	batch->routes = worker->spare;
	worker->spare = NULL;
	if (!batch->routes)
		batch->routes = hd_routes_copy(worker->routing->routes);
	return batch->routes ? 0 : -ENOMEM;
}

/* The bit of a block; NULL: there is no memory for them. */
static uint64_t *bit_of(struct keys_worker *worker, const struct keys_block *block, uint64_t *bit)
{
	const uint32_t blocks = worker->routing->routes->stride / HD_LFT_BLOCK;
	const size_t number = (size_t)block->sw * blocks + block->number;

	*bit = UINT64_C(1) << (number % 64);
	return worker->met ? &worker->met[number / 64] : NULL;
}

/* How many of the blocks of a SET no other one of the batch has. */
static uint32_t count_new(struct keys_worker *worker, const struct keys_blocks *blocks)
{
	uint32_t count = 0;
	uint64_t bit;

	for (uint32_t i = 0; i < blocks->count; i++) {
		uint64_t *word = bit_of(worker, &blocks->list[i], &bit);
		count += !word || !(*word & bit);
		if (word)
			*word |= bit;
	}
	return count;
}

/* For the next batch. O(blocks of the batch). */
static void forget_blocks(struct keys_batch *batch)
{
	uint64_t bit;

	for (uint32_t i = 0; i < batch->count; i++) {
		const struct keys_blocks *blocks = &batch->settings[i].blocks;
		for (uint32_t j = 0; j < blocks->count; j++) {
			uint64_t *word = bit_of(batch->worker, &blocks->list[j], &bit);
			if (word)
				*word = 0;
		}
	}
}

static void add(struct keys_batch *batch, struct setting *setting)
{
	note_lids(batch, &setting->fresh);
	batch->count++;
	batch->expected += count_new(batch->worker, &setting->blocks);
	batch->full =
	    setting->alone || batch->count >= batch->most || batch->expected >= BLOCKS_MOST;
}

/* Judges a SET. Returns false if it cannot go with those before it: then it is for the next batch. */
static bool take(struct keys_batch *batch, const struct hd_channel_set *set,
		 struct hd_channel_result *result)
{
	struct setting *setting = &batch->settings[batch->count];
	int rc = prepare_routes(batch);

	*setting = (struct setting){.worker = batch->worker,
				    .set = set,
				    .result = result,
				    .joins = batch->count > 0,
				    .taken = batch->lids,
				    .routes = batch->routes,
				    .before = keys_set_find(batch->worker->set, set->key)};
	rc = rc ? hd_error_no_memory(&setting->err) : setting_judge(setting);
	const bool fits = !setting->joins || (!setting->alone && rc != -EINVAL && rc != -ELOOP);
	if (!rc && fits) {
		add(batch, setting);
		return true;
	}
	setting_undo(setting);
	setting_note_proof(setting, false);
	fill(result, status_of(rc), rc ? setting->err.text : "");
	setting_release(setting);
	return fits;
}

/* Answers SETs, or takes them into the batch. Returns their number. */
static uint32_t collect(struct keys_batch *batch, const struct hd_channel_message *sets,
			uint32_t count, struct hd_channel_result *results)
{
	uint32_t taken = 0;

	for (; taken < count && !batch->full; taken++) {
		const struct hd_channel_set *set = &sets[taken].set;
		struct hd_channel_result *result = &results[taken];
		*result = (struct hd_channel_result){.request = set->request, .key = set->key};
		if (has_key(batch, set->key))
			break;
		if (!answer_at_once(batch->worker, set, result) && !take(batch, set, result))
			break;
	}
	return taken;
}

/* ---- the batch ---- */

/* Keeps the former tables for the next batch: they get the blocks of this one. */
static void keep_former(struct keys_batch *batch, struct hd_routes *routes)
{
	for (uint32_t i = 0; routes && i < batch->blocks.count; i++) {
		const struct keys_block *block = &batch->blocks.list[i];
		memcpy(hd_routes_row(routes, block->sw) + (size_t)block->number * HD_LFT_BLOCK,
		       block->after, HD_LFT_BLOCK);
	}
	hd_routes_free(batch->worker->spare);
	batch->worker->spare = routes;
}

/* The keys are in force. */
static void settle(struct keys_batch *batch)
{
	struct keys_worker *worker = batch->worker;
	struct routing *former = worker->routing;

	worker->routing = batch->routing;
	batch->routing = NULL;
	keys_set_release(worker->set);
	worker->set = batch->keys;
	batch->keys = NULL;
	keep_former(batch, routing_recycle(former));
	for (uint32_t i = 0; i < batch->count; i++)
		setting_own(&batch->settings[i]);
	keys_set_release(worker->owned);
	worker->owned = keys_set_hold(worker->set);
	keys_set_release(batch->former);
}

static int program(struct keys_batch *batch)
{
	int rc = make_order(batch);

	if (!rc)
		rc = make_routing(batch);
	if (rc)
		return rc;
	if (!keys_shared_do(batch->worker->shared, keys_send, batch))
		return -ECANCELED;
	if (!batch->rc)
		settle(batch);
	return batch->rc;
}

static void say(const struct keys_batch *batch, int rc)
{
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct setting *setting = &batch->settings[i];
		struct hd_channel_result *result = setting->result;
		if (!rc) {
			result->blocks =
			    batch->count > 1 ? setting->blocks.count : batch->order.count;
			result->changed = setting->blocks.changed;
		}
		fill(result, status_of(rc), rc ? batch->err.text : "");
	}
}

/* Tables that are not in force get back the entries that are, for the next batch. */
static void keep_tables(struct keys_batch *batch)
{
	if (batch->routing)
		batch->routes = routing_recycle(batch->routing);
	if (!batch->routes)
		return;
	for (uint32_t i = 0; i < batch->count; i++)
		setting_undo(&batch->settings[i]);
	hd_routes_free(batch->worker->spare);
	batch->worker->spare = batch->routes;
}

static void release(struct keys_batch *batch)
{
	keep_tables(batch);
	for (uint32_t i = 0; i < batch->count; i++)
		setting_release(&batch->settings[i]);
	keys_entries_release(&batch->old);
	keys_entries_release(&batch->fresh);
	keys_set_release(batch->keys);
	keys_blocks_release(&batch->blocks);
	keys_steps_release(&batch->order);
	hd_routes_free(batch->in_place);
	hd_ar_pins_release(&batch->change.places);
	free(batch);
}

/* Some SETs in one batch. Returns their number; 0: they have to be asked again. *apart: they failed together, and each is
 * to be tried on its own. */
static uint32_t set_some(struct keys_worker *worker, uint64_t turn,
			 const struct hd_channel_message *sets, uint32_t count,
			 struct hd_channel_result *results, bool *apart)
{
	struct keys_batch *batch = calloc(1, sizeof(*batch));

	*apart = false;
	if (!batch) {
		results[0] = (struct hd_channel_result){.request = sets[0].set.request,
							.key = sets[0].set.key};
		fill(&results[0], HD_CHANNEL_FAILED, "out of memory");
		return 1;
	}
	batch->worker = worker;
	batch->turn = turn;
	batch->most = worker->apart ? 1 : KEYS_WORKER_SETS;
	uint32_t taken = collect(batch, sets, count, results);
	forget_blocks(batch);
	const int rc = batch->count ? program(batch) : 0;
	say(batch, rc);
	for (uint32_t i = 0; i < batch->count; i++)
		setting_note_proof(&batch->settings[i], !rc);
	*apart = rc && rc != -ECANCELED && batch->count > 1;
	if (*apart)
		worker->apart = batch->count;
	else if (worker->apart && batch->count)
		worker->apart--;
	if (rc == -ECANCELED) {
		worker->canceled_turn = turn;
		taken = 0;
	}
	release(batch);
	return taken;
}

uint32_t keys_worker_set(struct keys_worker *worker, const struct hd_channel_message *sets,
			 uint32_t count, struct hd_channel_result *results)
{
	uint32_t taken;
	bool apart = false;

	do {
		const uint64_t turn = keys_worker_begin(worker);
		if (!turn)
			return 0;
		taken = set_some(worker, turn, sets, count, results, &apart);
	} while (apart);
	return taken;
}
