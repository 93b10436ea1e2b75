/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writers of tables and service levels. */
#include "fabric_inner.h"
#include "write_stream.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>
#include <stdlib.h>

/*
 * opensm-lfts.dump. A big fabric has millions of rows. The text after the port is the same in every
 * table, so it is made once for each LID, and a row is two copies.
 */

struct destination {
	const char *text; /* " # Switch portguid 0x...: 'leaf1'\n" */
	size_t length;
};

struct dump {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct hd_arena arena;
	struct destination *destinations; /* [lid_count] */
	uint32_t *order; /* switches as OpenSM lists them */
};

static const char hex_digits[] = "0123456789abcdef";

static const char *const kinds[] = {
    [HD_SWITCH] = "Switch", [HD_CA] = "Channel Adapter", [HD_ROUTER] = "Router"};

static int describe(struct dump *dump, uint32_t lid)
{
	const struct hd_fabric *fabric = dump->fabric;
	struct destination *destination = &dump->destinations[lid];
	uint32_t port = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;
	char *line;

	if (port == HD_NONE) {
		*destination = (struct destination){" # unknown node and type\n", 25};
		return 0;
	}
	uint32_t node = fabric->port_node[port];
	int length = asprintf(&line, " # %s portguid 0x%016" PRIx64 ": '%s'\n",
			      kinds[fabric->node_type[node]], fabric->port_guid[port],
			      fabric->node_name[node]);
	if (length < 0)
		return -ENOMEM;
	*destination = (struct destination){hd_arena_strdup(&dump->arena, line), (size_t)length};
	free(line);
	return hd_arena_check(&dump->arena);
}

/* OpenSM's map has as key the GUID in network byte order, read as a number of this machine. */
static int in_network_order(const void *left, const void *right, void *context)
{
	const struct hd_fabric *fabric = ((const struct dump *)context)->fabric;
	uint64_t a = __builtin_bswap64(fabric->node_guid[*(const uint32_t *)left]);
	uint64_t b = __builtin_bswap64(fabric->node_guid[*(const uint32_t *)right]);

	return a < b ? -1 : a > b;
}

static int prepare(struct dump *dump)
{
	uint32_t lids = dump->routes->lid_count, switches = dump->routes->switch_count;

	dump->destinations = hd_arena_alloc(&dump->arena, lids, sizeof(*dump->destinations));
	dump->order = hd_arena_alloc(&dump->arena, switches, sizeof(*dump->order));
	if (hd_arena_check(&dump->arena))
		return -ENOMEM;
	for (uint32_t lid = 0; lid < lids; lid++)
		if (describe(dump, lid))
			return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		dump->order[sw] = sw;
	qsort_r(dump->order, switches, sizeof(*dump->order), in_network_order, dump);
	return 0;
}

static void write_row(const struct dump *dump, uint32_t lid, unsigned port, FILE *stream)
{
	char row[10] = {'0',
			'x',
			hex_digits[lid >> 12 & 15],
			hex_digits[lid >> 8 & 15],
			hex_digits[lid >> 4 & 15],
			hex_digits[lid & 15],
			' ',
			hex_digits[port / 100],
			hex_digits[port / 10 % 10],
			hex_digits[port % 10]};

	fwrite_unlocked(row, sizeof(row), 1, stream);
	fwrite_unlocked(dump->destinations[lid].text, dump->destinations[lid].length, 1, stream);
}

static void write_table(const struct dump *dump, uint32_t sw, FILE *stream)
{
	const struct hd_fabric *fabric = dump->fabric;
	const uint8_t *row = hd_routes_row(dump->routes, sw);
	uint32_t lids = dump->routes->lid_count;

	fprintf(stream, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n",
		lids - 1, fabric->lid[fabric->port_base[sw]], fabric->node_guid[sw],
		fabric->node_name[sw]);
	for (uint32_t lid = 0; lid < lids; lid++)
		if (row[lid] <= hd_node_ports(fabric, sw))
			write_row(dump, lid, row[lid], stream);
	fprintf(stream, "%u lids dumped\n", lids - 1);
}

int hd_routes_write_dump(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 FILE *stream, struct hd_error *err)
{
	struct dump dump = {.fabric = fabric, .routes = routes};

	if (prepare(&dump)) {
		hd_arena_release(&dump.arena);
		return hd_error_no_memory(err);
	}
	errno = 0;
	for (uint32_t i = 0; i < routes->switch_count && !ferror(stream); i++)
		write_table(&dump, dump.order[i], stream);
	hd_arena_release(&dump.arena);
	return write_stream_finish(stream, err);
}

#define BLOCK_LIDS 64u

/* Returns the number of entries with a port. */
static uint32_t write_block(const uint8_t *entries, uint32_t first, uint32_t count, FILE *stream)
{
	char line[2 * BLOCK_LIDS + 1];
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		used += entries[i] != HD_NO_PORT;
		line[2 * i] = hex_digits[entries[i] >> 4];
		line[2 * i + 1] = hex_digits[entries[i] & 15];
	}
	line[2 * count] = '\n';
	if (used) {
		fprintf(stream, "block 0x%04x ", first);
		fwrite_unlocked(line, 2 * count + 1, 1, stream);
	}
	return used;
}

static void write_blocks(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 uint32_t sw, FILE *stream)
{
	const uint8_t *row = hd_routes_row(routes, sw);
	uint32_t used = 0;

	fprintf(stream, "Blocks of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n",
		fabric->lid[fabric->port_base[sw]], fabric->node_guid[sw], fabric->node_name[sw]);
	for (uint32_t lid = 0; lid < routes->lid_count; lid += BLOCK_LIDS) {
		uint32_t left = routes->lid_count - lid;
		used += write_block(row + lid, lid, left < BLOCK_LIDS ? left : BLOCK_LIDS, stream);
	}
	fprintf(stream, "%u entries dumped\n", used);
}

int hd_routes_write_blocks(const struct hd_fabric *fabric, const struct hd_routes *routes,
			   FILE *stream, struct hd_error *err)
{
	errno = 0;
	for (uint32_t sw = 0; sw < routes->switch_count && !ferror(stream); sw++)
		write_blocks(fabric, routes, sw, stream);
	return write_stream_finish(stream, err);
}

/*
 * The dump of service levels:
 *
 *   SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
 *   Virtual lanes at switch guid 0x0000000000200000 ('leaf1'):
 *   * 3 : 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1
 *   1 runs dumped
 *   Service levels at switch guid 0x0000000000200000 ('leaf1'):
 *   0x0004-0x0011 0
 *   0x0012 1
 *   2 runs dumped
 *   1 switches dumped
 */

static void write_run(uint32_t first, uint32_t last, unsigned level, FILE *stream)
{
	if (first == last)
		fprintf(stream, "0x%04x %u\n", first, level);
	else
		fprintf(stream, "0x%04x-0x%04x %u\n", first, last, level);
}

/* The runs of one switch; their number. LIDs of no host end no run. */
static uint32_t write_runs(const uint8_t *levels, const bool *of_host, uint32_t lids, FILE *stream)
{
	uint32_t first = 0, last = 0, runs = 0;

	for (uint32_t lid = 1; lid < lids; lid++) {
		if (!of_host[lid])
			continue;
		if (first && levels[lid] != levels[first]) {
			write_run(first, last, levels[first], stream);
			first = 0;
		}
		runs += !first;
		first = first ? first : lid;
		last = lid;
	}
	if (first)
		write_run(first, last, levels[first], stream);
	return runs;
}

static void write_switch(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 const bool *of_host, uint32_t sw, FILE *stream)
{
	char name[PLAIN_NAME_SIZE];

	fprintf(stream, "Service levels at switch guid 0x%016" PRIx64 " ('%s'):\n",
		fabric->node_guid[sw], write_stream_plain_name(fabric->node_name[sw], name));
	fprintf(stream, "%u runs dumped\n",
		write_runs(routes->sl + (size_t)sw * routes->stride, of_host, routes->lid_count,
			   stream));
}

static uint32_t write_switches(const struct hd_fabric *fabric, const struct hd_routes *routes,
			       const bool *of_host, FILE *stream)
{
	uint32_t written = 0;

	for (uint32_t sw = 0; sw < routes->switch_count && !ferror(stream); sw++) {
		if (!hd_has_adapters(fabric, sw))
			continue;
		write_switch(fabric, routes, of_host, sw, stream);
		written++;
	}
	return written;
}

static void write_pair(const struct hd_lane_maps *maps, uint32_t sw, const char *in, uint32_t out,
		       uint32_t any_in, FILE *stream)
{
	const uint8_t *lanes = hd_lane_maps_get(maps, sw, any_in, out);

	fprintf(stream, "%s %" PRIu32 " :", in, out);
	for (unsigned level = 0; level < SERVICE_LEVELS; level++)
		fprintf(stream, " %u", lanes[level]);
	fputc('\n', stream);
}

static bool same_from_all(const struct hd_lane_maps *maps, uint32_t sw, uint32_t ports,
			  uint32_t out)
{
	for (uint32_t in = 1; in <= ports; in++)
		if (hd_lane_maps_get(maps, sw, in, out) != hd_lane_maps_get(maps, sw, 0, out))
			return false;
	return true;
}

/* The rows of one output port; their number. */
static uint32_t write_pairs(const struct hd_lane_maps *maps, uint32_t sw, uint32_t ports,
			    uint32_t out, FILE *stream)
{
	char text[16];

	if (same_from_all(maps, sw, ports, out)) {
		write_pair(maps, sw, "*", out, 0, stream);
		return 1;
	}
	for (uint32_t in = 0; in <= ports; in++) {
		snprintf(text, sizeof(text), "%" PRIu32, in);
		write_pair(maps, sw, text, out, in, stream);
	}
	return ports + 1;
}

/* The lanes of links between switches, where they depend on ports. */
static void write_lanes(const struct hd_fabric *fabric, const struct hd_lane_maps *maps,
			FILE *stream)
{
	char name[PLAIN_NAME_SIZE];

	for (uint32_t sw = 0; sw < fabric->switch_count && !ferror(stream); sw++) {
		uint32_t rows = 0;

		fprintf(stream, SERVICE_LANES_HEAD "0x%016" PRIx64 " ('%s'):\n",
			fabric->node_guid[sw],
			write_stream_plain_name(fabric->node_name[sw], name));
		for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
			rows += write_pairs(maps, sw, hd_node_ports(fabric, sw),
					    fabric->isl_port[i], stream);
		fprintf(stream, "%" PRIu32 " runs dumped\n", rows);
	}
}

int hd_routes_write_levels(const struct hd_fabric *fabric, const struct hd_routes *routes,
			   FILE *stream, struct hd_error *err)
{
	bool *of_host = hd_fabric_adapter_lids(fabric);
	uint32_t written = 0;

	if (!of_host)
		return hd_error_no_memory(err);
	errno = 0;
	fputs(SERVICE_MAP_HEAD, stream);
	for (unsigned level = 0; level < SERVICE_LEVELS; level++)
		fprintf(stream, " %u", routes->sl2vl[level]);
	fputc('\n', stream);
	if (routes->maps)
		write_lanes(fabric, routes->maps, stream);
	if (routes->sl)
		written = write_switches(fabric, routes, of_host, stream);
	fprintf(stream, "%u switches dumped\n", written);
	free(of_host);
	return write_stream_finish(stream, err);
}

/*
 * The two files from which ibdmchk reads service levels (ibutils, IBFabric::parsePSLFile and
 * parseSLVLFile). GUIDs are those of nodes:
 *
 *   0x0000000000100000 154 0                        source, destination LID, SL
 *   0x0000000000200000 5 1 0x01 0x23 .. 0xef        switch, port in, port out, VLs of two SLs
 */

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

static bool is_cabled(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	return fabric->peer[hd_port_index(fabric, sw, port)] != HD_NONE;
}

/* " 0x01 0x23 .. 0xef" */
static void lanes_text(const uint8_t lanes[SERVICE_LEVELS], char text[SERVICE_LEVELS / 2 * 5 + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned level = 0; level < SERVICE_LEVELS; level += 2) {
		*text++ = ' ';
		*text++ = '0';
		*text++ = 'x';
		*text++ = digits[lanes[level] & 15];
		*text++ = digits[lanes[level + 1] & 15];
	}
	*text = '\0';
}

static void write_maps(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t sw,
		       FILE *stream)
{
	uint32_t ports = hd_node_ports(fabric, sw);
	char text[SERVICE_LEVELS / 2 * 5 + 1];

	for (uint32_t in = 1; in <= ports; in++)
		for (uint32_t out = 1; out <= ports && is_cabled(fabric, sw, in); out++) {
			if (!is_cabled(fabric, sw, out))
				continue;
			bool by_ports =
			    routes->maps && hd_fabric_find_isl(fabric, sw, out) != HD_NONE;
			lanes_text(by_ports ? hd_lane_maps_get(routes->maps, sw, in, out)
					    : routes->sl2vl,
				   text);
			fprintf(stream, "0x%016" PRIx64 " %" PRIu32 " %" PRIu32 "%s\n",
				fabric->node_guid[sw], in, out, text);
		}
}

int hd_routes_write_slvl(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 FILE *stream, struct hd_error *err)
{
	errno = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count && !ferror(stream); sw++)
		write_maps(fabric, routes, sw, stream);
	return write_stream_finish(stream, err);
}
