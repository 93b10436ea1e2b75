/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topo_diff_report.h"
#include "json_value.h"
#include "message.h"
#include "need.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[HD_DIFFERENCE_KINDS] = {
    [HD_DIFFERENCE_NODE_MISSING] = "node missing",
    [HD_DIFFERENCE_NODE_EXTRA] = "node extra",
    [HD_DIFFERENCE_NODE_REPLACED] = "node replaced",
    [HD_DIFFERENCE_NODE_RENAMED] = "node renamed",
    [HD_DIFFERENCE_NODE_MOVED] = "node moved",
    [HD_DIFFERENCE_NODES_EXCHANGED] = "nodes swapped",
    [HD_DIFFERENCE_CABLE_MISSING] = "cable missing",
    [HD_DIFFERENCE_CABLE_EXTRA] = "cable extra",
    [HD_DIFFERENCE_CABLE_MOVED] = "cable moved",
    [HD_DIFFERENCE_CABLES_EXCHANGED] = "cables swapped",
    [HD_DIFFERENCE_RATE] = "rate"};

const char *topo_diff_kind(enum hd_fabric_difference_kind kind)
{
	return kinds[kind];
}

/* "by GUID" */
static const char *topo_diff_match(enum hd_match match)
{
	static const char *const matches[] = {[HD_MATCH_GUID] = "by GUID",
					      [HD_MATCH_NAME] = "by name",
					      [HD_MATCH_SHAPE] = "by shape"};

	return matches[match];
}

static bool by_shape(const struct topo_diff_view *view)
{
	return view->comparison->match == HD_MATCH_SHAPE;
}

static const char *type_of(const struct hd_fabric *fabric, uint32_t node)
{
	static const char *const types[] = {
	    [HD_SWITCH] = "switch", [HD_CA] = "host", [HD_ROUTER] = "router"};

	return types[fabric->node_type[node]];
}

static bool is_host_port(const struct hd_fabric *fabric, uint32_t port)
{
	return !hd_is_switch(fabric, fabric->port_node[port]);
}

/* A planned node: with its live name, if the two are different by the way of matching. */
static void print_planned_node(const struct topo_diff_view *view, uint32_t node, FILE *stream)
{
	uint32_t live = view->comparison->live_of[node];

	if (!by_shape(view) || live == HD_NONE) {
		fputs(view->expected->node_name[node], stream);
		return;
	}
	fputs(view->live->node_name[live], stream);
	fputs(" (", stream);
	fputs(view->expected->node_name[node], stream);
	fputc(')', stream);
}

/* Where a planned port is: by shape only the node is known, and of hosts only that it is one. */
static void print_planned(const struct topo_diff_view *view, uint32_t port, FILE *stream)
{
	const struct hd_fabric *plan = view->expected;
	uint32_t node = plan->port_node[port];

	if (by_shape(view) && is_host_port(plan, port) &&
	    view->comparison->live_of[node] == HD_NONE) {
		fprintf(stream, "a %s", type_of(plan, node));
		return;
	}
	print_planned_node(view, node, stream);
	if (!by_shape(view))
		fprintf(stream, "[%u]", hd_port_number(plan, port));
}

static void print_live(const struct topo_diff_view *view, uint32_t port, FILE *stream)
{
	const struct hd_fabric *live = view->live;
	uint32_t node = live->port_node[port], place = view->comparison->expected_of[node];

	fputs(live->node_name[node], stream);
	fprintf(stream, "[%u]", hd_port_number(live, port));
	if (!by_shape(view) || place == HD_NONE)
		return;
	fputs(" (", stream);
	fputs(view->expected->node_name[place], stream);
	fputc(')', stream);
}

/* " at 'leaf'[3]": the far end of the first cable of a node that is no switch. */
static void print_place(const struct hd_fabric *fabric, uint32_t node, FILE *stream)
{
	uint32_t port = fabric->port_base[node], peer = HD_NONE;

	while (!hd_is_switch(fabric, node) && peer == HD_NONE && port < fabric->port_base[node + 1])
		peer = fabric->peer[port++];
	if (peer == HD_NONE)
		return;
	fputs(" at ", stream);
	fputs(fabric->node_name[fabric->port_node[peer]], stream);
	fprintf(stream, "[%u]", hd_port_number(fabric, peer));
}

/* A name with its GUID behind it, once. */
static void print_with_guid(const struct hd_fabric *fabric, uint32_t node, FILE *stream)
{
	const char *name = fabric->node_name[node];
	char guid[24];
	size_t length = strlen(name);
	size_t size =
	    (size_t)snprintf(guid, sizeof(guid), " 0x%016" PRIx64, fabric->node_guid[node]);

	fputs(name, stream);
	if (length < size || strcmp(name + length - size, guid) != 0)
		fputs(guid, stream);
}

static void say_renamed(const struct topo_diff_view *view, const struct hd_fabric_difference *one,
			FILE *stream)
{
	const struct hd_fabric *plan = view->expected;

	fprintf(stream, "%s ", type_of(plan, one->expected[0]));
	print_with_guid(plan, one->expected[0], stream);
	fputs(" has the name ", stream);
	fputs(view->live->node_name[one->found[0]], stream);
}

static void say_node(const struct topo_diff_view *view, const struct hd_fabric_difference *one,
		     FILE *stream)
{
	const struct hd_fabric *plan = view->expected, *live = view->live;

	if (one->kind == HD_DIFFERENCE_NODE_EXTRA) {
		fprintf(stream, "%s ", type_of(live, one->found[0]));
		fputs(live->node_name[one->found[0]], stream);
		print_place(live, one->found[0], stream);
		fputs(" is not in the plan", stream);
		return;
	}
	fprintf(stream, "%s ", type_of(plan, one->expected[0]));
	if (one->kind == HD_DIFFERENCE_NODE_MISSING) {
		fputs(plan->node_name[one->expected[0]], stream);
		print_place(plan, one->expected[0], stream);
		fputs(" is missing", stream);
		return;
	}
	print_with_guid(plan, one->expected[0], stream);
	fputs(" is replaced by ", stream);
	print_with_guid(live, one->found[0], stream);
	if (one->kind == HD_DIFFERENCE_NODE_MOVED)
		fputs(", which has another place in the plan", stream);
}

static void say_nodes(const struct topo_diff_view *view, const struct hd_fabric_difference *one,
		      FILE *stream)
{
	const struct hd_fabric *plan = view->expected, *live = view->live;

	if (one->found_count == 2) {
		fprintf(stream, "%s ", type_of(plan, one->expected[0]));
		fputs(plan->node_name[one->expected[0]], stream);
		fprintf(stream, " and %s ", type_of(plan, one->expected[1]));
		fputs(plan->node_name[one->expected[1]], stream);
		fputs(" are swapped, with all their cables", stream);
		return;
	}
	for (uint32_t i = 0; i < one->found_count; i++) {
		fputs(i ? ", " : "", stream);
		fputs(live->node_name[one->found[i]], stream);
		fputs(i ? " at that of " : " is at the place of ", stream);
		fputs(plan->node_name[one->expected[i]], stream);
	}
}

static void say_missing(const struct topo_diff_view *view, const struct hd_fabric_difference *one,
			FILE *stream)
{
	uint32_t port = one->expected[0], peer = view->expected->peer[port];

	fputs("the cable ", stream);
	print_planned(view, port, stream);
	fputs(" - ", stream);
	print_planned(view, peer, stream);
	fputs(" is missing", stream);
}

static void say_extra(const struct topo_diff_view *view, const struct hd_fabric_difference *one,
		      FILE *stream)
{
	fputs("the cable ", stream);
	print_live(view, one->found[0], stream);
	fputs(" - ", stream);
	print_live(view, view->live->peer[one->found[0]], stream);
	fputs(" is not in the plan", stream);
}

static void say_moved(const struct topo_diff_view *view, const struct hd_fabric_difference *one,
		      FILE *stream)
{
	uint32_t fixed = one->found[0];

	if (is_host_port(view->live, fixed))
		fprintf(stream, "%s ", type_of(view->live, view->live->port_node[fixed]));
	else
		fputs("the cable of ", stream);
	print_live(view, fixed, stream);
	fputs(is_host_port(view->expected, view->expected->peer[one->expected[0]]) ? " belongs to "
										   : " belongs in ",
	      stream);
	print_planned(view, view->expected->peer[one->expected[0]], stream);
	fputs(" and is in ", stream);
	print_live(view, view->live->peer[fixed], stream);
}

/* Each live cable from the far end of a planned one leads to the near end of the next. */
static void say_swapped(const struct topo_diff_view *view, const struct hd_fabric_difference *one,
			FILE *stream)
{
	const struct hd_fabric *live = view->live;

	fprintf(stream, one->found_count == 2 ? "swapped: " : "%u cables swapped in a ring: ",
		one->found_count);
	for (uint32_t i = 0; i < one->found_count; i++) {
		uint32_t before = one->found[(i ? i : one->found_count) - 1];
		bool host = is_host_port(live, one->found[i]);
		fputs(i ? ", " : "", stream);
		if (host)
			fprintf(stream, "%s ", type_of(live, live->port_node[one->found[i]]));
		else
			fputs("the cable of ", stream);
		print_live(view, one->found[i], stream);
		fputs(i ? " in " : " belongs in ", stream);
		print_live(view, live->peer[before], stream);
	}
}

/* "4x HDR" */
static void print_rate(uint32_t width, enum hd_speed speed, FILE *stream)
{
	if (width)
		fprintf(stream, "%ux", width);
	if (speed)
		fprintf(stream, "%s%s", width ? " " : "", hd_speed_name(speed));
}

static void say_rate(const struct topo_diff_view *view, const struct hd_fabric_difference *one,
		     FILE *stream)
{
	const struct hd_compare_request *request = view->request;
	uint32_t plan = one->expected[0], live = one->found[0];

	fputs("the cable ", stream);
	print_live(view, live, stream);
	fputs(" - ", stream);
	print_live(view, view->live->peer[live], stream);
	fputs(" is ", stream);
	print_rate(view->live->width[live], view->live->speed[live], stream);
	fputs(" and should be ", stream);
	print_rate(request->width ? request->width : view->expected->width[plan],
		   request->speed ? request->speed : (enum hd_speed)view->expected->speed[plan],
		   stream);
}

void topo_diff_sentence(const struct topo_diff_view *view,
			const struct hd_fabric_difference *difference, FILE *stream)
{
	typedef void say_fn(const struct topo_diff_view *view,
			    const struct hd_fabric_difference *one, FILE *stream);
	static say_fn *const sentences[HD_DIFFERENCE_KINDS] = {
	    [HD_DIFFERENCE_NODE_MISSING] = say_node,
	    [HD_DIFFERENCE_NODE_EXTRA] = say_node,
	    [HD_DIFFERENCE_NODE_REPLACED] = say_node,
	    [HD_DIFFERENCE_NODE_RENAMED] = say_renamed,
	    [HD_DIFFERENCE_NODE_MOVED] = say_node,
	    [HD_DIFFERENCE_NODES_EXCHANGED] = say_nodes,
	    [HD_DIFFERENCE_CABLE_MISSING] = say_missing,
	    [HD_DIFFERENCE_CABLE_EXTRA] = say_extra,
	    [HD_DIFFERENCE_CABLE_MOVED] = say_moved,
	    [HD_DIFFERENCE_CABLES_EXCHANGED] = say_swapped,
	    [HD_DIFFERENCE_RATE] = say_rate};

	sentences[difference->kind](view, difference, stream);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void topo_diff_summary(const struct topo_diff_view *view, FILE *stream)
{
	const struct hd_comparison *comparison = view->comparison;

	if (comparison->count)
		fprintf(stream, "%" PRIu32 " difference%s, which %" PRIu64 " step%s would mend; ",
			comparison->count, plural(comparison->count), comparison->mends,
			plural(comparison->mends));
	else
		fputs("as planned; ", stream);
	fprintf(stream, "%" PRIu32 " of %" PRIu32 " planned cables are in place; matched %s",
		comparison->agreeing, comparison->planned, topo_diff_match(comparison->match));
}

void topo_diff_text(const struct topo_diff_view *view)
{
	for (uint32_t i = 0; i < view->comparison->count; i++) {
		topo_diff_sentence(view, &view->comparison->differences[i], stdout);
		putchar('\n');
	}
	topo_diff_summary(view, stdout);
	putchar('\n');
}

static json_t *node_json(const struct hd_fabric *fabric, uint32_t node)
{
	return json_pack("{s:s, s:o, s:o}", "type", type_of(fabric, node), "name",
			 json_value_text(fabric->node_name[node]), "guid",
			 json_value_guid(fabric->node_guid[node]));
}

static json_t *end_json(const struct hd_fabric *fabric, uint32_t port)
{
	json_t *end = node_json(fabric, fabric->port_node[port]);

	return json_value_set(end, "port", json_integer(hd_port_number(fabric, port)));
}

static json_t *cable_json(const struct hd_fabric *fabric, uint32_t port)
{
	json_t *ends = json_value_append(json_array(), end_json(fabric, port));

	ends = json_value_append(ends, end_json(fabric, fabric->peer[port]));
	return json_pack("{s:o, s:i, s:s}", "ends", ends, "width", (int)fabric->width[port],
			 "speed", hd_speed_name(fabric->speed[port]));
}

static json_t *list_json(const struct hd_fabric *fabric, bool nodes, const uint32_t *list,
			 uint32_t count)
{
	json_t *values = json_array();

	for (uint32_t i = 0; i < count; i++)
		values = json_value_append(values, nodes ? node_json(fabric, list[i])
							 : cable_json(fabric, list[i]));
	return values;
}

static json_t *difference_json(const struct topo_diff_view *view,
			       const struct hd_fabric_difference *one)
{
	bool nodes = one->kind <= HD_DIFFERENCE_NODES_EXCHANGED;

	char *text = NULL;
	size_t size;
	FILE *stream = need(open_memstream(&text, &size));
	topo_diff_sentence(view, one, stream);
	need_close(stream);
	json_t *sentence = json_value_text(text);
	free(text);
	return json_pack("{s:s, s:o, s:I, s:o, s:o}", "kind", kinds[one->kind], "text", sentence,
			 "steps", (json_int_t)one->mends, "expected",
			 list_json(view->expected, nodes, one->expected, one->expected_count),
			 "found", list_json(view->live, nodes, one->found, one->found_count));
}

json_t *topo_diff_json(const struct topo_diff_view *view)
{
	const struct hd_comparison *comparison = view->comparison;
	json_t *list = json_array();

	for (uint32_t i = 0; i < comparison->count; i++)
		list = json_value_append(list, difference_json(view, &comparison->differences[i]));
	json_t *counts = json_object();
	json_int_t count[HD_DIFFERENCE_KINDS] = {0};
	for (uint32_t i = 0; i < comparison->count; i++)
		count[comparison->differences[i].kind]++;
	for (unsigned kind = 0; kind < HD_DIFFERENCE_KINDS; kind++)
		counts = json_value_set(counts, kinds[kind], json_integer(count[kind]));
	return json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "match",
			 topo_diff_match(comparison->match) + 3, "planned_cables",
			 (json_int_t)comparison->planned, "cables_in_place",
			 (json_int_t)comparison->agreeing, "steps", (json_int_t)comparison->mends,
			 "counts", counts, "differences", list);
}

static enum nagios_status nagios_status_of(const struct topo_diff_view *view)
{
	const struct hd_comparison *comparison = view->comparison;

	for (uint32_t i = 0; i < comparison->count; i++) {
		const struct hd_fabric_difference *one = &comparison->differences[i];
		if (one->kind == HD_DIFFERENCE_NODE_MISSING &&
		    hd_is_switch(view->expected, one->expected[0]))
			return NAGIOS_CRITICAL;
	}
	return comparison->count ? NAGIOS_WARNING : NAGIOS_OK;
}

int topo_diff_nagios(const struct topo_diff_view *view)
{
	const struct hd_comparison *comparison = view->comparison;
	enum nagios_status status = nagios_status_of(view);
	char *text = NULL;
	size_t size;
	FILE *stream = need(open_memstream(&text, &size));

	topo_diff_summary(view, stream);
	if (comparison->count) {
		fputs("; the first: ", stream);
		topo_diff_sentence(view, &comparison->differences[0], stream);
	}
	need_close(stream);
	message_nagios_begin(status);
	message_nagios_text(text);
	free(text);
	printf(" | differences=%" PRIu32 ";0;;0 steps=%" PRIu64 ";;;0 cables_in_place=%" PRIu32
	       ";;;0\n",
	       comparison->count, comparison->mends, comparison->agreeing);
	return (int)status;
}
