/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "certify_dfp.h"

#include <heddle/ar_manager/certify.h>
#include <stdlib.h>

struct planned {
	const struct hd_ar_plan *plan;
	const uint32_t *row; /* [switch_count] of the fabric: number in the plan, or HD_NONE */
};

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
	uint32_t *rows = NULL;
	uint64_t wrong;

	if (go_on)
		request.go_on = *go_on;
	int rc = plan ? hd_ar_plan_check(plan, fabric, routes, go_on, &wrong, err) : 0;

	if (plan && !rc && plan->table_count > 1)
		return certify_dfp(fabric, routes, plan, go_on, out, err);
	if (plan && !rc) {
		rows = malloc(((size_t)fabric->switch_count + 1) * sizeof(*rows));
		if (!rows)
			return hd_error_no_memory(err);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			rows[sw] = hd_ar_plan_find(plan, fabric->node_guid[sw]);
		planned.row = rows;
		request.add_ports = add_ports;
		request.context = &planned;
	}
	if (!rc)
		rc = hd_certificate_new(&request, out, err);
	free(rows);
	return rc;
}
