/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "switch_addresses.h"
#include "opensm_headers.h"
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE (HD_SMP_HOPS + 1)

static struct hd_smp_address address_of(const osm_switch_t *sw, uint64_t m_key)
{
	const osm_physp_t *port = sw ? osm_node_get_physp_ptr(sw->p_node, 0) : NULL;
	struct hd_smp_address address = {.m_key = m_key, .hop_count = NOWHERE};

	if (!port || port->dr_path.hop_count > HD_SMP_HOPS)
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
