/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "writer_lft.h"
#include "opensm_headers.h"
#include "writer_batch.h"
#include "writer_tables.h"

#include <errno.h>
#include <heddle/mad/queue.h>
#include <stdlib.h>
#include <string.h>

#define FLIGHT_MOST 256u /* blocks that are under way: a sweep that takes the turn looks at all */

struct sending {
	struct writer_lft *send;
	const struct hd_repair_write *writes; /* of one step */
	uint32_t count;
	bool *done; /* [count] acknowledged, and OpenSM knows */
};

/* ---- OpenSM's tables ---- */

/* Whether OpenSM knows that the switch has this block as it was before. */
static bool is_known(const struct writer_lft *send, const struct hd_repair_write *write)
{
	return writer_tables_holds(send->writer->osm, send->fabric, write->sw, write->block,
				   hd_routes_row(send->before, write->sw) +
				       (size_t)write->block * HD_LFT_BLOCK);
}

static int say_unknown(struct writer_lft *send, uint32_t sw, struct hd_error *err)
{
	send->failed = sw;
	return hd_error_set(err, -EAGAIN, "switch '%s' has not acknowledged its forwarding table",
			    send->fabric->node_name[sw]);
}

/* Whether OpenSM's tables are those before. */
static int check_tables(const struct sending *sending, struct hd_error *err)
{
	struct writer_lft *send = sending->send;
	int rc = 0;

	for (uint32_t begin = 0; !rc && begin < sending->count; begin += WRITER_HELD_MOST) {
		struct writer_hold hold;
		if (!writer_lock_try(send->writer, true, send->turn, &hold))
			return hd_error_set(err, -ECANCELED, WRITER_LOST_TURN);
		for (uint32_t i = begin; !rc && i < begin + WRITER_HELD_MOST && i < sending->count;
		     i++)
			if (!is_known(send, &sending->writes[i]))
				rc = say_unknown(send, sending->writes[i].sw, err);
		writer_lock_release(send->writer, hold);
	}
	return rc;
}

/* Notes what is under way, if the turn is still ours. */
static int begin_flight(struct sending *sending, struct hd_error *err)
{
	struct writer_lft *send = sending->send;
	struct writer_hold hold;
	int rc = 0;

	if (!writer_lock_try(send->writer, true, send->turn, &hold))
		return hd_error_set(err, -ECANCELED, WRITER_LOST_TURN);
	pthread_mutex_lock(&send->writer->turn_lock);
	if (writer_is_turn(send->writer, send->turn))
		send->writer->flight = (struct writer_flight){.fabric = send->fabric,
							      .writes = sending->writes,
							      .done = sending->done,
							      .count = sending->count};
	else
		rc = hd_error_set(err, -ECANCELED, WRITER_LOST_TURN);
	pthread_mutex_unlock(&send->writer->turn_lock);
	writer_lock_release(send->writer, hold);
	return rc;
}

/* Nothing is under way any more. What was not acknowledged is sent by the sweep. If the turn is lost,
 * writer_take_turn() does this: perhaps only now, after it has counted the turn. */
static void end_flight(struct sending *sending)
{
	struct writer_lft *send = sending->send;
	struct writer_hold hold;
	const bool ours = writer_lock_try(send->writer, true, send->turn, &hold);

	pthread_mutex_lock(&send->writer->turn_lock);
	if (ours)
		writer_forget_flight(send->writer);
	else
		send->writer->flight = (struct writer_flight){0};
	pthread_mutex_unlock(&send->writer->turn_lock);
	if (ours)
		writer_lock_release(send->writer, hold);
}

/* ---- a step ---- */

static int submit(void *context, uint32_t index, hd_smp_done *done, void *cookie)
{
	const struct sending *sending = context;
	const struct hd_repair_write *write = &sending->writes[index];

	return hd_lft_set(sending->send->queue, write->sw, write->block, write->ports, done,
			  cookie);
}

static void take(void *context, uint32_t index)
{
	struct sending *sending = context;
	struct writer_lft *send = sending->send;
	const struct hd_repair_write *write = &sending->writes[index];

	writer_tables_take(send->writer->osm, send->fabric, write->sw, write->block, write->ports);
	if (send->in_place)
		memcpy(hd_routes_row(send->in_place, write->sw) +
			   (size_t)write->block * HD_LFT_BLOCK,
		       write->ports, HD_LFT_BLOCK);
	sending->done[index] = true;
	send->sent++;
}

static int send_batch(struct sending *sending, struct hd_error *err)
{
	struct writer_lft *send = sending->send;
	struct writer_batch batch = {.writer = send->writer,
				     .turn = send->turn,
				     .fabric = send->fabric,
				     .queue = send->queue,
				     .count = sending->count,
				     .go_on = send->go_on,
				     .wanted = send->wanted,
				     .submit = submit,
				     .take = take,
				     .context = sending};
	int rc = writer_batch_run(&batch, err);

	send->failed = batch.failed;
	send->failure = batch.failure;
	send->status = batch.status;
	return rc;
}

/* Writes of one step. */
static int send_some(struct writer_lft *send, const struct hd_repair_write *writes, uint32_t count,
		     struct hd_error *err)
{
	struct sending sending = {.send = send, .writes = writes, .count = count};
	int rc;

	sending.done = calloc(count + 1u, sizeof(bool));
	rc = sending.done ? 0 : hd_error_no_memory(err);
	if (!rc && send->before)
		rc = check_tables(&sending, err);
	if (!rc)
		rc = begin_flight(&sending, err);
	if (!rc) {
		send->begun = true;
		rc = send_batch(&sending, err);
		end_flight(&sending);
	}
	free(sending.done);
	return rc;
}

int writer_lft_run(struct writer_lft *send, struct hd_error *err)
{
	const struct hd_repair_write *writes = send->writes;
	int rc = 0;

	send->sent = 0;
	send->begun = false;
	send->failed = HD_NONE;
	for (uint32_t begin = 0, end; !rc && begin < send->count; begin = end) {
		for (end = begin; end < send->count && end < begin + FLIGHT_MOST &&
				  writes[end].step == writes[begin].step;
		     end++)
			continue;
		rc = send_some(send, writes + begin, end - begin, err);
	}
	return rc;
}
