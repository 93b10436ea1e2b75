/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "module_tables.h"

#include <errno.h>
#include <heddle/fabric/tree.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the form of what an engine returns ---- */

static int check_shape(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       struct hd_error *err)
{
	uint32_t blocks = (fabric->lid_count + HD_LFT_BLOCK - 1) / HD_LFT_BLOCK;

	if (routes->lft && routes->switch_count == fabric->switch_count &&
	    routes->lid_count == fabric->lid_count && routes->stride == blocks * HD_LFT_BLOCK)
		return 0;
	return hd_error_set(
	    err, -EINVAL, "its tables have %u switches and %u LIDs, the fabric has %u and %u",
	    routes->switch_count, routes->lid_count, fabric->switch_count, fabric->lid_count);
}

static int bad_entry(const struct hd_fabric *fabric, uint32_t sw, uint32_t lid, const char *what,
		     struct hd_error *err)
{
	return hd_error_set(err, -EINVAL, "its table of switch '%s' 0x%016" PRIx64 " %s LID %u",
			    fabric->node_name[sw], fabric->node_guid[sw], what, lid);
}

static int check_column(const struct hd_fabric *fabric, const struct hd_routes *routes,
			const uint32_t *component, uint32_t lid, struct hd_error *err)
{
	uint32_t to = HD_NONE;
	uint8_t ignored;
	bool known = hd_fabric_lid_destination(fabric, lid, &to, &ignored);

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t port = hd_routes_row(routes, sw)[lid];
		bool wanted = known && component[sw] == component[to];

		if (port == HD_NO_PORT && wanted)
			return bad_entry(fabric, sw, lid, "has no entry for", err);
		if (port != HD_NO_PORT && !wanted)
			return bad_entry(fabric, sw, lid, "has an entry for the unreachable", err);
		if (port != HD_NO_PORT && port > hd_node_ports(fabric, sw))
			return bad_entry(fabric, sw, lid, "names a port that is missing for", err);
	}
	return 0;
}

/* Entries for adapters that are set aside come later: aside_route(). */
static void clear_column(struct hd_routes *routes, uint32_t lid)
{
	for (uint32_t sw = 0; sw < routes->switch_count; sw++)
		hd_routes_row(routes, sw)[lid] = HD_NO_PORT;
}

static int check_columns(const struct hd_fabric *fabric, struct hd_routes *routes,
			 const uint32_t *component, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t lid = 0; !rc && lid < fabric->lid_count; lid++) {
		uint32_t owner = fabric->lid_owner[lid];

		if (owner != HD_NONE && fabric->aside[owner])
			clear_column(routes, lid);
		else
			rc = check_column(fabric, routes, component, lid, err);
	}
	for (uint32_t lid = fabric->lid_count; lid < routes->stride; lid++)
		clear_column(routes, lid);
	return rc;
}

static int check_entries(const struct hd_fabric *fabric, struct hd_routes *routes,
			 struct hd_error *err)
{
	uint32_t *component = calloc(fabric->switch_count + 1u, sizeof(*component));
	int rc = component ? hd_tree_components(fabric, component) : -ENOMEM;

	rc = rc ? hd_error_no_memory(err) : check_columns(fabric, routes, component, err);
	free(component);
	return rc;
}

/* ---- running an engine ---- */

static void drop_the_rest(struct hd_routes *routes)
{
	free(routes->sl);
	routes->sl = NULL;
	memset(routes->sl2vl, 0, sizeof(routes->sl2vl));
	hd_lane_maps_free(routes->maps);
	routes->maps = NULL;
	routes->chosen[0] = '\0';
	routes->chosen_for = 0;
}

/* hd_engine_route() gives -EAGAIN a meaning of its own. */
static int refusal(int rc, struct hd_error *reason, struct hd_error *err)
{
	reason->text[HD_ERROR_TEXT - 1] = '\0';
	if (rc > 0)
		return hd_error_set(err, -EINVAL, "its function route returns %d", rc);
	return hd_error_set(err, rc == -EAGAIN ? -EINVAL : rc, "%s",
			    reason->text[0] ? reason->text : "its module gives no reason");
}

int module_tables_make(const struct hd_engine *engine, const struct hd_route_request *request,
		       struct hd_routes **out, struct hd_error *err)
{
	struct hd_error reason = {""};
	struct hd_routes *routes = NULL;
	int rc = engine->route(request, &routes, &reason);

	if (rc)
		return refusal(rc, &reason, err);
	if (!routes || routes == request->previous || routes == request->baseline)
		return hd_error_set(err, -EINVAL, "its module returns no tables of its own");
	rc = check_shape(request->fabric, routes, err);
	if (!rc)
		rc = check_entries(request->fabric, routes, err);
	if (rc) {
		hd_routes_free(routes);
		return rc;
	}
	drop_the_rest(routes);
	*out = routes;
	return 0;
}

/* ---- the proof ---- */

static const struct hd_fault *find_fault(const struct hd_check_report *report,
					 enum hd_fault_kind kind)
{
	for (uint32_t i = 0; i < report->fault_count; i++)
		if (report->faults[i].kind == kind)
			return &report->faults[i];
	return NULL;
}

static int wrong_paths(const struct hd_fabric *fabric, const struct hd_check_report *report,
		       struct hd_error *err)
{
	enum hd_fault_kind kind = report->loop ? HD_FAULT_LOOP : HD_FAULT_DEAD_END;
	const struct hd_fault *fault = find_fault(report, kind);
	char place[HD_LABEL_SIZE + 32] = "";

	if (fault)
		snprintf(
		    place, sizeof(place), ", such as that from '%s' 0x%016" PRIx64 " to LID %u",
		    fabric->node_name[fault->source], fabric->node_guid[fault->source], fault->lid);
	return hd_error_set(err, -EINVAL,
			    "its tables are wrong: %" PRIu64 " paths never end and %" PRIu64
			    " do not arrive%s",
			    report->loop, report->dead_end, place);
}

static int judge(const struct hd_fabric *fabric, const struct hd_check_report *report, bool guarded,
		 struct hd_error *err)
{
	if (report->loop || report->dead_end)
		return wrong_paths(fabric, report, err);
	if (report->credit_loops && guarded)
		return hd_error_set(err, -EINVAL,
				    "its tables are wrong: they can deadlock, %u of %u virtual "
				    "lanes have a credit loop",
				    report->credit_loops, report->lanes);
	return 0;
}

int module_tables_prove(const struct hd_route_request *request, const struct hd_routes *routes,
			bool guarded, struct hd_error *err)
{
	const struct hd_check_options options = {.threads = request->threads};
	struct hd_check_report *report;
	int rc = hd_check(request->fabric, routes, &options, &report, err);

	if (rc)
		return rc;
	rc = judge(request->fabric, report, guarded, err);
	hd_check_report_free(report);
	return rc;
}
