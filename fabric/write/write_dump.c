/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * opensm-lfts.dump. A big fabric has millions of rows. The text after the port is the same in every
 * table, so it is made once for each LID, and a row is two copies.
 */
#include "write_stream.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>
#include <stdlib.h>

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
	static const char digits[] = "0123456789abcdef";
	char row[10] = {'0',
			'x',
			digits[lid >> 12 & 15],
			digits[lid >> 8 & 15],
			digits[lid >> 4 & 15],
			digits[lid & 15],
			' ',
			digits[port / 100],
			digits[port / 10 % 10],
			digits[port % 10]};

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
