/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define POOL_MAX (1u << SIM_EVENT_BITS)

#define CACHE_LINE 64u

/* Twice the room. NULL: no memory; then all stays as it was. An item that fills a cache line does not
 * lie in two. */
static void *grow(void *items, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? 2 * *room : 64;
	void *grown = wanted <= POOL_MAX ? aligned_alloc(CACHE_LINE, wanted * size) : NULL;

	if (!grown)
		return NULL;
	if (items)
		memcpy(grown, items, *room * size);
	free(items);
	*room = wanted;
	return grown;
}

/* What pools_NAME() is. */
#define POOL(name, type, items)                                                                    \
	uint32_t pools_##name(struct hd_sim *sim)                                                  \
	{                                                                                          \
		uint32_t item = sim->name##_free;                                                  \
                                                                                                   \
		if (item != HD_NONE) {                                                             \
			sim->name##_free = sim->items[item].next;                                  \
			return item;                                                               \
		}                                                                                  \
		if (sim->name##_count == sim->name##_room) {                                       \
			type *grown = grow(sim->items, &sim->name##_room, sizeof(*grown));         \
			if (!grown) {                                                              \
				sim->rc = -ENOMEM;                                                 \
				return HD_NONE;                                                    \
			}                                                                          \
			sim->items = grown;                                                        \
		}                                                                                  \
		return sim->name##_count++;                                                        \
	}

POOL(message, struct sim_message, messages)
POOL(return, struct sim_return, returns)
POOL(wake, struct sim_wake, wakes)
POOL(copies, struct sim_copies, copies)
POOL(packet, struct sim_packet, packets)

void pools_release(struct hd_sim *sim)
{
	free(sim->packets);
	free(sim->messages);
	free(sim->returns);
	free(sim->wakes);
	free(sim->copies);
	free(sim->counts);
}
