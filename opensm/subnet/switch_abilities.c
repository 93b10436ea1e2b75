/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "switch_abilities.h"
#include "opensm_headers.h"
#include "snapshot.h"

#include <heddle/mad/smp.h>
#include <stdlib.h>

static bool has_port_states(const osm_switch_t *sw)
{
	const osm_physp_t *port = sw ? osm_node_get_physp_ptr(sw->p_node, 0) : NULL;

	return port && hd_port_states_supported(cl_ntoh32(port->port_info.capability_mask),
						cl_ntoh16(port->port_info.capability_mask2));
}

void switch_abilities_port_states(const struct hd_fabric *fabric, struct osm_opensm *osm, bool *has)
{
	struct osm_switch **switches = snapshot_osm_switches(fabric, osm);

	for (uint32_t i = 0; i < fabric->switch_count; i++)
		has[i] = switches && has_port_states(switches[i]);
	free(switches);
}
