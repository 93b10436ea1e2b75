/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "certify_dfp.h"

#include <errno.h>
#include <heddle/ar_manager/certify.h>
#include <inttypes.h>
#include <stdlib.h>

struct planned {
	const struct hd_ar_plan *plan;
	uint32_t
	    *row; /* [switch_count] of the fabric: number in the plan, or HD_NONE; NULL: no plan */
};

static int find_rows(struct planned *planned, const struct hd_fabric *fabric, struct hd_error *err)
{
	if (!planned->plan)
		return 0;
	planned->row = malloc(((size_t)fabric->switch_count + 1) * sizeof(*planned->row));
	if (!planned->row)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		planned->row[sw] = hd_ar_plan_find(planned->plan, fabric->node_guid[sw]);
	return 0;
}

static void add_ports(const void *context, uint32_t sw, uint32_t lid, struct hd_port_set *ports)
{
	const struct planned *planned = context;
	uint32_t row = planned->row[sw];

	if (row == HD_NONE || lid >= planned->plan->lid_count)
		return;
	uint32_t number = hd_ar_plan_group(planned->plan, row, 0, lid);
	if (number == HD_AR_NO_GROUP)
		return;
	const struct hd_ar_group *group = &planned->plan->switches[row].groups[number];
	for (unsigned sub = 0; sub < HD_AR_SUB_GROUPS; sub++)
		hd_port_set_unite(ports, &group->ports[sub]);
}

int hd_ar_certify(const struct hd_fabric *fabric, const struct hd_routes *routes,
		  const struct hd_ar_plan *plan, const struct hd_go_on *go_on,
		  struct hd_certificate **out, struct hd_error *err)
{
	struct planned planned = {.plan = plan};
	struct hd_certificate_request request = {.fabric = fabric, .routes = routes};
	uint64_t wrong;

	if (plan && hd_routes_refuse_maps(routes, "certificates of plans", err))
		return -ENOTSUP;
	if (go_on)
		request.go_on = *go_on;
	int rc = plan ? hd_ar_plan_check(plan, fabric, routes, go_on, &wrong, err) : 0;

	if (plan && !rc && plan->table_count > 1)
		return certify_dfp(fabric, routes, plan, go_on, out, err);
	if (plan && !rc) {
		rc = find_rows(&planned, fabric, err);
		request.add_ports = add_ports;
		request.context = &planned;
	}
	if (!rc)
		rc = hd_certificate_new(&request, out, err);
	free(planned.row);
	return rc;
}

/* ---- changes ---- */

struct both {
	struct planned held, next;
};

static void add_either(const void *context, bool after, uint32_t sw, uint32_t lid,
		       struct hd_port_set *ports)
{
	const struct both *both = context;
	const struct planned *planned = after ? &both->next : &both->held;

	if (planned->plan)
		add_ports(planned, sw, lid, ports);
}

/* At a switch with groups the static ports are those of its forwarding table, and none is missing. */
static int check_static(const struct hd_fabric *fabric, const struct hd_routes *routes,
			const struct planned *planned, struct hd_error *err)
{
	uint32_t to;
	uint8_t last;

	for (uint32_t sw = 0; planned->plan && sw < fabric->switch_count; sw++) {
		const uint32_t row = planned->row[sw];
		if (row == HD_NONE || !planned->plan->switches[row].used)
			continue;
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
			const uint8_t port = lid < planned->plan->lid_count
						 ? planned->plan->switches[row].lid_port[0][lid]
						 : HD_NO_PORT;
			if (hd_fabric_lid_destination(fabric, lid, &to, &last) &&
			    port != hd_routes_port(routes, sw, lid))
				return hd_error_set(err, -EINVAL,
						    "switch 0x%016" PRIx64 ", LID %" PRIu32
						    ": the static port is not that of the tables",
						    fabric->node_guid[sw], lid);
		}
	}
	return 0;
}

int hd_ar_certify_change(const struct hd_ar_certify_change *request,
			 struct hd_certificate_change **out, struct hd_error *err)
{
	struct both both = {{.plan = request->held}, {.plan = request->next}};
	struct hd_certificate_change_request change = {.fabric = request->fabric,
						       .before = request->before,
						       .after = request->after,
						       .go_on = request->go_on};
	uint64_t wrong;

	if ((request->held && request->held->table_count > 1) ||
	    (request->next && request->next->table_count > 1))
		return hd_error_set(err, -ENOTSUP,
				    "changes of plans with private tables have no certificate");
	if (request->held || request->next) {
		change.add_ports = add_either;
		change.context = &both;
	}
	int rc = find_rows(&both.held, request->fabric, err);
	if (!rc)
		rc = find_rows(&both.next, request->fabric, err);
	if (!rc)
		rc = check_static(request->fabric, request->before, &both.held, err);
	if (!rc && request->next)
		rc = hd_ar_plan_check(request->next, request->fabric, request->after,
				      request->go_on, &wrong, err);
	if (!rc)
		rc = hd_certificate_change_new(&change, out, err);
	free(both.held.row);
	free(both.next.row);
	return rc;
}
