/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LAG: a group is all ports to the neighbour to which the static port leads. Where one of them is cut, the
 * entry is static. */
#include "plan_changes.h"
#include "plan_shared.h"

static int prepare(struct planner *planner, struct hd_error *err)
{
	uint32_t lids = planner->fabric->lid_count;
	int rc = plan_shared_prepare(planner, HD_PORTS_MAX);

	for (unsigned i = 0; i < planner->worker_count; i++)
		planner->workers[i].class_of_lid =
		    hd_arena_alloc(&planner->arena, lids, sizeof(uint32_t));
	if (!rc)
		rc = plan_changes_find(planner);
	return rc || hd_arena_check(&planner->arena) ? hd_error_no_memory(err) : 0;
}

/* The links to the switch to which one link leads. */
static void parallel_links(const struct planner *planner, uint32_t sw, uint32_t link, uint64_t *set)
{
	const struct hd_fabric *fabric = planner->fabric;
	uint32_t first = fabric->isl_base[sw], to = fabric->isl_to[first + link];

	memset(set, 0, planner->words * sizeof(*set));
	for (uint32_t other = first; other < fabric->isl_base[sw + 1]; other++)
		if (fabric->isl_to[other] == to)
			link_sets_add(set, other - first);
}

static void wish(const struct planner *planner, struct planner_worker *worker, uint32_t sw)
{
	const struct hd_fabric *fabric = planner->fabric;
	const uint8_t *row = hd_routes_row(planner->request->routes, sw);
	uint8_t link_of_port[256];

	link_sets_clear(&worker->sets);
	for (uint32_t link = 0; link < fabric->isl_base[sw + 1] - fabric->isl_base[sw]; link++) {
		parallel_links(planner, sw, link, worker->set);
		plan_shared_set(worker, worker->set, link);
	}
	link_sets_of_ports(fabric, sw, link_of_port);
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
		uint32_t link = link_of_port[row[lid]];
		bool leads = planner->lids.destination[lid] != HD_NONE && link != LINK_SETS_NO_LINK;
		worker->class_of_lid[lid] = leads ? link : HD_NONE;
	}
	plan_shared_mark(planner, worker, sw, worker->class_of_lid);
}

static uint32_t class_of(const struct planner *planner, uint32_t sw, uint32_t lid, uint8_t link)
{
	(void)sw;
	return planner->lids.destination[lid] == HD_NONE ? HD_NONE : link;
}

static void set_of(const struct planner *planner, struct planner_worker *worker, uint32_t sw,
		   uint32_t class)
{
	parallel_links(planner, sw, class, worker->set);
}

const struct planner_algorithm planner_lag = {.algorithm = HD_AR_LAG,
					      .name = "lag",
					      .table_count = 1,
					      .sub_groups = 1,
					      .prepare = prepare,
					      .wish = wish,
					      .class_of = class_of,
					      .set_of = set_of};
