/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drawings of parts of a fabric by Graphviz. */
#ifndef CLI_GRAPHVIZ_H
#define CLI_GRAPHVIZ_H

#include "arguments.h"
#include "drawing.h"

#include <heddle/fabric.h>

#define GRAPHVIZ_ENDINGS ".svg, .png or .dot"

/* Takes the path of a picture, a const char *. Refuses other endings. */
arguments_take_fn graphviz_take_path;

/*
 * Draws what write() writes in Graphviz's language into the file `path`; .dot is that language
 * itself. Errors: as those of drawing_make().
 */
int graphviz_draw(const char *path, drawing_fn *write, const void *context, struct hd_error *err);

/* The beginning of a graph, its title still open: end it with graphviz_titled(). */
void graphviz_begin(FILE *script);
void graphviz_titled(FILE *script);
void graphviz_end(FILE *script);

/* A node of the graph with its description: a box for a switch, an ellipse for the host of a port;
 * `strong` has a thick border. Naming a node twice does no harm. */
void graphviz_switch(FILE *script, const struct hd_fabric *fabric, uint32_t sw, bool strong);
void graphviz_host(FILE *script, const struct hd_fabric *fabric, uint32_t port, bool strong);

/* An edge from a port to the one at the other end of its cable, both ports labelled, without the
 * bracket and line that end it: attributes may follow. */
void graphviz_edge(FILE *script, const struct hd_fabric *fabric, uint32_t port);

/* A colour that is told from those of the numbers beside it. */
void graphviz_colour(FILE *script, uint32_t number);

#endif
