/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topo_facts.h"
#include "topo_lids.h"

#include <errno.h>

#define WIDTHS 256

static bool is_cabled(const struct hd_fabric *fabric, uint32_t node)
{
	for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1]; port++)
		if (fabric->peer[port] != HD_NONE)
			return true;
	return false;
}

static void count_nodes(const struct hd_fabric *fabric, struct topo_facts *facts)
{
	for (uint32_t node = fabric->switch_count; node < fabric->node_count; node++) {
		facts->adapters += fabric->node_type[node] == HD_CA;
		facts->routers += fabric->node_type[node] == HD_ROUTER;
		facts->uncabled += !is_cabled(fabric, node);
	}
	facts->cables = fabric->isl_count / 2;
}

static bool count_radixes(const struct hd_fabric *fabric, struct topo_facts *facts)
{
	uint32_t by_radix[HD_PORTS_MAX + 1] = {0};

	facts->radixes = hd_arena_alloc(&facts->arena, HD_PORTS_MAX, sizeof(*facts->radixes));
	if (!facts->radixes)
		return false;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		by_radix[hd_node_ports(fabric, sw)]++;
	for (uint32_t radix = 1; radix <= HD_PORTS_MAX; radix++)
		if (by_radix[radix])
			facts->radixes[facts->radix_count++] =
			    (struct radix_count){radix, by_radix[radix]};
	return true;
}

/* Every cable is counted at its lower port, so that cables between two hosts count as well. */
static bool count_links(const struct hd_fabric *fabric, struct topo_facts *facts)
{
	struct link_count(*table)[HD_SPEED_COUNT] =
	    hd_arena_alloc(&facts->arena, WIDTHS, sizeof(*table));
	facts->links =
	    hd_arena_alloc(&facts->arena, WIDTHS * HD_SPEED_COUNT, sizeof(*facts->links));
	if (facts->arena.failed)
		return false;
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		if (peer == HD_NONE || peer < port)
			continue;
		if (fabric->port_node[peer] == fabric->port_node[port]) {
			facts->self_looped++;
			continue;
		}
		struct link_count *entry = &table[fabric->width[port]][fabric->speed[port]];
		bool isl = hd_is_switch(fabric, fabric->port_node[port]) &&
			   hd_is_switch(fabric, fabric->port_node[peer]);
		entry->between_switches += isl;
		entry->to_hosts += !isl;
	}
	for (uint32_t width = 0; width < WIDTHS; width++) {
		for (unsigned speed = 0; speed < HD_SPEED_COUNT; speed++) {
			struct link_count entry = table[width][speed];
			entry.width = width;
			entry.speed = (enum hd_speed)speed;
			if (entry.between_switches || entry.to_hosts)
				facts->links[facts->link_count++] = entry;
		}
	}
	return true;
}

static int count_levels(const struct hd_fabric *fabric, struct topo_facts *facts,
			struct hd_error *err)
{
	uint32_t switches = fabric->switch_count;
	uint32_t *level = hd_arena_alloc(&facts->arena, switches, sizeof(*level));

	facts->levels = hd_arena_alloc(&facts->arena, switches, sizeof(*facts->levels));
	if (facts->arena.failed)
		return hd_error_no_memory(err);
	int rc = hd_fabric_levels(fabric, level, err);
	for (uint32_t sw = 0; !rc && sw < switches; sw++) {
		if (level[sw] == HD_NONE) {
			facts->unlevelled++;
			continue;
		}
		facts->levels[level[sw]]++;
		if (level[sw] >= facts->level_count)
			facts->level_count = level[sw] + 1;
	}
	return rc;
}

static void flood(const struct hd_fabric *fabric, uint32_t start, uint32_t *queue, bool *seen)
{
	uint32_t head = 0, tail = 0;

	seen[queue[tail++] = start] = true;
	while (head < tail) {
		uint32_t node = queue[head++];
		for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1];
		     port++) {
			uint32_t peer = fabric->peer[port];
			if (peer != HD_NONE && !seen[fabric->port_node[peer]])
				seen[queue[tail++] = fabric->port_node[peer]] = true;
		}
	}
}

static bool count_components(const struct hd_fabric *fabric, struct topo_facts *facts)
{
	uint32_t *queue = hd_arena_alloc(&facts->arena, fabric->node_count, sizeof(*queue));
	bool *seen = hd_arena_alloc(&facts->arena, fabric->node_count, sizeof(*seen));

	if (facts->arena.failed)
		return false;
	for (uint32_t node = 0; node < fabric->node_count; node++) {
		if (seen[node])
			continue;
		flood(fabric, node, queue, seen);
		facts->components++;
	}
	return true;
}

static void count_lids(const struct hd_fabric *fabric, struct topo_facts *facts)
{
	facts->lids = hd_fabric_lids_in_use(fabric);
	facts->last_lid = fabric->lid_count - 1;
	for (uint32_t host = 0; host < fabric->host_count; host++)
		facts->lmc_hosts[fabric->lmc[fabric->host_port[host]] & HD_LMC_INFINIBAND]++;
}

int topo_facts_count(const struct hd_fabric *fabric, struct topo_facts *facts, struct hd_error *err)
{
	*facts = (struct topo_facts){.radix_count = 0};
	count_nodes(fabric, facts);
	count_lids(fabric, facts);
	bool enough = count_radixes(fabric, facts) && count_links(fabric, facts) &&
		      count_components(fabric, facts);
	int rc = enough ? count_levels(fabric, facts, err) : hd_error_no_memory(err);
	if (!rc)
		rc = topo_lids_largest_lmc(fabric, &facts->largest_lmc, err);
	if (rc)
		hd_arena_release(&facts->arena);
	return rc;
}
