/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep_levels.h"
#include "engine_callbacks.h"
#include "engines_state.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include "sweep_order.h"

#include <heddle/change/sweep.h>
#include <stdlib.h>

/* The tables of an earlier run; NULL: they are not known. */
static const struct hd_stored_tables *find_stored(const struct part_context *context)
{
	const struct osm_routing_engine *engine = context->osm->routing_engine_list;

	while (engine && !engine_callbacks_ours(engine))
		engine = engine->next;
	if (!engine)
		return NULL;
	return ((const struct engine_binding *)engine->context)->engines->memory.in_place;
}

/* Levels of packets that do not flow yet. */
static int fill_in(struct hd_routes *levels, const struct hd_routes *wanted, struct hd_error *err)
{
	const size_t size = (size_t)levels->switch_count * levels->stride;

	if (!wanted->sl)
		return 0;
	if (!levels->sl)
		levels->sl = calloc(size + 1u, sizeof(*levels->sl));
	if (!levels->sl)
		return hd_error_no_memory(err);
	for (size_t i = 0; i < size; i++)
		if (levels->lft[i] == HD_NO_PORT)
			levels->sl[i] = wanted->sl[i];
	return 0;
}

/* So that they have room for all LIDs of OpenSM's tables, which never get shorter. */
static int widen(struct hd_routes *levels, const struct part_context *context, struct hd_error *err)
{
	uint32_t lids = 0;

	MAP_FOREACH(osm_switch_t, sw, &context->osm->subn.sw_guid_tbl)
	{
		lids = sw->lft_size > lids ? sw->lft_size : lids;
	}
	return hd_sweep_widen(levels, lids) ? hd_error_no_memory(err) : 0;
}

int sweep_levels_find(const struct part_context *context, const struct sweep_goal *goal,
		      struct hd_routes **out, struct hd_error *err)
{
	const struct routing *before = context->published;
	const struct hd_stored_tables *stored = before ? NULL : find_stored(context);
	struct hd_routes *levels = NULL;
	int rc = 0;

	if (before)
		rc = hd_routes_rebase(before->fabric, before->routes, goal->fabric, &levels, err);
	else if (stored)
		rc = hd_stored_tables_get(stored, goal->fabric, &levels, err);
	else if (!(levels = hd_routes_copy(goal->routes)))
		rc = hd_error_no_memory(err);
	if (!rc && (before || stored))
		rc = fill_in(levels, goal->routes, err);
	rc = rc ? rc : widen(levels, context, err);
	if (rc)
		hd_routes_free(levels);
	else
		*out = levels;
	return rc;
}
