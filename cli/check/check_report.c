/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_report.h"
#include "csv.h"
#include "json_value.h"
#include "table_source.h"

#include <inttypes.h>
#include <stdio.h>

const char *check_report_fault_name(enum hd_fault_kind kind)
{
	static const char *const names[] = {[HD_FAULT_NO_ROUTE] = "no route",
					    [HD_FAULT_DEAD_END] = "dead end",
					    [HD_FAULT_LOOP] = "loop",
					    [HD_FAULT_CREDIT_LOOP] = "credit loop"};

	return names[kind];
}

/* The kind in words: "contradiction". */
static const char *check_report_defect_name(enum hd_table_defect_kind kind)
{
	static const char *const names[] = {
	    [HD_DEFECT_CONTRADICTION] = "contradiction", [HD_DEFECT_INCOMPLETE] = "incomplete"};

	return names[kind];
}

/* Defects to show: the first so many. */
static size_t check_report_shown_defects(const struct check_view *view)
{
	return view->defects->kept < view->shown_defects ? view->defects->kept
							 : view->shown_defects;
}

bool check_report_clean(const struct check_view *view)
{
	return hd_check_clean(view->report) && !view->defects->count &&
	       (!view->adaptive || view->adaptive->clean);
}

enum hd_fault_kind check_report_walk_fault(enum hd_walk_end end)
{
	return end == HD_WALK_LOOP	 ? HD_FAULT_LOOP
	       : end == HD_WALK_DEAD_END ? HD_FAULT_DEAD_END
					 : HD_FAULT_NO_ROUTE;
}

/* A node and a port, as in all lines of the report. */
static void print_end(const struct hd_fabric *fabric, uint32_t port_index)
{
	uint32_t node = fabric->port_node[port_index];

	printf("'%s'[%" PRIu32 "]", fabric->node_name[node], hd_port_number(fabric, port_index));
}

static void print_link(const struct hd_fabric *fabric, uint32_t link)
{
	uint32_t from = hd_isl_from(fabric, link);
	uint32_t port = hd_port_index(fabric, from, fabric->isl_port[link]);

	print_end(fabric, port);
	printf(" -> ");
	print_end(fabric, fabric->peer[port]);
}

void check_report_print_dead_end(const struct hd_fabric *fabric, uint32_t sw, uint8_t port)
{
	if (port > hd_node_ports(fabric, sw)) {
		printf(" which is no port of the switch");
		return;
	}
	uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];
	if (!port)
		printf(" which is the switch itself");
	else if (peer == HD_NONE)
		printf(" which has no cable");
	else
		printf(" -> '%s', which is not the destination",
		       fabric->node_name[fabric->port_node[peer]]);
}

static void print_walk(const struct check_view *view, const struct hd_fault *fault)
{
	const struct hd_fabric *fabric = view->fabric;

	printf("%s: from '%s' to ", check_report_fault_name(fault->kind),
	       fabric->node_name[fault->source]);
	uint32_t owner = fault->lid < fabric->lid_count ? fabric->lid_owner[fault->lid] : HD_NONE;
	printf("LID %" PRIu32, fault->lid);
	if (owner != HD_NONE)
		printf(" ('%s')", fabric->node_name[fabric->port_node[owner]]);
	printf("\n   ");
	for (uint32_t i = 0; i < fault->path_length; i++) {
		uint32_t sw = fault->path[i];
		uint8_t port = hd_routes_port(view->routes, sw, fault->lid);
		bool last = i + 1 == fault->path_length;
		printf(" %s'%s'", i ? "-> " : "", fabric->node_name[sw]);
		if (last && fault->kind == HD_FAULT_LOOP)
			printf(" again");
		else if (last && fault->kind == HD_FAULT_NO_ROUTE)
			printf(" which has no entry");
		else
			printf("[%u]", port);
		if (last && fault->kind == HD_FAULT_DEAD_END)
			check_report_print_dead_end(fabric, sw, port);
	}
	putchar('\n');
}

static void print_credit_loop(const struct check_view *view, const struct hd_fault *fault)
{
	if (fault->lanes)
		printf("credit loop over lanes, a cycle of %" PRIu32 " links:\n",
		       fault->path_length);
	else
		printf("credit loop on VL %u, a cycle of %" PRIu32 " links:\n", fault->vl,
		       fault->path_length);
	for (uint32_t i = 0; i < fault->path_length; i++) {
		printf("    ");
		if (fault->lanes)
			printf("VL %u ", fault->lanes[i]);
		print_link(view->fabric, fault->path[i]);
		putchar('\n');
	}
}

static void print_quality(const struct check_view *view)
{
	const struct hd_check_report *report = view->report;

	printf("hops            mean %.3f, shortest possible %.3f, longest %" PRIu32 "\n",
	       report->mean_hops, report->mean_shortest, report->max_hops);
	printf("stretch         at most %.2f; %" PRIu64 " of %" PRIu64
	       " routes longer than the shortest\n",
	       report->max_stretch, report->longer_routes, report->routes);
	if (view->siblings.nodes)
		printf("dual-homed      nodes %" PRIu32 ", both ports over one switch %" PRIu32
		       "\n",
		       view->siblings.nodes, view->siblings.joined);
	printf("flows per link  min %" PRIu64 ", mean %.2f, max %" PRIu64 "\n", report->flows_min,
	       report->flows_mean, report->flows_max);
	if (report->busiest_link == HD_NONE)
		return;
	printf("busiest link    ");
	print_link(view->fabric, report->busiest_link);
	putchar('\n');
}

/* The highest LID is the only one in its block, and only its entries are missing. */
static bool lacks_last_block(const struct check_view *view)
{
	uint32_t last = view->fabric->lid_count - 1, switches = view->fabric->switch_count;

	for (uint32_t sw = 0; sw < switches; sw++)
		if (hd_routes_port(view->routes, sw, last) != HD_NO_PORT)
			return false;
	return last % HD_LFT_BLOCK == 0 && view->report->no_route &&
	       view->report->no_route <= switches;
}

void check_report_print(const struct check_view *view)
{
	printf("%s: %" PRIu32 " hosts, %" PRIu32 " switches, %" PRIu32 " LIDs", view->fabric_path,
	       view->fabric->host_count, view->fabric->switch_count,
	       hd_fabric_lids_in_use(view->fabric));
	if (*view->routes->chosen)
		printf("; auto takes %s", view->routes->chosen);
	putchar('\n');
	printf("paths checked   %" PRIu64 "\n", view->report->paths);
	printf("  no route      %" PRIu64 "\n", view->report->no_route);
	printf("  dead ends     %" PRIu64 "\n", view->report->dead_end);
	printf("  loops         %" PRIu64 "\n", view->report->loop);
	printf("credit loops    %s", view->report->credit_loops ? "" : "none");
	if (view->report->credit_loops)
		printf("on %" PRIu32, view->report->credit_loops);
	printf(" (%" PRIu32 " virtual lane%s in use)\n", view->report->lanes,
	       view->report->lanes == 1 ? "" : "s");
	for (unsigned vl = 0; vl < 16 && view->report->lanes > 1; vl++)
		if (view->report->lanes_used >> vl & 1)
			printf("  VL %-2u         %s\n", vl,
			       view->report->lanes_looped >> vl & 1 ? "credit loop" : "none");
	if (view->defects->count)
		printf("defects of files %" PRIu64 "\n", view->defects->count);
	print_quality(view);
	const struct hd_table_defects *defects = view->defects;
	size_t shown = check_report_shown_defects(view);
	for (size_t i = 0; i < shown; i++)
		printf("%s: %s\n", check_report_defect_name(defects->list[i].kind),
		       defects->list[i].text);
	if (defects->count > shown)
		printf("... and %" PRIu64 " more defects of the files (--max-faults shows more)\n",
		       defects->count - shown);
	const struct hd_check_report *report = view->report;
	uint64_t all = report->no_route + report->dead_end + report->loop + report->credit_loops;
	for (uint32_t i = 0; i < report->fault_count; i++) {
		const struct hd_fault *fault = &report->faults[i];
		if (fault->kind == HD_FAULT_CREDIT_LOOP)
			print_credit_loop(view, fault);
		else
			print_walk(view, fault);
	}
	if (all > report->fault_count)
		printf("... and %" PRIu64 " more faults (--max-faults shows more)\n",
		       all - report->fault_count);
	if (view->adaptive) {
		printf("adaptive        %" PRIu64 " of %" PRIu64
		       " entries, over all ports of their groups: ",
		       view->adaptive->adaptive, view->adaptive->entries);
		if (view->adaptive->clean)
			printf("no credit loop (%u lane%s)\n", view->adaptive->proof.lanes,
			       view->adaptive->proof.lanes == 1 ? "" : "s");
		else if (view->adaptive->wrong)
			printf("%" PRIu64 " wrong entries; the first: %s\n", view->adaptive->wrong,
			       view->adaptive->reason);
		else
			printf("%s\n", view->adaptive->reason);
	}
	if (lacks_last_block(view))
		printf("No switch has an entry for the highest LID, %" PRIu32
		       ". dump_fts and ibroute leave out the last block\nof %d entries if it has "
		       "only one LID. OpenSM's own opensm-lfts.dump has it.\n",
		       view->fabric->lid_count - 1, HD_LFT_BLOCK);
	if (view->report->credit_loops && table_source_advice(view->routes))
		puts(table_source_advice(view->routes));
	puts(check_report_clean(view) ? "clean" : "faults found");
}

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

/* A link of a cycle, and its lane. */
static json_t *channel_json(const struct hd_fabric *fabric, const struct hd_fault *fault,
			    uint32_t i)
{
	json_t *channel = link_json(fabric, fault->path[i]);
	const int lane = fault->lanes ? fault->lanes[i] : fault->vl;

	if (json_is_object(channel) && json_object_set_new(channel, "vl", json_integer(lane))) {
		json_decref(channel);
		return NULL;
	}
	return channel;
}

static json_t *cycle_json(const struct check_view *view, const struct hd_fault *fault)
{
	json_t *links = json_array();

	for (uint32_t i = 0; i < fault->path_length; i++)
		links = json_value_append(links, channel_json(view->fabric, fault, i));
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

/* Without defects there is no word of them. */
json_t *check_json(const struct check_view *view)
{
	const struct hd_check_report *report = view->report;
	json_t *lanes = json_array();

	for (int vl = 0; vl < 16; vl++)
		if (report->lanes_used >> vl & 1)
			lanes = json_value_append(lanes,
						  json_pack("{s:i, s:b}", "vl", vl, "credit_loop",
							    report->lanes_looped >> vl & 1));
	json_t *list = json_array();
	for (uint32_t i = 0; i < view->report->fault_count; i++) {
		const struct hd_fault *fault = &view->report->faults[i];
		list = json_value_append(list, fault->kind == HD_FAULT_CREDIT_LOOP
						   ? cycle_json(view, fault)
						   : walk_json(view, fault));
	}
	json_t *value = json_pack(
	    "{s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o}",
	    "fabric", json_value_text(view->fabric_path), "clean", check_report_clean(view),
	    "hosts", (json_int_t)view->fabric->host_count, "switches",
	    (json_int_t)view->fabric->switch_count, "lids",
	    (json_int_t)hd_fabric_lids_in_use(view->fabric), "paths", (json_int_t)report->paths,
	    "no_route", (json_int_t)report->no_route, "dead_end", (json_int_t)report->dead_end,
	    "loop", (json_int_t)report->loop, "credit_loops", (json_int_t)report->credit_loops,
	    "lanes", (json_int_t)report->lanes, "service_levels", view->routes->sl != NULL, "vls",
	    lanes, "hops", hops_json(report), "flows", flows_json(view), "faults", list);
	if (view->siblings.nodes)
		value = json_value_set(
		    value, "dual_homed",
		    json_pack("{s:I, s:I}", "nodes", (json_int_t)view->siblings.nodes,
			      "over_one_switch", (json_int_t)view->siblings.joined));
	json_t *json = view->adaptive
			   ? json_value_set(value, "adaptive", adaptive_json(view->adaptive))
			   : value;

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

static void write_end(struct csv *csv, const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	csv_text(csv, fabric->node_name[sw]);
	csv_guid(csv, fabric->node_guid[sw]);
	csv_number(csv, port);
}

void check_csv(const struct check_view *view)
{
	const struct hd_fabric *fabric = view->fabric;
	struct csv csv = csv_begin(stdout, "from,from_guid,from_port,to,to_guid,to_port,load");

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t far = fabric->isl_reverse[link];
		write_end(&csv, fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
		write_end(&csv, fabric, fabric->isl_to[link], fabric->isl_port[far]);
		csv_number(&csv, view->report->link_flows[link]);
		csv_end_row(&csv);
	}
}
