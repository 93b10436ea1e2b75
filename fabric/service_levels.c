/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "service_levels.h"

#include <stdlib.h>

bool *service_lids(const struct hd_fabric *fabric)
{
	bool *of_host = calloc(fabric->lid_count, sizeof(*of_host));
	if (!of_host)
		return NULL;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host], count = hd_port_lid_count(fabric, port);
		for (uint32_t offset = 0; offset < count; offset++)
			of_host[fabric->lid[port] + offset] = true;
	}
	return of_host;
}
