/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "generate_wiring.h"

#include <errno.h>
#include <stdlib.h>

int generate_wiring_begin(struct generate_wiring *wiring, size_t links_most)
{
	const size_t count = wiring->switches;

	wiring->links = calloc(links_most + 1, sizeof(*wiring->links));
	wiring->peers = calloc(count * wiring->ports + 1, sizeof(*wiring->peers));
	wiring->used = calloc(count, sizeof(*wiring->used));
	wiring->open = calloc(count, sizeof(*wiring->open));
	return wiring->links && wiring->peers && wiring->used && wiring->open ? 0 : -ENOMEM;
}

void generate_wiring_release(struct generate_wiring *wiring)
{
	free(wiring->open);
	free(wiring->used);
	free(wiring->peers);
	free(wiring->links);
}

bool generate_wiring_has(const struct generate_wiring *wiring, uint32_t a, uint32_t b)
{
	const uint32_t *peers = wiring->peers + (size_t)a * wiring->ports;

	for (uint32_t i = 0; i < wiring->used[a]; i++)
		if (peers[i] == b)
			return true;
	return false;
}

void generate_wiring_replace_peer(struct generate_wiring *wiring, uint32_t sw, uint32_t before,
				  uint32_t after)
{
	uint32_t *peer = wiring->peers + (size_t)sw * wiring->ports;

	while (*peer != before)
		peer++;
	*peer = after;
}
