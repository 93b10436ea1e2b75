/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_options.h"
#include "multipath_job.h"

#include <errno.h>
#include <heddle/engines.h>
#include <inttypes.h>

/* ---- lanes ---- */

/* Whether hd_engine_route() will find lanes for the tables: 0, -ENOSPC, or another error. */
static int try_lanes(const struct multipath_job *job, const struct hd_routes *routes,
		     struct hd_error *err)
{
	struct hd_lanes_request wanted = {
	    .fabric = job->fabric, .available = engine_options_lanes(job->request), .share = true};
	struct hd_routes *copy;

	if (multipath_option(job, "deadlock") != HD_DEADLOCK_VL)
		return 0;
	int rc = hd_routes_rebase(job->fabric, routes, job->fabric, &copy, err);
	if (rc)
		return rc;
	rc = hd_lanes_assign(&wanted, copy, NULL, err);
	hd_routes_free(copy);
	return rc;
}

int multipath_fit_lanes(struct multipath_job *job, struct hd_routes **routes, struct hd_error *err)
{
	uint32_t before = job->cycles->kept;
	struct hd_error reason = {""};
	int rc;

	while ((rc = try_lanes(job, *routes, &reason)) == -ENOSPC && job->cycles->kept) {
		job->cycles->kept--;
		hd_routes_free(*routes);
		*routes = NULL;
		rc = multipath_route_fresh(job, routes, err);
		if (rc)
			return rc;
	}
	if (rc)
		return rc == -ENOSPC ? 0 : hd_error_set(err, rc, "%s", reason.text);
	if (job->cycles->kept < before)
		hd_log(job->request->log, HD_LOG_WARNING,
		       "multipath: %" PRIu32 " of %" PRIu32
		       " path bits are used: more of them would need more than %u virtual lanes",
		       job->cycles->kept, before, engine_options_lanes(job->request));
	return 0;
}

/* ---- tables after a change: what stays ---- */

/*
 * Path bits after a change in the fabric. One more or one less cycle gives every path another
 * pattern, so today's cycles must not decide what changes. The entries for a LID stay as long as
 * they lead to it, by whatever path. If some do not, no more of them change than necessary.
 */

struct multipath_keeper {
	const struct hd_route_request *request; /* with tables in place */
	struct hd_routes *routes; /* to be written */
	struct hd_arena arena;
	uint32_t *next; /* [switch_count] link taken towards the LID at hand, HD_NONE = none */
	uint32_t *hops; /* [switch_count] by those links; HD_NONE: they do not lead there */
	uint64_t *use; /* [isl_count] LIDs forwarded by the link, of the columns written */
};

enum multipath_column {
	MULTIPATH_COLUMN_VALID, /* written: the baseline, or as it is in the switches */
	MULTIPATH_COLUMN_BROKEN, /* some entries do not lead to the LID */
	MULTIPATH_COLUMN_UNKNOWN /* the switches have nothing for this LID */
};

/* Memory from the keeper's arena. Errors: -ENOMEM, also when the arena has failed before. */
static int multipath_keep_allocate(struct multipath_keeper *keeper)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	struct hd_arena *arena = &keeper->arena;

	keeper->next = hd_arena_alloc(arena, fabric->switch_count, sizeof(*keeper->next));
	keeper->hops = hd_arena_alloc(arena, fabric->switch_count, sizeof(*keeper->hops));
	keeper->use = hd_arena_alloc(arena, fabric->isl_count, sizeof(*keeper->use));
	return hd_arena_check(arena);
}

/* Counts hops outwards from where they are known already. */
static void spread_hops(struct multipath_keeper *keeper)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	bool grown;

	do {
		grown = false;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint32_t link = keeper->next[sw];
			if (keeper->hops[sw] != HD_NONE || link == HD_NONE)
				continue;
			uint32_t beyond = keeper->hops[fabric->isl_to[link]];
			keeper->hops[sw] = beyond == HD_NONE ? HD_NONE : beyond + 1;
			grown |= beyond != HD_NONE;
		}
	} while (grown);
}

/* Loads the column. False when no switch has an entry that leads to a switch. */
static bool load_column(struct multipath_keeper *keeper, const struct hd_routes *from, uint32_t lid)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t destination;
	uint8_t port;
	bool any = false, owned = hd_fabric_lid_destination(fabric, lid, &destination, &port);

	for (uint32_t sw = 0; owned && sw < fabric->switch_count; sw++) {
		keeper->next[sw] =
		    sw == destination
			? HD_NONE
			: hd_fabric_find_isl(fabric, sw, hd_routes_port(from, sw, lid));
		keeper->hops[sw] = sw == destination ? 0 : HD_NONE;
		any |= keeper->next[sw] != HD_NONE;
	}
	return any;
}

/* True when the switch's next hop towards the LID is not one hop nearer to the host, by the
 * hops that are counted. */
static bool strays(const struct multipath_keeper *keeper, uint32_t sw, uint32_t lid)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t link =
	    hd_fabric_find_isl(fabric, sw, hd_routes_port(keeper->request->previous, sw, lid));
	uint32_t hops = keeper->hops[sw], beyond;

	if (link == HD_NONE || !hops || hops == HD_NONE)
		return false;
	beyond = keeper->hops[fabric->isl_to[link]];
	return beyond != HD_NONE && beyond + 1 != hops;
}

/*
 * True when the tables in place lead to some LID of the host by more or fewer hops than to its
 * base LID, as path bits do and other shortest paths never do. Cost: O(LIDs * switches).
 */
static bool multipath_keep_lengths_differ(struct multipath_keeper *keeper, uint32_t host)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t port = fabric->host_port[host], base = fabric->lid[port];
	uint32_t lids = hd_port_lid_count(fabric, port);

	if (lids < 2 || !load_column(keeper, keeper->request->previous, base))
		return false;
	spread_hops(keeper);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t offset = 1; offset < lids; offset++)
			if (strays(keeper, sw, base + offset))
				return true;
	return false;
}

/* True when link a is a better joint than link b: see multipath_keep_repair(). */
static bool better_joint(const struct multipath_keeper *keeper, uint32_t a, uint32_t b)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	bool moves_a = keeper->next[hd_isl_from(fabric, a)] != HD_NONE;
	bool moves_b = keeper->next[hd_isl_from(fabric, b)] != HD_NONE;
	uint32_t hops_a = keeper->hops[fabric->isl_to[a]], hops_b = keeper->hops[fabric->isl_to[b]];

	if (moves_a != moves_b)
		return moves_b;
	if (hops_a != hops_b)
		return hops_a < hops_b;
	return keeper->use[a] < keeper->use[b];
}

/* The best link from a switch that does not lead to the LID to one that does, or HD_NONE. */
static uint32_t find_joint(const struct multipath_keeper *keeper)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t best = HD_NONE;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (keeper->hops[sw] != HD_NONE)
			continue;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (keeper->hops[fabric->isl_to[link]] != HD_NONE &&
			    (best == HD_NONE || better_joint(keeper, link, best)))
				best = link;
	}
	return best;
}

/* Switches that still do not lead to the LID are in another component and get no entry. */
static void write_column(struct multipath_keeper *keeper, uint32_t lid)
{
	const struct hd_fabric *fabric = keeper->request->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t *entry = &hd_routes_row(keeper->routes, sw)[lid];
		uint32_t link = keeper->next[sw];
		if (keeper->hops[sw] == HD_NONE) {
			*entry = HD_NO_PORT;
		} else if (keeper->hops[sw]) {
			*entry = fabric->isl_port[link];
			keeper->use[link]++;
		}
	}
}

static bool try_column(struct multipath_keeper *keeper, const struct hd_routes *from, uint32_t lid)
{
	if (!from || !load_column(keeper, from, lid))
		return false;
	spread_hops(keeper);
	if (find_joint(keeper) != HD_NONE)
		return false;
	write_column(keeper, lid);
	return true;
}

/* Looks at the column of one LID, its entries in all switches, and writes it if it is valid. Cost:
 * O(switches * hops). */
static enum multipath_column multipath_keep_column(struct multipath_keeper *keeper, uint32_t lid)
{
	const struct hd_route_request *request = keeper->request;

	if (try_column(keeper, request->baseline, lid) ||
	    try_column(keeper, request->previous, lid))
		return MULTIPATH_COLUMN_VALID;
	return load_column(keeper, request->previous, lid) ? MULTIPATH_COLUMN_BROKEN
							   : MULTIPATH_COLUMN_UNKNOWN;
}

/*
 * Repairs and writes a broken column. Switches that do not lead to the LID are joined, one at a
 * time, to switches that do. First come those that have no next hop at all because their link is
 * gone, then any. Of several joints it takes that of fewest hops, then that by the least used link,
 * then the first. Each joint changes one entry, and everything behind it leads to the LID too.
 * Cost: O(joints
 * * links).
 */
static void multipath_keep_repair(struct multipath_keeper *keeper, uint32_t lid)
{
	const struct hd_fabric *fabric = keeper->request->fabric;
	uint32_t joint;

	load_column(keeper, keeper->request->previous, lid);
	spread_hops(keeper);
	while ((joint = find_joint(keeper)) != HD_NONE) {
		uint32_t sw = hd_isl_from(fabric, joint);
		keeper->next[sw] = joint;
		keeper->hops[sw] = keeper->hops[fabric->isl_to[joint]] + 1;
		spread_hops(keeper);
	}
	write_column(keeper, lid);
}

/* ---- with tables in place ---- */

enum step { STEP_KEEP, STEP_REPAIR };

struct keeping {
	struct multipath_job *job;
	struct multipath_keeper keeper;
	uint8_t *column; /* [lid_count] enum multipath_column */
};

static int take_fresh(struct keeping *keeping, uint32_t lid, struct hd_error *err)
{
	struct multipath_job *job = keeping->job;
	int rc = job->fresh ? 0 : multipath_route_fresh(job, &job->fresh, err);

	if (!rc)
		balance_take_column(keeping->keeper.routes, job->fresh, lid);
	return rc;
}

static int keep_lid(struct keeping *keeping, enum step step, uint32_t lid, struct hd_error *err)
{
	int rc = 0;

	if (step == STEP_KEEP)
		keeping->column[lid] = (uint8_t)multipath_keep_column(&keeping->keeper, lid);
	if (step == STEP_REPAIR && keeping->column[lid] == MULTIPATH_COLUMN_BROKEN)
		multipath_keep_repair(&keeping->keeper, lid);
	if (step == STEP_REPAIR && keeping->column[lid] == MULTIPATH_COLUMN_UNKNOWN)
		rc = take_fresh(keeping, lid, err);
	return rc;
}

/* A host of one LID has the entries of spf, which keeps entries by its own rules, and so have LIDs without path bits. */
static int keep_step(struct keeping *keeping, enum step step, struct hd_error *err)
{
	const struct multipath_job *job = keeping->job;
	const struct hd_fabric *fabric = job->fabric;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < fabric->host_count; i++) {
		uint32_t host = job->policy.host_order[i], port = fabric->host_port[host];
		uint32_t lids = hd_port_lid_count(fabric, port);
		for (uint32_t offset = lids > 1 ? multipath_lids_without_bits(job, host) : lids;
		     !rc && offset < lids; offset++)
			rc = keep_lid(keeping, step, fabric->lid[port] + offset, err);
	}
	return rc;
}

int multipath_route_again(struct multipath_job *job, struct hd_routes **out, struct hd_error *err)
{
	struct keeping keeping = {.job = job};
	struct hd_arena *arena = &keeping.keeper.arena;
	int rc = multipath_route_spf(job, job->request, &keeping.keeper.routes, err);

	keeping.keeper.request = job->request;
	keeping.column = hd_arena_alloc(arena, job->fabric->lid_count, sizeof(*keeping.column));
	if (!rc && multipath_keep_allocate(&keeping.keeper))
		rc = hd_error_no_memory(err);
	for (int step = STEP_KEEP; !rc && step <= STEP_REPAIR; step++)
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
