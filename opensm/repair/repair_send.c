/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_send.h"
#include "opensm_headers.h"
#include "part.h"
#include "repair_batch.h"
#include "writer_tables.h"

#include <errno.h>
#include <heddle/mad/queue.h>
#include <stdlib.h>
#include <string.h>

#define FLIGHT_MOST 256u /* blocks that are under way: a sweep that takes the turn looks at all */

struct sending {
	struct repair_send *send;
	const struct hd_repair_write *writes; /* of one step */
	uint32_t count;
	bool *done; /* [count] acknowledged, and OpenSM knows */
};

/* ---- OpenSM's tables ---- */

/* Whether OpenSM knows that the switch has this block of the tables in place. */
static bool is_known(const struct repair_send *send, const struct hd_repair_write *write)
{
	return writer_tables_holds(
	    send->shared->context->osm, send->fabric, write->sw, write->block,
	    hd_routes_row(send->in_place, write->sw) + (size_t)write->block * HD_LFT_BLOCK);
}

/* Whether OpenSM's tables are those in place. */
static int check_tables(const struct sending *sending, struct hd_error *err)
{
	const struct repair_send *send = sending->send;
	int rc = 0;

	for (uint32_t begin = 0; !rc && begin < sending->count; begin += REPAIR_HELD_MOST) {
		struct repair_hold hold;
		if (!repair_lock_try(send->shared, send->turn, &hold))
			return hd_error_set(err, -ECANCELED, REPAIR_LOST_TURN);
		for (uint32_t i = begin; !rc && i < begin + REPAIR_HELD_MOST && i < sending->count;
		     i++)
			if (!is_known(send, &sending->writes[i]))
				rc = hd_error_set(
				    err, -EAGAIN,
				    "switch '%s' has not acknowledged its forwarding table",
				    send->fabric->node_name[sending->writes[i].sw]);
		repair_lock_release(send->shared, hold);
	}
	return rc;
}

/* Notes what is under way, if the turn is still ours. */
static int begin_flight(struct sending *sending, struct hd_error *err)
{
	struct repair_send *send = sending->send;
	struct repair_hold hold;
	int rc = 0;

	if (!repair_lock_try(send->shared, send->turn, &hold))
		return hd_error_set(err, -ECANCELED, REPAIR_LOST_TURN);
	pthread_mutex_lock(&send->shared->turn_lock);
	if (send->shared->turn == send->turn)
		send->shared->flight = (struct repair_flight){.fabric = send->fabric,
							      .writes = sending->writes,
							      .done = sending->done,
							      .count = sending->count};
	else
		rc = hd_error_set(err, -ECANCELED, REPAIR_LOST_TURN);
	pthread_mutex_unlock(&send->shared->turn_lock);
	repair_lock_release(send->shared, hold);
	return rc;
}

/* Nothing is under way any more. What was not acknowledged is sent by the sweep. If the turn is lost,
 * repair_shared_take_turn() does this: perhaps only now, after it has counted the turn. */
static void end_flight(struct sending *sending)
{
	struct repair_send *send = sending->send;
	struct repair_hold hold;
	const bool ours = repair_lock_try(send->shared, send->turn, &hold);

	pthread_mutex_lock(&send->shared->turn_lock);
	if (ours)
		repair_shared_forget_flight(send->shared);
	else
		send->shared->flight = (struct repair_flight){0};
	pthread_mutex_unlock(&send->shared->turn_lock);
	if (ours)
		repair_lock_release(send->shared, hold);
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
	struct repair_send *send = sending->send;
	const struct hd_repair_write *write = &sending->writes[index];

	writer_tables_take(send->shared->context->osm, send->fabric, write->sw, write->block,
			   write->ports);
	memcpy(hd_routes_row(send->in_place, write->sw) + (size_t)write->block * HD_LFT_BLOCK,
	       write->ports, HD_LFT_BLOCK);
	sending->done[index] = true;
	send->sent++;
}

/* Writes of one step. */
static int send_some(struct repair_send *send, const struct hd_repair_write *writes, uint32_t count,
		     struct hd_error *err)
{
	struct sending sending = {.send = send, .writes = writes, .count = count};
	struct repair_batch batch = {
	    .shared = send->shared,
	    .turn = send->turn,
	    .fabric = send->fabric,
	    .queue = send->queue,
	    .port = send->port,
	    .count = count,
	    .go_on = true, /* what is known to be written helps the next repair */
	    .submit = submit,
	    .take = take,
	    .context = &sending};
	int rc;

	sending.done = calloc(count + 1u, sizeof(bool));
	rc = sending.done ? check_tables(&sending, err) : hd_error_no_memory(err);
	if (!rc)
		rc = begin_flight(&sending, err);
	if (!rc) {
		rc = repair_batch_run(&batch, err);
		end_flight(&sending);
	}
	free(sending.done);
	return rc;
}

int repair_send_run(struct repair_send *send, struct hd_error *err)
{
	const struct hd_repair_plan *plan = send->plan;
	int rc = 0;

	send->sent = 0;
	for (uint32_t begin = 0, end; !rc && begin < plan->write_count; begin = end) {
		for (end = begin; end < plan->write_count && end < begin + FLIGHT_MOST &&
				  plan->writes[end].step == plan->writes[begin].step;
		     end++)
			continue;
		rc = send_some(send, plan->writes + begin, end - begin, err);
	}
	return rc;
}
