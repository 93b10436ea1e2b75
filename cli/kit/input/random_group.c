/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "random_group.h"

#include <heddle/base/random.h>

void random_group_draw(const struct hd_fabric *fabric, uint32_t size, uint64_t *seed,
		       uint32_t *hosts, uint32_t *members)
{
	for (uint32_t i = 0; i < size; i++) {
		uint32_t other = i + (uint32_t)hd_random_below(seed, fabric->host_count - i);
		uint32_t host = hosts[other];
		hosts[other] = hosts[i];
		hosts[i] = host;
		members[i] = fabric->host_port[host];
	}
}
