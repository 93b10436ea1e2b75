/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/grow.h>
#include <stdlib.h>

#define LEAST_ROOM 16u

void *hd_grow(void *array, uint32_t count, uint32_t more, uint32_t *room, size_t size)
{
	uint64_t needed = (uint64_t)count + more;
	uint64_t wanted = 2 * (uint64_t)*room;

	if (needed <= *room)
		return array;
	wanted = wanted < LEAST_ROOM ? LEAST_ROOM : wanted;
	wanted = wanted < needed ? needed : wanted > UINT32_MAX ? UINT32_MAX : wanted;
	if (needed > UINT32_MAX || wanted > SIZE_MAX / size)
		return NULL;
	void *grown = realloc(array, wanted * size);
	if (grown)
		*room = (uint32_t)wanted;
	return grown;
}
