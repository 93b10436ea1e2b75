/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router.h"

#include <string.h>

#define ALIGNMENT 8u

/* Memory that is handed out piece by piece. Without `base` it only counts. */
struct region {
	uint8_t *base;
	size_t used;
};

static void *take(struct region *region, size_t count, size_t size)
{
	void *piece = region->base ? region->base + region->used : NULL;

	region->used += (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return piece;
}

static void lay_out_lists(struct region *region, const struct hd_router_limits *limits,
			  struct hd_router_lists *lists)
{
	lists->ports = take(region, limits->ports, sizeof(*lists->ports));
	lists->hosts = take(region, limits->hosts, sizeof(*lists->hosts));
	lists->by_lid = take(region, limits->hosts, sizeof(*lists->by_lid));
	lists->map = take(region, limits->mapped, sizeof(*lists->map));
}

/* Places the router in the region; without a base, counts its bytes. */
static struct hd_router *lay_out(struct region *region, const struct hd_router_limits *limits)
{
	struct hd_router *router = take(region, 1, sizeof(*router));
	struct hd_router_subnet *subnets = take(region, limits->subnets, sizeof(*subnets));
	struct hd_router_prefix_row *rows = take(region, limits->prefixes, sizeof(*rows));
	struct hd_router_subnet counted;

	for (uint16_t s = 0; s < limits->subnets; s++) {
		struct hd_router_subnet *subnet = router ? &subnets[s] : &counted;

		lay_out_lists(region, limits, &subnet->lists[0]);
		lay_out_lists(region, limits, &subnet->lists[1]);
		subnet->candidates = take(region, limits->ports, sizeof(*subnet->candidates));
	}
	if (router) {
		router->subnets = subnets;
		router->prefixes.rows = rows;
		router->prefixes.capacity = limits->prefixes;
	}
	return router;
}

static bool are_in_range(const struct hd_router_limits *limits)
{
	return limits->subnets && limits->subnets <= HD_ROUTER_SUBNETS_LIMIT && limits->ports &&
	       limits->ports <= HD_ROUTER_PORTS_LIMIT && limits->hosts <= 0x100000 &&
	       limits->mapped <= 0x400000;
}

size_t hd_router_size(const struct hd_router_limits *limits)
{
	struct region region = {0};

	if (!are_in_range(limits))
		return 0;
	lay_out(&region, limits);
	return region.used;
}

struct hd_router *hd_router_init(void *memory, size_t size, const struct hd_router_limits *limits,
				 const struct hd_router_settings *settings,
				 const struct hd_router_callbacks *callbacks)
{
	size_t needed = hd_router_size(limits);
	struct region region = {.base = memory};
	struct hd_router *router;

	if (!needed || size < needed)
		return NULL;
	memset(memory, 0, needed);
	router = lay_out(&region, limits);
	router->limits = *limits;
	router->settings = *settings;
	router->callbacks = *callbacks;
	return router;
}

int hd_router_subnet_of(const struct hd_router *router, uint64_t prefix)
{
	for (uint16_t s = 0; s < router->subnet_count; s++)
		if (router->subnets[s].prefix == prefix)
			return s;
	return -1;
}

enum hd_router_reason hd_router_attach(struct hd_router *router, uint64_t prefix, uint8_t *subnet)
{
	if (!hd_router_prefix_is_global(prefix))
		return HD_ROUTER_BAD_VALUE;
	if (hd_router_subnet_of(router, prefix) >= 0)
		return HD_ROUTER_PREFIX_TAKEN;
	if (router->subnet_count == router->limits.subnets)
		return HD_ROUTER_TOO_MANY;
	*subnet = (uint8_t)router->subnet_count;
	router->subnets[router->subnet_count++].prefix = prefix;
	return HD_ROUTER_OK;
}

void router_refresh_candidates(struct hd_router_subnet *subnet)
{
	const struct hd_router_lists *lists = &subnet->lists[subnet->active];

	subnet->candidate_count = 0;
	for (uint32_t p = 0; p < lists->port_count; p++)
		if (lists->ports[p].usable)
			subnet->candidates[subnet->candidate_count++] = (uint16_t)p;
}

void hd_router_port_set_usable(struct hd_router *router, uint8_t subnet, uint32_t index,
			       bool usable)
{
	struct hd_router_lists *lists = hd_router_lists_of(router, subnet);

	if (index >= lists->port_count)
		return;
	lists->ports[index].usable = usable;
	router_refresh_candidates(&router->subnets[subnet]);
}

struct hd_router_host *router_host_of(const struct hd_router_lists *lists, uint64_t guid)
{
	uint32_t low = 0, high = lists->host_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (lists->hosts[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lists->host_count && lists->hosts[low].guid == guid ? &lists->hosts[low]
									 : NULL;
}
