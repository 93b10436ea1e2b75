/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The netlist must suit ibsim, which reads at most 254 bytes of a line, ends a record at a blank
 * line, and takes link width and speed from the end of a port line.
 */
#include "write_stream.h"

#include <errno.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>

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
