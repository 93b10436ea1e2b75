/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "graphviz.h"
#include "message.h"
#include "output.h"

#include <inttypes.h>

int graphviz_take_path(const struct typed *typed, void *place)
{
	const char *path = typed->text;

	if (drawing_ends_in(path, ".svg") || drawing_ends_in(path, ".png") ||
	    drawing_ends_in(path, ".dot"))
		return arguments_take_text(typed, place);
	return message_error("option '--%s': '%s' does not end in " GRAPHVIZ_ENDINGS,
			     typed->argument->name, path);
}

int graphviz_draw(const char *path, drawing_fn *write, const void *context, struct hd_error *err)
{
	static char *const svg[] = {"dot", "-Tsvg", NULL};
	static char *const png[] = {"dot", "-Tpng", NULL};
	const struct drawing_program dot = {"Graphviz", drawing_ends_in(path, ".svg") ? svg : png};

	if (drawing_ends_in(path, ".dot")) {
		struct output output;
		int rc = output_open(&output, path, err);
		if (rc)
			return rc;
		write(output.stream, context);
		return output_close(&output, 0, err);
	}
	return drawing_make(&dot, path, write, context, err);
}

void graphviz_begin(FILE *script)
{
	fputs("digraph {\n\trankdir=LR;\n\tranksep=1.2;\n\tnodesep=0.4;\n"
	      "\tfontname=\"sans-serif\";\n\tlabelloc=t;\n"
	      "\tnode [fontname=\"sans-serif\"];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=10, labeldistance=1.6];\n\tlabel=\"",
	      script);
}

void graphviz_titled(FILE *script)
{
	fputs("\";\n", script);
}

void graphviz_end(FILE *script)
{
	fputs("}\n", script);
}

static void write_node(FILE *script, const struct hd_fabric *fabric, uint32_t node,
		       const char *shape, bool strong)
{
	fprintf(script, "\tn%" PRIu32 " [shape=%s, label=\"", node, shape);
	hd_dot_write_name(fabric->node_name[node], script);
	fprintf(script, "\", tooltip=\"0x%016" PRIx64 "\"%s];\n", fabric->node_guid[node],
		strong ? ", style=bold" : "");
}

void graphviz_switch(FILE *script, const struct hd_fabric *fabric, uint32_t sw, bool strong)
{
	write_node(script, fabric, sw, "box", strong);
}

void graphviz_host(FILE *script, const struct hd_fabric *fabric, uint32_t port, bool strong)
{
	write_node(script, fabric, fabric->port_node[port], "ellipse", strong);
}

void graphviz_edge(FILE *script, const struct hd_fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->peer[port];

	fprintf(script,
		"\tn%" PRIu32 " -> n%" PRIu32 " [taillabel=\"%" PRIu32 "\", headlabel=\"%" PRIu32
		"\"",
		fabric->port_node[port], fabric->port_node[peer], hd_port_number(fabric, port),
		hd_port_number(fabric, peer));
}

/* Steps of the golden ratio around the circle of hues keep neighbours apart. */
void graphviz_colour(FILE *script, uint32_t number)
{
	double hue = 0.6 + number * 0.61803398875;

	fprintf(script, "%.3f 0.9 0.75", hue - (double)(uint32_t)hue);
}
