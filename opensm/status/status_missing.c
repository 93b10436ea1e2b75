/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "status_missing.h"
#include "status_report.h"

#include <heddle/fabric/tree.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The component of the switch to which a LID belongs, HD_NONE: to none. */
static void find_components(const struct hd_fabric *fabric, const uint32_t *component,
			    uint32_t *of_lid)
{
	for (uint32_t lid = 0, sw; lid < fabric->lid_count; lid++) {
		uint8_t port;
		bool known = hd_fabric_lid_destination(fabric, lid, &sw, &port);

		of_lid[lid] = known ? component[sw] : HD_NONE;
	}
}

static void count_row(const struct hd_routes *routes, uint32_t sw, uint32_t component,
		      const uint32_t *of_lid, struct status_missing *out)
{
	const uint8_t *row = hd_routes_row(routes, sw), *end = row + routes->lid_count;

	for (const uint8_t *at = memchr(row, HD_NO_PORT, routes->lid_count); at;
	     at = memchr(at + 1, HD_NO_PORT, (size_t)(end - at - 1))) {
		uint32_t lid = (uint32_t)(at - row);

		if (of_lid[lid] != component)
			continue;
		if (!out->count++) {
			out->sw = sw;
			out->lid = lid;
		}
	}
}

int status_missing_count(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 struct status_missing *out, struct hd_error *err)
{
	uint32_t *component = malloc((fabric->switch_count + 1) * sizeof(*component));
	uint32_t *of_lid = malloc((fabric->lid_count + 1) * sizeof(*of_lid));
	struct status_missing missing = {0};
	int rc = 0;

	if (!component || !of_lid || hd_tree_components(fabric, component))
		rc = hd_error_no_memory(err);
	if (!rc)
		find_components(fabric, component, of_lid);
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++)
		count_row(routes, sw, component[sw], of_lid, &missing);
	free(component);
	free(of_lid);
	if (!rc)
		*out = missing;
	return rc;
}

/* Who has a LID, as people call it. */
static const char *owner_name(const struct hd_fabric *fabric, uint32_t lid)
{
	return fabric->node_name[fabric->port_node[fabric->lid_owner[lid]]];
}

void status_missing_report(const struct hd_fabric *fabric, const struct status_missing *missing,
			   struct status_report *report)
{
	static const struct status_metric metric = {
	    "heddle_missing_entries", "gauge",
	    "Entries that switches lack, though cables lead to the LID"};

	status_report_number(report, "missing_entries", missing->count);
	status_report_metric(report, &metric, (double)missing->count);
	if (missing->count)
		status_report_fault(
		    report,
		    "%" PRIu64 " entr%s missing in the switches; the first is that of "
		    "'%s' for LID %" PRIu32 " of '%s'",
		    missing->count, missing->count == 1 ? "y is" : "ies are",
		    fabric->node_name[missing->sw], missing->lid, owner_name(fabric, missing->lid));
}
