/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "paths_report.h"
#include "check_report.h"
#include "graphviz.h"
#include "json_value.h"

#include <inttypes.h>
#include <stdio.h>

/* The ports of hop `hop` of a path, 0 .. switch_count - 1: where it enters a switch and where it
 * leaves the switch. HD_NONE: it ends there, or the entry is a port that the switch lacks. */
struct paths_hop {
	uint32_t in,
	    out; /* port indices; the index of port 0 if the path begins at the switch itself */
};
struct paths_hop paths_report_hop(const struct paths_view *view, const struct hd_path *path,
				  uint32_t hop);

static uint32_t port_out(const struct paths_view *view, const struct hd_path *path, uint32_t hop)
{
	uint32_t sw = path->switches[hop];
	uint8_t port = hd_routes_port(view->routes, sw, path->lid);

	return port <= hd_node_ports(view->fabric, sw) ? hd_port_index(view->fabric, sw, port)
						       : HD_NONE;
}

struct paths_hop paths_report_hop(const struct paths_view *view, const struct hd_path *path,
				  uint32_t hop)
{
	const struct hd_fabric *fabric = view->fabric;
	uint32_t in = hop ? port_out(view, path, hop - 1) : view->set->source;

	if (hop || !hd_is_switch(fabric, fabric->port_node[in]))
		in = fabric->peer[in];
	return (struct paths_hop){in, port_out(view, path, hop)};
}

/* The virtual lane by which the path leaves a switch. On cables of hosts it is that of all of them. */
static unsigned lane_of(const struct paths_view *view, const struct hd_path *path, uint32_t hop)
{
	const struct hd_fabric *fabric = view->fabric;
	const struct paths_hop ports = paths_report_hop(view, path, hop);
	const uint32_t sw = path->switches[hop];

	if (!view->routes->maps || ports.out == HD_NONE ||
	    hd_fabric_find_isl(fabric, sw, hd_port_number(fabric, ports.out)) == HD_NONE)
		return view->routes->sl2vl[path->sl];
	return hd_lane_maps_get(view->routes->maps, sw, hd_port_number(fabric, ports.in),
				hd_port_number(fabric, ports.out))[path->sl];
}

/* True if a different path also crosses the link after the hop. */
static bool paths_report_shared(const struct paths_view *view, const struct hd_path *path,
				uint32_t hop)
{
	if (path->end != HD_WALK_ARRIVED || hop + 1 >= path->switch_count)
		return false;
	return view->set->link_uses[path->links[hop]] > 1;
}

static const char *kind_of(const struct hd_fabric *fabric, uint32_t node)
{
	static const char *const kinds[] = {
	    [HD_SWITCH] = "switch", [HD_CA] = "ca", [HD_ROUTER] = "router"};

	return kinds[fabric->node_type[node]];
}

static void print_port(const struct hd_fabric *fabric, uint32_t port)
{
	uint32_t node = fabric->port_node[port];
	uint32_t owner = hd_is_switch(fabric, node) ? hd_port_index(fabric, node, 0) : port;

	printf("%s {0x%016" PRIx64 "}[%" PRIu32 "] ", kind_of(fabric, node),
	       fabric->node_guid[node], hd_port_number(fabric, port));
	uint32_t first = fabric->lid[owner], count = hd_port_lid_count(fabric, owner);
	if (!count)
		printf("no lid");
	else if (count == 1)
		printf("lid %" PRIu32, first);
	else
		printf("lid %" PRIu32 "-%" PRIu32, first, first + count - 1);
	printf(" \"%s\"", fabric->node_name[node]);
}

/* A line "[port] -> node behind it". */
static void print_step(const struct paths_view *view, uint32_t from, unsigned lane,
		       uint32_t shared_by)
{
	printf("  [%" PRIu32 "] -> ", hd_port_number(view->fabric, from));
	print_port(view->fabric, view->fabric->peer[from]);
	printf(" VL %u", lane);
	if (shared_by > 1)
		printf(", shared by %" PRIu32 " paths", shared_by);
	putchar('\n');
}

static const char *plural(uint32_t count)
{
	return count == 1 ? "" : "s";
}

void paths_report_print(const struct paths_view *view)
{
	const struct hd_path_set *set = view->set;

	printf("From ");
	print_port(view->fabric, set->source);
	printf("\nTo ");
	print_port(view->fabric, set->destination);
	putchar('\n');
	for (uint32_t i = 0; i < set->count; i++) {
		const struct hd_path *path = &set->paths[i];
		printf("LID %" PRIu32 ", SL %u, VL %u", path->lid, path->sl, path->vl);
		if (path->same_as < i) {
			printf(": as LID %" PRIu32 "\n", set->paths[path->same_as].lid);
			continue;
		}
		printf(":\n");
		const struct hd_fabric *fabric = view->fabric;
		uint32_t source = view->set->source;
		if (!hd_is_switch(fabric, fabric->port_node[source]))
			print_step(view, source, view->routes->sl2vl[path->sl], 0);
		for (uint32_t hop = 0; hop + 1 < path->switch_count; hop++)
			print_step(view, paths_report_hop(view, path, hop).out,
				   lane_of(view, path, hop),
				   paths_report_shared(view, path, hop)
				       ? view->set->link_uses[path->links[hop]]
				       : 0);
		if (path->end != HD_WALK_ARRIVED) {
			uint32_t last = path->switches[path->switch_count - 1];
			uint8_t port = hd_routes_port(view->routes, last, path->lid);
			printf("  %s: \"%s\" ",
			       check_report_fault_name(check_report_walk_fault(path->end)),
			       fabric->node_name[last]);
			if (path->end == HD_WALK_NO_ROUTE)
				printf("has no entry for LID %" PRIu32, path->lid);
			else if (path->end == HD_WALK_LOOP)
				printf("again");
			else
				printf("sends LID %" PRIu32 " to port %u,", path->lid, port);
			if (path->end == HD_WALK_DEAD_END)
				check_report_print_dead_end(fabric, last, port);
			putchar('\n');
		} else if (!hd_is_switch(fabric, fabric->port_node[view->set->destination]))
			print_step(view, paths_report_hop(view, path, path->switch_count - 1).out,
				   lane_of(view, path, path->switch_count - 1), 0);
	}
	uint32_t lost = set->count - set->arrived;
	if (lost)
		printf("%" PRIu32 " of %" PRIu32 " LID%s %s not arrive; ", lost, set->count,
		       plural(set->count), lost == 1 ? "does" : "do");
	printf("%" PRIu32 " LID%s by %" PRIu32 " distinct path%s over %" PRIu32
	       " link%s between switches, %" PRIu32 " shared\n",
	       set->arrived, plural(set->arrived), set->distinct, plural(set->distinct), set->links,
	       plural(set->links), set->shared);
}

static json_t *port_json(const struct hd_fabric *fabric, uint32_t port)
{
	uint32_t node = fabric->port_node[port];

	return json_pack("{s:o, s:o, s:I, s:i, s:I}", "name",
			 json_value_text(fabric->node_name[node]), "guid",
			 json_value_guid(fabric->node_guid[node]), "port",
			 (json_int_t)hd_port_number(fabric, port), "lid", (int)fabric->lid[port],
			 "lids", (json_int_t)hd_port_lid_count(fabric, port));
}

static json_t *number_or_null(const struct hd_fabric *fabric, uint32_t port)
{
	return port == HD_NONE ? json_null() : json_integer(hd_port_number(fabric, port));
}

static json_t *hop_json(const struct paths_view *view, const struct hd_path *path, uint32_t hop)
{
	const struct hd_fabric *fabric = view->fabric;
	uint32_t sw = path->switches[hop];
	bool again = path->end == HD_WALK_LOOP && hop + 1 == path->switch_count;
	struct paths_hop ports = paths_report_hop(view, path, hop);

	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:i, s:b}", "name", json_value_text(fabric->node_name[sw]),
	    "guid", json_value_guid(fabric->node_guid[sw]), "in_port",
	    number_or_null(fabric, ports.in), "out_port",
	    again ? json_null() : number_or_null(fabric, ports.out), "vl",
	    (int)lane_of(view, path, hop), "shared", paths_report_shared(view, path, hop));
}

static json_t *path_json(const struct paths_view *view, const struct hd_path *path)
{
	json_t *hops = json_array();

	for (uint32_t hop = 0; hop < path->switch_count; hop++)
		hops = json_value_append(hops, hop_json(view, path, hop));
	return json_pack(
	    "{s:I, s:i, s:i, s:b, s:o, s:I, s:o}", "lid", (json_int_t)path->lid, "sl",
	    (int)path->sl, "vl", (int)path->vl, "arrives", path->end == HD_WALK_ARRIVED, "fault",
	    path->end == HD_WALK_ARRIVED
		? json_null()
		: json_string(check_report_fault_name(check_report_walk_fault(path->end))),
	    "same_as", (json_int_t)view->set->paths[path->same_as].lid, "hops", hops);
}

json_t *paths_report_json(const struct paths_view *view)
{
	const struct hd_path_set *set = view->set;
	json_t *paths = json_array();

	for (uint32_t i = 0; i < set->count; i++)
		paths = json_value_append(paths, path_json(view, &set->paths[i]));
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "tables",
			 json_value_text(view->tables_name), "source",
			 port_json(view->fabric, set->source), "destination",
			 port_json(view->fabric, set->destination), "arrived",
			 (json_int_t)set->arrived, "distinct", (json_int_t)set->distinct, "links",
			 (json_int_t)set->links, "shared", (json_int_t)set->shared, "paths", paths);
}

/*
 * Paths as a picture: each different path has a colour. A link has the colours of all paths that
 * cross it, and is thick if there are several. Paths that do not arrive are red and dashed.
 */

#define COLOURS_MOST 8u /* on one link; more are drawn as one black line */
#define LIDS_SHOWN 4u

static bool crosses(const struct hd_path *path, uint32_t link)
{
	for (uint32_t hop = 0; hop + 1 < path->switch_count; hop++)
		if (path->links[hop] == link)
			return true;
	return false;
}

static void write_title(FILE *script, const struct paths_view *view)
{
	const struct hd_fabric *fabric = view->fabric;
	const struct hd_path_set *set = view->set;

	hd_dot_write_name(fabric->node_name[fabric->port_node[set->source]], script);
	fputs(" to ", script);
	hd_dot_write_name(fabric->node_name[fabric->port_node[set->destination]], script);
	fprintf(script,
		": %" PRIu32 " LID%s, %" PRIu32 " distinct path%s, %" PRIu32 " shared link%s",
		set->count, set->count == 1 ? "" : "s", set->distinct,
		set->distinct == 1 ? "" : "s", set->shared, set->shared == 1 ? "" : "s");
}

static void write_end(FILE *script, const struct hd_fabric *fabric, uint32_t port)
{
	if (!hd_is_switch(fabric, fabric->port_node[port]))
		graphviz_host(script, fabric, port, true);
}

static void write_colours(FILE *script, const struct hd_path_set *set, uint32_t link)
{
	uint32_t number = 0, shown = 0;

	fputs(", color=\"", script);
	if (set->link_uses[link] > COLOURS_MOST)
		fputs("black", script);
	for (uint32_t i = 0; i < set->count; i++) {
		if (!(set->paths[i].end == HD_WALK_ARRIVED && set->paths[i].same_as == i))
			continue;
		if (crosses(&set->paths[i], link) && set->link_uses[link] <= COLOURS_MOST) {
			fputs(shown++ ? ":" : "", script);
			graphviz_colour(script, number);
		}
		number++;
	}
	fputc('"', script);
}

static void write_fault(FILE *script, const struct paths_view *view, const struct hd_path *path)
{
	for (uint32_t hop = 0; hop + 1 < path->switch_count; hop++) {
		graphviz_edge(script, view->fabric, paths_report_hop(view, path, hop).out);
		fprintf(script, ", color=red, style=dashed, label=\"%" PRIu32 "\"];\n", path->lid);
	}
}

static void write_graph(FILE *script, const void *context)
{
	const struct paths_view *view = context;

	graphviz_begin(script);
	write_title(script, view);
	graphviz_titled(script);
	const struct hd_fabric *fabric = view->fabric;
	const struct hd_path_set *set = view->set;
	write_end(script, fabric, set->source);
	write_end(script, fabric, set->destination);
	for (uint32_t i = 0; i < set->count; i++)
		for (uint32_t hop = 0; hop < set->paths[i].switch_count; hop++)
			graphviz_switch(script, fabric, set->paths[i].switches[hop], false);
	/* The cables of the two hosts, which all paths share. */
	uint32_t source = view->set->source, destination = view->set->destination;
	if (!hd_is_switch(fabric, fabric->port_node[source])) {
		graphviz_edge(script, fabric, source);
		fputs(", color=gray];\n", script);
	}
	if (!hd_is_switch(fabric, fabric->port_node[destination]) && view->set->arrived) {
		graphviz_edge(script, fabric, fabric->peer[destination]);
		fputs(", color=gray];\n", script);
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t uses = view->set->link_uses[link];
		if (!uses)
			continue;
		uint32_t sw = hd_isl_from(fabric, link);
		graphviz_edge(script, fabric, hd_port_index(fabric, sw, fabric->isl_port[link]));
		write_colours(script, view->set, link);
		uint32_t count = 0;
		fputs(", label=\"", script);
		for (uint32_t i = 0; i < set->count; i++) {
			if (set->paths[i].end != HD_WALK_ARRIVED || !crosses(&set->paths[i], link))
				continue;
			if (count++ < LIDS_SHOWN)
				fprintf(script, "%s%" PRIu32, count > 1 ? ", " : "",
					set->paths[i].lid);
		}
		if (count > LIDS_SHOWN)
			fprintf(script, " .. (%" PRIu32 ")", count);
		fputc('"', script);
		fprintf(script, ", penwidth=%d];\n", uses > 1 ? 4 : 2);
	}
	for (uint32_t i = 0; i < view->set->count; i++)
		if (view->set->paths[i].end != HD_WALK_ARRIVED)
			write_fault(script, view, &view->set->paths[i]);
	graphviz_end(script);
}

int paths_graph_draw(const struct paths_view *view, const char *path, struct hd_error *err)
{
	return graphviz_draw(path, write_graph, view, err);
}
