/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "writer_sweep.h"
#include "opensm_headers.h"
#include "writer_mft.h"
#include "writer_tables.h"

#include <errno.h>
#include <heddle/mad/umad_port.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 5 /* between two looks at whether to stop */

/* ---- the port ---- */

int writer_sweep_port_open(struct writer_sweep_port *port, uint64_t guid, struct hd_error *err)
{
	const struct hd_umad_choice choice = {.port_guid = guid};

	if (port->umad && port->guid == guid)
		return 0;
	writer_sweep_port_close(port);
	int rc = hd_umad_port_open(&choice, &port->umad, err);
	if (rc)
		port->umad = NULL;
	port->guid = guid;
	return rc;
}

void writer_sweep_port_close(struct writer_sweep_port *port)
{
	hd_umad_port_close(port->umad);
	port->umad = NULL;
}

const struct hd_smp_port *writer_sweep_port_smp(const struct writer_sweep_port *port)
{
	return hd_umad_port_smp(port->umad);
}

/* ---- blocks ---- */

struct errand {
	struct writer_sweep *send;
	const struct hd_repair_write *write;
};

static void take(struct writer_sweep *send, const struct hd_repair_write *write)
{
	uint8_t *held = hd_routes_row(send->held, write->sw) + (size_t)write->block * HD_LFT_BLOCK;

	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++) {
		if (held[i] == write->ports[i])
			continue;
		send->entries++;
		send->changed[write->sw] = true;
	}
	memcpy(held, write->ports, HD_LFT_BLOCK);
	writer_tables_note(send->osm, send->fabric, write->sw, write->block, write->ports);
	send->sent++;
}

static void on_end(void *cookie, const struct hd_smp_result *result)
{
	const struct errand *errand = cookie;
	struct writer_sweep *send = errand->send;
	const struct hd_repair_write *write = errand->write;

	if (!result->rc) {
		take(send, write);
		return;
	}
	send->failed[write->sw] = true;
	send->failures++;
	writer_tables_forget(send->osm, send->fabric, write->sw, write->block, write->ports);
}

int writer_sweep_work(struct hd_smp_queue *queue, const struct hd_go_on *go_on)
{
	int rc = 0;

	while (!rc && hd_smp_queue_pending(queue)) {
		rc = hd_go_on_ask(go_on) ? hd_smp_queue_work(queue) : -ECANCELED;
		if (!rc && hd_smp_queue_pending(queue))
			hd_smp_queue_wait_for(queue, LOOK_MS);
	}
	while (hd_smp_queue_pending(queue)) {
		hd_smp_queue_cancel(queue, HD_NONE);
		hd_smp_queue_work(queue);
	}
	return rc;
}

static int run_step(struct writer_sweep *send, const struct hd_repair_write *writes, uint32_t count)
{
	struct errand *errands = calloc(count + 1u, sizeof(*errands));
	const uint32_t failures = send->failures;
	int rc = errands ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < count; i++) {
		errands[i] = (struct errand){send, &writes[i]};
		rc = hd_lft_set(send->queue, writes[i].sw, writes[i].block, writes[i].ports, on_end,
				&errands[i]);
	}
	int ran = writer_sweep_work(send->queue, &send->go_on);
	free(errands);
	send->steps++;
	rc = rc ? rc : ran;
	return rc ? rc : send->failures > failures ? -EAGAIN : 0;
}

int writer_sweep_run(struct writer_sweep *send, const struct hd_repair_plan *plan)
{
	const struct hd_repair_write *writes = plan->writes;
	int rc = 0;

	for (uint32_t begin = 0, end; !rc && begin < plan->write_count; begin = end) {
		for (end = begin; end < plan->write_count && writes[end].step == writes[begin].step;
		     end++)
			continue;
		rc = run_step(send, writes + begin, end - begin);
	}
	return rc;
}

/* ---- multicast ---- */

struct mft_step {
	struct writer_sweep_mfts *send;
	uint32_t failures;
};

static void on_mft_end(void *cookie, const struct hd_smp_result *result)
{
	struct mft_step *step = cookie;

	if (result->rc)
		step->failures++;
	else
		step->send->sent++;
}

static int run_mft_step(struct writer_sweep_mfts *send, const struct hd_mft_write *writes,
			uint32_t count, bool undo)
{
	struct mft_step step = {.send = send};
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count; i++)
		rc = writer_mft_send(send->queue, &writes[i], undo, on_mft_end, &step);
	/* half a way back would be no tree */
	int ran = writer_sweep_work(send->queue, undo ? NULL : &send->go_on);
	rc = rc ? rc : ran;
	return rc ? rc : step.failures ? -EAGAIN : 0;
}

int writer_sweep_mfts(struct writer_sweep_mfts *send, const struct hd_repair_mfts *plan)
{
	const struct hd_mft_write *writes = plan->writes;
	int rc = 0;

	for (uint32_t begin = 0, end; !rc && begin < plan->write_count; begin = end) {
		for (end = begin; end < plan->write_count && writes[end].step == writes[begin].step;
		     end++)
			continue;
		rc = run_mft_step(send, writes + begin, end - begin, false);
		if (rc && !writes[begin].adds)
			run_mft_step(send, writes + begin, end - begin, true);
	}
	return rc;
}
