/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "proving.h"

#include <errno.h>

static bool same_shape(const struct hd_routes *routes, const struct hd_fabric *fabric)
{
	return routes->switch_count == fabric->switch_count &&
	       routes->lid_count == fabric->lid_count;
}

int proving_check(const struct hd_ar_proof_request *request, struct hd_error *err)
{
	const struct hd_ar_plan *plans[] = {request->plan, request->next};

	if ((request->next && request->next->table_count > 1) ||
	    (request->plan && request->plan->table_count > 1 && (request->next || request->before)))
		return hd_error_set(err, -EINVAL, "a plan with private tables is proved by itself");
	for (unsigned i = 0; i < 2; i++)
		if (plans[i] && plans[i]->lid_count != request->fabric->lid_count)
			return hd_error_set(
			    err, -EINVAL, "a plan up to LID %u for a fabric up to LID %u",
			    plans[i]->lid_count - 1, request->fabric->lid_count - 1);
	if (!same_shape(request->routes, request->fabric) ||
	    (request->before && !same_shape(request->before, request->fabric)))
		return hd_error_set(err, -EINVAL,
				    "tables of %u switches and LIDs up to %u for a fabric of %u "
				    "switches and LIDs up to %u",
				    request->routes->switch_count, request->routes->lid_count - 1,
				    request->fabric->switch_count, request->fabric->lid_count - 1);
	return 0;
}

static const struct hd_ar_switch *plan_of(const struct hd_ar_proof_request *request,
					  const struct hd_ar_plan *plan, uint32_t sw)
{
	uint32_t index = plan ? hd_ar_plan_find(plan, request->fabric->node_guid[sw]) : HD_NONE;

	return index == HD_NONE ? NULL : &plan->switches[index];
}

/* The static ports that a switch may still have, or NULL. */
static const uint8_t *old_ports(const struct hd_ar_proof_request *request,
				const struct hd_ar_switch *plan, uint32_t sw)
{
	if (request->arrived)
		return plan && plan->used ? plan->lid_port[0] : NULL;
	return request->before ? hd_routes_row(request->before, sw) : NULL;
}

static struct next_hops_entries entries_of(const struct hd_ar_proof_request *request, uint32_t sw,
					   bool groups)
{
	const struct hd_ar_switch *plan = plan_of(request, request->plan, sw);
	struct next_hops_entries entries = {
	    .port = {hd_routes_row(request->routes, sw), old_ports(request, plan, sw)}};

	if (groups) {
		entries.plan[0] = plan;
		entries.plan[1] = plan_of(request, request->next, sw);
	}
	return entries;
}

/* Takes LIDs out of those of the switches. */
static int init_lids(struct proving *proving, const bool *split)
{
	const bool *excused = proving->request->excused;
	struct host_lids *lids = &proving->lids;
	int rc = host_lids_init(lids, proving->request->fabric, &proving->arena);

	if (!rc && split)
		proving->split =
		    hd_arena_alloc(&proving->arena, lids->lid_count, sizeof(*proving->split));
	if (rc || (split && !proving->split))
		return -ENOMEM;
	for (uint32_t lid = 0; lid < lids->lid_count; lid++) {
		bool leave = excused && excused[lid], alone = split && split[lid];
		if (alone && !leave)
			proving->split[lid] = lids->destination[lid] != HD_NONE;
		if (alone || leave)
			lids->destination[lid] = HD_NONE;
	}
	return 0;
}

int proving_init(struct proving *proving, const struct hd_ar_proof_request *request, bool groups,
		 const bool *split)
{
	const struct hd_fabric *fabric = request->fabric;

	*proving = (struct proving){.request = request};
	proving->entries =
	    hd_arena_alloc(&proving->arena, fabric->switch_count, sizeof(*proving->entries));
	if (!proving->entries || init_lids(proving, split))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		proving->entries[sw] = entries_of(request, sw, groups);
	int rc = next_hops_init(&proving->next, fabric, &proving->lids, proving->entries,
				request->threads, &request->go_on, &proving->arena);
	return rc ? rc
		  : proof_graphs_init(&proving->graphs, &proving->next, request->routes,
				      request->before, request->threads, &request->go_on,
				      &proving->arena);
}

void proving_release(struct proving *proving)
{
	next_hops_release(&proving->next);
	hd_arena_release(&proving->arena);
}
