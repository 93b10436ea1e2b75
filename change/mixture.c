/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mixture.h"

#include <heddle/fabric/walk.h>
#include <string.h>

/* What a search knows of a switch: from FIRST to LAST it is on the path, and that many entries, less one,
 * were followed. */
enum { UNSEEN, FIRST, LAST = FIRST + 2, DONE };

int mixture_init(struct mixture *mixture, const struct hd_fabric *fabric, const uint32_t *port_step,
		 struct hd_arena *arena)
{
	*mixture = (struct mixture){.fabric = fabric, .port_step = port_step};
	mixture->path = hd_arena_alloc(arena, fabric->switch_count, sizeof(*mixture->path));
	mixture->state = hd_arena_alloc(arena, fabric->switch_count, sizeof(*mixture->state));
	return hd_arena_check(arena);
}

uint32_t mixture_next(const struct mixture *mixture, uint32_t sw, uint32_t lid, unsigned which)
{
	const struct hd_fabric *fabric = mixture->fabric;
	uint8_t port = mixture->tables[which][(size_t)sw * mixture->stride[which] + lid];
	uint32_t step = port <= hd_node_ports(fabric, sw)
			    ? mixture->port_step[hd_port_index(fabric, sw, port)]
			    : HD_STEP_NO_ROUTE;

	return hd_step_is_link(step) ? fabric->isl_to[step] : HD_NONE;
}

/* Searches from a switch in depth. True: the search has met its own path. */
static bool search(struct mixture *mixture, uint32_t source, uint32_t lid)
{
	uint8_t *state = mixture->state;
	uint32_t depth = 0;

	mixture->path[depth++] = source;
	state[source] = FIRST;
	while (depth) {
		uint32_t sw = mixture->path[depth - 1];
		if (state[sw] == LAST) {
			state[sw] = DONE;
			depth--;
			continue;
		}
		uint32_t next = mixture_next(mixture, sw, lid, state[sw]++ - FIRST);
		if (next == HD_NONE || state[next] == DONE)
			continue;
		if (state[next] != UNSEEN)
			return true;
		mixture->path[depth++] = next;
		state[next] = FIRST;
	}
	return false;
}

bool mixture_loops(struct mixture *mixture, uint32_t lid)
{
	const struct hd_fabric *fabric = mixture->fabric;
	bool loops = false;

	memset(mixture->state, UNSEEN, fabric->switch_count);
	for (uint32_t sw = 0; !loops && sw < fabric->switch_count; sw++)
		if (mixture->state[sw] == UNSEEN)
			loops = search(mixture, sw, lid);
	return loops;
}
