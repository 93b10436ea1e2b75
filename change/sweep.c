/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/change/sweep.h>

#include "repair_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hd_sweep {
	struct hd_sweep_request request;
	struct hd_repair_base *base; /* NULL: not made yet */
	struct hd_repair_plan *plan; /* of the last part */
	struct hd_routes *wanted; /* of the last part: some of it may be left */
	bool looped; /* the tables in place have a credit loop */
	bool fresh; /* the base has nothing but what the switches hold */
	bool *silent; /* [switch_count] */
	bool any_silent;
};

int hd_sweep_new(const struct hd_sweep_request *request, struct hd_sweep **out,
		 struct hd_error *err)
{
	const struct hd_routes *tables = request->held->maps ? request->held : request->wanted;
	struct hd_sweep *sweep;

	if (hd_routes_refuse_maps(tables, "ordered sweeps", err))
		return -ENOTSUP;
	sweep = calloc(1, sizeof(*sweep));
	if (!sweep)
		return hd_error_no_memory(err);
	sweep->request = *request;
	sweep->silent = calloc(request->fabric->switch_count + 1u, sizeof(bool));
	if (!sweep->silent) {
		hd_sweep_free(sweep);
		return hd_error_no_memory(err);
	}
	*out = sweep;
	return 0;
}

static void forget_part(struct hd_sweep *sweep)
{
	hd_repair_plan_free(sweep->plan);
	hd_routes_free(sweep->wanted);
	sweep->plan = NULL;
	sweep->wanted = NULL;
}

void hd_sweep_free(struct hd_sweep *sweep)
{
	if (!sweep)
		return;
	forget_part(sweep);
	hd_repair_base_free(sweep->base);
	free(sweep->silent);
	free(sweep);
}

/* ---- LIDs that have gone ---- */

static uint8_t *widen_rows(const uint8_t *rows, const struct hd_routes *routes, uint32_t stride,
			   uint8_t filling)
{
	const size_t bytes = (size_t)routes->switch_count * stride;
	uint8_t *wide = aligned_alloc(HD_LFT_BLOCK, bytes ? bytes : HD_LFT_BLOCK);

	if (!wide)
		return NULL;
	memset(wide, filling, bytes);
	for (uint32_t sw = 0; sw < routes->switch_count; sw++)
		memcpy(wide + (size_t)sw * stride, rows + (size_t)sw * routes->stride,
		       routes->stride);
	return wide;
}

int hd_sweep_widen(struct hd_routes *held, uint32_t lids)
{
	const uint32_t stride = (lids + HD_LFT_BLOCK - 1) / HD_LFT_BLOCK * HD_LFT_BLOCK;

	if (stride <= held->stride)
		return 0;
	uint8_t *lft = widen_rows(held->lft, held, stride, HD_NO_PORT);
	uint8_t *sl = held->sl ? widen_rows(held->sl, held, stride, 0) : NULL;
	if (!lft || (held->sl && !sl)) {
		free(lft);
		free(sl);
		return -ENOMEM;
	}
	free(held->lft);
	free(held->sl);
	held->lft = lft;
	held->sl = sl;
	held->stride = stride;
	return 0;
}

/* ---- silent switches ---- */

void hd_sweep_silence(struct hd_sweep *sweep, uint32_t sw)
{
	const struct hd_sweep_request *request = &sweep->request;

	sweep->silent[sw] = sweep->any_silent = true;
	memset(hd_routes_row(request->held, sw), HD_NO_PORT, request->held->stride);
}

/* ---- parts ---- */

/* The rows that the next part is to reach: what is left stays as it is. */
static int make_wanted(struct hd_sweep *sweep)
{
	const struct hd_sweep_request *request = &sweep->request;

	sweep->wanted = hd_routes_copy(request->wanted);
	if (!sweep->wanted)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < request->fabric->switch_count; sw++)
		if (sweep->silent[sw])
			memset(hd_routes_row(sweep->wanted, sw), HD_NO_PORT, sweep->wanted->stride);
	return 0;
}

static int loosen(struct hd_sweep *sweep, struct hd_error *err)
{
	hd_repair_base_free(sweep->base);
	sweep->base = NULL;
	return repair_base_loose(sweep->request.fabric, sweep->request.threads, &sweep->base, err);
}

static int make_base(struct hd_sweep *sweep, struct hd_error *err)
{
	const struct hd_sweep_request *request = &sweep->request;

	hd_repair_base_free(sweep->base);
	sweep->base = NULL;
	sweep->fresh = true;
	int rc = hd_repair_base_new(request->fabric, request->held, request->threads,
				    &request->go_on, &sweep->base, err);
	sweep->looped = rc == -ELOOP;
	return sweep->looped ? loosen(sweep, err) : rc;
}

static int plan(struct hd_sweep *sweep, struct hd_error *err)
{
	forget_part(sweep);
	if (make_wanted(sweep))
		return hd_error_no_memory(err);
	return repair_plan_sweep(sweep->base, sweep->request.held, sweep->wanted,
				 &sweep->request.go_on, &sweep->plan, err);
}

/* The last plan has nothing to write, but has left LIDs. *again: another base may do better. */
static int change_base(struct hd_sweep *sweep, bool *again, struct hd_error *err)
{
	*again = sweep->plan->left && !sweep->base->loose;
	if (!*again)
		return 0;
	/* what a silent switch may hold is known to the present base only */
	return sweep->fresh || sweep->any_silent ? loosen(sweep, err) : make_base(sweep, err);
}

int hd_sweep_next(struct hd_sweep *sweep, struct hd_sweep_part *part, struct hd_error *err)
{
	bool again = true;
	int rc = sweep->base ? 0 : make_base(sweep, err);

	while (!rc && again) {
		again = false;
		rc = plan(sweep, err);
		if (!rc && !sweep->plan->entries)
			rc = change_base(sweep, &again, err);
	}
	if (rc)
		return rc;
	sweep->fresh = false;
	*part = (struct hd_sweep_part){sweep->plan->entries ? sweep->plan : NULL,
				       !sweep->base->loose, sweep->looped};
	return 0;
}
