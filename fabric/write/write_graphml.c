/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A graph in GraphML, an XML form that tools for graphs read: Gephi, yEd, NetworkX, igraph. */
#include "write_stream.h"

#include <errno.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>
#include <stdlib.h>

static const char *const types[] = {
    [HD_SWITCH] = "switch", [HD_CA] = "adapter", [HD_ROUTER] = "router"};

/* The attributes, by the names that the elements below give them. */
static const struct {
	const char *name, *of, *type;
} keys[] = {
    {"name", "node", "string"},	    {"guid", "node", "string"},	    {"type", "node", "string"},
    {"level", "node", "int"},	    {"ports", "node", "int"},	    {"lid", "node", "int"},
    {"source_port", "edge", "int"}, {"target_port", "edge", "int"}, {"width", "edge", "int"},
    {"speed", "edge", "string"},    {"gbits", "edge", "double"},
};

/* Names may have any bytes. Bytes that are not printable ASCII become '?'. */
static void write_text(const char *text, FILE *stream)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte == '&')
			fputs("&amp;", stream);
		else if (byte == '<')
			fputs("&lt;", stream);
		else if (byte == '>')
			fputs("&gt;", stream);
		else
			fputc(byte < 32 || byte > 126 ? '?' : byte, stream);
	}
}

static void write_number(const char *key, uint32_t value, FILE *stream)
{
	fprintf(stream, "      <data key=\"%s\">%" PRIu32 "</data>\n", key, value);
}

/* The LID of a switch, or the first of an adapter's; 0: none. */
static uint32_t first_lid(const struct hd_fabric *fabric, uint32_t node)
{
	for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1]; port++)
		if (fabric->lid[port])
			return fabric->lid[port];
	return 0;
}

static void write_node(const struct hd_fabric *fabric, const uint32_t *level, uint32_t node,
		       FILE *stream)
{
	uint32_t lid = first_lid(fabric, node);

	fprintf(stream, "    <node id=\"n%" PRIu32 "\">\n      <data key=\"name\">", node);
	write_text(fabric->node_name[node], stream);
	fprintf(stream,
		"</data>\n      <data key=\"guid\">0x%016" PRIx64
		"</data>\n      <data key=\"type\">%s</data>\n",
		fabric->node_guid[node], types[fabric->node_type[node]]);
	if (hd_is_switch(fabric, node) && level[node] != HD_NONE)
		write_number("level", level[node], stream);
	write_number("ports", hd_node_ports(fabric, node), stream);
	if (lid)
		write_number("lid", lid, stream);
	fputs("    </node>\n", stream);
}

static void write_edge(const struct hd_fabric *fabric, uint32_t port, FILE *stream)
{
	uint32_t peer = fabric->peer[port];

	fprintf(stream, "    <edge source=\"n%" PRIu32 "\" target=\"n%" PRIu32 "\">\n",
		fabric->port_node[port], fabric->port_node[peer]);
	write_number("source_port", hd_port_number(fabric, port), stream);
	write_number("target_port", hd_port_number(fabric, peer), stream);
	if (fabric->width[port])
		write_number("width", fabric->width[port], stream);
	if (fabric->speed[port] != HD_SPEED_UNKNOWN)
		fprintf(stream, "      <data key=\"speed\">%s</data>\n",
			hd_speed_name((enum hd_speed)fabric->speed[port]));
	if (hd_port_rate(fabric, port) > 0)
		fprintf(stream, "      <data key=\"gbits\">%g</data>\n",
			hd_port_rate(fabric, port));
	fputs("    </edge>\n", stream);
}

static void write_graph(const struct hd_fabric *fabric, const uint32_t *level, FILE *stream)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
	      stream);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		fprintf(stream, "  <key id=\"%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n",
			keys[i].name, keys[i].of, keys[i].name, keys[i].type);
	fputs("  <graph id=\"fabric\" edgedefault=\"undirected\">\n", stream);
	for (uint32_t node = 0; node < fabric->node_count; node++)
		write_node(fabric, level, node, stream);
	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (fabric->peer[port] != HD_NONE && fabric->peer[port] > port)
			write_edge(fabric, port, stream);
	fputs("  </graph>\n</graphml>\n", stream);
}

int hd_fabric_write_graphml(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err)
{
	uint32_t *level = malloc(fabric->switch_count * sizeof(*level));
	int rc = level ? hd_fabric_levels(fabric, level, err) : hd_error_no_memory(err);

	if (!rc) {
		errno = 0;
		write_graph(fabric, level, stream);
		rc = write_stream_finish(stream, err);
	}
	free(level);
	return rc;
}
