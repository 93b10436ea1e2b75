/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "destinations_abroad.h"

int hd_issr_map(const struct hd_interconnect *interconnect, uint32_t subnet,
		const struct hd_map_options *options, struct hd_map **out,
		struct hd_assign_report *report, struct hd_error *err)
{
	struct destinations_abroad abroad;
	int rc = destinations_abroad_list(&abroad, interconnect, subnet);

	if (!rc) {
		struct hd_assign_request request = destinations_abroad_request(&abroad, options);
		rc = hd_assign(&request, out, report, err);
		if (rc)
			rc = hd_error_prefix(err, rc, "%s", interconnect->subnets[subnet].name);
	} else {
		rc = hd_error_no_memory(err);
	}
	hd_arena_release(&abroad.arena);
	return rc;
}

/* The router port of each prefix: the first one that leads there, another one for each prefix. */
static int add_prefixes(const struct hd_interconnect *interconnect, uint32_t subnet,
			struct hd_map_builder *builder, struct hd_error *err)
{
	const uint32_t *base = &interconnect->ordered_base[subnet];
	uint32_t ports = base[1] - base[0], next = 0;
	int rc = 0;

	for (uint32_t to = 0; !rc && to < interconnect->subnet_count; to++) {
		struct hd_gid gid = {interconnect->subnets[to].prefix, 0};
		uint32_t tries = 0;
		while (tries < ports &&
		       !hd_interconnect_leads(interconnect,
					      interconnect->ordered[base[0] + next % ports], to)) {
			next++;
			tries++;
		}
		if (to == subnet || tries == ports)
			continue;
		uint32_t port = interconnect->ordered[base[0] + next++ % ports];
		rc = hd_map_builder_add(builder, &gid, 64, &interconnect->ports[port].guid, 1, 0,
					err);
	}
	return rc;
}

int hd_prefix_map(const struct hd_interconnect *interconnect, uint32_t subnet, struct hd_map **out,
		  struct hd_error *err)
{
	struct hd_map_builder *builder = hd_map_builder_new();
	int rc =
	    builder ? add_prefixes(interconnect, subnet, builder, err) : hd_error_no_memory(err);

	if (!rc)
		rc = hd_map_builder_build(builder, NULL, out, err);
	hd_map_builder_free(builder);
	return rc;
}
