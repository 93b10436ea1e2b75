/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths as a picture: each different path has a colour. A link has the colours of all paths that
 * cross it, and is thick if there are several. Paths that do not arrive are red and dashed.
 */
#include "graphviz.h"
#include "paths_report.h"

#include <inttypes.h>
#include <stdlib.h>

#define COLOURS_MOST 8u /* on one link; more are drawn as one black line */
#define LIDS_SHOWN 4u

static bool is_drawn(const struct hd_path_set *set, uint32_t path)
{
	return set->paths[path].end == HD_WALK_ARRIVED && set->paths[path].same_as == path;
}

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

static void write_nodes(FILE *script, const struct paths_view *view)
{
	const struct hd_fabric *fabric = view->fabric;
	const struct hd_path_set *set = view->set;

	write_end(script, fabric, set->source);
	write_end(script, fabric, set->destination);
	for (uint32_t i = 0; i < set->count; i++)
		for (uint32_t hop = 0; hop < set->paths[i].switch_count; hop++)
			graphviz_switch(script, fabric, set->paths[i].switches[hop], false);
}

static void write_colours(FILE *script, const struct hd_path_set *set, uint32_t link)
{
	uint32_t number = 0, shown = 0;

	fputs(", color=\"", script);
	if (set->link_uses[link] > COLOURS_MOST)
		fputs("black", script);
	for (uint32_t i = 0; i < set->count; i++) {
		if (!is_drawn(set, i))
			continue;
		if (crosses(&set->paths[i], link) && set->link_uses[link] <= COLOURS_MOST) {
			fputs(shown++ ? ":" : "", script);
			graphviz_colour(script, number);
		}
		number++;
	}
	fputc('"', script);
}

static void write_lids(FILE *script, const struct hd_path_set *set, uint32_t link)
{
	uint32_t count = 0;

	fputs(", label=\"", script);
	for (uint32_t i = 0; i < set->count; i++) {
		if (set->paths[i].end != HD_WALK_ARRIVED || !crosses(&set->paths[i], link))
			continue;
		if (count++ < LIDS_SHOWN)
			fprintf(script, "%s%" PRIu32, count > 1 ? ", " : "", set->paths[i].lid);
	}
	if (count > LIDS_SHOWN)
		fprintf(script, " .. (%" PRIu32 ")", count);
	fputc('"', script);
}

static void write_links(FILE *script, const struct paths_view *view)
{
	const struct hd_fabric *fabric = view->fabric;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t uses = view->set->link_uses[link];
		if (!uses)
			continue;
		uint32_t sw = hd_isl_from(fabric, link);
		graphviz_edge(script, fabric, hd_port_index(fabric, sw, fabric->isl_port[link]));
		write_colours(script, view->set, link);
		write_lids(script, view->set, link);
		fprintf(script, ", penwidth=%d];\n", uses > 1 ? 4 : 2);
	}
}

static void write_fault(FILE *script, const struct paths_view *view, const struct hd_path *path)
{
	for (uint32_t hop = 0; hop + 1 < path->switch_count; hop++) {
		graphviz_edge(script, view->fabric, paths_report_hop(view, path, hop).out);
		fprintf(script, ", color=red, style=dashed, label=\"%" PRIu32 "\"];\n", path->lid);
	}
}

/* The cables of the two hosts, which all paths share. */
static void write_host_links(FILE *script, const struct paths_view *view)
{
	const struct hd_fabric *fabric = view->fabric;
	uint32_t source = view->set->source, destination = view->set->destination;

	if (!hd_is_switch(fabric, fabric->port_node[source])) {
		graphviz_edge(script, fabric, source);
		fputs(", color=gray];\n", script);
	}
	if (!hd_is_switch(fabric, fabric->port_node[destination]) && view->set->arrived) {
		graphviz_edge(script, fabric, fabric->peer[destination]);
		fputs(", color=gray];\n", script);
	}
}

static void write_graph(FILE *script, const void *context)
{
	const struct paths_view *view = context;

	graphviz_begin(script);
	write_title(script, view);
	graphviz_titled(script);
	write_nodes(script, view);
	write_host_links(script, view);
	write_links(script, view);
	for (uint32_t i = 0; i < view->set->count; i++)
		if (view->set->paths[i].end != HD_WALK_ARRIVED)
			write_fault(script, view, &view->set->paths[i]);
	graphviz_end(script);
}

int paths_graph_draw(const struct paths_view *view, const char *path, struct hd_error *err)
{
	return graphviz_draw(path, write_graph, view, err);
}
