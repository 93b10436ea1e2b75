/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pictures of some of a fabric's nodes, drawn by Graphviz. */
#ifndef CLI_GRAPHVIZ_H
#define CLI_GRAPHVIZ_H

#include "arguments.h"
#include "drawing.h"

#include <heddle/fabric.h>

#define GRAPHVIZ_ENDINGS ".svg, .png or .dot"

/* Takes the path of a picture, a const char *. Refuses other endings. */
arguments_take_fn graphviz_take_path;

/*
 * Draws what write() describes in Graphviz's language into the file `path`. A .dot file gets the
 * description itself. Errors: those of drawing_make().
 */
int graphviz_draw(const char *path, drawing_fn *write, const void *context, struct hd_error *err);

/* Begins a graph and its title. graphviz_titled() ends the title, graphviz_end() the graph. */
void graphviz_begin(FILE *script);
void graphviz_titled(FILE *script);
void graphviz_end(FILE *script);

/* A node of the graph with its description: a box for a switch, an ellipse for the host of a port;
 * `strong` draws a thick border. A node may be written twice. */
void graphviz_switch(FILE *script, const struct hd_fabric *fabric, uint32_t sw, bool strong);
void graphviz_host(FILE *script, const struct hd_fabric *fabric, uint32_t port, bool strong);

/* An edge from a port to the port at the other end of its cable, with both port numbers. The caller
 * may add attributes, and ends it with "];\n". */
void graphviz_edge(FILE *script, const struct hd_fabric *fabric, uint32_t port);

/* A colour that differs clearly from those of neighbouring numbers. */
void graphviz_colour(FILE *script, uint32_t number);

#endif
