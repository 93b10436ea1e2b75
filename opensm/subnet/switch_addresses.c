/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "switch_addresses.h"
#include "opensm_headers.h"
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE (HD_SMP_HOPS + 1)

static bool is_up(const osm_physp_t *port)
{
	return osm_physp_is_valid(port) &&
	       ib_port_info_get_port_state(&port->port_info) != IB_LINK_DOWN;
}

/* OpenSM keeps the path of a switch whose links have all gone down in this sweep. */
static bool has_link(const osm_switch_t *sw)
{
	for (uint8_t i = 1; i < osm_node_get_num_physp(sw->p_node); i++) {
		const osm_physp_t *port = osm_node_get_physp_ptr(sw->p_node, i);
		if (port && port->p_remote_physp && is_up(port) && is_up(port->p_remote_physp))
			return true;
	}
	return false;
}

static struct hd_smp_address address_of(const osm_switch_t *sw, uint64_t m_key)
{
	const osm_physp_t *port = sw ? osm_node_get_physp_ptr(sw->p_node, 0) : NULL;
	struct hd_smp_address address = {.m_key = m_key, .hop_count = NOWHERE};

	if (!port || port->dr_path.hop_count > HD_SMP_HOPS ||
	    (port->dr_path.hop_count && !has_link(sw)))
		return address;
	address.hop_count = port->dr_path.hop_count;
	memcpy(address.path, port->dr_path.path, address.hop_count + 1u);
	return address;
}

struct hd_smp_address *switch_addresses_find(const struct hd_fabric *fabric, struct osm_opensm *osm)
{
	struct osm_switch **switches = snapshot_osm_switches(fabric, osm);
	struct hd_smp_address *addresses =
	    switches ? calloc(fabric->switch_count, sizeof(*addresses)) : NULL;

	for (uint32_t i = 0; addresses && i < fabric->switch_count; i++)
		addresses[i] = address_of(switches[i], cl_ntoh64(osm->subn.opt.m_key));
	free(switches);
	return addresses;
}
