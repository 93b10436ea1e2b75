/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_ar.h"
#include "ar_repair.h"
#include "ar_worker.h"
#include "repair_paths.h"
#include "repair_priority.h"
#include "repair_send.h"
#include "routing.h"

#include <errno.h>
#include <heddle/mad/umad_port.h>
#include <stdlib.h>

#define PATIENCE_MS 500 /* until adaptive routing is programmed after a sweep */
#define DONE_MS 1000 /* between two looks at whether the job is done */
#define NOWHERE (HD_SMP_HOPS + 1)

struct leading {
	struct repair *repair;
	const struct hd_ar_steps *steps;
	/* [switch_count] of the tables of what is left; HD_NONE: the switch is lost */
	uint32_t *row;
};

static const struct hd_fabric *fabric_of(const struct repair *repair)
{
	return repair->thread->start->routing->fabric;
}

/* ---- what the thread of adaptive routing calls ---- */

static uint32_t step_of(void *context, uint32_t sw, uint32_t lid)
{
	const struct leading *leading = context;
	uint32_t row = leading->row[sw];

	if (row == HD_NONE || lid >= leading->repair->routing->fabric->lid_count)
		return hd_ar_steps_count(leading->steps) - 1;
	return hd_ar_steps_of(leading->steps, row, lid) - 1;
}

static int begin(void *context, const struct hd_ar_steps *steps, struct hd_error *err)
{
	struct leading *leading = context;
	struct repair *repair = leading->repair;

	leading->steps = steps;
	return hd_repair_plan_reorder(repair->plan, repair->thread->in_place,
				      hd_ar_steps_count(steps), step_of, leading, err);
}

/* Steps count from 1 here: step 0 is that of the groups. */
static int write_step(void *context, uint32_t step, struct hd_error *err)
{
	const struct leading *leading = context;
	struct repair *repair = leading->repair;
	struct repair_thread *thread = repair->thread;
	struct hd_repair_plan part = *repair->plan;
	struct repair_send send = {.shared = thread->shared,
				   .turn = repair->turn,
				   .fabric = fabric_of(repair),
				   .in_place = thread->in_place,
				   .plan = &part,
				   .queue = thread->queue,
				   .port = hd_umad_port_smp(thread->umad)};

	for (; part.write_count && part.writes->step + 1 < step; part.writes++)
		part.write_count--;
	uint32_t count = 0;
	while (count < part.write_count && part.writes[count].step + 1 == step)
		count++;
	part.write_count = count;
	/* this is the thread of adaptive routing, and OpenSM waits while it has the lock */
	const int added = thread->start->settings.nice, usual = repair_priority_raise(added);
	int rc = repair_send_run(&send, err);
	repair_priority_restore(usual, added);
	repair->sent += send.sent;
	return rc;
}

/* ---- the job ---- */

static int find_rows(struct leading *leading)
{
	const struct hd_fabric *fabric = fabric_of(leading->repair);

	leading->row = malloc((fabric->switch_count + 1u) * sizeof(*leading->row));
	for (uint32_t sw = 0; leading->row && sw < fabric->switch_count; sw++)
		leading->row[sw] =
		    hd_fabric_find_node(leading->repair->routing->fabric, fabric->node_guid[sw]);
	return leading->row ? 0 : -ENOMEM;
}

/* Directed routes to the switches that are left, without what is lost. NULL: no memory. */
static struct hd_smp_address *find_addresses(const struct leading *leading)
{
	const struct repair_thread *thread = leading->repair->thread;
	const struct hd_fabric *fabric = fabric_of(leading->repair);
	const uint32_t count = leading->repair->routing->fabric->switch_count;
	struct hd_smp_address *addresses = calloc(count + 1u, sizeof(*addresses));
	struct repair_paths paths;
	int rc = repair_paths_init(&paths, fabric, thread->start->own_port);

	for (uint32_t row = 0; addresses && row < count; row++)
		addresses[row].hop_count = NOWHERE;
	if (!rc)
		repair_paths_search(&paths, thread->cut, NULL, 0);
	for (uint32_t sw = 0; !rc && addresses && sw < fabric->switch_count; sw++) {
		struct hd_smp_address address;
		if (leading->row[sw] != HD_NONE &&
		    repair_paths_address(&paths, sw, thread->start->m_key, &address))
			addresses[leading->row[sw]] = address;
	}
	repair_paths_release(&paths);
	if (!rc)
		return addresses;
	free(addresses);
	return NULL;
}

static int make_job(const struct leading *leading, struct ar_repair *repair, struct ar_job **out,
		    struct hd_error *err)
{
	const struct repair_start *start = leading->repair->thread->start;
	struct ar_job *job = ar_job_copy(start->ar_job);

	if (!job)
		return hd_error_no_memory(err);
	job->routing = routing_hold(leading->repair->routing);
	job->addresses = find_addresses(leading);
	job->repair = repair;
	if (!job->addresses) {
		ar_job_free(job);
		return hd_error_no_memory(err);
	}
	*out = job;
	return 0;
}

static int do_job(struct leading *leading, struct ar_repair *repair, struct hd_error *err)
{
	struct ar_worker *worker = leading->repair->thread->start->ar_worker;
	struct ar_job *job = NULL;
	int rc = make_job(leading, repair, &job, err);

	if (rc)
		return rc;
	uint64_t number = ar_worker_offer(worker, job, PATIENCE_MS);
	if (!number) {
		ar_job_free(job);
		return hd_error_set(err, -EBUSY, "adaptive routing is being programmed");
	}
	while (!ar_worker_wait(worker, number, DONE_MS))
		continue;
	if (repair->rc)
		*err = repair->err;
	return repair->rc;
}

int repair_ar_program(struct repair *repair, bool *off, struct hd_error *err)
{
	const struct repair_thread *thread = repair->thread;
	const struct hd_fabric *left = repair->routing->fabric;
	struct leading leading = {.repair = repair};
	struct hd_routes *before = NULL;
	struct ar_repair job = {.begin = begin,
				.write = write_step,
				.go_on = repair->go_on,
				.context = &leading,
				.rc = -ECANCELED,
				.err = {REPAIR_LOST_TURN}};
	int rc = hd_routes_rebase(fabric_of(repair), thread->in_place, left, &before, err);

	if (!rc && find_rows(&leading))
		rc = hd_error_no_memory(err);
	job.before = before;
	if (!rc)
		rc = do_job(&leading, &job, err);
	if (!rc && !job.off)
		repair->proved = job.proved_ms;
	*off = !rc && job.off;
	free(leading.row);
	hd_routes_free(before);
	return rc;
}
