/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/columns.h>

int hd_columns_init(struct hd_columns *columns, const struct hd_fabric *fabric,
		    const struct hd_routes *routes, struct hd_arena *arena)
{
	*columns = (struct hd_columns){.fabric = fabric, .routes = routes};
	columns->port_step = hd_arena_alloc(arena, fabric->port_count, sizeof(*columns->port_step));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		bool self = peer != HD_NONE && fabric->port_node[peer] == fabric->port_node[port];
		columns->port_step[port] = self ? HD_STEP_SELF : HD_STEP_DEAD_END;
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			columns->port_step[hd_port_index(fabric, sw, fabric->isl_port[link])] =
			    link;
	return 0;
}

int hd_column_block_init(struct hd_column_block *block, const struct hd_columns *columns,
			 struct hd_arena *arena)
{
	size_t entries = (size_t)HD_COLUMN_BLOCK * columns->fabric->switch_count;

	block->step = hd_arena_alloc(arena, entries, sizeof(*block->step));
	return hd_arena_check(arena);
}

uint32_t hd_column_block_count(const struct hd_columns *columns)
{
	return (columns->routes->lid_count + HD_COLUMN_BLOCK - 1) / HD_COLUMN_BLOCK;
}

uint32_t hd_column_block_lids(const struct hd_columns *columns, uint32_t first)
{
	uint32_t left = columns->routes->lid_count - first;

	return left < HD_COLUMN_BLOCK ? left : HD_COLUMN_BLOCK;
}

static uint32_t port_leads(const uint32_t *port_step, uint32_t ports, uint8_t port)
{
	if (port <= ports)
		return port_step[port];
	return port == HD_NO_PORT ? HD_STEP_NO_ROUTE : HD_STEP_DEAD_END;
}

void hd_column_block_load(struct hd_column_block *block, const struct hd_columns *columns,
			  uint32_t first)
{
	const struct hd_fabric *fabric = columns->fabric;
	uint32_t count = hd_column_block_lids(columns, first), switches = fabric->switch_count;

	block->first_lid = first;
	for (uint32_t sw = 0; sw < switches; sw++) {
		const uint8_t *row = hd_routes_row(columns->routes, sw) + first;
		const uint32_t *port_step = columns->port_step + fabric->port_base[sw];
		uint32_t ports = hd_node_ports(fabric, sw);
		for (uint32_t i = 0; i < count; i++)
			block->step[(size_t)i * switches + sw] =
			    port_leads(port_step, ports, row[i]);
	}
}

bool hd_column_take(struct hd_column_block *block, const struct hd_columns *columns, uint32_t lid,
		    struct hd_column *column)
{
	const struct hd_fabric *fabric = columns->fabric;
	size_t place = (size_t)(lid - block->first_lid) * fabric->switch_count;
	uint32_t destination;
	uint8_t port;

	if (!hd_fabric_lid_destination(fabric, lid, &destination, &port))
		return false;
	*column = (struct hd_column){block->step + place, destination, port};
	if (hd_routes_port(columns->routes, destination, lid) == port)
		column->step[destination] = HD_STEP_ARRIVED;
	return true;
}
