/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writers of fabrics. */
#include "write_stream.h"

#include <errno.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>
#include <stdlib.h>

/* A drawing of the switches for Graphviz's dot. */

void hd_dot_write_name(const char *name, FILE *stream)
{
	char plain[PLAIN_NAME_SIZE];

	for (const char *at = write_stream_plain_name(name, plain); *at; at++) {
		if (*at == '\\')
			fputc('\\', stream);
		fputc(*at, stream);
	}
}

static void write_switch(const struct hd_fabric *fabric, uint32_t sw, FILE *stream)
{
	uint32_t hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];

	fprintf(stream, "\ts%u [label=\"", sw);
	hd_dot_write_name(fabric->node_name[sw], stream);
	if (hosts)
		fprintf(stream, "\\n%u host%s", hosts, hosts == 1 ? "" : "s");
	fprintf(stream, "\", tooltip=\"0x%016" PRIx64 "\"];\n", fabric->node_guid[sw]);
}

static void write_level(const struct hd_fabric *fabric, const uint32_t *level, uint32_t wanted,
			FILE *stream)
{
	fputs("\t{ rank=same;", stream);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level[sw] == wanted)
			fprintf(stream, " s%u;", sw);
	fputs(" }\n", stream);
}

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* Draws the edges of one switch that lead upwards, or on its level to a higher index. So each edge
 * is drawn once. */
static void write_edges(const struct hd_fabric *fabric, const uint32_t *level, uint32_t sw,
			FILE *stream)
{
	uint32_t to[HD_PORTS_MAX], count = 0;

	for (uint32_t l = fabric->isl_base[sw]; l < fabric->isl_base[sw + 1]; l++) {
		uint32_t far = fabric->isl_to[l];
		if (level[far] > level[sw] || (level[far] == level[sw] && far > sw))
			to[count++] = far;
	}
	qsort(to, count, sizeof(*to), compare);
	for (uint32_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && to[end] == to[begin];)
			end++;
		fprintf(stream, "\ts%u -- s%u", sw, to[begin]);
		if (end - begin > 1)
			fprintf(stream, " [label=\"%u\", penwidth=2]", end - begin);
		fputs(";\n", stream);
	}
}

int hd_fabric_write_dot(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err)
{
	uint32_t *level = malloc(fabric->switch_count * sizeof(*level)), highest = 0;
	int rc = level ? hd_fabric_levels(fabric, level, err) : hd_error_no_memory(err);

	if (rc) {
		free(level);
		return rc;
	}
	errno = 0;
	fputs("graph fabric {\n\trankdir=BT;\n\tranksep=1.5;\n\tnode [shape=box];\n", stream);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		write_switch(fabric, sw, stream);
		if (level[sw] != HD_NONE && level[sw] > highest)
			highest = level[sw];
	}
	for (uint32_t wanted = 0; wanted <= highest; wanted++)
		write_level(fabric, level, wanted, stream);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		write_edges(fabric, level, sw, stream);
	fputs("}\n", stream);
	free(level);
	return write_stream_finish(stream, err);
}

/* A graph in GraphML, an XML form that tools for graphs read: Gephi, yEd, NetworkX, igraph. */

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

static void write_text(const char *text, FILE *stream)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", stream);
		else if (*text == '<')
			fputs("&lt;", stream);
		else if (*text == '>')
			fputs("&gt;", stream);
		else
			fputc(*text, stream);
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

/*
 * The netlist must suit ibsim, which reads at most 254 bytes of a line, ends a record at a blank
 * line, and takes link width and speed from the end of a port line.
 */

static const struct {
	const char *guid_key, *header;
	char letter;
} kinds[] = {[HD_SWITCH] = {"switchguid", "Switch", 'S'},
	     [HD_CA] = {"caguid", "Ca", 'H'},
	     [HD_ROUTER] = {"rtguid", "Rt", 'R'}};

/* "4xQDR", with ?? for what is unknown */
static void write_rate(const struct hd_fabric *fabric, uint32_t port, FILE *stream)
{
	if (fabric->width[port])
		fprintf(stream, "%ux", fabric->width[port]);
	else
		fputs("??", stream);
	fputs(hd_speed_name((enum hd_speed)fabric->speed[port]), stream);
}

static void write_header(const struct hd_fabric *fabric, uint32_t node, FILE *stream)
{
	unsigned type = fabric->node_type[node];
	uint32_t port_0 = fabric->port_base[node];
	char name[PLAIN_NAME_SIZE];

	fprintf(stream, "\nvendid=0x%x\ndevid=0x%x\n", fabric->vendor_id[node],
		fabric->device_id[node]);
	if (fabric->system_guid[node])
		fprintf(stream, "sysimgguid=0x%" PRIx64 "\n", fabric->system_guid[node]);
	fprintf(stream, "%s=0x%" PRIx64, kinds[type].guid_key, fabric->node_guid[node]);
	if (type == HD_SWITCH)
		fprintf(stream, "(%" PRIx64 ")", fabric->port_guid[port_0]);
	fprintf(stream, "\n%s\t%u \"%c-%016" PRIx64 "\"\t\t# \"%s\"", kinds[type].header,
		hd_node_ports(fabric, node), kinds[type].letter, fabric->node_guid[node],
		write_stream_plain_name(fabric->node_name[node], name));
	if (type == HD_SWITCH)
		fprintf(stream, " %s port 0 lid %u lmc %u",
			fabric->lmc[port_0] ? "enhanced" : "base", fabric->lid[port_0],
			fabric->lmc[port_0]);
	fputc('\n', stream);
}

static void write_guid(const struct hd_fabric *fabric, uint32_t port, FILE *stream)
{
	if (!hd_is_switch(fabric, fabric->port_node[port]) && fabric->port_guid[port])
		fprintf(stream, "(%" PRIx64 ") ", fabric->port_guid[port]);
}

static void write_port(const struct hd_fabric *fabric, uint32_t port, FILE *stream)
{
	uint32_t peer = fabric->peer[port], node = fabric->port_node[port];
	uint32_t far = fabric->port_node[peer];
	bool far_switch = hd_is_switch(fabric, far);
	uint32_t far_lid = fabric->lid[far_switch ? fabric->port_base[far] : peer];
	char name[PLAIN_NAME_SIZE];

	fprintf(stream, "[%u]", hd_port_number(fabric, port));
	write_guid(fabric, port, stream);
	fprintf(stream, "\t\"%c-%016" PRIx64 "\"[%u]", kinds[fabric->node_type[far]].letter,
		fabric->node_guid[far], hd_port_number(fabric, peer));
	write_guid(fabric, peer, stream);
	fputs("\t\t# ", stream);
	if (!hd_is_switch(fabric, node))
		fprintf(stream, "lid %u lmc %u ", fabric->lid[port], fabric->lmc[port]);
	fprintf(stream, "\"%s\" lid %u ", write_stream_plain_name(fabric->node_name[far], name),
		far_lid);
	write_rate(fabric, port, stream);
	fputc('\n', stream);
}

int hd_fabric_write_netlist(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err)
{
	errno = 0;
	fprintf(stream, "# Topology file: %u switches, %u hosts\n", fabric->switch_count,
		fabric->host_count);
	for (uint32_t node = 0; node < fabric->node_count; node++) {
		write_header(fabric, node, stream);
		for (uint32_t port = 1; port <= hd_node_ports(fabric, node); port++)
			if (fabric->peer[hd_port_index(fabric, node, port)] != HD_NONE)
				write_port(fabric, hd_port_index(fabric, node, port), stream);
	}
	return write_stream_finish(stream, err);
}
