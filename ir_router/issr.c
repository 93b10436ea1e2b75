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
