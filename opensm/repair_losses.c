/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_losses.h"
#include "monotonic.h"
#include "repair_ask.h"
#include "routing.h"

#include <errno.h>
#include <heddle/fabric/changes.h>
#include <heddle/mad/umad_port.h>
#include <stdlib.h>

static int work(void *context, struct hd_smp_queue *queue)
{
	const struct repair *repair = context;

	return repair_shared_work(repair->thread->shared, repair->turn, queue);
}

/* The switches with these LIDs. */
static uint32_t list_issuers(const struct hd_fabric *fabric, const struct repair_issuers *issuers,
			     uint32_t *switches)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < issuers->count; i++) {
		uint32_t sw;
		uint8_t port;
		if (hd_fabric_lid_destination(fabric, issuers->lids[i], &sw, &port) && !port)
			switches[count++] = sw;
	}
	return count;
}

/* Nothing is lost: -ENODATA. */
static int ask(struct repair *repair, const struct repair_issuers *issuers, struct hd_error *err)
{
	struct repair_thread *thread = repair->thread;
	const struct hd_fabric *fabric = thread->start->routing->fabric;
	uint32_t switches[REPAIR_ISSUERS_MOST];
	uint32_t count = list_issuers(fabric, issuers, switches);
	struct repair_ask question = {.fabric = fabric,
				      .own_port = thread->start->own_port,
				      .m_key = thread->start->m_key,
				      .queue = thread->queue,
				      .port = hd_umad_port_smp(thread->umad),
				      .first = fabric->switch_count,
				      .work = work,
				      .context = repair,
				      .cut = thread->cut};
	int rc;

	if (issuers->more)
		return hd_error_set(err, -E2BIG, "more than %u switches report changes",
				    REPAIR_ISSUERS_MOST);
	rc = repair_ask_run(&question, switches, count, err);
	repair->asked = monotonic_ms();
	if (!rc && !question.found && question.silent)
		return hd_error_set(err, -ETIMEDOUT, "%u switches did not answer", question.silent);
	return rc ? rc : question.found ? 0 : hd_error_set(err, -ENODATA, "nothing is lost");
}

static int find_damaged(struct repair *repair, struct hd_error *err)
{
	const struct repair_thread *thread = repair->thread;
	const struct hd_fabric *fabric = thread->start->routing->fabric;
	struct hd_fabric_change *losses = malloc((fabric->port_count + 1u) * sizeof(*losses));
	uint32_t count = 0, own = hd_fabric_find_port(fabric, thread->start->own_port);
	int rc;

	if (!losses)
		return hd_error_no_memory(err);
	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (thread->cut[port] && fabric->peer[port] != HD_NONE && port < fabric->peer[port])
			losses[count++] =
			    (struct hd_fabric_change){.lost = true, .cable = true, .index = port};
	rc = hd_repair_fabric(fabric, losses, count, fabric->port_node[own], &repair->damaged, err);
	free(losses);
	return rc;
}

int repair_losses_find(struct repair *repair, const struct repair_issuers *issuers,
		       struct hd_error *err)
{
	int rc = ask(repair, issuers, err);

	return rc ? rc : find_damaged(repair, err);
}
