/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/fabric/channels.h>

static void fill_link(const struct hd_fabric *fabric, uint32_t lanes, uint32_t link, uint32_t *to,
		      uint8_t *port, uint32_t *reverse)
{
	for (uint32_t lane = 0; lane < lanes; lane++) {
		to[link * lanes + lane] = fabric->isl_to[link];
		port[link * lanes + lane] = fabric->isl_port[link];
		reverse[link * lanes + lane] = fabric->isl_reverse[link] * lanes + lane;
	}
}

int hd_channels_view(const struct hd_fabric *fabric, uint32_t lanes, struct hd_arena *arena,
		     struct hd_fabric *view)
{
	const size_t channels = (size_t)fabric->isl_count * lanes;
	uint32_t *base = hd_arena_alloc(arena, fabric->switch_count + 1u, sizeof(*base));
	uint32_t *to = hd_arena_alloc(arena, channels, sizeof(*to));
	uint8_t *port = hd_arena_alloc(arena, channels, sizeof(*port));
	uint32_t *reverse = hd_arena_alloc(arena, channels, sizeof(*reverse));

	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw <= fabric->switch_count; sw++)
		base[sw] = fabric->isl_base[sw] * lanes;
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		fill_link(fabric, lanes, link, to, port, reverse);
	*view = *fabric;
	view->isl_count = (uint32_t)channels;
	view->isl_base = base;
	view->isl_to = to;
	view->isl_port = port;
	view->isl_reverse = reverse;
	return 0;
}
