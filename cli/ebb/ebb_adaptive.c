/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ebb_adaptive.h"
#include "message.h"

#include <errno.h>
#include <heddle/base/gzip.h>

int ebb_adaptive_take_algorithm(const struct typed *typed, void *place)
{
	struct ebb_adaptive *adaptive = place;

	adaptive->make = true;
	if (hd_ar_algorithm_find(typed->text, &adaptive->algorithm))
		return 0;
	return message_error("option '--ar': '%s' is none of auto, lag, tree, dfp", typed->text);
}

static int read_plan(struct ebb_adaptive *adaptive, const struct hd_fabric *fabric,
		     struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_gzip_open(adaptive->plan_path, &text, err);

	if (rc)
		return rc;
	rc = hd_ar_read_far(&text, fabric, &adaptive->plan, err);
	hd_text_close(&text);
	return rc;
}

/* A packet takes the second sub-group only if the first is loaded. */
static struct hd_spread_group group_of(const struct hd_ar_group *group)
{
	struct hd_spread_group spread = {group->ports[0], group->ports[0]};

	hd_port_set_unite(&spread.all, &group->ports[1]);
	if (hd_port_set_is_empty(&spread.first))
		spread.first = spread.all;
	return spread;
}

static int spread_switch(struct ebb_adaptive *adaptive, const struct hd_ar_switch *planned,
			 struct hd_spread_switch *out)
{
	struct hd_spread_group *groups =
	    hd_arena_alloc(&adaptive->arena, planned->group_count, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < planned->group_count; i++)
		groups[i] = group_of(&planned->groups[i]);
	*out = (struct hd_spread_switch){
	    .above = planned->above, .group_count = planned->group_count, .groups = groups};
	for (uint32_t table = 0; table < adaptive->spread.tables; table++) {
		out->group[table] = planned->lid_group[table];
		if (adaptive->spread.tables > 1)
			out->port[table] = planned->lid_port[table];
	}
	return 0;
}

/* No packet is on the raised lane before it leaves the minimal paths, and none of those that count
 * here does. So a plan's third table has no part in it. */
static int make_spread(struct ebb_adaptive *adaptive, const struct hd_fabric *fabric)
{
	struct hd_spread_switch *switches =
	    hd_arena_alloc(&adaptive->arena, fabric->switch_count, sizeof(*switches));

	if (!switches)
		return -ENOMEM;
	adaptive->spread.tables = adaptive->plan->table_count > 1 ? HD_SPREAD_TABLES : 1;
	adaptive->spread.switches = switches;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t index = hd_ar_plan_find(adaptive->plan, fabric->node_guid[sw]);
		if (index != HD_NONE &&
		    spread_switch(adaptive, &adaptive->plan->switches[index], &switches[sw]))
			return -ENOMEM;
	}
	return 0;
}

int ebb_adaptive_load(struct ebb_adaptive *adaptive, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, unsigned threads, const struct hd_log *log,
		      struct hd_error *err)
{
	const struct hd_ar_request request = {.fabric = fabric,
					      .routes = routes,
					      .algorithm = adaptive->algorithm,
					      .mode = HD_AR_BOUNDED,
					      .threads = threads,
					      .log = log};
	int rc;

	if (adaptive->plan_path && adaptive->make)
		return hd_error_set(err, -EINVAL, "options --plan and --ar exclude each other");
	rc = adaptive->plan_path ? read_plan(adaptive, fabric, err)
				 : hd_ar_plan_new(&request, &adaptive->plan, NULL, err);
	if (!rc && make_spread(adaptive, fabric))
		rc = hd_error_no_memory(err);
	return rc;
}

void ebb_adaptive_release(struct ebb_adaptive *adaptive)
{
	hd_congestion_report_free(adaptive->report);
	hd_ar_plan_free(adaptive->plan);
	hd_arena_release(&adaptive->arena);
}
