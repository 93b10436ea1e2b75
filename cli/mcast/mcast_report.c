/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mcast_report.h"
#include "graphviz.h"
#include "json_value.h"
#include "need.h"

#include <heddle/base/grow.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A group's entries as a tree that can be shown, whatever their faults. */

struct growth {
	const struct hd_fabric *fabric;
	const struct hd_mft_group *group;
	uint32_t *entry_of; /* [switch_count] HD_NONE: none */
	uint32_t *hops; /* [switch_count] HD_NONE: not met */
	uint32_t *queue; /* [entry_count] */
	struct mcast_tree *tree;
	uint32_t room;
};

static const struct hd_mft_entry *entry_at(const struct growth *growth, uint32_t sw)
{
	return growth->entry_of[sw] == HD_NONE ? NULL
					       : growth->group->entries + growth->entry_of[sw];
}

/* The node behind a port: the switch itself for port 0, HD_NONE without a cable. */
static uint32_t node_behind(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];

	if (!port)
		return sw;
	return peer == HD_NONE ? HD_NONE : fabric->port_node[peer];
}

/* The hops to the farthest switch with an entry. *met: how many such switches are reached. */
static uint32_t depth_from(struct growth *growth, uint32_t start, uint32_t *met)
{
	const struct hd_fabric *fabric = growth->fabric;
	uint32_t queued = 0;

	memset(growth->hops, 0xFF, fabric->switch_count * sizeof(*growth->hops));
	growth->queue[queued++] = start;
	growth->hops[start] = 0;
	for (uint32_t done = 0; done < queued; done++) {
		uint32_t sw = growth->queue[done];
		HD_PORT_SET_FOREACH(port, &entry_at(growth, sw)->ports) {
			uint32_t far = port ? node_behind(fabric, sw, port) : HD_NONE;
			if (far >= fabric->switch_count || !entry_at(growth, far) ||
			    growth->hops[far] != HD_NONE)
				continue;
			growth->hops[far] = growth->hops[sw] + 1;
			growth->queue[queued++] = far;
		}
	}
	*met = queued;
	return growth->hops[growth->queue[queued - 1]];
}

static uint32_t centre(struct growth *growth)
{
	const struct hd_mft_group *group = growth->group;
	uint32_t best = group->entries[0].sw, best_met = 0, best_depth = 0;

	for (uint32_t i = 0; i < group->entry_count; i++) {
		uint32_t met, depth = depth_from(growth, group->entries[i].sw, &met);
		if (met < best_met || (met == best_met && depth >= best_depth))
			continue;
		best = group->entries[i].sw;
		best_met = met;
		best_depth = depth;
	}
	return best;
}

static void add_step(struct growth *growth, const struct mcast_step *step)
{
	struct mcast_tree *tree = growth->tree;

	tree->steps =
	    need(hd_grow(tree->steps, tree->count, 1, &growth->room, sizeof(*tree->steps)));
	tree->steps[tree->count++] = *step;
}

static void follow(struct growth *growth, uint32_t sw, uint32_t in, uint32_t depth);

/* All ports of a switch but `in`, where the packet came from; HD_NONE at a root. */
static void follow(struct growth *growth, uint32_t sw, uint32_t in, uint32_t depth)
{
	growth->hops[sw] = depth;
	HD_PORT_SET_FOREACH(port, &entry_at(growth, sw)->ports)
		if (port != in) {
			const struct hd_fabric *fabric = growth->fabric;
			uint32_t from = hd_port_index(fabric, sw, port),
				 node = node_behind(fabric, sw, port);
			struct mcast_step step = {MCAST_HOST, depth, from, node};
			bool to_switch = port && node < fabric->switch_count;
			if (node == HD_NONE)
				step.end = MCAST_NOTHING;
			else if (to_switch && !entry_at(growth, node))
				step.end = MCAST_NO_ENTRY;
			else if (to_switch)
				step.end =
				    growth->hops[node] == HD_NONE ? MCAST_SWITCH : MCAST_AGAIN;
			add_step(growth, &step);
			if (step.end == MCAST_SWITCH)
				follow(growth, node, hd_port_number(fabric, fabric->peer[from]),
				       depth + 1);
		}
}

static void follow_from(struct growth *growth, uint32_t root)
{
	const struct mcast_step step = {MCAST_SWITCH, 0, HD_NONE, root};

	add_step(growth, &step);
	follow(growth, root, HD_NONE, 1);
}

static void grow(struct growth *growth, uint32_t root)
{
	const struct hd_mft_group *group = growth->group;

	for (uint32_t i = 0; i < group->entry_count; i++)
		growth->entry_of[group->entries[i].sw] = i;
	if (!group->entry_count)
		return;
	if (root == HD_NONE || !entry_at(growth, root))
		root = centre(growth);
	memset(growth->hops, 0xFF, growth->fabric->switch_count * sizeof(*growth->hops));
	follow_from(growth, root);
	for (uint32_t i = 0; i < group->entry_count; i++)
		if (growth->hops[group->entries[i].sw] == HD_NONE)
			follow_from(growth, group->entries[i].sw);
}

void mcast_tree_make(const struct hd_fabric *fabric, const struct hd_mft_group *group,
		     uint32_t root, struct mcast_tree *tree)
{
	struct growth growth = {.fabric = fabric, .group = group, .tree = tree};
	struct hd_arena arena = {0};

	*tree = (struct mcast_tree){.steps = NULL};
	growth.entry_of = need_of(&arena, fabric->switch_count, sizeof(uint32_t));
	growth.hops = need_of(&arena, fabric->switch_count, sizeof(uint32_t));
	growth.queue = need_of(&arena, fabric->switch_count, sizeof(uint32_t));
	memset(growth.entry_of, 0xFF, fabric->switch_count * sizeof(uint32_t));
	grow(&growth, root);
	hd_arena_release(&arena);
}

void mcast_tree_release(struct mcast_tree *tree)
{
	free(tree->steps);
	*tree = (struct mcast_tree){.steps = NULL};
}

#define FAULTS_SHOWN 20u

static const char *fault_name(enum hd_mft_fault_kind kind)
{
	static const char *const names[] = {
	    [HD_MFT_DEAD_END] = "dead end",	  [HD_MFT_NO_ENTRY] = "no entry",
	    [HD_MFT_STRANGER] = "no member",	  [HD_MFT_LOOP] = "loop",
	    [HD_MFT_NOT_REACHED] = "not reached", [HD_MFT_UNUSED] = "unused entry"};

	return names[kind];
}

static const char *name_of(const struct hd_fabric *fabric, uint32_t port)
{
	return fabric->node_name[fabric->port_node[port]];
}

static const char *plural(uint32_t count)
{
	return count == 1 ? "" : "s";
}

void mcast_report_print_summary(const struct mcast_view *view)
{
	const struct hd_mft_report *report = view->report;
	uint32_t switches = view->group->entry_count;

	if (view->mlid)
		printf("0x%04" PRIX32, view->mlid);
	else
		printf("planned");
	printf(": %" PRIu32 " member%s, %" PRIu32 " switch%s, %" PRIu32 " link%s, %" PRIu32
	       " hop%s deep: ",
	       report->member_count, plural(report->member_count), switches,
	       switches == 1 ? "" : "es", report->links, plural(report->links), report->depth,
	       plural(report->depth));
	if (!report->fault_count)
		puts("right");
	else
		printf("%" PRIu32 " fault%s\n", report->fault_count, plural(report->fault_count));
	for (uint32_t i = 0; i < report->fault_count && i < FAULTS_SHOWN; i++) {
		const struct hd_mft_fault *fault = &report->faults[i];
		const char *at = view->fabric->node_name[fault->sw];
		printf("  %s: ", fault_name(fault->kind));
		switch (fault->kind) {
		case HD_MFT_DEAD_END:
			printf("'%s' sends to port %" PRIu32 ", which has no cable\n", at,
			       fault->port);
			break;
		case HD_MFT_NO_ENTRY:
			printf("'%s' has no entry and drops what it gets\n", at);
			break;
		case HD_MFT_STRANGER:
			printf("'%s' sends to port %" PRIu32 ", but no member is behind it\n", at,
			       fault->port);
			break;
		case HD_MFT_LOOP:
			printf("a packet of '%s' reaches '%s' a second time\n",
			       name_of(view->fabric, fault->sender), at);
			break;
		case HD_MFT_NOT_REACHED:
			printf("'%s' gets nothing from %" PRIu32 " sender%s'%s'\n",
			       name_of(view->fabric, fault->member), fault->senders,
			       fault->senders == 1 ? ", " : "s, for example ",
			       name_of(view->fabric, fault->sender));
			break;
		case HD_MFT_UNUSED:
			printf("no packet reaches '%s', which has an entry\n", at);
			break;
		}
	}
	if (report->fault_count > FAULTS_SHOWN)
		printf("  ... and %" PRIu32 " more\n", report->fault_count - FAULTS_SHOWN);
}

static void print_step(const struct hd_fabric *fabric, const struct mcast_step *step)
{
	static const char *const remarks[] = {[MCAST_SWITCH] = "",
					      [MCAST_AGAIN] = ", again",
					      [MCAST_NO_ENTRY] = ", which has no entry",
					      [MCAST_HOST] = "",
					      [MCAST_NOTHING] = ""};

	printf("%*s", (int)(2 * step->depth), "");
	if (step->from != HD_NONE)
		printf("[%" PRIu32 "] -> ", hd_port_number(fabric, step->from));
	if (step->end == MCAST_NOTHING) {
		puts("nothing");
		return;
	}
	if (step->from != HD_NONE && !hd_port_number(fabric, step->from))
		printf("itself");
	else if (step->from != HD_NONE)
		printf("[%" PRIu32 "] ", hd_port_number(fabric, fabric->peer[step->from]));
	if (step->from == HD_NONE || hd_port_number(fabric, step->from))
		printf("%s 0x%016" PRIx64 " \"%s\"",
		       hd_is_switch(fabric, step->node) ? "switch" : "host",
		       fabric->node_guid[step->node], fabric->node_name[step->node]);
	puts(remarks[step->end]);
}

void mcast_report_print(const struct mcast_view *view)
{
	for (uint32_t i = 0; i < view->tree->count; i++)
		print_step(view->fabric, &view->tree->steps[i]);
	mcast_report_print_summary(view);
}

json_t *mcast_report_port_json(const struct hd_fabric *fabric, uint32_t port)
{
	uint32_t node = fabric->port_node[port];

	return json_pack("{s:o, s:o, s:I}", "name", json_value_text(fabric->node_name[node]),
			 "guid", json_value_guid(fabric->node_guid[node]), "port",
			 (json_int_t)hd_port_number(fabric, port));
}

static json_t *fault_json(const struct hd_fabric *fabric, const struct hd_mft_fault *fault)
{
	bool of_packet = fault->kind == HD_MFT_LOOP || fault->kind == HD_MFT_NOT_REACHED;
	bool of_member = fault->kind == HD_MFT_NOT_REACHED;
	json_t *json = json_pack("{s:s}", "kind", fault_name(fault->kind));

	if (of_packet)
		json =
		    json_value_set(json, "sender", mcast_report_port_json(fabric, fault->sender));
	if (!of_member)
		return json_value_set(
		    json, "switch",
		    mcast_report_port_json(fabric, hd_port_index(fabric, fault->sw, fault->port)));
	json = json_value_set(json, "member", mcast_report_port_json(fabric, fault->member));
	return json_value_set(json, "senders", json_integer(fault->senders));
}

/* The ports where a packet leaves a switch, whatever port it came from. */
static json_t *entry_json(const struct hd_fabric *fabric, const struct hd_mft_entry *entry)
{
	json_t *ports = json_array();

	HD_PORT_SET_FOREACH(port, &entry->ports)
		ports = json_value_append(ports, json_integer(port));
	return json_pack("{s:o, s:o, s:o}", "name", json_value_text(fabric->node_name[entry->sw]),
			 "guid", json_value_guid(fabric->node_guid[entry->sw]), "ports", ports);
}

static json_t *root_json(const struct mcast_view *view)
{
	if (!view->tree->count)
		return json_null();
	return json_value_guid(view->fabric->node_guid[view->tree->steps[0].node]);
}

json_t *mcast_report_json(const struct mcast_view *view)
{
	const struct hd_mft_report *report = view->report;
	json_t *members = json_array(), *switches = json_array(), *faults = json_array();

	for (uint32_t i = 0; i < report->member_count; i++)
		members = json_value_append(
		    members, mcast_report_port_json(view->fabric, report->members[i]));
	for (uint32_t i = 0; i < view->group->entry_count; i++)
		switches =
		    json_value_append(switches, entry_json(view->fabric, &view->group->entries[i]));
	for (uint32_t i = 0; i < report->fault_count; i++)
		faults = json_value_append(faults, fault_json(view->fabric, &report->faults[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "mlid",
			 view->mlid ? json_integer(view->mlid) : json_null(), "root",
			 root_json(view), "members", members, "switches", switches, "links",
			 (json_int_t)report->links, "depth", (json_int_t)report->depth, "faults",
			 faults);
}

static void write_node(FILE *script, const struct mcast_view *view, const struct mcast_step *step)
{
	const struct hd_fabric *fabric = view->fabric;

	if (step->end == MCAST_HOST && hd_port_number(fabric, step->from))
		graphviz_host(script, fabric, fabric->peer[step->from], false);
	else if (step->end == MCAST_SWITCH || step->end == MCAST_AGAIN ||
		 step->end == MCAST_NO_ENTRY)
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
