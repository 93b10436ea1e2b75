/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "destinations_abroad.h"

#include <heddle/ir_router/isfr.h>

/* Why the subnet, or the host in it, has no path by ISFR; *number becomes D. */
static enum hd_isfr_reason find_number(const struct hd_isfr_subnet *subnet, uint32_t host,
				       uint32_t *number)
{
	if (subnet->reason)
		return subnet->reason;
	if (subnet->number[host] == HD_NONE)
		return HD_ISFR_NO_PLACE;
	*number = subnet->base + subnet->number[host];
	return HD_ISFR_USED;
}

/* The cable by which host number D is reached from the top of the subnet, as an index. */
static uint32_t cable_of(const struct hd_isfr_subnet *subnet, uint32_t number)
{
	uint32_t cable = number / subnet->groups % subnet->cables;

	return number % subnet->groups * subnet->cables + cable;
}

uint32_t hd_isfr_egress(const struct hd_isfr_plan *plan, uint32_t router, uint32_t subnet,
			uint32_t host)
{
	const struct hd_isfr_subnet *to = &plan->subnets[subnet];
	uint32_t routers = plan->interconnect->router_count, number;

	if (find_number(to, host, &number))
		return HD_NONE;
	uint32_t group = number % to->groups, parallel = number / to->groups % to->cables / routers;
	return to->port[group * to->cables + parallel * routers + router];
}

enum hd_isfr_reason hd_isfr_path(const struct hd_isfr_plan *plan, uint32_t from, uint32_t subnet,
				 uint32_t host, struct hd_isfr_path *path)
{
	const struct hd_isfr_subnet *source = &plan->subnets[from];
	uint32_t number;
	enum hd_isfr_reason reason = find_number(&plan->subnets[subnet], host, &number);

	if (!reason)
		reason = source->reason;
	if (reason)
		return reason;
	path->ingress = source->port[cable_of(source, number)];
	if (path->ingress == HD_NONE)
		return HD_ISFR_NO_CABLE;
	path->egress =
	    hd_isfr_egress(plan, plan->interconnect->ports[path->ingress].router, subnet, host);
	if (path->egress == HD_NONE)
		return HD_ISFR_NO_CABLE;
	path->top = plan->interconnect->ports[path->egress].sw;
	return HD_ISFR_USED;
}

/* Sets the wanted ports. A port's number in the request is its place in the subnet's order. */
static void want_ports(const struct hd_isfr_plan *plan, struct destinations_abroad *abroad,
		       uint32_t *number, struct hd_isfr_report *report)
{
	const struct hd_interconnect *interconnect = plan->interconnect;
	const uint32_t *base = &interconnect->ordered_base[abroad->subnet];

	for (uint32_t i = base[0]; i < base[1]; i++)
		number[interconnect->ordered[i]] = i - base[0];
	for (uint32_t i = 0; i < abroad->count; i++) {
		struct hd_isfr_path path;
		enum hd_isfr_reason reason = hd_isfr_path(
		    plan, abroad->subnet, abroad->list[i].group, abroad->host[i], &path);
		report->by_reason[reason]++;
		if (!reason)
			abroad->list[i].wanted = number[path.ingress];
	}
}

int hd_isfr_map(const struct hd_isfr_plan *plan, uint32_t subnet,
		const struct hd_map_options *options, struct hd_map **out,
		struct hd_isfr_report *report, struct hd_error *err)
{
	struct destinations_abroad abroad;
	struct hd_isfr_report counts = {.by_reason = {0}};
	int rc = destinations_abroad_list(&abroad, plan->interconnect, subnet);
	uint32_t *number =
	    hd_arena_alloc(&abroad.arena, plan->interconnect->port_count, sizeof(*number));

	if (!rc && number) {
		want_ports(plan, &abroad, number, &counts);
		struct hd_assign_request request = destinations_abroad_request(&abroad, options);
		rc = hd_assign(&request, out, &counts.assigned, err);
		if (rc)
			rc = hd_error_prefix(err, rc, "%s",
					     plan->interconnect->subnets[subnet].name);
	} else {
		rc = hd_error_no_memory(err);
	}
	hd_arena_release(&abroad.arena);
	if (!rc && report)
		*report = counts;
	return rc;
}
