/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_report.h"
#include "json_value.h"

static json_t *end_json(const struct hd_fabric *fabric, uint32_t node, uint32_t port)
{
	return json_pack("{s:o, s:o, s:I}", "name", json_value_text(fabric->node_name[node]),
			 "guid", json_value_guid(fabric->node_guid[node]), "port",
			 (json_int_t)port);
}

static json_t *link_json(const struct hd_fabric *fabric, uint32_t link)
{
	if (link == HD_NONE)
		return json_null();
	uint32_t far = fabric->isl_reverse[link];
	return json_pack("{s:o, s:o}", "from",
			 end_json(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]), "to",
			 end_json(fabric, fabric->isl_to[link], fabric->isl_port[far]));
}

static json_t *cycle_json(const struct check_view *view, const struct hd_fault *fault)
{
	json_t *links = json_array();

	for (uint32_t i = 0; i < fault->path_length; i++)
		links = json_value_append(links, link_json(view->fabric, fault->path[i]));
	return json_pack("{s:s, s:i, s:o}", "kind", check_report_fault_name(fault->kind), "vl",
			 (int)fault->vl, "links", links);
}

/* The port of a hop is the entry for the LID, 255 if there is no entry. */
static json_t *walk_json(const struct check_view *view, const struct hd_fault *fault)
{
	json_t *hops = json_array();

	for (uint32_t i = 0; i < fault->path_length; i++)
		hops = json_value_append(
		    hops, end_json(view->fabric, fault->path[i],
				   hd_routes_port(view->routes, fault->path[i], fault->lid)));
	return json_pack("{s:s, s:o, s:I, s:o}", "kind", check_report_fault_name(fault->kind),
			 "source", json_value_text(view->fabric->node_name[fault->source]), "lid",
			 (json_int_t)fault->lid, "hops", hops);
}

static json_t *faults_json(const struct check_view *view)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < view->report->fault_count; i++) {
		const struct hd_fault *fault = &view->report->faults[i];
		list = json_value_append(list, fault->kind == HD_FAULT_CREDIT_LOOP
						   ? cycle_json(view, fault)
						   : walk_json(view, fault));
	}
	return list;
}

static json_t *hops_json(const struct hd_check_report *report)
{
	return json_pack("{s:I, s:f, s:f, s:I, s:f, s:I}", "routes", (json_int_t)report->routes,
			 "mean", report->mean_hops, "mean_shortest", report->mean_shortest, "max",
			 (json_int_t)report->max_hops, "max_stretch", report->max_stretch,
			 "longer_routes", (json_int_t)report->longer_routes);
}

static json_t *flows_json(const struct check_view *view)
{
	const struct hd_check_report *report = view->report;

	return json_pack("{s:I, s:f, s:I, s:o}", "min", (json_int_t)report->flows_min, "mean",
			 report->flows_mean, "max", (json_int_t)report->flows_max, "busiest",
			 link_json(view->fabric, report->busiest_link));
}

static json_t *lanes_json(const struct hd_check_report *report)
{
	json_t *lanes = json_array();

	for (int vl = 0; vl < 16; vl++)
		if (report->lanes_used >> vl & 1)
			lanes = json_value_append(lanes,
						  json_pack("{s:i, s:b}", "vl", vl, "credit_loop",
							    report->lanes_looped >> vl & 1));
	return lanes;
}

static json_t *adaptive_json(const struct check_adaptive *adaptive)
{
	json_t *value =
	    json_pack("{s:b, s:I, s:I, s:I}", "clean", adaptive->clean, "entries",
		      (json_int_t)adaptive->entries, "adaptive", (json_int_t)adaptive->adaptive,
		      "wrong", (json_int_t)adaptive->wrong);

	if (!adaptive->clean)
		return json_value_set(value, "reason", json_value_text(adaptive->reason));
	return json_value_set(value, "lanes", json_integer(adaptive->proof.lanes));
}

static json_t *defects_json(const struct check_view *view)
{
	json_t *list = json_array();

	for (size_t i = 0; i < check_report_shown_defects(view); i++) {
		const struct hd_table_defect *defect = &view->defects->list[i];
		list = json_value_append(list, json_pack("{s:s, s:o}", "kind",
							 check_report_defect_name(defect->kind),
							 "text", json_value_text(defect->text)));
	}
	return list;
}

static json_t *report_json(const struct check_view *view)
{
	const struct hd_check_report *report = view->report;
	json_t *value = json_pack(
	    "{s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o}",
	    "fabric", json_value_text(view->fabric_path), "clean", check_report_clean(view),
	    "hosts", (json_int_t)view->fabric->host_count, "switches",
	    (json_int_t)view->fabric->switch_count, "lids",
	    (json_int_t)hd_fabric_lids_in_use(view->fabric), "paths", (json_int_t)report->paths,
	    "no_route", (json_int_t)report->no_route, "dead_end", (json_int_t)report->dead_end,
	    "loop", (json_int_t)report->loop, "credit_loops", (json_int_t)report->credit_loops,
	    "lanes", (json_int_t)report->lanes, "service_levels", view->routes->sl != NULL, "vls",
	    lanes_json(report), "hops", hops_json(report), "flows", flows_json(view), "faults",
	    faults_json(view));

	return view->adaptive ? json_value_set(value, "adaptive", adaptive_json(view->adaptive))
			      : value;
}

/* Without defects there is no word of them. */
json_t *check_json(const struct check_view *view)
{
	json_t *json = report_json(view);

	if (!json || !view->defects->count)
		return json;
	if (json_object_set_new(json, "defects", defects_json(view)) ||
	    json_object_set_new(json, "defect_count",
				json_integer((json_int_t)view->defects->count))) {
		json_decref(json);
		return NULL;
	}
	return json;
}
