/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two files from which ibdmchk reads service levels (ibutils, IBFabric::parsePSLFile and
 * parseSLVLFile). GUIDs are those of nodes:
 *
 *   0x0000000000100000 154 0                        source, destination LID, SL
 *   0x0000000000200000 5 1 0x01 0x23 .. 0xef        switch, port in, port out, VLs of two SLs
 */
#include "service_level_text.h"
#include "write_stream.h"

#include <errno.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- SLs of paths ---- */

static uint8_t level_of(const struct hd_routes *routes, uint32_t sw, uint32_t lid)
{
	return routes->sl ? routes->sl[(size_t)sw * routes->stride + lid] : 0;
}

/* The switch at the far end of an adapter's port, or HD_NONE. */
static uint32_t switch_behind(const struct hd_fabric *fabric, uint32_t port_index)
{
	uint32_t entry = hd_fabric_entry(fabric, port_index);

	return entry == HD_NONE ? HD_NONE : fabric->port_node[entry];
}

/* Writes the levels at a node's first switch. Its other switches must have the same. */
static int write_paths(const struct hd_fabric *fabric, const struct hd_routes *routes,
		       const bool *of_host, uint32_t node, uint32_t first, FILE *stream,
		       struct hd_error *err)
{
	for (uint32_t lid = 1; lid < routes->lid_count; lid++) {
		unsigned level = level_of(routes, first, lid);
		if (!of_host[lid])
			continue;
		for (uint32_t port = 1; port <= hd_node_ports(fabric, node); port++) {
			uint32_t sw = switch_behind(fabric, hd_port_index(fabric, node, port));
			if (sw != HD_NONE && level_of(routes, sw, lid) != level)
				return hd_error_set(
				    err, -ENOTSUP,
				    "'%s' 0x%016" PRIx64 " sends LID %" PRIu32 " on SL %u by one "
				    "port and on SL %u by port %" PRIu32
				    ", but ibdmchk's file has one SL for each node",
				    fabric->node_name[node], fabric->node_guid[node], lid, level,
				    level_of(routes, sw, lid), port);
		}
		fprintf(stream, "0x%016" PRIx64 " %" PRIu32 " %u\n", fabric->node_guid[node], lid,
			level);
	}
	return 0;
}

static uint32_t first_switch(const struct hd_fabric *fabric, uint32_t node)
{
	uint32_t sw = HD_NONE;

	for (uint32_t port = 1; port <= hd_node_ports(fabric, node) && sw == HD_NONE; port++)
		sw = switch_behind(fabric, hd_port_index(fabric, node, port));
	return sw;
}

int hd_routes_write_psl(const struct hd_fabric *fabric, const struct hd_routes *routes,
			FILE *stream, struct hd_error *err)
{
	bool *of_host = hd_fabric_adapter_lids(fabric);
	int rc = of_host ? 0 : hd_error_no_memory(err);

	errno = 0;
	for (uint32_t node = fabric->switch_count;
	     !rc && node < fabric->node_count && !ferror(stream); node++) {
		uint32_t first = first_switch(fabric, node);
		if (first != HD_NONE)
			rc = write_paths(fabric, routes, of_host, node, first, stream, err);
	}
	free(of_host);
	return rc ? rc : write_stream_finish(stream, err);
}

/* ---- VLs of SLs ---- */

static bool is_cabled(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	return fabric->peer[hd_port_index(fabric, sw, port)] != HD_NONE;
}

static void write_maps(const struct hd_fabric *fabric, uint32_t sw, const char *lanes, FILE *stream)
{
	uint32_t ports = hd_node_ports(fabric, sw);

	for (uint32_t in = 1; in <= ports; in++)
		for (uint32_t out = 1; out <= ports && is_cabled(fabric, sw, in); out++)
			if (is_cabled(fabric, sw, out))
				fprintf(stream, "0x%016" PRIx64 " %" PRIu32 " %" PRIu32 "%s\n",
					fabric->node_guid[sw], in, out, lanes);
}

int hd_routes_write_slvl(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 FILE *stream, struct hd_error *err)
{
	static const char digits[] = "0123456789abcdef";
	char lanes[SERVICE_LEVELS / 2 * 5 + 1];
	char *at = lanes;

	for (unsigned level = 0; level < SERVICE_LEVELS; level += 2) {
		*at++ = ' ';
		*at++ = '0';
		*at++ = 'x';
		*at++ = digits[routes->sl2vl[level] & 15];
		*at++ = digits[routes->sl2vl[level + 1] & 15];
	}
	*at = '\0';
	errno = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count && !ferror(stream); sw++)
		write_maps(fabric, sw, lanes, stream);
	return write_stream_finish(stream, err);
}
