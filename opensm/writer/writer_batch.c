/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "writer_batch.h"
#include "monotonic.h"

#include <errno.h>
#include <heddle/fabric/graph.h>
#include <stdlib.h>

#define LATE_MS 2 /* OpenSM knows of an SMP so long after its acknowledgement at most */

struct errand {
	struct sending *sending;
	uint32_t index;
};

struct sending {
	struct writer_batch *batch;
	uint32_t *fresh; /* [count] acknowledged, but OpenSM does not know */
	uint32_t fresh_count;
	double told_ms; /* when OpenSM was told */
	struct errand *errands; /* [count] */
};

static void on_end(void *cookie, const struct hd_smp_result *result)
{
	struct errand *errand = cookie;
	struct sending *sending = errand->sending;
	struct writer_batch *batch = sending->batch;

	if (!result->rc) {
		sending->fresh[sending->fresh_count++] = errand->index;
		return;
	}
	if (result->rc == -ECANCELED || batch->failed != HD_NONE)
		return;
	batch->failed = result->destination;
	batch->failure = result->rc;
	batch->status = result->status;
	if (!batch->go_on)
		hd_smp_queue_cancel(batch->queue, HD_NONE);
}

/* ---- OpenSM's tables ---- */

/* Some of the acknowledged SMPs, if the turn is still ours: else the sweep sends them again. */
static void take_some(struct sending *sending, uint32_t begin, uint32_t end)
{
	struct writer_batch *batch = sending->batch;
	struct writer *writer = batch->writer;
	struct writer_hold hold;

	if (!writer_lock_try(writer, true, batch->turn, &hold))
		return;
	pthread_mutex_lock(&writer->turn_lock);
	for (uint32_t i = begin; writer_is_turn(writer, batch->turn) && i < end; i++) {
		batch->take(batch->context, sending->fresh[i]);
		batch->taken++;
	}
	pthread_mutex_unlock(&writer->turn_lock);
	writer_lock_release(writer, hold);
}

/* Few at a time would be many waits for OpenSM's lock, which the sweep wants, too. */
static bool is_worth_telling(const struct sending *sending, bool last)
{
	return sending->fresh_count >= WRITER_HELD_MOST ||
	       (sending->fresh_count && (last || monotonic_ms() - sending->told_ms >= LATE_MS));
}

static void take_fresh(struct sending *sending)
{
	for (uint32_t begin = 0, end; begin < sending->fresh_count; begin = end) {
		end = begin + WRITER_HELD_MOST;
		if (end > sending->fresh_count)
			end = sending->fresh_count;
		take_some(sending, begin, end);
	}
	sending->fresh_count = 0;
	sending->told_ms = monotonic_ms();
}

/* ---- SMPs ---- */

static int submit(struct sending *sending)
{
	struct writer_batch *batch = sending->batch;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < batch->count; i++) {
		sending->errands[i] = (struct errand){sending, i};
		rc = batch->submit(batch->context, i, on_end, &sending->errands[i]);
	}
	return rc;
}

static int work(struct sending *sending)
{
	struct writer_batch *batch = sending->batch;
	int rc = 0;

	while (!rc && hd_smp_queue_pending(batch->queue)) {
		rc = hd_go_on_ask(&batch->wanted)
			 ? writer_work(batch->writer, batch->turn, batch->queue)
			 : -ECANCELED;
		if (is_worth_telling(sending, rc || !hd_smp_queue_pending(batch->queue)))
			take_fresh(sending);
		if (rc || !hd_smp_queue_pending(batch->queue))
			break;
		writer_pause(batch->queue);
	}
	if (!rc && batch->failed == HD_NONE && batch->taken < batch->count)
		rc = -ECANCELED; /* the turn was lost after the last acknowledgement */
	while (rc && hd_smp_queue_pending(batch->queue)) {
		hd_smp_queue_cancel(batch->queue, HD_NONE);
		hd_smp_queue_work(batch->queue);
	}
	return rc;
}

static int explain(const struct writer_batch *batch, int rc, struct hd_error *err)
{
	if (rc == -ECANCELED)
		return hd_error_set(err, rc, WRITER_LOST_TURN);
	if (rc == -ENOMEM)
		return hd_error_no_memory(err);
	if (rc)
		return hd_error_set(err, rc, "the port does not send");
	if (batch->failed != HD_NONE)
		return hd_error_set(
		    err, batch->failure, "switch '%s' %s", batch->fabric->node_name[batch->failed],
		    batch->failure == -EREMOTEIO ? "refused a block" : "did not answer");
	return 0;
}

int writer_batch_run(struct writer_batch *batch, struct hd_error *err)
{
	struct sending sending = {.batch = batch};
	int rc;

	batch->taken = 0;
	batch->failed = HD_NONE;
	sending.fresh = malloc((batch->count + 1u) * sizeof(*sending.fresh));
	sending.errands = malloc((batch->count + 1u) * sizeof(*sending.errands));
	if (!sending.fresh || !sending.errands) {
		rc = hd_error_no_memory(err);
	} else {
		rc = submit(&sending);
		int ran = work(&sending);
		rc = explain(batch, rc ? rc : ran, err);
	}
	free(sending.fresh);
	free(sending.errands);
	return rc;
}
