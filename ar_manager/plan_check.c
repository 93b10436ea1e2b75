/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/ar_manager/plan.h>
#include <inttypes.h>

struct checking {
	const struct hd_ar_plan *plan;
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t sw; /* of the fabric */
	const struct hd_ar_switch *planned;
	uint64_t wrong;
	struct hd_error *err; /* of the first fault */
};

static void note(struct checking *checking, uint32_t lid, const char *what, uint32_t port)
{
	if (!checking->wrong++)
		hd_error_set(checking->err, -EINVAL, "switch 0x%016" PRIx64 ", LID %u, port %u: %s",
			     checking->fabric->node_guid[checking->sw], lid, port, what);
}

/* Why packets to the LID are lost at the next hop; NULL: they are not. */
static const char *find_fault(const struct checking *checking, uint32_t lid, uint32_t port)
{
	uint32_t link = hd_fabric_find_isl(checking->fabric, checking->sw, port), owner;
	uint8_t last;

	if (link != HD_NONE)
		return hd_routes_port(checking->routes, checking->fabric->isl_to[link], lid) ==
			       HD_NO_PORT
			   ? "the next switch has no route"
			   : NULL;
	if (hd_fabric_lid_destination(checking->fabric, lid, &owner, &last) &&
	    owner == checking->sw && last == port)
		return NULL;
	return "no cable leads from there to the LID";
}

static void check_group(struct checking *checking, uint32_t lid, const struct hd_ar_group *group)
{
	struct hd_port_set all = group->ports[0];

	hd_port_set_unite(&all, &group->ports[1]);
	HD_PORT_SET_FOREACH(port, &all) {
		const char *fault = find_fault(checking, lid, port);
		if (fault)
			note(checking, lid, fault, port);
	}
}

static void check_entry(struct checking *checking, uint32_t table, uint32_t lid)
{
	const struct hd_ar_switch *planned = checking->planned;
	uint16_t group = planned->lid_group[table][lid];
	uint32_t port = hd_routes_port(checking->routes, checking->sw, lid);

	if (port == HD_NO_PORT)
		return;
	if (group != HD_AR_NO_GROUP)
		check_group(checking, lid, &planned->groups[group]);
	else if (planned->lid_port[table][lid] == HD_NO_PORT && !table)
		note(checking, lid, "the plan has no entry", port);
	else if (checking->plan->table_count == 1 && planned->lid_port[table][lid] != port)
		note(checking, lid, "the plan has another static port than the tables", port);
}

int hd_ar_plan_check(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
		     const struct hd_routes *routes, const struct hd_go_on *go_on, uint64_t *wrong,
		     struct hd_error *err)
{
	struct checking checking = {.plan = plan, .fabric = fabric, .routes = routes, .err = err};
	uint32_t lids = plan->lid_count < fabric->lid_count ? plan->lid_count : fabric->lid_count;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t index = hd_ar_plan_find(plan, fabric->node_guid[sw]);
		if (!hd_go_on_ask(go_on))
			return hd_go_on_stopped(err);
		if (index == HD_NONE || !plan->switches[index].used)
			continue;
		checking.sw = sw;
		checking.planned = &plan->switches[index];
		for (uint32_t table = 0; table < plan->table_count; table++)
			for (uint32_t lid = 1; lid < lids; lid++)
				check_entry(&checking, table, lid);
	}
	*wrong = checking.wrong;
	return checking.wrong ? -EINVAL : 0;
}
