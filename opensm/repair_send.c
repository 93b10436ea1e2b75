/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_send.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "repair_tables.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/mad/lft.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_WAIT 10 /* ms between two looks at whether OpenSM wants the tables */
#define HELD_MOST 128u /* blocks for one holding of OpenSM's lock */
#define LATE_MS 2 /* OpenSM knows of a block so long after its acknowledgement at most */

struct sending {
	struct repair_send *send;
	const struct hd_repair_write *writes; /* of the step */
	uint32_t count;
	bool *done; /* [count] acknowledged, and OpenSM knows */
	uint32_t *fresh; /* [count] acknowledged, but OpenSM does not know */
	uint32_t fresh_count;
	double told_ms; /* when OpenSM was told */
	struct errand *errands; /* [count] */
	uint32_t failed; /* switch, HD_NONE: none */
	int rc;
};

struct errand {
	struct sending *sending;
	uint32_t index;
};

static void on_end(void *cookie, const struct hd_smp_result *result)
{
	struct errand *errand = cookie;
	struct sending *sending = errand->sending;

	if (!result->rc) {
		sending->fresh[sending->fresh_count++] = errand->index;
		return;
	}
	if (result->rc == -ECANCELED || sending->failed != HD_NONE)
		return;
	sending->failed = result->destination;
	sending->rc = result->rc;
	hd_smp_queue_cancel(sending->send->queue, HD_NONE);
}

/* ---- OpenSM's tables ---- */

static double lock_osm(struct repair_send *send)
{
	cl_plock_excl_acquire(&send->shared->context->osm->lock);
	return monotonic_ms();
}

static void unlock_osm(struct repair_send *send, double since)
{
	uint64_t held = (uint64_t)((monotonic_ms() - since) * 1000);

	cl_plock_release(&send->shared->context->osm->lock);
	pthread_mutex_lock(&send->shared->lock);
	if (held > send->shared->figures.lock_us_most)
		send->shared->figures.lock_us_most = held;
	pthread_mutex_unlock(&send->shared->lock);
}

/* Some of the acknowledged blocks, if the turn is still ours: else they are sent again. */
static void take_some(struct sending *sending, uint32_t begin, uint32_t end)
{
	struct repair_send *send = sending->send;
	double since = lock_osm(send);

	pthread_mutex_lock(&send->shared->turn_lock);
	for (uint32_t i = begin; send->shared->turn == send->turn && i < end; i++) {
		const struct hd_repair_write *write = &sending->writes[sending->fresh[i]];
		repair_tables_take(send->shared->context->osm, send->fabric, write);
		memcpy(hd_routes_row(send->in_place, write->sw) +
			   (size_t)write->block * HD_LFT_BLOCK,
		       write->ports, HD_LFT_BLOCK);
		sending->done[sending->fresh[i]] = true;
		send->sent++;
	}
	pthread_mutex_unlock(&send->shared->turn_lock);
	unlock_osm(send, since);
}

/* Few at a time would be many waits for OpenSM's lock, which the sweep wants, too. */
static bool is_worth_telling(const struct sending *sending, bool last)
{
	return sending->fresh_count >= HELD_MOST ||
	       (sending->fresh_count && (last || monotonic_ms() - sending->told_ms >= LATE_MS));
}

static void take_fresh(struct sending *sending)
{
	for (uint32_t begin = 0, end; begin < sending->fresh_count; begin = end) {
		end = begin + HELD_MOST;
		if (end > sending->fresh_count)
			end = sending->fresh_count;
		take_some(sending, begin, end);
	}
	sending->fresh_count = 0;
	sending->told_ms = monotonic_ms();
}

/* Notes what is under way, if OpenSM's tables are those in place and the turn is still ours. */
static int begin_flight(struct sending *sending, struct hd_error *err)
{
	struct repair_send *send = sending->send;
	int rc = 0;

	for (uint32_t begin = 0; !rc && begin < sending->count; begin += HELD_MOST) {
		double since = lock_osm(send);
		for (uint32_t i = begin; !rc && i < begin + HELD_MOST && i < sending->count; i++)
			if (!repair_tables_knows(send->shared->context->osm, send->fabric,
						 send->in_place, &sending->writes[i]))
				rc = hd_error_set(
				    err, -EAGAIN,
				    "switch '%s' has not acknowledged its forwarding table",
				    send->fabric->node_name[sending->writes[i].sw]);
		unlock_osm(send, since);
	}
	if (rc)
		return rc;
	double since = lock_osm(send);
	pthread_mutex_lock(&send->shared->turn_lock);
	if (send->shared->turn == send->turn)
		send->shared->flight = (struct repair_flight){.fabric = send->fabric,
							      .writes = sending->writes,
							      .done = sending->done,
							      .count = sending->count};
	else
		rc = hd_error_set(err, -ECANCELED, "the sweep routes now");
	pthread_mutex_unlock(&send->shared->turn_lock);
	unlock_osm(send, since);
	return rc;
}

/* Nothing is under way any more. What was not acknowledged is sent by the sweep. */
static void end_flight(struct sending *sending)
{
	struct repair_send *send = sending->send;
	double since = lock_osm(send);

	pthread_mutex_lock(&send->shared->turn_lock);
	repair_tables_forget(send->shared->context->osm, &send->shared->flight);
	send->shared->flight = (struct repair_flight){0};
	pthread_mutex_unlock(&send->shared->turn_lock);
	unlock_osm(send, since);
}

/* ---- a step ---- */

static int submit(struct sending *sending)
{
	struct repair_send *send = sending->send;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < sending->count; i++) {
		const struct hd_repair_write *write = &sending->writes[i];
		sending->errands[i] = (struct errand){sending, i};
		rc = hd_lft_set(send->queue, write->sw, write->block, write->ports, on_end,
				&sending->errands[i]);
	}
	return rc;
}

static int run(struct sending *sending)
{
	struct repair_send *send = sending->send;
	int rc = 0;

	while (!rc && hd_smp_queue_pending(send->queue)) {
		rc = repair_shared_work(send->shared, send->turn, send->queue);
		if (is_worth_telling(sending, rc || !hd_smp_queue_pending(send->queue)))
			take_fresh(sending);
		if (rc || !hd_smp_queue_pending(send->queue))
			break;
		int timeout = hd_smp_queue_timeout(send->queue);
		if (timeout < 0 || timeout > LONGEST_WAIT)
			timeout = LONGEST_WAIT;
		send->port->wait(send->port->context, timeout);
	}
	while (rc && hd_smp_queue_pending(send->queue)) {
		hd_smp_queue_cancel(send->queue, HD_NONE);
		hd_smp_queue_work(send->queue);
	}
	return rc;
}

static int explain(const struct sending *sending, int rc, struct hd_error *err)
{
	if (rc == -ECANCELED)
		return hd_error_set(err, rc,
				    "the sweep routes now, or OpenSM is no longer the master");
	if (rc == -ENOMEM)
		return hd_error_no_memory(err);
	if (rc)
		return hd_error_set(err, rc, "the port does not send");
	if (sending->failed != HD_NONE)
		return hd_error_set(err, sending->rc, "switch '%s' %s",
				    sending->send->fabric->node_name[sending->failed],
				    sending->rc == -EREMOTEIO ? "refused a block"
							      : "did not answer");
	return 0;
}

static int send_step(struct repair_send *send, const struct hd_repair_write *writes, uint32_t count,
		     struct hd_error *err)
{
	struct sending sending = {
	    .send = send, .writes = writes, .count = count, .failed = HD_NONE};
	int rc = 0;

	sending.done = calloc(count + 1u, sizeof(bool));
	sending.fresh = malloc((count + 1u) * sizeof(*sending.fresh));
	sending.errands = malloc((count + 1u) * sizeof(*sending.errands));
	if (!sending.done || !sending.fresh || !sending.errands)
		rc = hd_error_no_memory(err);
	else
		rc = begin_flight(&sending, err);
	if (!rc) {
		rc = submit(&sending);
		int ran = run(&sending);
		rc = explain(&sending, rc ? rc : ran, err);
		end_flight(&sending);
	}
	free(sending.done);
	free(sending.fresh);
	free(sending.errands);
	return rc;
}

int repair_send_run(struct repair_send *send, struct hd_error *err)
{
	const struct hd_repair_plan *plan = send->plan;
	int rc = 0;

	send->sent = 0;
	for (uint32_t begin = 0, end; !rc && begin < plan->write_count; begin = end) {
		for (end = begin;
		     end < plan->write_count && plan->writes[end].step == plan->writes[begin].step;
		     end++)
			continue;
		rc = send_step(send, plan->writes + begin, end - begin, err);
	}
	return rc;
}
