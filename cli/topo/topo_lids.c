/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topo_lids.h"

#include <byteswap.h>
#include <stdlib.h>

struct lid_port {
	uint64_t key; /* the GUID in the order in which OpenSM compares it */
	bool is_switch;
};

static int compare(const void *left, const void *right)
{
	const struct lid_port *a = left, *b = right;

	return a->key < b->key ? -1 : a->key > b->key;
}

static struct lid_port adapter(const struct hd_fabric *fabric, uint32_t port)
{
	uint64_t guid = fabric->port_guid[port];

	return (struct lid_port){bswap_64(guid ? guid : fabric->node_guid[fabric->port_node[port]]),
				 false};
}

static uint32_t list_ports(const struct hd_fabric *fabric, struct lid_port *ports)
{
	uint32_t count = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		ports[count++] = adapter(fabric, fabric->host_port[host]);
	for (uint32_t i = 0; i < fabric->aside_count; i++)
		ports[count++] = adapter(fabric, fabric->aside_port[i]);
	uint32_t first = count > 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		ports[count++] = (struct lid_port){bswap_64(fabric->node_guid[sw]), true};
	/* the subnet manager's own port stays first */
	qsort(ports + first, count - first, sizeof(*ports), compare);
	return count;
}

static bool fits(const struct lid_port *ports, uint32_t count, unsigned lmc)
{
	uint32_t next = 1;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t lids = ports[i].is_switch ? 1 : 1u << lmc;
		next = (next + lids - 1) / lids * lids + lids;
		if (next - 1 > HD_LID_LAST)
			return false;
	}
	return true;
}

int topo_lids_largest_lmc(const struct hd_fabric *fabric, int *largest, struct hd_error *err)
{
	size_t most = (size_t)fabric->host_count + fabric->aside_count + fabric->switch_count;
	struct lid_port *ports = calloc(most + 1, sizeof(*ports));
	int lmc = HD_LMC_INFINIBAND;

	if (!ports)
		return hd_error_no_memory(err);
	uint32_t count = list_ports(fabric, ports);
	while (lmc >= 0 && !fits(ports, count, (unsigned)lmc))
		lmc--;
	free(ports);
	*largest = lmc;
	return 0;
}
