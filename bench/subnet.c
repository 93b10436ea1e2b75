/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "subnet.h"
#include "host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static uint16_t highest_lid(const osm_opensm_t *osm)
{
	size_t size = cl_ptr_vector_get_size(&osm->subn.port_lid_tbl);

	return (uint16_t)(size ? size - 1 : 0);
}

int subnet_prepare(struct osm_opensm *osm)
{
	HOST_SWITCHES_FOREACH(sw, osm)
	{
		if (osm_switch_prepare_path_rebuild(sw, highest_lid(osm)))
			return -ENOMEM;
	}
	return 0;
}

static void forget_hops(osm_switch_t *sw)
{
	for (unsigned lid = 0; lid < sw->num_hops; lid++)
		free(sw->hops[lid]);
	free(sw->hops);
	sw->hops = NULL;
	sw->num_hops = 0;
}

void subnet_forget_hops(struct osm_opensm *osm)
{
	HOST_SWITCHES_FOREACH(sw, osm)
	{
		forget_hops(sw);
	}
}

uint64_t subnet_count_unrouted(const struct osm_opensm *osm)
{
	uint64_t unrouted = 0;

	HOST_SWITCHES_FOREACH(sw, osm)
	{
		for (uint16_t lid = 1; lid <= highest_lid(osm); lid++)
			if (cl_ptr_vector_get(&osm->subn.port_lid_tbl, lid))
				unrouted += sw->new_lft[lid] == OSM_NO_PATH;
	}
	return unrouted;
}

static void write_switch(const osm_switch_t *sw, uint16_t top, FILE *stream)
{
	fprintf(stream, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n", top,
		cl_ntoh16(osm_node_get_base_lid(sw->p_node, 0)),
		cl_ntoh64(osm_node_get_node_guid(sw->p_node)), sw->p_node->print_desc);
	for (uint16_t lid = 1; lid <= top; lid++)
		if (sw->new_lft[lid] != OSM_NO_PATH)
			fprintf(stream, "0x%04x %03u\n", lid, sw->new_lft[lid]);
	fprintf(stream, "%u lids dumped\n", top);
}

void subnet_write_tables(const struct osm_opensm *osm, FILE *stream)
{
	HOST_SWITCHES_FOREACH(sw, osm)
	{
		write_switch(sw, highest_lid(osm), stream);
	}
}
