/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links that are drawn between switches with the same number of ports each, and the ports that are still free. */
#ifndef FABRIC_GENERATE_WIRING_H
#define FABRIC_GENERATE_WIRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct generate_wiring_link {
	uint32_t a, b;
};

struct generate_wiring {
	uint32_t switches, ports; /* ports: of a switch, for links */
	uint64_t random;
	uint32_t *peers; /* [switches * ports]: the switches cabled to each so far */
	uint32_t *used; /* [switches]: how many */
	uint32_t *open; /* switches with a free port, in no order */
	uint32_t open_count;
	struct generate_wiring_link *links;
	uint32_t link_count;
};

/* Room for so many links, and none so far. `switches` and `ports` are set. Errors: -ENOMEM; to be released in any case. */
int generate_wiring_begin(struct generate_wiring *wiring, size_t links_most);
void generate_wiring_release(struct generate_wiring *wiring);

/* Whether two switches are cabled to each other. O(ports). */
bool generate_wiring_has(const struct generate_wiring *wiring, uint32_t a, uint32_t b);

void generate_wiring_replace_peer(struct generate_wiring *wiring, uint32_t sw, uint32_t before,
				  uint32_t after);

static inline void generate_wiring_add_peer(struct generate_wiring *wiring, uint32_t sw,
					    uint32_t peer)
{
	wiring->peers[(size_t)sw * wiring->ports + wiring->used[sw]++] = peer;
}

/* Takes the switch at open[place] out if it has no free port. The last one in open[] then has its place. */
static inline void generate_wiring_close_full(struct generate_wiring *wiring, uint32_t place)
{
	if (wiring->used[wiring->open[place]] == wiring->ports)
		wiring->open[place] = wiring->open[--wiring->open_count];
}

#endif
