/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int repair_paths_init(struct repair_paths *paths, const struct hd_fabric *fabric,
		      uint64_t own_port_guid)
{
	*paths = (struct repair_paths){.fabric = fabric,
				       .own_port = hd_fabric_find_port(fabric, own_port_guid)};
	if (paths->own_port == HD_NONE)
		return -EINVAL;
	paths->arrival = malloc((fabric->switch_count + 1u) * sizeof(*paths->arrival));
	paths->queue = malloc((fabric->switch_count + 1u) * sizeof(*paths->queue));
	return paths->arrival && paths->queue ? 0 : -ENOMEM;
}

void repair_paths_release(struct repair_paths *paths)
{
	free(paths->arrival);
	free(paths->queue);
	*paths = (struct repair_paths){0};
}

static bool is_own(const struct repair_paths *paths, uint32_t sw)
{
	return paths->fabric->port_node[paths->own_port] == sw;
}

/* The switch at which all paths begin, or HD_NONE. */
static uint32_t start(struct repair_paths *paths, const bool *cut)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t own = fabric->port_node[paths->own_port], peer = fabric->peer[paths->own_port];

	if (hd_is_switch(fabric, own))
		return own;
	if (peer == HD_NONE || cut[paths->own_port] ||
	    !hd_is_switch(fabric, fabric->port_node[peer]))
		return HD_NONE;
	paths->arrival[fabric->port_node[peer]] = peer;
	return fabric->port_node[peer];
}

void repair_paths_search(struct repair_paths *paths, const bool *cut, const bool *avoid,
			 unsigned turn)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint32_t count = 0, first;

	memset(paths->arrival, 0xFF, fabric->switch_count * sizeof(*paths->arrival));
	first = start(paths, cut);
	if (first != HD_NONE)
		paths->queue[count++] = first;
	for (uint32_t done = 0; done < count; done++) {
		uint32_t sw = paths->queue[done], base = fabric->isl_base[sw];
		uint32_t links = fabric->isl_base[sw + 1] - base;
		if (avoid && avoid[sw] && sw != first)
			continue;
		for (uint32_t i = 0; i < links; i++) {
			uint32_t link = base + (i + turn * (links / 3 + 1)) % links;
			uint32_t to = fabric->isl_to[link];
			uint32_t port = hd_port_index(fabric, sw, fabric->isl_port[link]);
			if (cut[port] || to == first || paths->arrival[to] != HD_NONE)
				continue;
			paths->arrival[to] = fabric->peer[port];
			paths->queue[count++] = to;
		}
	}
}

bool repair_paths_address(const struct repair_paths *paths, uint32_t sw, uint64_t m_key,
			  struct hd_smp_address *address)
{
	const struct hd_fabric *fabric = paths->fabric;
	uint8_t ports[HD_SMP_HOPS];
	unsigned hops = 0;

	while (!is_own(paths, sw)) {
		uint32_t arrival = paths->arrival[sw];
		if (arrival == HD_NONE || hops == HD_SMP_HOPS)
			return false;
		uint32_t from = fabric->peer[arrival];
		ports[hops++] = (uint8_t)hd_port_number(fabric, from);
		sw = fabric->port_node[from];
		if (!hd_is_switch(fabric, sw))
			break;
	}
	*address = (struct hd_smp_address){.m_key = m_key, .hop_count = (uint8_t)hops};
	for (unsigned i = 0; i < hops; i++)
		address->path[1 + i] = ports[hops - 1 - i];
	return true;
}
