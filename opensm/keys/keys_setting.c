/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One SET. The thread of the part proves it. Then the writer's thread sends it, and hands the result to OpenSM, or
 * takes back what was sent. */
#include "keys_prove.h"
#include "keys_setting_state.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include "switch_addresses.h"
#include "writer_lft.h"
#include <heddle/change/keys_proof.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* For which a repair waits for a SET that is being sent. Then it is left to the sweep, which need not wait for it. */
#define GRACE_MS 20

static struct writer *writer_of(const struct setting *setting)
{
	return setting->worker->shared->context->writer;
}

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

/* The entries that are static with the key, and those that may change. */
static int make_pins(struct setting *setting)
{
	static const struct hd_ar_pins none = {0};
	struct hd_ar_pins gone = {0}, come = {0}, after = {0};
	int rc = keys_entries_pins(&setting->old, &gone);

	if (!rc)
		rc = keys_entries_pins(&setting->fresh, &come);
	if (!rc)
		rc = hd_ar_pins_change(&gone, &none, &come, &setting->change.places);
	if (!rc)
		rc = hd_ar_pins_change(&setting->worker->routing->pins, &gone, &come, &after);
	if (!rc)
		routing_take_pins(setting->routing, &after);
	hd_ar_pins_release(&gone);
	hd_ar_pins_release(&come);
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
	return setting->keys && setting->routing && !make_pins(setting)
		   ? 0
		   : hd_error_no_memory(&setting->err);
}

/* ---- sending: the writer's thread ---- */

static int aim(struct setting *setting, const struct hd_smp_address *addresses)
{
	struct keys_worker *worker = setting->worker;
	const uint32_t count = worker->routing->fabric->switch_count;

	worker->queue =
	    hd_smp_queue_new(writer_port(writer_of(setting)), &worker->news.limits, count);
	if (!worker->queue)
		return hd_error_no_memory(&setting->err);
	for (uint32_t sw = 0; sw < count; sw++)
		hd_smp_queue_aim(worker->queue, sw, &addresses[sw]);
	return 0;
}

/* A queue at the writer's port, with the addresses of the switches. */
static int open_queue(struct setting *setting)
{
	struct keys_worker *worker = setting->worker;
	struct writer *writer = writer_of(setting);
	struct writer_hold hold;
	uint64_t number;
	int rc = writer_port_open(writer, worker->news.port_guid, &number, &setting->err);

	if (rc || (worker->queue && worker->port_number == number))
		return rc;
	hd_smp_queue_free(worker->queue);
	worker->queue = NULL;
	worker->port_number = number;
	if (!writer_lock_try(writer, false, setting->turn, &hold))
		return hd_error_set(&setting->err, -ECANCELED, WRITER_LOST_TURN);
	struct hd_smp_address *addresses =
	    switch_addresses_find(worker->routing->fabric, osm_of(setting));
	writer_lock_release(writer, hold);
	rc = addresses ? aim(setting, addresses) : hd_error_no_memory(&setting->err);
	free(addresses);
	return rc;
}

/* Puts the key in force. Errors: -ECANCELED other tables are in force. */
static int land(struct setting *setting)
{
	struct keys_shared *shared = setting->worker->shared;
	struct writer *writer = writer_of(setting);
	struct writer_hold hold;
	int rc = -ECANCELED;

	if (!writer_lock_try(writer, true, setting->turn, &hold))
		return rc;
	pthread_mutex_lock(&writer->turn_lock);
	if (writer_is_turn(writer, setting->turn)) {
		pthread_mutex_lock(&shared->lock);
		part_replace(shared->context, routing_hold(setting->routing));
		setting->former = shared->set;
		shared->set = keys_set_hold(setting->keys);
		pthread_mutex_unlock(&shared->lock);
		rc = 0;
	}
	pthread_mutex_unlock(&writer->turn_lock);
	writer_lock_release(writer, hold);
	return rc;
}

static void say_failure(struct setting *setting, const struct writer_lft *send, int rc)
{
	char name[HD_LABEL_SIZE];

	if (send->failed == HD_NONE) {
		hd_error_set(&setting->err, rc, "OpenSM's port cannot send: %s", strerror(-rc));
		return;
	}
	keys_entries_switch_name(send->fabric, send->failed, name, sizeof(name));
	if (rc == -EAGAIN)
		hd_error_set(&setting->err, rc,
			     "switch %s has not acknowledged its forwarding table", name);
	else if (rc == -EREMOTEIO)
		hd_error_set(&setting->err, rc,
			     "switch %s refuses its forwarding table with status 0x%04x", name,
			     send->status);
	else
		hd_error_set(&setting->err, rc, "switch %s does not answer", name);
}

/* A switch that does not answer must not keep a repair waiting: perhaps that mends the path to it. */
static bool go_on(void *context)
{
	struct setting *setting = context;
	const double now = monotonic_ms();

	if (!writer_is_wanted(writer_of(setting), WRITER_KEYS))
		setting->repair_since = 0;
	else if (!setting->repair_since)
		setting->repair_since = now;
	setting->stopped |= !keys_shared_go_on(setting->worker->shared) ||
			    (setting->repair_since && now - setting->repair_since > GRACE_MS);
	return !setting->stopped;
}

/* Sends writes of one order, step by step; *sent: those that switches may have taken. */
static int run(struct setting *setting, struct writer_lft *send, const struct keys_steps *order,
	       uint32_t *sent, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < order->count; i++)
		hd_smp_queue_forgive(setting->worker->queue, order->writes[i].sw);
	*sent = 0;
	for (uint32_t begin = 0, end; !rc && begin < order->count; begin = end) {
		end = keys_steps_end(order, begin);
		send->writes = order->writes + begin;
		send->count = end - begin;
		rc = writer_lft_run(send, err);
		*sent = send->begun ? end : *sent;
	}
	return rc;
}

/* It is not known what the switches hold: only a sweep finds out. */
static void be_unsure(struct setting *setting)
{
	struct keys_shared *shared = setting->worker->shared;

	keys_shared_note_unsure(shared, setting->turn, &shared->unsure_of_set);
	writer_demand_sweep(writer_of(setting));
}

/* Switches get the old blocks again, in the reverse order. What they hold is known only if all of them acknowledge. */
static void take_back(struct setting *setting, const struct writer_lft *sent)
{
	struct writer_lft send = *sent;
	struct keys_steps back = {0};
	struct hd_error ignored;
	uint32_t taken;

	send.before = NULL;
	send.in_place = NULL;
	send.go_on = true;
	if (keys_steps_reverse(&setting->order, setting->sent, setting->worker->routing->routes,
			       &back) ||
	    run(setting, &send, &back, &taken, &ignored))
		be_unsure(setting);
	keys_steps_release(&back);
}

static struct writer_lft sending_of(struct setting *setting)
{
	const struct keys_worker *worker = setting->worker;

	return (struct writer_lft){.writer = writer_of(setting),
				   .turn = setting->turn,
				   .fabric = worker->routing->fabric,
				   .queue = worker->queue,
				   .before = setting->in_place ? setting->in_place
							       : worker->routing->routes,
				   .in_place = setting->in_place,
				   .wanted = {go_on, setting}};
}

static int send_blocks(struct setting *setting)
{
	if (setting->order.steps > 1) {
		setting->in_place = hd_routes_copy(setting->worker->routing->routes);
		if (!setting->in_place)
			return hd_error_no_memory(&setting->err);
	}
	struct writer_lft send = sending_of(setting);
	int rc = run(setting, &send, &setting->order, &setting->sent, &setting->err);

	if (rc && rc != -ECANCELED && rc != -ENOMEM)
		say_failure(setting, &send, rc);
	if (rc == -ECANCELED && setting->sent)
		be_unsure(setting);
	else if (rc && setting->sent)
		take_back(setting, &send);
	return rc;
}

/* The tables of adaptive routing. If they do not get the entries, the forwarding tables must not have them either. */
static int change_adaptive(struct setting *setting)
{
	struct key_change *change = &setting->change;
	struct writer_lft send = sending_of(setting);

	change->after = setting->routing;
	int rc = part_key_programs(setting->worker->shared->context, change, &setting->err);
	if (rc && setting->blocks.count)
		take_back(setting, &send);
	return rc;
}

static void send_and_land(void *context)
{
	struct setting *setting = context;
	int rc;

	/* since the proof a repair may have changed tables, or half of them */
	if (keys_shared_turn(setting->worker->shared) != setting->turn ||
	    !adaptive_is(setting->worker->shared->context->adaptive, &setting->worker->adaptive)) {
		setting->rc = -ECANCELED;
		return;
	}
	rc = setting->blocks.count ? open_queue(setting) : 0;
	if (!rc && setting->blocks.count)
		rc = send_blocks(setting);
	if (!rc)
		rc = change_adaptive(setting);
	if (rc && rc != -ECANCELED)
		rc = -EIO; /* the key itself is sound */
	setting->rc = rc ? rc : land(setting);
	setting->change.published = !setting->rc;
	part_key_ends(setting->worker->shared->context, &setting->change);
}

/* ---- the SET ---- */

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
	keys_steps_release(&setting->order);
	hd_routes_free(setting->in_place);
	hd_ar_pins_release(&setting->change.places);
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
	return rc ? rc : keys_prove(setting);
}

/* The key is in force. */
static void settle(struct setting *setting)
{
	struct keys_worker *worker = setting->worker;
	struct routing *former = worker->routing;

	worker->routing = setting->routing;
	setting->routing = NULL;
	keys_set_release(worker->set);
	worker->set = setting->keys;
	setting->keys = NULL;
	keep_spare(setting, routing_recycle(former), true);
	change_owners(setting);
	keys_set_release(setting->former);
}

static int program(struct setting *setting)
{
	int rc = make_set(setting);

	if (rc)
		return rc;
	if (!keys_shared_do(setting->worker->shared, send_and_land, setting))
		return -ECANCELED;
	if (!setting->rc)
		settle(setting);
	return setting->rc;
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
	else if (worker->adaptive.state == ADAPTIVE_UNKNOWN)
		fill(result, HD_CHANNEL_FAILED,
		     "it is not known what the switches hold of adaptive routing");
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
		result->blocks = setting.order.count;
		result->changed = setting.blocks.changed;
	}
	fill(result, status_of(rc), rc ? setting.err.text : "");
	release(&setting);
	if (rc == -ECANCELED)
		worker->canceled_turn = setting.turn;
	return rc != -ECANCELED;
}
