/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drawings of parts of a fabric by Graphviz. */
#ifndef CLI_GRAPHVIZ_H
#define CLI_GRAPHVIZ_H

#include "drawing.h"

#include <heddle/fabric.h>

#define CLI_GRAPH_ENDINGS ".svg, .png or .dot"

/* True for names that end in .svg, .png or .dot; false after a message that names --graph. */
bool cli_graph_name(const char *path);

/*
 * Draws what write() writes in Graphviz's language into the file `path`; .dot is that language
 * itself. Errors: as those of cli_draw().
 */
int cli_graph_draw(const char *path, cli_drawing_fn *write, const void *context,
		   struct hd_error *err);

/* The beginning of a graph, its title still open: end it with cli_graph_titled(). */
void cli_graph_begin(FILE *script);
void cli_graph_titled(FILE *script);
void cli_graph_end(FILE *script);

/* A node of the graph with its description: a box for a switch, an ellipse for the host of a port;
 * `strong` has a thick border. Naming a node twice does no harm. */
void cli_graph_switch(FILE *script, const struct hd_fabric *fabric, uint32_t sw, bool strong);
void cli_graph_host(FILE *script, const struct hd_fabric *fabric, uint32_t port, bool strong);

/* An edge from a port to the one at the other end of its cable, both ports labelled, without the
 * bracket and line that end it: attributes may follow. */
void cli_graph_edge(FILE *script, const struct hd_fabric *fabric, uint32_t port);

/* A colour that is told from those of the numbers beside it. */
void cli_graph_colour(FILE *script, uint32_t number);

#endif
