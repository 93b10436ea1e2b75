/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_send.h"
#include "keys_batch_state.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include "switch_addresses.h"
#include "writer_lft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* For which a repair waits for SETs that are being sent. Then it is left to the sweep, which need not wait for it. */
#define GRACE_MS 20

static struct writer *writer_of(const struct keys_batch *batch)
{
	return batch->worker->shared->context->writer;
}

static osm_opensm_t *osm_of(const struct keys_batch *batch)
{
	return batch->worker->shared->context->osm;
}

static int aim(struct keys_batch *batch, const struct hd_smp_address *addresses)
{
	struct keys_worker *worker = batch->worker;
	const uint32_t count = worker->routing->fabric->switch_count;

	worker->queue =
	    hd_smp_queue_new(writer_port(writer_of(batch)), &worker->news.limits, count);
	if (!worker->queue)
		return hd_error_no_memory(&batch->err);
	for (uint32_t sw = 0; sw < count; sw++)
		hd_smp_queue_aim(worker->queue, sw, &addresses[sw]);
	return 0;
}

/* A queue at the writer's port, with the addresses of the switches. */
static int open_queue(struct keys_batch *batch)
{
	struct keys_worker *worker = batch->worker;
	struct writer *writer = writer_of(batch);
	struct writer_hold hold;
	uint64_t number;
	int rc = writer_port_open(writer, worker->news.port_guid, &number, &batch->err);

	if (rc || (worker->queue && worker->port_number == number))
		return rc;
	hd_smp_queue_free(worker->queue);
	worker->queue = NULL;
	worker->port_number = number;
	if (!writer_lock_try(writer, false, batch->turn, &hold))
		return hd_error_set(&batch->err, -ECANCELED, WRITER_LOST_TURN);
	struct hd_smp_address *addresses =
	    switch_addresses_find(worker->routing->fabric, osm_of(batch));
	writer_lock_release(writer, hold);
	rc = addresses ? aim(batch, addresses) : hd_error_no_memory(&batch->err);
	free(addresses);
	return rc;
}

/* Puts the keys in force. Errors: -ECANCELED other tables are in force. */
static int land(struct keys_batch *batch)
{
	struct keys_shared *shared = batch->worker->shared;
	struct writer *writer = writer_of(batch);
	struct writer_hold hold;
	int rc = -ECANCELED;

	if (!writer_lock_try(writer, true, batch->turn, &hold))
		return rc;
	pthread_mutex_lock(&writer->turn_lock);
	if (writer_is_turn(writer, batch->turn)) {
		pthread_mutex_lock(&shared->lock);
		part_replace(shared->context, routing_hold(batch->routing));
		batch->former = shared->set;
		shared->set = keys_set_hold(batch->keys);
		pthread_mutex_unlock(&shared->lock);
		rc = 0;
	}
	pthread_mutex_unlock(&writer->turn_lock);
	writer_lock_release(writer, hold);
	return rc;
}

static void say_failure(struct keys_batch *batch, const struct writer_lft *send, int rc)
{
	char name[HD_LABEL_SIZE];

	if (send->failed == HD_NONE) {
		hd_error_set(&batch->err, rc, "OpenSM's port cannot send: %s", strerror(-rc));
		return;
	}
	keys_entries_switch_name(send->fabric, send->failed, name, sizeof(name));
	if (rc == -EAGAIN)
		hd_error_set(&batch->err, rc, "switch %s has not acknowledged its forwarding table",
			     name);
	else if (rc == -EREMOTEIO)
		hd_error_set(&batch->err, rc,
			     "switch %s refuses its forwarding table with status 0x%04x", name,
			     send->status);
	else
		hd_error_set(&batch->err, rc, "switch %s does not answer", name);
}

/* A switch that does not answer must not keep a repair waiting: perhaps that mends the path to it. */
static bool go_on(void *context)
{
	struct keys_batch *batch = context;
	const double now = monotonic_ms();

	if (!writer_is_wanted(writer_of(batch), WRITER_KEYS))
		batch->repair_since = 0;
	else if (batch->repair_since <= 0)
		batch->repair_since = now;
	batch->stopped |= !keys_shared_go_on(batch->worker->shared) ||
			  (batch->repair_since > 0 && now - batch->repair_since > GRACE_MS);
	return !batch->stopped;
}

/* Sends writes of one order, step by step; *sent: those that switches may have taken. */
static int run(struct keys_batch *batch, struct writer_lft *send, const struct keys_steps *order,
	       uint32_t *sent, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < order->count; i++)
		hd_smp_queue_forgive(batch->worker->queue, order->writes[i].sw);
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
static void be_unsure(struct keys_batch *batch)
{
	struct keys_shared *shared = batch->worker->shared;

	batch->change.unsure = true;
	keys_shared_note_unsure(shared, batch->turn, &shared->unsure_of_set);
	writer_demand_sweep(writer_of(batch));
}

/* Switches get the old blocks again, in the reverse order. What they hold is known only if all of them acknowledge. */
static void take_back(struct keys_batch *batch, const struct writer_lft *sent)
{
	struct writer_lft send = *sent;
	struct keys_steps back = {0};
	struct hd_error ignored;
	uint32_t taken;

	send.before = NULL;
	send.in_place = NULL;
	send.go_on = true;
	if (keys_steps_reverse(&batch->order, batch->sent, batch->worker->routing->routes, &back) ||
	    run(batch, &send, &back, &taken, &ignored))
		be_unsure(batch);
	keys_steps_release(&back);
}

static struct writer_lft sending_of(struct keys_batch *batch)
{
	const struct keys_worker *worker = batch->worker;

	return (struct writer_lft){.writer = writer_of(batch),
				   .turn = batch->turn,
				   .fabric = worker->routing->fabric,
				   .queue = worker->queue,
				   .before =
				       batch->in_place ? batch->in_place : worker->routing->routes,
				   .in_place = batch->in_place,
				   .wanted = {go_on, batch}};
}

static int send_blocks(struct keys_batch *batch)
{
	if (batch->order.steps > 1) {
		batch->in_place = hd_routes_copy(batch->worker->routing->routes);
		if (!batch->in_place)
			return hd_error_no_memory(&batch->err);
	}
	struct writer_lft send = sending_of(batch);
	int rc = run(batch, &send, &batch->order, &batch->sent, &batch->err);

	if (rc && rc != -ECANCELED && rc != -ENOMEM)
		say_failure(batch, &send, rc);
	if (rc == -ECANCELED && batch->sent)
		be_unsure(batch);
	else if (rc && batch->sent)
		take_back(batch, &send);
	return rc;
}

/* The tables of adaptive routing. If they do not get the entries, the forwarding tables must not have them either. */
static int change_adaptive(struct keys_batch *batch)
{
	struct key_change *change = &batch->change;
	struct writer_lft send = sending_of(batch);

	change->after = batch->routing;
	int rc = part_key_programs(batch->worker->shared->context, change, &batch->err);
	if (rc && batch->blocks.count)
		take_back(batch, &send);
	return rc;
}

void keys_send(void *context)
{
	struct keys_batch *batch = context;
	int rc;

	/* since the proof a repair may have changed tables, or half of them */
	if (keys_shared_turn(batch->worker->shared) != batch->turn ||
	    !adaptive_is(batch->worker->shared->context->adaptive, &batch->worker->adaptive)) {
		batch->rc = -ECANCELED;
		return;
	}
	part_key_begins(batch->worker->shared->context);
	rc = batch->blocks.count ? open_queue(batch) : 0;
	if (!rc && batch->blocks.count)
		rc = send_blocks(batch);
	if (!rc)
		rc = change_adaptive(batch);
	if (rc && rc != -ECANCELED)
		rc = -EIO; /* the keys themselves are sound */
	batch->rc = rc ? rc : land(batch);
	batch->change.published = !batch->rc;
	part_key_ends(batch->worker->shared->context, &batch->change);
}
