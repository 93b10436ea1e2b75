/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/walk.h>

static bool passed(const uint32_t *switches, uint32_t count, uint32_t sw)
{
	for (uint32_t i = 0; i < count; i++)
		if (switches[i] == sw)
			return true;
	return false;
}

/* The far end of the cable at a port. A cable from a switch to itself is a loop. */
static bool next_switch(const struct hd_fabric *fabric, uint32_t sw, uint8_t port, uint32_t *next)
{
	if (!port || port > hd_node_ports(fabric, sw))
		return false;
	uint32_t peer = fabric->peer[hd_port_index(fabric, sw, port)];
	if (peer == HD_NONE || !hd_is_switch(fabric, fabric->port_node[peer]))
		return false;
	*next = fabric->port_node[peer];
	return true;
}

enum hd_walk_end hd_routes_walk(const struct hd_fabric *fabric, const struct hd_routes *routes,
				uint32_t source, uint32_t lid, uint32_t *switches, uint32_t *count)
{
	uint32_t exit_switch = HD_NONE, sw = source;
	uint8_t exit_port = HD_NO_PORT;

	hd_fabric_lid_destination(fabric, lid, &exit_switch, &exit_port);
	for (*count = 0;;) {
		uint8_t port = hd_routes_port(routes, sw, lid);
		switches[(*count)++] = sw;
		if (sw == exit_switch && port == exit_port)
			return HD_WALK_ARRIVED;
		if (port == HD_NO_PORT)
			return HD_WALK_NO_ROUTE;
		if (!next_switch(fabric, sw, port, &sw))
			return HD_WALK_DEAD_END;
		if (passed(switches, *count, sw)) {
			switches[(*count)++] = sw;
			return HD_WALK_LOOP;
		}
	}
}
