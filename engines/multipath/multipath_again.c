/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath_job.h"
#include "multipath_keep.h"

enum step { STEP_KEEP, STEP_REPAIR, STEP_REBALANCE };

struct keeping {
	struct multipath_job *job;
	struct multipath_keeper keeper;
	uint8_t *column; /* [lid_count] enum multipath_column */
	int64_t movable; /* LIDs that may still change without need */
};

static int take_fresh(struct keeping *keeping, uint32_t lid, bool *differs, struct hd_error *err)
{
	struct multipath_job *job = keeping->job;
	int rc = job->fresh ? 0 : multipath_route_fresh(job, &job->fresh, err);

	if (!rc)
		*differs = balance_take_column(keeping->keeper.routes, job->fresh, lid);
	return rc;
}

static int keep_lid(struct keeping *keeping, enum step step, uint32_t lid, struct hd_error *err)
{
	bool differs = false;
	int rc = 0;

	if (step == STEP_KEEP)
		keeping->column[lid] = (uint8_t)multipath_keep_column(&keeping->keeper, lid);
	if (step == STEP_REPAIR && keeping->column[lid] == MULTIPATH_COLUMN_BROKEN)
		multipath_keep_repair(&keeping->keeper, lid);
	if (step == STEP_REPAIR && keeping->column[lid] == MULTIPATH_COLUMN_UNKNOWN)
		rc = take_fresh(keeping, lid, &differs, err);
	if (step == STEP_REBALANCE && keeping->movable > 0) {
		rc = take_fresh(keeping, lid, &differs, err);
		keeping->movable -= differs;
	}
	return rc;
}

/* The first of the host's `lids` LIDs that concerns the step. A host of one LID has the entries of
 * spf, which keeps entries by its own rules, and so have LIDs without path bits. */
static uint32_t first_offset(const struct multipath_job *job, enum step step, uint32_t host,
			     uint32_t lids)
{
	if (step == STEP_REBALANCE)
		return 0;
	return lids > 1 ? multipath_lids_without_bits(job, host) : lids;
}

static int keep_step(struct keeping *keeping, enum step step, struct hd_error *err)
{
	const struct multipath_job *job = keeping->job;
	const struct hd_fabric *fabric = job->fabric;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < fabric->host_count; i++) {
		uint32_t host = job->policy.host_order[i], port = fabric->host_port[host];
		uint32_t lids = hd_port_lid_count(fabric, port);
		for (uint32_t offset = first_offset(job, step, host, lids); !rc && offset < lids;
		     offset++)
			rc = keep_lid(keeping, step, fabric->lid[port] + offset, err);
	}
	return rc;
}

int multipath_route_again(struct multipath_job *job, struct hd_routes **out, struct hd_error *err)
{
	struct keeping keeping = {.job = job, .movable = multipath_option(job, "rebalance")};
	struct hd_arena *arena = &keeping.keeper.arena;
	int rc = multipath_route_spf(job, job->request, &keeping.keeper.routes, err);

	keeping.keeper.request = job->request;
	keeping.column = hd_arena_alloc(arena, job->fabric->lid_count, sizeof(*keeping.column));
	if (!rc && multipath_keep_allocate(&keeping.keeper))
		rc = hd_error_no_memory(err);
	for (int step = STEP_KEEP; !rc && step <= STEP_REBALANCE; step++)
		rc = keep_step(&keeping, (enum step)step, err);
	if (rc)
		hd_routes_free(keeping.keeper.routes);
	else
		*out = keeping.keeper.routes;
	hd_arena_release(arena);
	return rc;
}

int multipath_find_path_bits(const struct multipath_job *job, bool *found, struct hd_error *err)
{
	struct multipath_keeper keeper = {.request = job->request};
	int rc = multipath_keep_allocate(&keeper) ? hd_error_no_memory(err) : 0;

	*found = false;
	for (uint32_t host = 0; !rc && !*found && host < job->fabric->host_count; host++)
		*found = multipath_keep_lengths_differ(&keeper, host);
	hd_arena_release(&keeper.arena);
	return rc;
}
