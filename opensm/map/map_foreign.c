/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's own table of routers (rtr_guid_tbl) knows one port of each router. The table of all
 * ports knows each of them, and the node of a port says whether that is a router.
 */
#include "map_foreign.h"

#include <stdlib.h>

bool map_foreign_is(const osm_subn_t *subn, const ib_gid_t *gid)
{
	return !ib_gid_is_link_local(gid) && !ib_gid_is_multicast(gid) &&
	       ib_gid_get_subnet_prefix(gid) != subn->opt.subnet_prefix;
}

static enum map_port look_at(const osm_subn_t *subn, uint64_t guid)
{
	const osm_port_t *port = osm_get_port_by_guid(subn, cl_hton64(guid));

	if (!port || !port->p_node)
		return MAP_PORT_ABSENT;
	if (osm_node_get_type(port->p_node) != IB_NODE_TYPE_ROUTER)
		return MAP_PORT_OTHER;
	return osm_port_get_base_lid(port) ? MAP_PORT_USABLE : MAP_PORT_ABSENT;
}

void map_foreign_look(const osm_subn_t *subn, const struct hd_map *map, enum map_port *states)
{
	for (uint32_t i = 0; i < map->port_count; i++)
		states[i] = look_at(subn, map->port_guid[i]);
}

/* Between the loss of a port and the next routing: what is in the subnet now. */
static bool resolve_now(const osm_subn_t *subn, const struct hd_map *map, const struct hd_gid *gid,
			struct hd_map_answer *answer)
{
	bool *usable = calloc((size_t)map->port_count + 1, sizeof(*usable));
	bool found;

	if (!usable)
		return false;
	for (uint32_t i = 0; i < map->port_count; i++)
		usable[i] = look_at(subn, map->port_guid[i]) == MAP_PORT_USABLE;
	found = hd_map_resolve(map, gid, usable, answer);
	free(usable);
	return found;
}

const osm_alias_guid_t *map_foreign_router(const osm_subn_t *subn, const struct map_table *table,
					   const ib_gid_t *gid)
{
	const struct hd_gid wanted = {cl_ntoh64(gid->unicast.prefix),
				      cl_ntoh64(gid->unicast.interface_id)};
	struct hd_map_answer answer;

	if (!map_table_resolve(table, &wanted, &answer))
		return NULL;
	if (look_at(subn, answer.port_guid) != MAP_PORT_USABLE &&
	    !resolve_now(subn, table->map, &wanted, &answer))
		return NULL;
	return osm_get_alias_guid_by_guid(subn, cl_hton64(answer.port_guid));
}
