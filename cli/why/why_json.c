/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle why as JSON. */
#include "ebb_report.h"
#include "why.h"

static json_t *number_or_null(double value, bool known)
{
	return known ? json_real(value) : json_null();
}

static json_t *port_json(const struct why_view *view, uint32_t port)
{
	const struct hd_fabric *fabric = view->fabric;
	json_t *object = json_object();

	object = json_value_set(object, "name",
				json_value_text(fabric->node_name[fabric->port_node[port]]));
	object = json_value_set(object, "guid",
				json_value_guid(fabric->node_guid[fabric->port_node[port]]));
	return json_value_set(object, "port", json_integer(hd_port_number(fabric, port)));
}

static json_t *link_json(const struct why_view *view, uint32_t link)
{
	uint32_t port = hd_congestion_link_port(view->fabric, link);
	json_t *object = json_object();

	object = json_value_set(object, "from", port_json(view, port));
	return json_value_set(object, "to", port_json(view, view->fabric->peer[port]));
}

static json_t *host_json(const struct why_view *view, uint32_t host)
{
	return json_value_text(
	    view->fabric->node_name[view->fabric->port_node[view->fabric->host_port[host]]]);
}

static json_t *jobs_json(const struct why_view *view, const struct hd_estimate_users *users)
{
	json_t *list = json_array();

	for (uint32_t job = 0; users->job_bytes && job <= view->allocation->job_count; job++) {
		if (users->job_bytes[job] <= 0)
			continue;
		json_t *row = json_object();
		row = json_value_set(row, "job",
				     job < view->allocation->job_count
					 ? json_value_text(view->allocation->jobs[job])
					 : json_null());
		row = json_value_set(row, "bytes", json_real(users->job_bytes[job]));
		list = json_value_append(list, row);
	}
	return list;
}

static json_t *users_json(const struct why_view *view, const struct hd_estimate_users *users)
{
	json_t *object = json_object();

	object = json_value_set(object, "routes", json_integer((json_int_t)users->routes));
	object = json_value_set(object, "sources", json_integer(users->sources));
	object = json_value_set(object, "destinations", json_integer(users->destinations));
	object = json_value_set(object, "bytes", json_real(users->bytes));
	json_t *list = json_array();
	for (uint32_t i = 0; i < users->flow_count; i++) {
		json_t *row = json_object();
		row = json_value_set(row, "source", host_json(view, users->flows[i].source));
		row = json_value_set(row, "destination",
				     host_json(view, users->flows[i].destination));
		row = json_value_set(row, "bytes", json_real(users->flows[i].bytes));
		list = json_value_append(list, row);
	}
	object = json_value_set(object, "flows", list);
	return json_value_set(object, "jobs", jobs_json(view, users));
}

static json_t *hot_json(const struct why_view *view)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < view->hot_count; i++) {
		const struct why_hot *hot = &view->hot[i];
		const struct hd_measured_link *row = &view->measured->links[hot->link];
		json_t *object = link_json(view, hot->link);
		object =
		    json_value_set(object, "bottleneck",
				   json_boolean(hot->bottleneck && (i == 0 || hot->as_likely)));
		object = json_value_set(object, "congested", json_boolean(hot->bottleneck));
		object = json_value_set(object, "slow_host", json_boolean(hot->slow_host));
		object = json_value_set(object, "host_cable",
					json_boolean(why_is_host_link(view, hot->link)));
		object =
		    json_value_set(object, "bytes", number_or_null(row->bytes, row->bytes >= 0));
		object =
		    json_value_set(object, "load", number_or_null(row->share, row->share >= 0));
		object = json_value_set(object, "waits", number_or_null(row->wait, row->wait >= 0));
		object = json_value_set(object, "hosts_waiting", json_real(hot->hosts));
		object = json_value_set(
		    object, "users", view->estimate ? users_json(view, &hot->users) : json_null());
		list = json_value_append(list, object);
	}
	return list;
}

static json_t *errors_json(const struct why_view *view)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < view->error_count; i++) {
		const struct why_error *row = &view->errors[i];
		const struct hd_port_counters *port = &view->counters->ports[row->port];
		json_t *object = port_json(view, row->port), *counters = json_object();
		for (unsigned k = HD_SYMBOL_ERRORS; k < HD_COUNTERS; k++)
			if (port->value[k])
				counters = json_value_set(counters, hd_counter_name(k),
							  json_integer((json_int_t)port->value[k]));
		object = json_value_set(object, "counters", counters);
		object = json_value_set(object, "hot", json_boolean(row->hot));
		list = json_value_append(list, object);
	}
	return list;
}

static json_t *counters_json(const struct why_view *view)
{
	const struct hd_counters *counters = view->counters;
	json_t *object = json_object();

	object = json_value_set(object, "file", json_value_text(view->counters_path));
	object = json_value_set(
	    object, "before", view->before_path ? json_value_text(view->before_path) : json_null());
	object = json_value_set(object, "form", json_value_text(counters->dialect));
	object = json_value_set(object, "ports", json_integer(counters->ports_read));
	object = json_value_set(object, "ports_full", json_integer(counters->ports_full));
	object = json_value_set(object, "ports_reset", json_integer(counters->ports_back));
	return json_value_set(object, "seconds",
			      number_or_null(counters->seconds, view->measured->timed));
}

static json_t *estimate_json(const struct why_view *view)
{
	const struct hd_estimate *estimate = view->estimate;
	json_t *object = json_object();

	if (!estimate) {
		json_decref(object);
		return json_null();
	}
	object = json_value_set(object, "explained", json_real(estimate->explained));
	object = json_value_set(object, "explained_by_hosts", json_real(estimate->explained_first));
	object = json_value_set(object, "rounds", json_integer(estimate->rounds));
	object = json_value_set(object, "unknown_hosts", json_integer(estimate->unknown_hosts));
	return json_value_set(object, "bytes", json_real(estimate->bytes));
}

static json_t *choices_json(const struct why_view *view)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < view->choice_count; i++) {
		const struct why_choice *choice = &view->choices[i];
		bool fine = !*choice->refused;
		json_t *object = json_object();
		object = json_value_set(object, "tables", json_value_text(choice->name));
		object = json_value_set(object, "refused",
					fine ? json_null() : json_value_text(choice->refused));
		object = json_value_set(object, "busiest", number_or_null(choice->busiest, fine));
		object = json_value_set(object, "busiest_link",
					fine && choice->busiest_link != HD_NONE
					    ? link_json(view, choice->busiest_link)
					    : json_null());
		object = json_value_set(object, "hot_link", number_or_null(choice->hot, fine));
		object = json_value_set(object, "lost", number_or_null(choice->lost, fine));
		object = json_value_set(object, "even_lids", json_boolean(choice->even_lids));
		list = json_value_append(list, object);
	}
	return list;
}

json_t *why_json(const struct why_view *view)
{
	char verdict[WHY_VERDICT_SIZE];
	json_t *object = json_object();

	object = json_value_set(object, "fabric", json_value_text(view->fabric_path));
	object = json_value_set(object, "tables", json_value_text(view->tables_name));
	object = json_value_set(object, "verdict",
				json_value_text(why_verdict(view, verdict, sizeof(verdict))));
	object = json_value_set(object, "bottleneck", json_boolean(why_has_bottleneck(view)));
	object = json_value_set(object, "doubt",
				*view->doubt ? json_value_text(view->doubt) : json_null());
	object = json_value_set(object, "counters", counters_json(view));
	object = json_value_set(object, "hot", hot_json(view));
	object = json_value_set(object, "errors", errors_json(view));
	object = json_value_set(object, "estimate", estimate_json(view));
	object =
	    json_value_set(object, "no_estimate",
			   view->estimate ? json_null() : json_value_text(view->no_estimate.text));
	object = json_value_set(object, "host_cables",
				number_or_null(view->hosts, view->choice_count > 0));
	return json_value_set(object, "choices", choices_json(view));
}
