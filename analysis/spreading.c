/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * If a host has fewer LIDs than others, each of its LIDs gets several parts. So all parts of all
 * flows weigh the same, and loads stay whole numbers.
 */
#include "spreading.h"

uint32_t spreading_parts(const struct paths *paths)
{
	uint32_t parts = 1;

	for (uint32_t host = 0; host < paths->fabric->host_count; host++)
		if (paths_lids(paths, host) > parts)
			parts = paths_lids(paths, host);
	return parts;
}

/* Writes the links of one part to counting->walked. Returns their number, or a negative one if the
 * part does not arrive. */
static int part_links(const struct counting *counting, struct hd_flow flow, uint32_t part)
{
	const struct paths *paths = counting->paths;
	uint32_t offset = part & (paths_lids(paths, flow.destination) - 1), hops = 0;

	if (!paths->links) {
		uint32_t base = paths->fabric->lid[paths->fabric->host_port[flow.destination]];
		return paths_walk(paths, flow.source, flow.destination, base + offset,
				  counting->walked, paths->stride);
	}
	size_t entry = paths_entry(paths, flow.source, flow.destination, offset);
	if (paths_broken(paths, entry))
		return PATH_NO_ROUTE;
	for (; hops < paths->stride; hops++) {
		uint32_t link = paths_link(paths->links, paths->wide, entry + hops);
		if (link == paths->fabric->isl_count)
			break;
		counting->walked[hops] = link;
	}
	return (int)hops;
}

static bool arrives(const struct counting *counting, struct hd_flow flow)
{
	for (uint32_t part = 0; !counting->paths->whole && part < counting->parts; part++)
		if (part_links(counting, flow, part) < 0)
			return false;
	return true;
}

static void add_load(struct counting *counting, struct hd_flow flow)
{
	for (uint32_t part = 0; part < counting->parts; part++) {
		int hops = part_links(counting, flow, part);
		for (int hop = 0; hop < hops; hop++)
			counting->load[counting->walked[hop]]++;
	}
}

/* The cables of a flow's two hosts carry all its parts. */
static uint32_t largest_load(const struct counting *counting, struct hd_flow flow)
{
	uint32_t largest = counting->parts;

	for (uint32_t part = 0; part < counting->parts; part++) {
		int hops = part_links(counting, flow, part);
		for (int hop = 0; hop < hops; hop++)
			if (counting->load[counting->walked[hop]] > largest)
				largest = counting->load[counting->walked[hop]];
	}
	return largest;
}

void spreading_run(struct counting *counting, uint32_t count)
{
	counting->routes = 0;
	for (uint32_t i = 0; i < count; i++)
		if (arrives(counting, counting->flows[i]))
			counting->flows[counting->routes++] = counting->flows[i];
	for (uint32_t i = 0; i < counting->routes; i++)
		add_load(counting, counting->flows[i]);
	for (uint32_t i = 0; i < counting->routes; i++)
		counting->congestion[i] = largest_load(counting, counting->flows[i]);
}
