/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_maps.h"

#include <heddle/fabric/channels.h>

/* Channels of a link: all lanes up to the highest that any map or hd_routes.sl2vl has. */
static uint32_t count_lanes(const struct hd_routes *routes)
{
	uint32_t lanes = hd_lane_maps_lanes(routes->maps, UINT16_MAX);

	return 32 - (uint32_t)__builtin_clz(lanes | 1);
}

int check_maps_init(struct check_maps *maps, const struct hd_fabric *fabric,
		    const struct hd_routes *routes, struct hd_arena *arena)
{
	*maps =
	    (struct check_maps){.fabric = fabric, .routes = routes, .lanes = count_lanes(routes)};
	maps->levels = hd_arena_alloc(arena, fabric->switch_count, sizeof(*maps->levels));
	maps->on = hd_arena_alloc(arena, fabric->switch_count, sizeof(*maps->on));
	if (hd_channels_view(fabric, maps->lanes, arena, &maps->channels))
		return -ENOMEM;
	return hd_dependencies_init(&maps->graph, &maps->channels, arena);
}

static void begin(struct check_maps *maps, uint32_t sw, uint32_t in, uint32_t out, unsigned level)
{
	const unsigned lane = hd_lane_maps_get(maps->routes->maps, sw, in, out)[level] & 15;

	maps->on[sw][level] |= (uint16_t)(1u << lane);
	maps->used |= (uint16_t)(1u << lane);
}

/* The packets of the adapters at a switch, and of the switch itself, on its own link. */
static void add_sources(struct check_maps *maps, uint32_t sw, uint32_t link, uint32_t lid,
			bool switch_traffic)
{
	const struct hd_fabric *fabric = maps->fabric;
	const uint32_t out = fabric->isl_port[link];
	const unsigned level = hd_routes_sl(maps->routes, sw, lid);

	if (switch_traffic)
		begin(maps, sw, 0, out, level);
	for (uint32_t i = fabric->host_base[sw]; i < fabric->host_base[sw + 1]; i++)
		begin(maps, sw, fabric->host_switch_port[i], out, level);
	for (uint32_t i = fabric->aside_base[sw]; i < fabric->aside_base[sw + 1]; i++)
		begin(maps, sw, fabric->aside_switch_port[i], out, level);
	if (switch_traffic || hd_has_adapters(fabric, sw))
		maps->levels[sw] |= (uint16_t)(1u << level);
}

/* Packets of a level go on from `link` to `next`. */
static void pass(struct check_maps *maps, uint32_t sw, uint32_t link, uint32_t next, unsigned level)
{
	const struct hd_fabric *fabric = maps->fabric;
	const uint32_t to = fabric->isl_to[link], in = fabric->isl_port[fabric->isl_reverse[link]];
	const unsigned lane =
	    hd_lane_maps_get(maps->routes->maps, to, in, fabric->isl_port[next])[level] & 15;

	maps->on[to][level] |= (uint16_t)(1u << lane);
	maps->used |= (uint16_t)(1u << lane);
	for (uint32_t on = maps->on[sw][level]; on; on &= on - 1)
		hd_dependencies_collect(&maps->graph,
					link * maps->lanes + (uint32_t)__builtin_ctz(on),
					next * maps->lanes + lane);
}

void check_maps_add(struct check_maps *maps, const struct check_tree *tree, uint32_t lid,
		    bool switch_traffic)
{
	const uint32_t switches = maps->fabric->switch_count;

	if (!tree->to_host && !switch_traffic)
		return;
	memset(maps->levels, 0, switches * sizeof(*maps->levels));
	memset(maps->on, 0, switches * sizeof(*maps->on));
	for (uint32_t i = 0; i < tree->ordered; i++) {
		const uint32_t sw = tree->order[i], link = tree->step[sw];

		if (tree->arrival[sw] != CHECK_ARRIVES || !hd_step_is_link(link))
			continue;
		add_sources(maps, sw, link, lid, switch_traffic);
		const uint32_t to = tree->next[sw], next = tree->step[to];
		if (!hd_step_is_link(next))
			continue;
		maps->levels[to] |= maps->levels[sw];
		for (uint32_t left = maps->levels[sw]; left; left &= left - 1)
			pass(maps, sw, link, next, (unsigned)__builtin_ctz(left));
	}
}

void check_maps_merge(struct check_maps *maps, const struct check_maps *other)
{
	maps->used |= other->used;
	hd_dependencies_merge(&maps->graph, &other->graph);
}

int check_maps_find_cycle(const struct check_maps *maps, uint32_t *links, uint8_t *on,
			  uint32_t *length)
{
	int rc = hd_dependencies_find_cycle(&maps->graph, links, length);

	for (uint32_t i = 0; !rc && i < *length; i++) {
		on[i] = (uint8_t)(links[i] % maps->lanes);
		links[i] /= maps->lanes;
	}
	return rc;
}
