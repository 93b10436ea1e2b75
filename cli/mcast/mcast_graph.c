/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A group's tree as a picture, with the root at the left. Faults are red. */
#include "graphviz.h"
#include "mcast_report.h"

#include <inttypes.h>

static bool is_switch(const struct mcast_step *step)
{
	return step->end == MCAST_SWITCH || step->end == MCAST_AGAIN || step->end == MCAST_NO_ENTRY;
}

static void write_node(FILE *script, const struct mcast_view *view, const struct mcast_step *step)
{
	const struct hd_fabric *fabric = view->fabric;

	if (step->end == MCAST_HOST && hd_port_number(fabric, step->from))
		graphviz_host(script, fabric, fabric->peer[step->from], false);
	else if (is_switch(step))
		graphviz_switch(script, fabric, step->node, step->from == HD_NONE);
}

/* A switch that is a member itself gets a double border and no edge. */
static void write_edge(FILE *script, const struct mcast_view *view, const struct mcast_step *step)
{
	const struct hd_fabric *fabric = view->fabric;

	if (step->from == HD_NONE)
		return;
	if (step->end == MCAST_NOTHING) {
		fprintf(script,
			"\tp%" PRIu32 " [shape=point, color=red];\n"
			"\tn%" PRIu32 " -> p%" PRIu32 " [taillabel=\"%" PRIu32
			"\", color=red, style=dashed];\n",
			step->from, fabric->port_node[step->from], step->from,
			hd_port_number(fabric, step->from));
		return;
	}
	if (!hd_port_number(fabric, step->from)) {
		fprintf(script, "\tn%" PRIu32 " [peripheries=2];\n", step->node);
		return;
	}
	graphviz_edge(script, fabric, step->from);
	if (step->end == MCAST_AGAIN || step->end == MCAST_NO_ENTRY)
		fputs(", color=red, style=dashed", script);
	else if (step->end == MCAST_SWITCH)
		fputs(", penwidth=3", script);
	fputs("];\n", script);
}

static void write_graph(FILE *script, const void *context)
{
	const struct mcast_view *view = context;
	const struct hd_mft_report *report = view->report;

	graphviz_begin(script);
	if (view->mlid)
		fprintf(script, "0x%04" PRIX32 ": ", view->mlid);
	fprintf(script,
		"%" PRIu32 " members, %" PRIu32 " switches, %" PRIu32 " links, %" PRIu32 " faults",
		report->member_count, view->group->entry_count, report->links, report->fault_count);
	graphviz_titled(script);
	for (uint32_t i = 0; i < view->tree->count; i++)
		write_node(script, view, &view->tree->steps[i]);
	for (uint32_t i = 0; i < view->tree->count; i++)
		write_edge(script, view, &view->tree->steps[i]);
	graphviz_end(script);
}

int mcast_graph_draw(const struct mcast_view *view, const char *path, struct hd_error *err)
{
	return graphviz_draw(path, write_graph, view, err);
}
