/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "wiring_check.h"

#include <errno.h>

static int check_tables(const struct hd_sim_subnet *subnet, uint32_t number, struct hd_error *err)
{
	const struct hd_fabric *fabric = subnet->fabric;
	const struct hd_routes *routes = subnet->routes;
	const struct hd_ar_plan *plan = subnet->plan;

	if (!fabric || !routes)
		return hd_error_set(err, -EINVAL, "subnet %u has no fabric or no tables", number);
	if (routes->switch_count != fabric->switch_count || routes->lid_count > fabric->lid_count)
		return hd_error_set(err, -EINVAL,
				    "subnet %u: the tables are of %u switches and %u LIDs, but the "
				    "fabric has %u and %u",
				    number, routes->switch_count, routes->lid_count,
				    fabric->switch_count, fabric->lid_count);
	if (plan &&
	    (plan->switch_count != fabric->switch_count || plan->lid_count > fabric->lid_count))
		return hd_error_set(err, -EINVAL,
				    "subnet %u: the plan of adaptive routing is of %u switches and "
				    "%u LIDs, but the fabric has %u and %u",
				    number, plan->switch_count, plan->lid_count,
				    fabric->switch_count, fabric->lid_count);
	return 0;
}

static int check_lanes(const struct hd_sim *sim, uint32_t number, struct hd_error *err)
{
	const struct hd_sim_subnet *subnet = &sim->network.subnets[number];
	uint32_t lanes = sim->settings.lanes, used;

	if (subnet->plan && subnet->plan->table_count > 1 && lanes < 2)
		return hd_error_set(err, -ERANGE,
				    "subnet %u: DFP needs a second lane, but lanes is 1", number);
	if (sim->settings.sl_is_vl)
		return 0;
	used = hd_routes_lanes(subnet->fabric, subnet->routes) & 0x7FFFu;
	if (!used || 32u - (uint32_t)__builtin_clz(used) <= lanes)
		return 0;
	return hd_error_set(
	    err, -ERANGE, "subnet %u: the tables use lane %u, so lanes must be %u or more", number,
	    31u - (uint32_t)__builtin_clz(used), 32u - (uint32_t)__builtin_clz(used));
}

static int check_interconnect(const struct hd_sim_network *network, struct hd_error *err)
{
	const struct hd_interconnect *interconnect = network->interconnect;

	if (network->subnet_count == 1 && !interconnect)
		return 0;
	if (!interconnect || !network->relay || !network->relay->choose)
		return hd_error_set(err, -EINVAL,
				    "%u subnets need an interconnect and a relay of its routers",
				    network->subnet_count);
	if (interconnect->subnet_count != network->subnet_count)
		return hd_error_set(err, -EINVAL, "the interconnect has %u subnets, not %u",
				    interconnect->subnet_count, network->subnet_count);
	for (uint32_t i = 0; i < network->subnet_count; i++) {
		if (interconnect->subnets[i].fabric != network->subnets[i].fabric)
			return hd_error_set(err, -EINVAL,
					    "subnet %u is not in the interconnect's order", i);
		if (!interconnect->subnets[i].map && network->subnet_count > 1)
			return hd_error_set(err, -EINVAL, "%s: no map",
					    interconnect->subnets[i].name);
	}
	return 0;
}

int wiring_check(const struct hd_sim *sim, struct hd_error *err)
{
	int rc = 0;

	if (!sim->network.subnet_count)
		return hd_error_set(err, -EINVAL, "there is no subnet");
	for (uint32_t i = 0; !rc && i < sim->network.subnet_count; i++) {
		rc = check_tables(&sim->network.subnets[i], i, err);
		if (!rc)
			rc = check_lanes(sim, i, err);
	}
	return rc ? rc : check_interconnect(&sim->network, err);
}
